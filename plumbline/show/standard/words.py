"""The sentences of a standard report: the answer first, then what is not known. Every number is counted here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plumbline.decide import Certificate
from plumbline.rules import Verdicts
from plumbline.show.estimates import format_share
from plumbline.show.markup import Html, escape
from plumbline.show.tables import callout
from plumbline.traces import Recording

__all__ = ["NOTES", "SUCCESS", "answer", "cannot_claim", "note", "notes_html", "plain"]

SUCCESS = {
    "critical": "no critical rule violated",
    "all": "no rule violated",
    "outcome": "the right outcome in the system of record",
}
"""What a success is, in words, by measure."""

_DID = {
    "critical": "broke no critical rule",
    "all": "broke no rule",
    "outcome": "reached the right outcome",
}

NOTES = {
    "missing": "A trial is missing if it ended for reasons of infrastructure or left no record. It says nothing about "
    "the agent and is in no share; the certificate counts it as a failure.",
    "wilson": "Wilson score interval, 95 % unless stated, for these tasks: only the agent's behaviour is taken as "
    "random. Repetitions of a task are not independent of each other: for tasks in general the interval is too narrow.",
    "difference": "Miettinen-Nurminen interval for a difference of two shares, taking trials as independent. Read the "
    "number of tasks that differ beside it.",
    "certificate": "The certificate is the smallest one-sided Clopper-Pearson lower bound over all planned conditions. "
    "The published rules stand beside it to be compared; they are not certificates.",
    "divergence": "Each trial is compared with the arm's most common behaviour on the same task, or with the trial of "
    "the other arm that was asked the same. What differs is not thereby wrong: the rules say what is.",
    "vacuous": "Vacuous: the rule was never put to the test in this trial. Not applicable: its condition does not hold "
    "for the task. Cannot tell: the record does not say. None of the three counts as held.",
}
"""Notes of the report by name, in the order in which they stand at its end."""


def note(name: str) -> str:
    """Return a mark that leads to a note at the end of the report, for a text in Markdown."""
    number = list(NOTES).index(name) + 1
    return f'[{number}](#note-{number} "Note {number}")'


def plain(text: str) -> str:
    """Return any text so that Markdown shows it as it is: names of arms and conditions may hold anything."""
    marks = str.maketrans({mark: f"&#{ord(mark)};" for mark in "*_`[]()#|~\\$"})
    return " ".join(escape(text).translate(marks).split())


def notes_html() -> str:
    """Return all notes as a numbered list."""
    items = "".join(f'<li id="note-{number}">{text}</li>' for number, text in enumerate(NOTES.values(), 1))
    return f"<ol>{items}</ol>"


def answer(
    recording: Recording, ok: pd.Series, certificates: Sequence[Certificate], *, measure: str = "critical"
) -> Html:
    """Say first what was found: the share of trials that did right, arm by arm, and what can be certified.

    Parameters
    ----------
    recording : Recording
        The run.
    ok : Series of boolean
        Whether each trial did right, indexed by ``trial_id``.
    certificates : sequence of Certificate
        One an arm.
    measure : {'critical', 'all', 'outcome'}
        What a success is.

    Returns
    -------
    Html
        A callout for the cover.
    """
    lines, worst = [], []
    for certificate in certificates:
        k, n, counts = _counted(recording, ok, certificate.arm)
        where = _where(recording, ok, certificate.arm) if n - k else ""
        lines.append(f"{certificate.arm}: {_share(k, n, measure)}; {_missing(counts)}. {where}{_claimed(certificate)}")
        worst.append((n - k, n, certificate.arm))
    failed = [(lost, n, arm) for lost, n, arm in worst if lost]
    decided = sum(n for _, n, _ in worst)
    thing = {
        "critical": "A critical rule was violated",
        "all": "A rule was violated",
        "outcome": "The outcome was wrong",
    }
    if failed:
        listed = ", ".join(f"by {arm} in {lost:,} of {n:,} trials" for lost, n, arm in failed)
        title = f"{thing[measure]} {listed}."
    elif decided:
        title = f"In all {decided:,} trials that can be judged: {SUCCESS[measure]}."
    else:
        title = "Nothing can be told: no trial can be judged."
    return callout("answer", title, lines)


def cannot_claim(certificates: Sequence[Certificate], verdicts: Verdicts) -> Html:
    """Say what the run does not show: claims that are not available, and rules that were never put to the test.

    Parameters
    ----------
    certificates : sequence of Certificate
        One an arm.
    verdicts : Verdicts
        The verdicts behind them.

    Returns
    -------
    Html
        A callout.
    """
    lines = [f"{found.arm}: no certificate. {reason}." for found in certificates for reason in found.reasons]
    lines += [f"Rule {said}." for said in verdicts.notes]
    lines.append(
        f"Anything about tasks other than these {len(verdicts.table.tasks):,}, or about rules the policy lacks."
    )
    return callout("cannot", "What this run does not show", lines)


def _counted(recording: Recording, ok: pd.Series, arm: str) -> tuple[int, int, Any]:
    own = recording.trials.loc[recording.trials["arm"] == arm, "trial_id"]
    told = ok.astype("boolean").reindex(own).dropna()
    return int(told.sum()), len(told), recording.counts(arm=arm)


def _share(k: int, n: int, measure: str) -> str:
    return f"{k:,} of {n:,} trials {_DID[measure]} ({format_share(k / n)} %)" if n else "no trial can be judged"


def _where(recording: Recording, ok: pd.Series, arm: str) -> str:
    """Say under which conditions an arm's trials failed."""
    own = recording.trials[recording.trials["arm"] == arm]
    wrong = own[~ok.astype("boolean").reindex(own["trial_id"]).fillna(True).to_numpy(bool)]["perturbation"]
    counts = {name: int((wrong == name).sum()) for name in recording.perturbations}
    listed = ", ".join(f"{name} {n:,}" for name, n in counts.items() if n)
    return f"Failed by condition: {listed}. "


def _missing(counts: Any) -> str:
    return (
        f"{counts.missing:,} of {counts.planned:,} planned trials are missing"
        if counts.missing
        else f"none of {counts.planned:,} planned trials is missing"
    )


def _claimed(found: Certificate) -> str:
    if found.bound is None:
        return "No certificate can be given: see below."
    at = found.attained_by[0] if len(found.attained_by) == 1 else f"{len(found.attained_by)} conditions"
    return (
        f"Certified under every planned condition: at least {format_share(found.bound)} % "
        f"({100 * found.confidence:g} % confidence, smallest at {at})."
    )
