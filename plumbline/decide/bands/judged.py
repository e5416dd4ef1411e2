"""Judged pairs: two texts and whether a reviewer called them equivalent; read from a file, or constructed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plumbline.base.errors import BandError, NotFoundError
from plumbline.decide.evidence import digest_of

__all__ = ["JudgedPair", "example_pairs", "pairs_digest", "read_pairs"]

_NEEDED = ("family_id", "before", "after", "equivalent")
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, kw_only=True)
class JudgedPair:
    """Two texts and the judgement.

    Parameters
    ----------
    pair : str
        Name.
    family_id : str
        Pairs of one family come from one text; they are never on both sides of a split.
    before, after : str
        The two texts.
    equivalent : bool
        What the reviewer said.
    edit : str
        What was done, for constructed pairs; or a remark.
    constructed : bool
        Whether the pair was made for the purpose.
    """

    pair: str
    family_id: str
    before: str
    after: str
    equivalent: bool
    edit: str = ""
    constructed: bool = False


def pairs_digest(pairs: Sequence[JudgedPair]) -> str:
    """Return the digest of judged pairs, whatever their order, as ``sha256:…``."""
    return digest_of(sorted((asdict(pair) for pair in pairs), key=lambda row: str(row["pair"])))


def read_pairs(path: str | Path) -> list[JudgedPair]:
    """Read judged pairs from a CSV file or JSON lines.

    Columns ``family_id, before, after, equivalent`` (true or false), and if wanted ``pair``, ``edit``, ``constructed``.

    Parameters
    ----------
    path : path
        A ``.csv`` or ``.jsonl`` file.

    Returns
    -------
    list of JudgedPair

    Raises
    ------
    NotFoundError, BandError
        There is no such file, or a row that cannot be used, with its line.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no file of judged pairs {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BandError(f"{path}: not UTF-8 text ({error})") from None
    if path.suffix == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""))
        rows: Iterable[tuple[int, Any]] = ((reader.line_num, row) for row in reader)
    elif path.suffix == ".jsonl":
        rows = _json_lines(text, path)
    else:
        raise BandError(f"{path}: judged pairs come as .csv or .jsonl")
    return [_pair(row, f"{path}, line {line}", line) for line, row in rows]


def _json_lines(text: str, path: Path) -> Iterable[tuple[int, Any]]:
    for line, each in enumerate(text.splitlines(), start=1):
        if each.strip():
            try:
                yield line, json.loads(each)
            except ValueError as error:
                raise BandError(f"{path}, line {line}: not JSON: {error}") from None


def _pair(row: Any, place: str, line: int) -> JudgedPair:
    if not isinstance(row, Mapping) or (lacking := [name for name in _NEEDED if row.get(name) in (None, "")]):
        said = ", ".join(lacking) if isinstance(row, Mapping) else "a mapping"
        raise BandError(f"{place}: {said} is missing; a judged pair has {', '.join(_NEEDED)}")
    return JudgedPair(
        pair=str(row.get("pair") or f"line-{line}"),
        family_id=str(row["family_id"]),
        before=str(row["before"]),
        after=str(row["after"]),
        equivalent=_truth(row["equivalent"], place, "equivalent"),
        edit=str(row.get("edit") or ""),
        constructed=_truth(row.get("constructed") or False, place, "constructed"),
    )


def _truth(value: Any, place: str, name: str) -> bool:
    if isinstance(value, bool):
        return value
    if (word := str(value).strip().lower()) in _TRUTH:
        return _TRUTH[word]
    raise BandError(f"{place}: {name} is {value!r}; write true or false")


_SAME = {
    "synonym": lambda t: t.replace("scheduled", "set up").replace("agrees with", "matches"),
    "contraction": lambda t: t.replace("does not", "doesn't").replace("was not", "wasn't").replace("is not", "isn't"),
    "politeness": lambda t: f"As requested, here is the result. {t}",
    "clauses": lambda t: " ".join(reversed([f"{s.strip().rstrip('.')}." for s in t.split(". ")])),
    "format": lambda t: "- " + t.replace(". ", ".\n- "),
}
_OTHER = {
    "amount": lambda t, f: t.replace(f["amount"], f["other_amount"]),
    "decision": lambda t, f: t.replace("is scheduled", "is refused"),
    "negation": lambda t, f: t.replace("was not paid", "was paid"),
    "vendor": lambda t, f: t.replace(f["vendor"], f["other_vendor"]),
    "warning": lambda t, f: t.replace(" The limit of the approver does not cover it.", ""),
}
_VENDORS = ("Northwind Traders", "Contoso Limited", "Initech", "Globex Corporation", "Tyrell", "Wayne Enterprises")


def example_pairs(*, seed: int, families: int = 48) -> list[JudgedPair]:
    """Return constructed pairs: edits whose effect is known, five that change nothing and five that do, in each family.

    Nobody judged them and no agent said them; every pair is marked ``constructed``.

    Parameters
    ----------
    seed : int
        The same seed gives the same pairs.
    families : int
        Texts that the edits are made of, at least 2.

    Returns
    -------
    list of JudgedPair

    Examples
    --------
    >>> pairs = example_pairs(seed=1)
    >>> len(pairs), sum(pair.equivalent for pair in pairs)
    (480, 240)
    """
    chance = np.random.default_rng(seed)
    found = []
    for at in range(families):
        vendor, other = (_VENDORS[int(i)] for i in chance.choice(len(_VENDORS), 2, replace=False))
        cents = chance.integers(10_000, 900_000, 2)
        facts = {
            "vendor": vendor, "other_vendor": other, "amount": f"{cents[0] / 100:.2f}",
            "other_amount": f"{(cents[0] + cents[1]) / 100:.2f}",
        }  # fmt: skip
        text = (
            f"Invoice INV-{chance.integers(1000, 9999)} of {vendor} agrees with its order. It was not paid before. "
            f"The payment of {facts['amount']} is scheduled. The limit of the approver does not cover it."
        )
        edits = [(name, edit(text), True) for name, edit in _SAME.items()]
        edits += [(name, change(text, facts), False) for name, change in _OTHER.items()]
        found += [
            JudgedPair(
                pair=f"P{at:03d}-{name}", family_id=f"T{at:03d}", before=text, after=after, equivalent=same, edit=name,
                constructed=True,
            )
            for name, after, same in edits
        ]  # fmt: skip
    return found
