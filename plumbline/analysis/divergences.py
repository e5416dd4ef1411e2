"""Where trials leave their references, and where arguments differ at steps both have: one row each, then merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from plumbline.analysis.walks import Walks
from plumbline.compare import ArgumentRules, align

__all__ = ["DIVERGENCE", "Comparison", "compare_walks", "divergence_rows", "listed", "merged"]

DIVERGENCE: Final = ("kind", "step_index", "name", "field", "expected", "got", "severity")
"""What makes two divergences the same. ``kind``: ``outcome``, ``skipped``, ``extra``, ``substitute`` or ``arg``;
``step_index``: position in the reference path, of an extra step that of the step before it (-1 at the front), of an
outcome -1; ``expected`` and ``got``: names of steps, or canonical JSON for arguments and outcomes; null for nothing."""

_KINDS: Final = ("outcome", "skipped", "substitute", "arg", "extra")
_TEXT: Final = "str" if pd.__version__ >= "3" else "object"
_TOLD: Final = ("different", "missing", "extra")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Each candidate trial against its reference; arrays in the order of the candidates.

    Parameters
    ----------
    same_path : ndarray of bool
        Whether the two paths are equal.
    matched, agreeing, undecided : ndarray of int64
        Steps that the alignment matched, those among them whose arguments agree, and those whose arguments cannot be
        compared because one side was not recorded or cannot be read.
    edits, differences : DataFrame
        Steps at which the paths differ, and counted argument differences at matched steps: ``trial_id`` and the
        columns of ``DIVERGENCE``.
    """

    same_path: np.ndarray
    matched: np.ndarray
    agreeing: np.ndarray
    undecided: np.ndarray
    edits: pd.DataFrame
    differences: pd.DataFrame

    def flags(self) -> pd.DataFrame:
        """Return one row a candidate.

        Returns
        -------
        DataFrame
            ``same_path``; ``same_arguments`` (missing unless the path is the same) and ``matched_agree`` (missing if
            no step is matched): whether the arguments of all matched steps agree, missing if it cannot be told;
            ``matched, agreeing, undecided``.
        """
        different = self.matched > self.agreeing + self.undecided
        agree = pd.Series(pd.arrays.BooleanArray(self.matched == self.agreeing, ~different & (self.undecided > 0)))
        columns = {
            "same_path": pd.array(self.same_path, "boolean"),
            "same_arguments": agree.where(self.same_path),
            "matched_agree": agree.where(self.matched > 0),
            "matched": self.matched,
            "agreeing": self.agreeing,
            "undecided": self.undecided,
        }
        return pd.DataFrame(columns)


def compare_walks(candidate: Walks, reference: Walks, pairs: Mapping[str, str], rules: ArgumentRules) -> Comparison:
    """Compare candidate trials with one reference each, step by step, as published.

    Parameters
    ----------
    candidate, reference : Walks
        Both read as paths of the same kind.
    pairs : mapping of candidate trial to reference trial
    rules : ArgumentRules
        How arguments are compared.

    Returns
    -------
    Comparison
    """
    if not pairs:
        nothing = np.zeros(0, np.int64)
        return Comparison(nothing.astype(bool), nothing, nothing, nothing, divergence_rows({}), divergence_rows({}))
    found = align(
        candidate.steps,
        reference.steps,
        pairs=pairs,
        path=candidate.path,
        rules=rules,
        empty={*candidate.stepless, *reference.stepless},
    )
    trials = np.array(list(pairs), object)
    script, fields = found.script, found.script_differences
    fields = fields[fields["counted"]]
    told = fields["verdict"].isin(_TOLD)
    differing = fields.loc[told, ["pair", "at"]].drop_duplicates()
    unsure = fields.loc[~told, ["pair", "at"]].drop_duplicates()
    unsure = unsure[~pd.MultiIndex.from_frame(unsure).isin(pd.MultiIndex.from_frame(differing))]
    matched = found.pairs["match"].to_numpy(np.int64)
    wrong, undecided = (np.bincount(rows["pair"], minlength=trials.size) for rows in (differing, unsure))
    edits = script[script["edit"] != "match"]
    return Comparison(
        same_path=found.pairs["same_path"].to_numpy(bool),
        matched=matched,
        agreeing=matched - wrong - undecided,
        undecided=undecided,
        edits=_path_rows(edits, trials),
        differences=_argument_rows(fields[told], trials),
    )


def _path_rows(edits: pd.DataFrame, trials: np.ndarray) -> pd.DataFrame:
    kinds = edits["edit"].to_numpy(object)
    names = [edits[f"name_{side}"].to_numpy(object) for side in ("reference", "candidate")]
    expected, got = (np.where(pd.isna(name), "(unnamed)", name) for name in names)
    columns = {
        "trial_id": trials[edits["pair"].to_numpy()],
        "kind": kinds,
        "step_index": edits["at"].to_numpy(),
        "name": np.where(kinds == "extra", got, expected),
        "expected": _unless(kinds == "extra", expected),
        "got": _unless(kinds == "skipped", got),
        "severity": edits["severity"].to_numpy(object),
    }
    return divergence_rows(columns)


def _argument_rows(fields: pd.DataFrame, trials: np.ndarray) -> pd.DataFrame:
    verdicts = fields["verdict"].to_numpy(object)
    columns = {
        "trial_id": trials[fields["pair"].to_numpy()],
        "kind": "arg",
        "step_index": fields["at"].to_numpy(),
        "name": fields["tool"].to_numpy(object),
        "field": fields["field"].to_numpy(object),
        "expected": _unless(verdicts == "extra", fields["value_reference"].to_numpy(object)),
        "got": _unless(verdicts == "missing", fields["value_candidate"].to_numpy(object)),
        "severity": fields["severity"].to_numpy(object),
    }
    return divergence_rows(columns)


def _unless(absent: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values, None where there is nothing on that side."""
    found = values.copy()
    found[absent] = None
    return found


def listed(compared: Comparison, *others: pd.DataFrame, everywhere: bool) -> pd.DataFrame:
    """Return all divergences of a comparison; not everywhere: those of arguments on equal paths only, as published."""
    arguments = compared.differences
    if not everywhere:
        parted = set(compared.edits["trial_id"])
        arguments = arguments[~arguments["trial_id"].isin(parted)]
    return pd.concat([*others, compared.edits, arguments], ignore_index=True)


def divergence_rows(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a frame of ``trial_id`` and the columns of a divergence; a column that is not given is null."""
    names = ("trial_id", *DIVERGENCE)
    size = len(columns.get("trial_id", columns.get("kind", ())))
    plain = {name: np.asarray(columns.get(name), object) for name in names}
    frame = pd.DataFrame({name: np.broadcast_to(value, (size,)) for name, value in plain.items()})
    return frame.astype({name: "int64" if name == "step_index" else _TEXT for name in names})


def merged(rows: pd.DataFrame) -> pd.DataFrame:
    """Merge the same divergence of several trials into one row.

    Parameters
    ----------
    rows : DataFrame
        ``trial_id`` and the columns of ``DIVERGENCE``.

    Returns
    -------
    DataFrame
        The columns of ``DIVERGENCE``, ``count`` and ``trial_ids`` (tuple), by kind, then the most frequent first.
    """
    found: dict[tuple[Any, ...], list[str]] = {}
    columns = rows[["trial_id", *DIVERGENCE]].astype(object).where(rows[["trial_id", *DIVERGENCE]].notna(), None)
    for trial, *what in columns.itertuples(index=False, name=None):
        found.setdefault(tuple(what), []).append(trial)
    rank = {kind: place for place, kind in enumerate(_KINDS)}
    order = sorted(found, key=lambda what: (rank[what[0]], -len(found[what]), what[1], min(found[what])))
    table = divergence_rows({name: [what[place] for what in order] for place, name in enumerate(DIVERGENCE)})
    table["count"] = np.array([len(found[what]) for what in order], np.int64)
    table["trial_ids"] = pd.Series([tuple(sorted(found[what])) for what in order], dtype=object)
    return table.drop(columns="trial_id")
