"""Chat completions through OpenAI's SDK, for any server that speaks them: tools and output held to a JSON Schema.

One attempt a call; the body is read as it came, as in ``anthropic_client``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.running.clients.failures import hide
from plumbline.running.clients.messages import arguments_text, blocks_of, read_body
from plumbline.running.clients.protocol import ModelCall, ModelReply, ModelRequest, Usage
from plumbline.running.clients.sdk import bad_response, failure_from

__all__ = ["OpenAICompatibleClient"]

_NO_KEY = "no-key"
_NAMED = frozenset({"temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "tool_choice"})


class OpenAICompatibleClient:
    """Ask a model behind an OpenAI-compatible server.

    Parameters
    ----------
    base_url : str, optional
        The server, with its ``/v1``; by default OpenAI's.
    api_key : str, optional
        By default ``OPENAI_API_KEY``; a server of one's own may need none. It is kept out of every record.
    timeout_s : float
        Seconds until a call is given up, above 0.

    Raises
    ------
    ParameterError
        The package ``openai`` is not installed, the timeout is not above 0, or OpenAI itself is asked without a key.
    """

    def __init__(self, *, base_url: str | None = None, api_key: str | None = None, timeout_s: float = 120.0) -> None:
        if not timeout_s > 0:
            raise ParameterError(f"timeout_s must be above 0 seconds; found {timeout_s!r}")
        # A server of one's own must never be sent a key that the environment holds for another.
        key = _NO_KEY if api_key is None and base_url is not None else api_key
        self._given: dict[str, Any] = {"api_key": key, "base_url": base_url, "timeout": timeout_s, "max_retries": 0}
        self._lock = threading.Lock()
        self._sdk: Any = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no record may hold."""
        key = str(self._client().api_key)
        return () if key == _NO_KEY else (key,)

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
            The request cannot be put into chat messages.
        """
        body = to_openai(request)
        sdk = self._client()
        try:
            text = sdk.chat.completions.with_raw_response.create(**body).http_response.text
        except Exception as error:  # the SDK's own words could hold a key, so they are not chained
            raise failure_from(error, request, self.secrets) from None
        return from_openai(hide(text, self.secrets), request)

    def _client(self) -> Any:
        with self._lock:
            if self._sdk is None:
                try:
                    import openai
                except ModuleNotFoundError:
                    raise ParameterError(
                        "OpenAI-compatible servers are asked through the package openai, which is not installed: "
                        "pip install openai"
                    ) from None
                try:
                    self._sdk = openai.OpenAI(**self._given)
                except openai.OpenAIError as error:
                    raise ParameterError(f"{error}; set OPENAI_API_KEY, or give api_key=") from None
            return self._sdk


def to_openai(request: ModelRequest) -> dict[str, Any]:
    """Put a request into the SDK's words; settings it has no name for here are sent as they are."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    for message in request.messages:
        messages += _turns(message)
    if not any(message["role"] != "system" for message in messages):
        raise ParameterError(f"trial {request.trial_id}, turn {request.turn}: there is no message to send")
    body: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {k: t[k] for k in ("name", "description", "parameters") if k in t},
            }
            for t in request.tools
        ]
    if request.schema is not None:
        wanted = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    body.update((name, value) for name, value in request.settings.items() if name in _NAMED)
    if extra := {name: value for name, value in request.settings.items() if name not in _NAMED}:
        body["extra_body"] = extra
    return body


def _turns(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put one message into chat messages: each tool result is one of its own, before any words of the same turn."""
    blocks = [block for block in blocks_of(message) if block["type"] != "provider"]
    turns = [
        {"role": "tool", "tool_call_id": b["id"], "content": b["content"]} for b in blocks if b["type"] == "tool_result"
    ]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [
        {"id": b["id"], "type": "function", "function": {"name": b["name"], "arguments": b["arguments"]}}
        for b in blocks
        if b["type"] == "tool_call"
    ]
    if message["role"] == "assistant":
        said: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
        return [*turns, said | ({"tool_calls": calls} if calls else {})]
    return [*turns, {"role": "user", "content": text}] if text else turns


def from_openai(body: str, request: ModelRequest) -> ModelReply:
    """Read a chat completion.

    Empty words, a refusal and a finish reason that nobody knows are answers, given as they came; no choice at all, or
    an answer that is not whole, is a failure.

    Raises
    ------
    ModelFailureError
        Of kind ``bad_response``.
    """
    try:
        raw, exact = read_body(body)
        choice = exact["choices"][0]
        message = choice["message"]
        refusal = message.get("refusal")
        text = message.get("content") or refusal or ""
        if not isinstance(text, str):
            text = "".join(part["text"] for part in text if part.get("type") == "text")
        calls = tuple(
            ModelCall(
                str(call.get("id") or f"call-{request.turn}-{n}"),
                str(call["function"]["name"]),
                arguments_text(call["function"].get("arguments")),
            )
            for n, call in enumerate(message.get("tool_calls") or [])
        )
        stop = "refusal" if refusal else str(choice.get("finish_reason") or "")
        usage = _usage(exact.get("usage"))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise bad_response(body, error, request) from error
    return ModelReply(
        text=text, calls=calls, stop=stop, usage=usage, model=str(raw.get("model") or request.model), raw=raw
    )


def _usage(found: Any) -> Usage:
    """Read token counts; the prompt's count includes what the cache served, which is told apart here."""
    if not isinstance(found, Mapping):
        return Usage()
    given, out = found.get("prompt_tokens"), found.get("completion_tokens")
    details = found.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    if isinstance(given, int) and isinstance(cached, int):
        given = max(0, given - cached)
    return Usage(*(value if isinstance(value, int) else None for value in (given, out, cached)))
