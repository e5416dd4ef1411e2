"""The reference values, and how an answer is compared with them: every output by its path, none passed over in silence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OWN = json.loads((ROOT / "tests" / "reference" / "stats_reference.json").read_text(encoding="utf-8"))
ENTRIES: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in OWN["entries"]}
SHARED = ROOT.parent / "shared"

LOOSER = {"exact_p": 1e-6, "exact_tost_p": 1e-6, "barnard": 1e-5, "boschloo": 1e-5}
"""Outputs compared more loosely than 1e-9, as their entries say: (beginning of the last part of the path, tolerance)."""


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf of nested outputs with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flat(item, f"{path}/{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from flat(item, f"{path}/{position}")
    else:
        yield path, value


def tolerance(id: str, path: str) -> float:
    """Return the relative tolerance of one output."""
    name = path.split("/")[0]
    if id.startswith("equivalence-") and name.startswith("exact_"):
        return 1e-6
    return next(
        (size for start, size in LOOSER.items() if name.startswith(start) and id.startswith("permutation")), 1e-9
    )


def agrees(found: Any, expected: Any, relative: float) -> bool:
    """Whether an answer equals a reference value: text and None exactly, numbers to a relative tolerance."""
    if isinstance(found, Fraction) and isinstance(expected, str):
        return found == Fraction(expected)
    if isinstance(expected, str | bool) or expected is None:
        return type(found) is type(expected) and found == expected
    if found is None or isinstance(found, str | bool):
        return False
    return math.isclose(float(found), expected, rel_tol=relative, abs_tol=1e-13)
