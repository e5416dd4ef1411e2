"""Anthropic's Messages through its own SDK: tools, parallel calls, structured output, prompt caching.

One attempt a call: repeating belongs to ``LedgeredClient`` or ``RetryingClient``, so that each attempt is recorded.
The answer's body is read as it came, not through the SDK's types, so that an answer no type foresaw is kept as evidence
instead of being lost.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.running.clients.failures import hide
from plumbline.running.clients.messages import arguments_text, blocks_of, read_body
from plumbline.running.clients.protocol import ModelCall, ModelReply, ModelRequest, Usage
from plumbline.running.clients.sdk import bad_response, failure_from

__all__ = ["AnthropicClient"]

_NO_KEY = "no-key"
_MARK = {"type": "ephemeral"}
_NAMED = frozenset({"max_tokens", "metadata", "service_tier", "thinking", "tool_choice"})


class AnthropicClient:
    """Ask a model of Anthropic, or a server that speaks its Messages.

    Parameters
    ----------
    api_key : str, optional
        By default ``ANTHROPIC_API_KEY``; a server of one's own may need none. It is kept out of every record.
    base_url : str, optional
        Another server; by default Anthropic's.
    timeout_s : float
        Seconds until a call is given up, above 0.
    cache_prompt : bool
        Whether to mark instructions, tools and the conversation so far for the provider's prompt cache.

    Raises
    ------
    ParameterError
        No key, or a timeout that is not above 0.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 120.0,
        cache_prompt: bool = True,
    ) -> None:
        if not timeout_s > 0:
            raise ParameterError(f"timeout_s must be above 0 seconds; found {timeout_s!r}")
        # A server of one's own must never be sent a key that the environment holds for Anthropic.
        key = _NO_KEY if api_key is None and base_url is not None else api_key
        self._given: dict[str, Any] = {"api_key": key, "base_url": base_url, "timeout": timeout_s, "max_retries": 0}
        self._cache = cache_prompt
        self._lock = threading.Lock()
        self._sdk: Any = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no record may hold."""
        sdk = self._client()
        return tuple(str(key) for key in (sdk.api_key, sdk.auth_token) if key and key != _NO_KEY)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._sdk is not None:
                self._sdk.close()
                self._sdk = None

    def complete(self, request: ModelRequest) -> ModelReply:
        """Make one attempt.

        Raises
        ------
        ModelFailureError
            No usable answer came; its ``kind`` says how.
        ParameterError
            The request cannot be put into Messages.
        """
        body = to_anthropic(request, cache_prompt=self._cache)
        sdk = self._client()
        try:
            text = sdk.messages.with_raw_response.create(**body).http_response.text
        except Exception as error:  # the SDK's own words could hold a key, so they are not chained
            raise failure_from(error, request, self.secrets) from None
        return from_anthropic(hide(text, self.secrets), request)

    def _client(self) -> Any:
        with self._lock:
            if self._sdk is None:
                import anthropic

                sdk = anthropic.Anthropic(**self._given)
                if self._given["api_key"] == _NO_KEY:
                    sdk.auth_token = None
                if not (sdk.api_key or sdk.auth_token):
                    sdk.close()
                    raise ParameterError("no key for Anthropic: set ANTHROPIC_API_KEY, or give api_key=")
                self._sdk = sdk
            return self._sdk


def to_anthropic(request: ModelRequest, *, cache_prompt: bool) -> dict[str, Any]:
    """Put a request into the SDK's words; settings it has no name for are sent as they are."""
    settings = dict(request.settings)
    if "max_tokens" not in settings:
        raise ParameterError("Anthropic needs settings={'max_tokens': …}, a whole number of at least 1")
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request)}
    if request.system:
        body["system"] = [{"type": "text", "text": request.system}]
    if request.tools:
        body["tools"] = [
            {"name": t["name"], "description": t.get("description", ""), "input_schema": t["parameters"]}
            for t in request.tools
        ]
    if "stop" in settings:
        stop = settings.pop("stop")
        body["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    extra: dict[str, Any] = {name: settings[name] for name in settings if name not in _NAMED}
    body.update((name, settings[name]) for name in settings if name in _NAMED)
    if request.schema is not None:
        wanted = {"type": "json_schema", "schema": dict(request.schema)}
        extra["output_config"] = {**extra.get("output_config", {}), "format": wanted}
    if extra:
        body["extra_body"] = extra
    if cache_prompt:
        _mark(body)
    return body


def _mark(body: dict[str, Any]) -> None:
    """Mark what the next call repeats: instructions with the tools before them, and the conversation so far."""
    if "system" in body:
        body["system"][-1]["cache_control"] = _MARK
    elif "tools" in body:
        body["tools"][-1]["cache_control"] = _MARK
    last = body["messages"][-1]["content"][-1]
    if last["type"] in ("text", "tool_result"):
        last["cache_control"] = _MARK


def _messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Put the turns into Messages; results of one turn's calls must stand in one message of the user."""
    turns: list[dict[str, Any]] = []
    for message in request.messages:
        role = "assistant" if message.get("role") == "assistant" else "user"
        content = [_block(block) for block in blocks_of(message)]
        if not content:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += content
        else:
            turns.append({"role": role, "content": content})
    if not turns:
        raise ParameterError(f"trial {request.trial_id}, turn {request.turn}: there is no message to send")
    return turns


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    kind = block["type"]
    if kind == "text":
        return {"type": "text", "text": block["text"]}
    if kind == "provider":
        return dict(block["block"])
    if kind == "tool_result":
        result = {"type": "tool_result", "tool_use_id": block["id"], "content": block["content"]}
        return result | ({"is_error": True} if block.get("is_error") else {})
    return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": _input(block["arguments"])}


def _input(text: str) -> dict[str, Any]:
    """Return arguments as the object Messages asks for; unreadable ones are repeated as the text they were."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"unreadable_arguments": text}


def from_anthropic(body: str, request: ModelRequest) -> ModelReply:
    """Read an answer of Messages.

    An empty content list, a refusal and a stop reason that nobody knows are answers, given as they came; an answer that
    is not whole or has no content list at all is a failure.

    Raises
    ------
    ModelFailureError
        Of kind ``bad_response``.
    """
    try:
        raw, exact = read_body(body)
        content = exact["content"]
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise ValueError("content is not a list of blocks")
        text = "".join(block["text"] for block in content if block.get("type") == "text")
        calls = tuple(
            ModelCall(str(block.get("id") or f"call-{request.turn}-{n}"), block["name"], _given(block))
            for n, block in enumerate(b for b in content if b.get("type") == "tool_use")
        )
        usage = _usage(exact.get("usage"))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise bad_response(body, error, request) from error
    return ModelReply(
        text=text, calls=calls, stop=str(raw.get("stop_reason") or ""), usage=usage,
        model=str(raw.get("model") or request.model), raw=raw,
    )  # fmt: skip


def _given(block: Mapping[str, Any]) -> str:
    return arguments_text(block.get("input"))


def _usage(found: Any) -> Usage:
    if not isinstance(found, Mapping):
        return Usage()
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return Usage(*(value if isinstance(value := found.get(name), int) else None for name in names))
