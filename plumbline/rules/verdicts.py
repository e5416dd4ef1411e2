"""Verdicts of a whole run: compact arrays, with frames, counts and renderings made from them on request."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.rules.base import one_of
from plumbline.rules.contexts import TaskContexts
from plumbline.rules.explain import Told, explain, explain_missing
from plumbline.rules.invariants import MustCall
from plumbline.rules.judge import offenders
from plumbline.rules.policy import Policy
from plumbline.rules.scan import Scan
from plumbline.rules.steptable import StepTable
from plumbline.rules.words import HELD, SEVERITIES, UNOBSERVABLE, VERDICTS, VIOLATED, Reason

__all__ = ["Verdicts"]

_TEXT = "str" if pd.__version__ >= "3" else "object"


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts:
    """One verdict for every rule on every trial, as ``check`` returns it.

    Parameters
    ----------
    policy : Policy
        The rules, in the order of the arrays' rows.
    table : StepTable
        The trials, in the order of the arrays' columns, and their steps.
    contexts : TaskContexts
        What the rules compared with.
    verdict : int8 array, rules x trials
        Positions in ``VERDICTS``.
    witness : int32 array, rules x trials
        Step at which the rule was first violated, -1 where there is none.
    reason : int8 array, rules x trials
        Members of ``Reason``.
    run_id : str, optional
        Name of the run.
    """

    policy: Policy
    table: StepTable
    contexts: TaskContexts
    verdict: np.ndarray
    witness: np.ndarray
    reason: np.ndarray
    run_id: str | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each trial and rule.

        Returns
        -------
        DataFrame
            Key columns, ``rule``, ``severity``, ``verdict``, ``witness`` (Int64), and as text ``expected`` and
            ``observed`` (of the first violation) and ``reason`` (of what was not decided or did not apply).
        """
        rules, trials = self.verdict.shape
        frame = self.table.keys.loc[np.repeat(np.arange(trials), rules)].reset_index(drop=True)
        frame["rule"] = np.tile(np.array(self.policy.ids, object), trials)
        frame["severity"] = np.tile(np.array([rule.severity for rule in self.policy], object), trials)
        frame["verdict"] = np.array(VERDICTS, object)[self.verdict.T.ravel()]
        witness = pd.array(self.witness.T.ravel(), dtype="Int64")
        witness[self.witness.T.ravel() < 0] = pd.NA
        frame["witness"] = witness
        found = self._violations
        first = found[~found.duplicated(["trial", "position"])]
        at = (first["trial"] * rules + first["position"]).to_numpy()
        for name in ("expected", "observed"):
            column = np.full(len(frame), None, object)
            column[at] = first[name].to_numpy()
            frame[name] = column
        texts = np.array([reason.text or None for reason in Reason], object)
        frame["reason"] = texts[self.reason.T.ravel()]
        return frame.astype(dict.fromkeys(("rule", "severity", "verdict", "expected", "observed", "reason"), _TEXT))

    def violations(self) -> pd.DataFrame:
        """Return every violating step, not only the first of a trial, one row each.

        Returns
        -------
        DataFrame
            Key columns, ``rule``, ``severity``, ``step`` (Int64, null for a call that was not made), ``name``,
            ``expected``, ``observed``; by trial, then rule in policy order, then step. No row means that no rule was
            violated, which is not to say that every rule was upheld: see ``by_rule``.
        """
        found = self._violations
        frame = self.table.keys.loc[found["trial"].to_numpy()].reset_index(drop=True)
        position = found["position"].to_numpy()
        frame["rule"] = np.array(self.policy.ids, object)[position]
        frame["severity"] = np.array([rule.severity for rule in self.policy], object)[position]
        for name in ("step", "name", "expected", "observed"):
            frame[name] = found[name].array
        return frame.astype({"rule": _TEXT, "severity": _TEXT})

    @cached_property
    def _violations(self) -> pd.DataFrame:
        scan = Scan(self.table, self.contexts)
        trials: list[int] = []
        positions: list[int] = []
        steps: list[int] = []
        told: list[Told] = []
        for position, rule in enumerate(self.policy):
            violated = self.verdict[position] == VIOLATED
            if not violated.any():
                continue
            if isinstance(rule, MustCall):
                lacking = np.flatnonzero(violated).tolist()
                trials += lacking
                steps += [-1] * len(lacking)
                told += [explain_missing(rule, self.table, trial) for trial in lacking]
            else:
                calls = offenders(rule, scan, violated)  # a trial that violates a rule is one that it applies to
                kept = np.flatnonzero(violated[calls.trials])
                calls = type(calls)(calls.rows[kept], calls.trials[kept])
                trials += calls.trials.tolist()
                steps += (calls.rows - self.table.starts[calls.trials]).tolist()
                told += explain(rule, scan, calls)
            positions += [position] * (len(trials) - len(positions))
        step = pd.array(steps, dtype="Int64")
        step[np.array(steps, np.int64) < 0] = pd.NA
        words = pd.DataFrame(told, columns=["name", "expected", "observed"], dtype=_TEXT)
        frame = pd.DataFrame({"trial": np.array(trials, np.int64), "position": np.array(positions, np.int64)})
        frame = pd.concat([frame.assign(step=step), words], axis=1)
        return frame.sort_values(["trial", "position"], kind="stable", ignore_index=True)

    def by_rule(self) -> pd.DataFrame:
        """Count the five verdicts of each rule, for each arm.

        Returns
        -------
        DataFrame
            ``rule``, ``severity``, ``arm`` (where the trials have arms), then one int64 column for each verdict; their
            sum is the number of trials of the arm.
        """
        arm = self.table.keys["arm"] if "arm" in self.table.keys else pd.Series([""] * self.table.n_trials)
        codes, arms = pd.factorize(arm)
        rows = []
        for position, rule in enumerate(self.policy):
            pair = codes * len(VERDICTS) + self.verdict[position]
            counts = np.bincount(pair, minlength=len(arms) * len(VERDICTS)).reshape(len(arms), len(VERDICTS))
            rows += [[rule.id, rule.severity, name, *line] for name, line in zip(arms, counts.tolist(), strict=True)]
        frame = pd.DataFrame(rows, columns=["rule", "severity", "arm", *VERDICTS])
        return frame if "arm" in self.table.keys else frame.drop(columns="arm")

    def conforms(self, severity: str = "critical") -> pd.Series:
        """Say of each trial whether it obeyed the rules of a severity or worse.

        Parameters
        ----------
        severity : {'critical', 'high', 'medium', 'low'}
            The mildest severity that counts.

        Returns
        -------
        Series of boolean
            By trial id. False if such a rule was violated; missing if none was but one could not be observed; True
            otherwise, also where every rule was vacuous or did not apply.

        Raises
        ------
        ParameterError
            The policy has no rule of that severity or worse: nothing was asked, so nothing can be said.
        """
        one_of(severity, SEVERITIES, "conforms", "severity")
        counted = [SEVERITIES.index(rule.severity) <= SEVERITIES.index(severity) for rule in self.policy]
        if not any(counted):
            raise ParameterError(
                f"policy {self.policy.name!r} has no rule of severity {severity!r} or worse, so no trial can conform "
                f"to one; its severities are {sorted({rule.severity for rule in self.policy}, key=SEVERITIES.index)}"
            )
        verdict = self.verdict[counted]
        violated = (verdict == VIOLATED).any(axis=0)
        undecided = (verdict == UNOBSERVABLE).any(axis=0) & ~violated
        values = pd.arrays.BooleanArray(~violated, undecided)
        return pd.Series(values, index=pd.Index(self.table.keys["trial_id"]), name=f"conforms_{severity}")

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before reading the counts: rules that were never put to the test."""
        notes = []
        for position, rule in enumerate(self.policy):
            verdict = self.verdict[position]
            strange = [tool for tool in rule.tools if tool not in self.table.attempted]
            if strange:
                names = " and ".join(map(repr, strange))
                notes.append(f"{rule.id}: {names} is called nowhere in this run; check the name")
            if not np.isin(verdict, (HELD, VIOLATED)).any():
                counts = np.bincount(verdict, minlength=len(VERDICTS)).tolist()
                seen = ", ".join(f"{n} {word}" for n, word in zip(counts, VERDICTS, strict=True) if n)
                notes.append(f"{rule.id}: vacuous everywhere, no trial puts it to the test ({seen})")
        return tuple(notes)

    def _title(self) -> str:
        run = f", run {self.run_id!r}" if self.run_id else ""
        return f"policy {self.policy.name!r} version {self.policy.version}{run}: {self.table.n_trials:,} trials"

    def __repr__(self) -> str:
        table = self.by_rule().to_string(index=False)
        return "\n".join([self._title(), table, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        frame = self.by_rule()
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in frame.columns)
        body = ""
        for _, row in frame.iterrows():
            cells = "".join(f"<td>{html.escape(str(value))}</td>" for value in row.iloc[1:])
            body += f'<tr><th scope="row">{html.escape(str(row.iloc[0]))}</th>{cells}</tr>'
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f"<table><caption>{html.escape(self._title())}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>" + (f"<ul>{notes}</ul>" if notes else "")
        )
