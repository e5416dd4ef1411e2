"""A worked example made from a seed: an incumbent run twice and a candidate that differs in known ways.

Nothing here was said by an agent: every difference is put in on purpose, so that the right verdict is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.base.schema import trial_id
from plumbline.decide.bands.scorers import LexicalScorer
from plumbline.traces import Recording

__all__ = ["example_runs"]

_GREY, _OPTIONAL, _READS, _WRITE, _TOKENS = 16, 30, 2, 1, 40
_SMALLEST = 100
_VENDORS = ("Northwind", "Contoso", "Initech", "Globex", "Umbrella", "Stark", "Wayne", "Tyrell")
_OPENINGS = ("The invoice agrees with the purchase order", "The invoice matches the order that was placed")
_MIDDLES = ("no payment of it was found in the ledger", "the ledger holds no earlier payment of it")
_ENDINGS = ("it is scheduled for the agreed due date", "payment is set for the due date agreed")
_LONGER = (
    "as", "agreed", "and", "within", "the", "limit", "that", "was", "set", "for", "this", "vendor", "by", "finance",
    "last", "quarter",
)  # fmt: skip


def example_runs(*, seed: int, fixtures: int = 300) -> tuple[Recording, Recording]:
    """Return two constructed runs of the same fixtures: an incumbent with two repetitions, and a candidate.

    Of the candidate's trials, 16 have a text between 0.85 and 0.92 of the incumbent's, 30 gain an optional key, two
    make two safe reads in another order, one writes before the read that its argument comes from, 40 use 1.6 times the
    tokens, and the median latency goes from 1.8 to 2.1 seconds. The rest differs by what the incumbent differs from
    itself. All of them are other fixtures.

    Parameters
    ----------
    seed : int
        The same seed gives the same rows.
    fixtures : int
        At least 100.

    Returns
    -------
    (baseline, candidate)

    Examples
    --------
    >>> baseline, candidate = example_runs(seed=9)
    >>> len(baseline.trials), len(candidate.trials)
    (600, 300)
    """
    if isinstance(fixtures, bool) or not isinstance(fixtures, int) or fixtures < _SMALLEST:
        raise ParameterError(f"fixtures is {fixtures!r}; the example needs at least {_SMALLEST}")
    chance = np.random.default_rng(seed)
    parts = np.split(chance.permutation(fixtures), np.cumsum([_GREY, _OPTIONAL, _READS, _WRITE, _TOKENS]))
    kinds = ["same"] * fixtures
    for kind, chosen in zip(("grey", "optional", "reads", "write", "tokens"), parts, strict=False):
        for at in chosen:
            kinds[at] = kind
    cases = [_Case(at, kind, chance) for at, kind in enumerate(kinds)]
    speed = chance.lognormal(0.0, 0.25, fixtures)
    jitter = chance.lognormal(0.0, 0.02, (3, fixtures))
    old = [speed * jitter[0], speed * jitter[1]]
    middle = float(np.median((old[0] + old[1]) / 2))
    old = [values * (1800.0 / middle) for values in old]
    new = speed * jitter[2]
    new = new * (2100.0 / float(np.median(new)))
    note = {"constructed": {"seed": seed, "said": "made from a seed; no agent said any of this"}}
    baseline = _recording("constructed_baseline", "incumbent", cases, old, note)
    return baseline, _recording("constructed_candidate", "candidate", cases, [new], note)


class _Case:
    """One fixture: what both sides do, and what the candidate does otherwise."""

    def __init__(self, at: int, kind: str, chance: np.random.Generator) -> None:
        self.task, self.kind = f"F-{at + 1:04d}", kind
        self.invoice = f"INV-{10_000 + at}"
        self.vendor = f"V-{chance.integers(100, 999)}{at:04d}"
        self.name = _VENDORS[int(chance.integers(len(_VENDORS)))]
        self.total = float(chance.integers(10_000, 900_000)) / 100
        self.account = f"DE{chance.integers(10**9, 10**10 - 1)}{at:04d}"
        words = [str(options[int(chance.integers(2))]) for options in (_OPENINGS, _MIDDLES, _ENDINGS)]
        self.text = f"{words[0]}: {self.name} billed {self.total:.2f} for {self.invoice}, {words[1]}, and {words[2]}."
        self.tokens = int(chance.integers(600, 1400)) * 2
        drift = chance.uniform(0.95, 1.08, 2)
        turns = [int(turn) for turn in chance.permutation(len(_LONGER))[:2]]
        again, new = self._reworded(0.95, turns[0]), self._reworded(0.9 if kind == "grey" else 0.95, turns[1])
        self.texts = (self.text, again, new)
        both = (self.tokens, int(self.tokens * drift[0]))
        factor = 1.6 if kind == "tokens" else float(drift[1])
        self.used = (*both, round(sum(both) / 2 * factor))

    def _reworded(self, above: float, turn: int) -> str:
        """Add words as long as the similarity stays above a number: known edits whose effect is measured."""
        text = self.text[:-1]
        for word in (*_LONGER[turn:], *_LONGER[:turn]):
            longer = f"{text} {word}"
            if LexicalScorer().scores([(self.text, f"{longer}.")])[0] < above:
                break
            text = longer
        return f"{text}."

    def steps(self, side: int) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Return the calls of the first run, the second run (0, 1) or the candidate (2)."""
        own = {"invoice_id": self.invoice}
        check = ("check_duplicate", own, {"is_duplicate": False})
        invoice = ("get_invoice", own, {"vendor_id": self.vendor, "total": self.total})
        vendor = ("get_vendor", {"vendor_id": self.vendor}, {"account": self.account})
        paid = {"invoice_id": self.invoice, "amount": self.total, "account": self.account, "memo": f"for {self.name}"}
        pay = ("schedule_payment", paid, {"status": "scheduled"})
        if side == 2 and self.kind == "reads":
            return [invoice, check, vendor, pay]
        if side == 2 and self.kind == "write":
            return [check, invoice, pay, vendor]
        return [check, invoice, vendor, pay]

    def answer(self, side: int) -> str:
        """Return the answer as JSON text."""
        answer = {"decision": "pay", "amount": self.total, "summary": self.texts[side]}
        if side == 2 and self.kind == "optional":
            answer["note"] = "checked against the ledger"
        return canonical_json(answer)


def _recording(
    run_id: str, arm: str, cases: Sequence[_Case], latency: Sequence[np.ndarray], notes: dict[str, Any]
) -> Recording:
    trials, steps = [], []
    for at, case in enumerate(cases):
        for repetition, times in enumerate(latency):
            side = 2 if arm == "candidate" else repetition
            trial = trial_id(arm, case.task, "baseline", "0", repetition)
            trials.append(
                {
                    "arm": arm, "task_id": case.task, "repetition": repetition, "final_output": case.answer(side),
                    "prompt": f"Decide on invoice {case.invoice} and say why.", "tokens_in": case.used[side] - 200,
                    "tokens_out": 200, "latency_ms": float(times[at]), "provenance": "reconstructed",
                }
            )  # fmt: skip
            steps += [
                {
                    "trial_id": trial, "step": at_step, "kind": "tool_call", "name": name,
                    "arguments": canonical_json(arguments), "result": canonical_json(result),
                }
                for at_step, (name, arguments, result) in enumerate(case.steps(side))
            ]  # fmt: skip
    return Recording(pd.DataFrame(trials), pd.DataFrame(steps), run_id=run_id, notes=notes)
