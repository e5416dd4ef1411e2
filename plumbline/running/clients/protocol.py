"""What a model client is asked and what it answers: one shape for every transport.

Anthropic, OpenAI-compatible, replayed, scripted and faulty clients all take a ``ModelRequest`` and give a
``ModelReply``; tests hand an agent another client, nobody patches sockets. Nothing here loads an SDK.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["ModelCall", "ModelClient", "ModelReply", "ModelRequest", "Usage"]


@dataclass(frozen=True)
class ModelRequest:
    """One question to a model, with the identity of the trial and turn that asks it.

    Parameters
    ----------
    model : str
        Model name as the provider knows it.
    messages : sequence of mapping
        Turns so far, JSON values: ``{"role": "user"|"assistant"|"tool", "content": …}`` with content blocks
        ``{"type": "text", "text": …}``, ``{"type": "tool_call", "id", "name", "arguments": text}`` and
        ``{"type": "tool_result", "id", "content": text, "is_error": bool}``. A block ``{"type": "provider", "block"}``
        goes back to its provider as it came (see ``messages.assistant_message``).
    system : str
        Standing instructions, empty for none.
    tools : sequence of mapping
        ``{"name", "description", "parameters": JSON Schema}``; their order does not matter to the ledger.
    settings : mapping
        Sampling settings as sent: ``temperature``, ``max_tokens``, ``seed``, ``stop`` …
    schema : mapping, optional
        JSON Schema that the answer must satisfy (structured output).
    trial_id : str
        The trial that asks; part of the ledger's key, so that a repetition samples afresh and a replay does not.
    turn : int
        Which question of that trial, from 0.
    """

    model: str
    messages: Sequence[Mapping[str, Any]]
    system: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    trial_id: str = ""
    turn: int = 0


@dataclass(frozen=True)
class ModelCall:
    """One tool call a model asked for; its arguments stay the text that came, whether it parses or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply; None where the provider did not say.

    ``tokens_in`` are those that no prompt cache took part in; the input as a whole is the sum of ``tokens_in``,
    ``cache_read`` and ``cache_write``.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


@dataclass(frozen=True)
class ModelReply:
    """One answer of a model.

    Parameters
    ----------
    text : str
        Its words, empty if it only called tools.
    calls : tuple of ModelCall
        Tool calls of this turn, in order; several make one parallel group.
    stop : str
        Why it stopped, in the provider's word.
    usage : Usage
        Tokens.
    model : str
        Model that answered, as the provider names it.
    raw : mapping
        The provider's answer as JSON values, kept as evidence.
    source : str
        ``live`` or ``replayed``.
    """

    text: str
    calls: tuple[ModelCall, ...] = ()
    stop: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)
    source: str = "live"


class ModelClient(Protocol):
    """Anything that answers a request; safe to call from several threads."""

    def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request, or raise ``NoResponseError``, ``BudgetStopError`` or another ``HarnessError``."""
