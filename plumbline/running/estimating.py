"""What a study may cost, before any of it is spent: a rough figure that says what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.running.clients.protocol import Usage
from plumbline.running.system import Agent
from plumbline.running.tool import Tool, exact
from plumbline.traces import Plan

__all__ = ["Estimate", "estimate"]

_BYTES_A_TOKEN = 4
_ANSWER_TOKENS = 120
_TURN_TOKENS = 250
"""What one turn adds to the conversation: a call, its arguments and its result."""


@dataclass(frozen=True)
class Estimate:
    """A rough forecast of a study.

    Parameters
    ----------
    trials : int
        Trials planned.
    calls : int
        Questions to a model, from what each arm says it needs in a trial.
    tokens_in, tokens_out : int
        Tokens, at four bytes each and 120 an answer.
    cost_usd : float or None
        Their price; None if it is not known, or an arm does not say how many calls it makes.
    unknown : tuple of str
        Arms that do not say how many questions they ask; their calls and tokens are not in the sums.
    """

    trials: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    unknown: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as JSON values."""
        return {
            "trials": self.trials, "calls": self.calls, "tokens_in": self.tokens_in, "tokens_out": self.tokens_out,
            "cost_usd": self.cost_usd, "unknown": list(self.unknown),
        }  # fmt: skip

    def __str__(self) -> str:
        cost = "price not known" if self.cost_usd is None else f"about {self.cost_usd:.2f} USD"
        words = f"{self.trials:,} trials, about {self.calls:,} model calls, {self.tokens_in:,} tokens in, "
        words += f"{self.tokens_out:,} out: {cost}"
        return words + (f" (not counted: {', '.join(self.unknown)})" if self.unknown else "")


def estimate(
    arms: Mapping[str, Agent], plan: Plan, cells: Mapping[Any, Any], *, tools: Sequence[Tool], prices: Any = None
) -> Estimate:
    """Forecast calls, tokens and cost from the arms' ``expected_calls`` and the size of prompts and tools."""
    schema = sum(len(canonical_json(exact(tool.to_dict()))) for tool in tools)
    prompts = [len(v.prompt or "") for v in cells.values() if v is not None]
    per_cell = sum(prompts) / len(prompts) if prompts else 0
    each = len(prompts) * plan.repetitions
    calls = tokens_in = tokens_out = 0
    cost: float | None = 0.0
    unknown = []
    for name, agent in arms.items():
        expected = getattr(agent, "expected_calls", None)
        if expected is None:
            unknown.append(name)
            cost = None  # an agent may ask a model of its own
            continue
        fixed = (schema + len(getattr(agent, "system", "")) + per_cell) / _BYTES_A_TOKEN
        given = round(each * (expected * fixed + _TURN_TOKENS * expected * (expected - 1) / 2))
        calls, tokens_in = calls + expected * each, tokens_in + given
        tokens_out += expected * each * _ANSWER_TOKENS
        price = None
        if expected and prices is not None:
            price = prices.cost(
                getattr(agent, "model", ""), Usage(tokens_in=given, tokens_out=expected * each * _ANSWER_TOKENS)
            )
        if expected:
            cost = None if cost is None or price is None else cost + float(price)
    return Estimate(each * len(arms), calls, tokens_in, tokens_out, cost, tuple(unknown))
