"""The reference values, and how an answer is compared with them: every output by its path, none in silence."""

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
    """Return the relative tolerance of one output: 1e-9, unless its entry says otherwise."""
    if id.startswith("equivalence-") and path.startswith("exact_"):
        return 1e-6
    if id.startswith("permutation-") and path.startswith(("barnard", "boschloo")):
        return 1e-5
    return 1e-9


def agrees(found: Any, expected: Any, relative: float) -> bool:
    """Whether an answer equals a reference value: text and None exactly, numbers to a relative tolerance."""
    if isinstance(found, Fraction) and isinstance(expected, str):
        return found == Fraction(expected)
    if isinstance(expected, str | bool) or expected is None:
        return type(found) is type(expected) and found == expected
    if found is None or isinstance(found, str | bool):
        return False
    return math.isclose(float(found), expected, rel_tol=relative, abs_tol=1e-13)
