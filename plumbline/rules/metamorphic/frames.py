"""The pairs frame: one row per pair, repetition and arm, planned pairs that never ran included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from plumbline.base.errors import Failure, SchemaError
from plumbline.base.schema import Column
from plumbline.rules.words import SEVERITIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COMPARISONS", "KINDS", "LAYERS", "PAIR_COLUMNS", "PAIR_SCHEMA", "PURPOSES", "RESULTS", "ROLES", "SOURCES",
           "check_pairs", "pairs_frame"]  # fmt: skip

KINDS = ("invariance", "equivariance", "monotonic", "removal", "own")
"""What a relation says of the follow-up: the same; a predictable change; one way only; gone or uncertain; own words."""
ROLES = ("advisory", "aggregate", "veto")
COMPARISONS = ("relation", "noise")
"""``noise`` is base against base: what the arm's own re-runs do to the same oracle."""
RESULTS = ("satisfied", "violated", "abstained", "invalid", "infrastructure")
LAYERS = ("deterministic", "graded")
SOURCES = ("trace", "incident", "specification", "design")
PURPOSES = ("common", "boundary", "severe", "weak_slice")

PAIR_SCHEMA = (
    Column("pair_id", "string", True, doc="relation@version:seed, the same for every arm and repetition"),
    Column("relation_id", "string", True),
    Column("relation_version", "string", True),
    Column("kind", "string", True, KINDS),
    Column("severity", "string", True, SEVERITIES),
    Column("role", "string", True, ROLES),
    Column("arm", "string", True),
    Column("seed_id", "string", True),
    Column("family_id", "string", True, doc="the unit of every interval, split and count"),
    Column("task_id", "string", True),
    Column("transformation", "string", True),
    Column("transformation_version", "string", True),
    Column("repetition", "int64", True),
    Column("base_trial", "string", True),
    Column("follow_trial", "string", True),
    Column("comparison", "string", True, COMPARISONS),
    Column("result", "string", True, RESULTS),
    Column("layer", "string", True, LAYERS),
    Column("reason", "string", True, doc="why, in words; empty where nothing needs saying"),
    Column("base_witness", "int64", doc="step of the base trial the result rests on"),
    Column("follow_witness", "int64", doc="step of the follow-up trial the result rests on"),
    Column("expected", "string", json=True),
    Column("observed", "string", json=True),
    Column("confirmed", "bool", True, doc="a violation confirmed by a deterministic layer or a person"),  # type: ignore[arg-type]
    Column("source", "string", True, SOURCES),
    Column("purpose", "string", True, PURPOSES),
    Column("locale", "string", True),
    Column("length", "int64", True, doc="characters of the seed's prompt"),
    Column("domain", "string", True),
    Column("tool_path", "string", True, doc="tools the base trial called, joined by ' > '"),
)
PAIR_COLUMNS = tuple(column.name for column in PAIR_SCHEMA)
_TYPES: dict[str, Any] = {"string": "string", "int64": "Int64", "bool": "boolean"}


def pairs_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a pairs frame, checked.

    Parameters
    ----------
    rows : iterable of mapping
        One per pair, repetition and arm, with every column of ``PAIR_COLUMNS``.

    Returns
    -------
    pandas.DataFrame
        Columns in the order of ``PAIR_COLUMNS``; text is ``string``, numbers ``Int64``, ``confirmed`` is ``bool``.

    Raises
    ------
    SchemaError
        A row does not fit; ``failures`` lists each.
    """
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(PAIR_COLUMNS), dtype=object)
    for column in PAIR_SCHEMA:
        frame[column.name] = frame[column.name].astype(_TYPES[column.type])
    return check_pairs(frame)


def check_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a pairs frame, or refuse it.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of ``PAIR_COLUMNS``, more are left alone.

    Raises
    ------
    SchemaError
        A column is missing, empty where it must not be, or holds a word that is not allowed; a pair stands twice.
    """
    if lost := [name for name in PAIR_COLUMNS if name not in frame.columns]:
        raise SchemaError(f"a pairs frame lacks the columns {lost}; it has {list(map(str, frame.columns))}")
    failures: list[Failure] = []
    for column in PAIR_SCHEMA:
        values = frame[column.name]
        if column.required:
            failures += _rows(column.name, values.isna(), values, "every row needs a value")
        if column.words:
            odd = ~values.isin(column.words) & values.notna()
            failures += _rows(column.name, odd, values, f"allowed are {', '.join(column.words)}")
    twice = frame.duplicated(["pair_id", "arm", "repetition", "comparison"])
    failures += _rows("pair_id", twice, frame["pair_id"], "a pair stands once per arm, repetition and comparison")
    if failures:
        raise SchemaError(f"{len(failures)} values of the pairs frame do not fit", failures)
    return frame.assign(confirmed=frame["confirmed"].astype(bool)) if str(frame["confirmed"].dtype) != "bool" else frame


def _rows(column: str, odd: Any, values: Any, mend: str) -> list[Failure]:
    at = [n for n, wrong in enumerate(odd) if wrong]
    return [Failure("pairs", n, None, column, repr(values.iloc[n]), mend) for n in at]
