"""What the ledger stores and says: keys of requests, replies as text, and its answers as values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from operator import itemgetter
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.running.clients.protocol import ModelCall, ModelReply, ModelRequest, Usage

__all__ = [
    "Claim",
    "Recorded",
    "Spend",
    "TrialUsage",
    "decode_reply",
    "digest_of",
    "encode_reply",
    "from_pico",
    "request_key",
    "request_text",
    "stable_json",
    "to_pico",
]

_fast = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_PICO = 10**12
"""Money is stored as whole millionths of a millionth of a dollar: exact for any price with six decimals per million."""


@dataclass(frozen=True)
class Spend:
    """What a ledger has spent, in US dollars.

    Parameters
    ----------
    settled_usd : float
        Cost of the answers recorded.
    assumed_usd : float
        Estimate of calls without a known cost that the provider may have charged: lost with their process, timed out,
        or answered without token counts. It counts against the cap until written off.
    reserved_usd : float
        Estimate of the calls under way.
    total_usd : float
        Settled and assumed together.
    committed_usd : float
        Total and reserved together; never above the cap.
    cap_usd, remaining_usd : float or None
        The cap of this process and what it still allows; None for no cap.
    answered, failed, lost : int
        Calls by how they ended.
    """

    settled_usd: float
    assumed_usd: float
    reserved_usd: float
    total_usd: float
    committed_usd: float
    cap_usd: float | None
    remaining_usd: float | None
    answered: int
    failed: int
    lost: int


@dataclass(frozen=True)
class TrialUsage:
    """Answered calls of one trial; tokens or cost are None where a provider did not say."""

    trial_id: str
    calls: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None


@dataclass(frozen=True)
class Recorded:
    """One recorded answer and the trial and turn it belongs to."""

    trial_id: str
    turn: int
    digest: str
    reply: ModelReply


@dataclass(frozen=True)
class Claim:
    """What came of asking for a call: an answer already there, a reservation to use, or neither for now.

    Parameters
    ----------
    call : int or None
        The reservation, to be settled or failed.
    reply : ModelReply or None
        The recorded answer.
    waits_for : str
        Why neither is there yet; ask again.
    """

    call: int | None = None
    reply: ModelReply | None = None
    waits_for: str = ""


def request_text(request: ModelRequest) -> str:
    """Return what identifies a request, as canonical JSON; tools stand in order of name.

    Raises
    ------
    ParameterError
        The trial has no id, the turn is no whole number of at least 0, or a part is no JSON value.
    """
    if not request.trial_id:
        raise ParameterError(
            "a recorded request needs a trial_id: without one, repetitions would share one answer and hide their spread"
        )
    if isinstance(request.turn, bool) or not isinstance(request.turn, int) or request.turn < 0:
        raise ParameterError(f"turn must be a whole number of at least 0; found {request.turn!r}")
    try:
        names = [str(tool.get("name")) for tool in request.tools]
        if len(set(names)) < len(names):
            raise ValueError(f"two tools share a name: {names}")
        tools = [tool for _, tool in sorted(zip(names, request.tools, strict=True), key=itemgetter(0))]
        text = stable_json(
            {
                "model": request.model, "system": request.system, "messages": request.messages, "tools": tools,
                "settings": request.settings, "schema": request.schema, "trial_id": request.trial_id,
                "turn": request.turn,
            }
        )  # fmt: skip
        text.encode()
    except (TypeError, ValueError) as error:
        raise ParameterError(f"trial {request.trial_id}, turn {request.turn}: no JSON to send ({error})") from None
    return text


def stable_json(value: Any) -> str:
    """Return canonical JSON text, many times faster than ``canonical_json`` where no number is a Decimal.

    Examples
    --------
    >>> stable_json({"b": 1.5, "a": ("x",)}) == canonical_json({"b": 1.5, "a": ("x",)})
    True
    """
    try:
        return _fast.encode(value)
    except TypeError:  # a Decimal, or a Mapping that is no dict
        return canonical_json(value)


def digest_of(text: str) -> str:
    """Return the digest of a request's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def request_key(request: ModelRequest) -> str:
    """Return the digest under which the ledger keeps the answer to a request.

    Examples
    --------
    >>> tools = [{"name": "a"}, {"name": "b"}]
    >>> one = ModelRequest("m", [], tools=tools, trial_id="t")
    >>> request_key(one) == request_key(ModelRequest("m", [], tools=tools[::-1], trial_id="t"))
    True
    """
    return digest_of(request_text(request))


def encode_reply(reply: ModelReply) -> str:
    """Return a reply as text that any file can hold and that reads back equal."""
    values: dict[str, Any] = {
        "text": reply.text, "calls": [[c.id, c.name, c.arguments] for c in reply.calls], "stop": reply.stop,
        "usage": asdict(reply.usage), "model": reply.model, "raw": reply.raw,
    }  # fmt: skip
    return json.dumps(values, ensure_ascii=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "keys"):
        return {key: value[key] for key in value.keys()}  # noqa: SIM118 - a Mapping that json does not know
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")


def decode_reply(text: str, *, source: str = "replayed") -> ModelReply:
    """Read a reply back."""
    values = json.loads(text)
    reply = ModelReply(
        text=values["text"],
        calls=tuple(ModelCall(*call) for call in values["calls"]),
        stop=values["stop"],
        usage=Usage(**values["usage"]),
        model=values["model"],
        raw=values["raw"],
    )
    return replace(reply, source=source)


def to_pico(usd: Decimal) -> int:
    """Return dollars as whole millionths of a millionth, rounded up."""
    scaled = usd * _PICO
    whole = int(scaled)
    return whole if whole == scaled else whole + 1


def from_pico(pico: int) -> float:
    """Return the nearest float of dollars."""
    return pico / _PICO
