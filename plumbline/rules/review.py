"""A sample of guarded wordings for people to judge blind, and their judgement read back beside the guard's.

The sheet holds the two wordings, items in random order, and nothing that gives the guard's verdict away; what each item
is stands in a key file that reviewers do not get. People's answers are the only ones that may be called human.
"""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from plumbline.base.errors import DigestError, InputError, NotFoundError, ParameterError
from plumbline.rules.draws import stream
from plumbline.rules.findings import ABSTAINED, ACCEPTED, REJECTED
from plumbline.rules.task_view import TaskView
from plumbline.rules.variant_sets import VariantSet
from plumbline.rules.variants import Variant
from plumbline.stats import Estimate, clopper_pearson
from plumbline.traces import write_text

__all__ = ["ANSWERS", "Review", "export_review", "read_review"]

ANSWERS = ("yes", "no", "unsure")
"""Whether both wordings ask for the same; an empty cell is an item that was not judged."""

_COLUMNS = ("item", "original", "rewrite", "same", "comment")
_SCHEMA = "plumbline.review/1"


def export_review(
    tasks: Iterable[TaskView],
    sets: Iterable[VariantSet],
    *,
    sheet: str | Path,
    key: str | Path,
    seed: int,
    accepted: int = 30,
    others: int = 30,
) -> int:
    """Write a sheet for blind review, and its key.

    Parameters
    ----------
    tasks : iterable of TaskView
        The tasks, for their original wordings.
    sets : iterable of VariantSet
        What the guard concluded.
    sheet : path
        CSV file for reviewers: ``item``, ``original``, ``rewrite``, and ``same`` and ``comment`` to be filled in.
    key : path
        JSON file that says what each item is; to be kept from reviewers.
    seed : int
        Seed of the sample and of the order.
    accepted, others : int
        How many items are drawn of those that the guard accepted, and of those that it did not; all of them where there
        are fewer.

    Returns
    -------
    int
        Number of items.

    Raises
    ------
    ParameterError
        Sheet and key are one file, a task is missing, or no variant has another wording than its task.
    NotFoundError
        A folder does not exist.
    """
    sheet, key = Path(sheet), Path(key)
    if sheet.resolve() == key.resolve():
        raise ParameterError(f"sheet and key are both {sheet}; reviewers must not get the key")
    for path in (sheet, key):
        if not path.parent.is_dir():
            raise NotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    found = _candidates({task.id: task for task in tasks}, sets)
    chance = stream(seed, "review")
    drawn, strata = [], {}
    for name, most in (("accepted", accepted), ("others", others)):
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ParameterError(f"{name} must be a whole number of at least 0; found {most!r}")
        pool = [each for each in found if (each["verdict"] == ACCEPTED) == (name == "accepted")]
        picked = chance.permutation(len(pool))[:most]
        strata[name] = {"there": len(pool), "drawn": len(picked)}
        drawn += [pool[int(place)] for place in picked]
    if not drawn:
        raise ParameterError("nothing to review: no variant has another wording than its task, or none was asked for")
    items = [{"item": f"r{n:03}", **drawn[int(place)]} for n, place in enumerate(chance.permutation(len(drawn)), 1)]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows([each["item"], each["original"], each["rewrite"], "", ""] for each in items)
    hidden = [{k: v for k, v in each.items() if k not in ("original", "rewrite")} for each in items]
    write_text(sheet, text.getvalue())
    body = {"schema": _SCHEMA, "seed": seed, "strata": strata, "items": hidden}
    write_text(key, json.dumps(body, indent=1, ensure_ascii=False) + "\n")
    return len(items)


def _candidates(tasks: Mapping[str, TaskView], sets: Iterable[VariantSet]) -> list[dict[str, Any]]:
    """Every different wording with its verdict; repeats and variants of anything but the wording are left out."""
    found, seen = [], set()
    for one in sets:
        if one.task_id not in tasks:
            raise ParameterError(f"task {one.task_id!r} has variants and is not among the tasks {sorted(tasks)}")
        original = tasks[one.task_id].prompt
        judged: list[tuple[Variant, str, tuple[str, ...]]] = []
        judged += [(v, ACCEPTED, ()) for v in one.accepted]
        judged += [(g.variant, g.result.verdict, g.result.codes) for g in (*one.rejected, *one.abstained)]
        for variant, verdict, codes in judged:
            place = (one.task_id, one.perturbation, variant.prompt)
            if original is None or variant.prompt in (None, original) or place in seen or "repeated" in codes:
                continue
            seen.add(place)
            found.append(
                {
                    "task_id": one.task_id, "perturbation": one.perturbation, "version": one.version,
                    "index": variant.index, "verdict": verdict, "codes": list(codes),
                    "texts_hash": _digest(original, variant.prompt or ""), "original": original,
                    "rewrite": variant.prompt,
                }
            )  # fmt: skip
    return found


def _digest(original: str, rewrite: str) -> str:
    text = json.dumps([" ".join(original.split()), " ".join(rewrite.split())])
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True, eq=False)
class Review:
    """Answers of reviewers beside the guard's verdicts.

    Parameters
    ----------
    answers : DataFrame
        One row per item: ``item``, ``task_id``, ``perturbation``, ``verdict``, ``codes``, and a column of answers for
        each reviewer (``yes``, ``no``, ``unsure``, or null where nothing was answered).
    reviewers : tuple of str
        Their names.
    strata : mapping
        How many wordings there were and how many were drawn, of those that the guard accepted and of the others.
    """

    answers: pd.DataFrame
    reviewers: tuple[str, ...]
    strata: Mapping[str, Mapping[str, int]]

    def false_accept(self, reviewer: str) -> Estimate:
        """Estimate how often a wording that the guard accepted asks for something else, in a reviewer's eyes."""
        return self._share(reviewer, ACCEPTED, "no")

    def false_reject(self, reviewer: str) -> Estimate:
        """Estimate how often a wording that the guard rejected asks for the same, in a reviewer's eyes."""
        return self._share(reviewer, REJECTED, "yes")

    def _share(self, reviewer: str, verdict: str, wrong: str) -> Estimate:
        given = self.answers.loc[self.answers["verdict"] == verdict, self._column(reviewer)]
        decided = given[given.isin(["yes", "no"])]
        made = clopper_pearson(int((decided == wrong).sum()), len(decided), sidedness="two-sided")
        if left := len(given) - len(decided):
            made = replace(made, caution=(*made.caution, f"{left} of {len(given)} items unsure or not answered"))
        return made

    def agreement(self, first: str, second: str) -> tuple[pd.DataFrame, Estimate]:
        """Return how two reviewers answered the same items, as a table, and the share of equal answers.

        Returns
        -------
        DataFrame
            Answers of the first by answers of the second, before any adjudication.
        Estimate
            Share of items with equal answers among those that both answered, with its exact interval.
        """
        if first == second:
            raise ParameterError(f"agreement takes two reviewers; {first!r} agrees with themselves")
        columns = [self._column(first), self._column(second)]
        both = self.answers[columns].dropna()
        counts = [[int(((both[first] == a) & (both[second] == b)).sum()) for b in ANSWERS] for a in ANSWERS]
        table = pd.DataFrame(counts, index=pd.Index(ANSWERS, name=first), columns=pd.Index(ANSWERS, name=second))
        equal = sum(counts[place][place] for place in range(len(ANSWERS)))
        return table, clopper_pearson(equal, len(both), sidedness="two-sided")

    def _column(self, reviewer: str) -> str:
        if reviewer not in self.reviewers:
            raise ParameterError(f"no reviewer {reviewer!r}; there are {', '.join(self.reviewers)}")
        return reviewer

    def to_frame(self) -> pd.DataFrame:
        """Return the answers, one row per item."""
        return self.answers.copy()

    def __str__(self) -> str:
        lines = [f"{len(self.answers)} items, reviewers {', '.join(self.reviewers)}"]
        for name in self.reviewers:
            lines.append(f"  {name}: false accept {self.false_accept(name)}; false reject {self.false_reject(name)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def read_review(sheets: Mapping[str, str | Path], *, key: str | Path) -> Review:
    """Read filled-in sheets back and put them beside what the guard concluded.

    Parameters
    ----------
    sheets : mapping of str to path
        Reviewer to the sheet that they filled in.
    key : path
        The key that was written with the sheet.

    Returns
    -------
    Review

    Raises
    ------
    NotFoundError
        A file does not exist.
    InputError
        A sheet lacks a column or holds an answer that is not allowed, or the key is not one.
    DigestError
        A sheet's wordings are not those that were written, or items are missing or stand twice.
    """
    if not sheets:
        raise ParameterError("give at least one sheet, as {'reviewer': 'sheet.csv'}")
    if taken := sorted(set(sheets) & {"item", "task_id", "perturbation", "verdict", "codes"}):
        raise ParameterError(f"{taken} are columns of the review; name the reviewers otherwise")
    items, strata = _read_key(Path(key))
    rows = [
        {name: each[name] for name in ("item", "task_id", "perturbation", "verdict")}
        | {"codes": ", ".join(each["codes"])}
        for each in items
    ]
    frame = pd.DataFrame(rows, dtype=object)
    for name, path in sheets.items():
        given = _read_sheet(Path(path), {each["item"]: each["texts_hash"] for each in items})
        frame[name] = pd.Series([given[each["item"]] for each in items], dtype=object)
    return Review(frame, tuple(sheets), strata)


def _read_key(path: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, int]]]:
    if not path.is_file():
        raise NotFoundError(f"there is no review key {path}")
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["schema"] != _SCHEMA:
            raise InputError(f"{path} is of format {body['schema']!r}; this version reads {_SCHEMA!r}")
        known = {ACCEPTED, REJECTED, ABSTAINED}
        if not body["items"] or any(each["verdict"] not in known for each in body["items"]):
            raise InputError(f"{path} holds no items, or verdicts other than {sorted(known)}")
        return body["items"], body["strata"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not a review key: {error!r}") from None


def _read_sheet(path: Path, expected: Mapping[str, str]) -> dict[str, str | None]:
    if not path.is_file():
        raise NotFoundError(f"there is no review sheet {path}")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if lost := [name for name in _COLUMNS[:4] if name not in (reader.fieldnames or ())]:
            raise InputError(f"{path} lacks the columns {lost}; a sheet has {', '.join(_COLUMNS)}")
        rows = list(reader)
    names = [row["item"] for row in rows]
    if sorted(names) != sorted(expected):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DigestError(
            f"{path} does not hold the items of its key: missing {sorted(set(expected) - set(names))}, unknown "
            f"{sorted(set(names) - set(expected))}, twice {twice}"
        )
    found: dict[str, str | None] = {}
    for line, row in enumerate(rows, 2):
        if _digest(row["original"], row["rewrite"]) != expected[row["item"]]:
            raise DigestError(f"{path} line {line}, item {row['item']}: the wordings are not those that were written")
        answer = (row["same"] or "").strip().lower()
        if answer and answer not in ANSWERS:
            raise InputError(
                f"{path} line {line}, item {row['item']}: {row['same']!r} is no answer; allowed are "
                f"{', '.join(ANSWERS)}, or nothing"
            )
        found[row["item"]] = answer or None
    return found
