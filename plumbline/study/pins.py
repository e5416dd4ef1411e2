"""Pinned figures: every number a study prints, with its method and its source, compared with what is computed now."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbline.base.errors import InputError, PinError

__all__ = ["Mismatch", "Pin", "PinReport", "check_pins", "read_pins"]

RELATIVE = 1e-9
_KEYS = {"id", "value", "method", "source"}


@dataclass(frozen=True)
class Pin:
    """One pinned figure.

    Parameters
    ----------
    id : str
        Name by which prose and checks refer to it.
    value : object
        A number, text (an exact fraction ``"7/15"`` among them), or a flat mapping of these.
    method : str
        How it is computed.
    source : str
        Where the value comes from: published, or computed here and checked against what.
    decimals : int, optional
        Published figures are rounded: compare after rounding to this many decimals.
    """

    id: str
    value: Any
    method: str
    source: str
    decimals: int | None = None


@dataclass(frozen=True)
class Mismatch:
    """A pin that does not hold: what was expected, what was found, how to walk back."""

    id: str
    expected: Any
    found: Any
    way_back: str

    def __str__(self) -> str:
        return f"pin {self.id}: expected {self.expected}, found {self.found}. {self.way_back}"


@dataclass(frozen=True)
class PinReport:
    """What was checked: pins that hold, pins that do not, figures without a pin."""

    study: str
    held: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    unpinned: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Say whether every pin holds and every figure has one."""
        return not self.mismatches and not self.unpinned and bool(self.held)

    def __str__(self) -> str:
        total = len(self.held) + len(self.mismatches)
        lines = [f"{self.study}: {len(self.held)} of {total} pins hold"]
        lines += [f"  {m}" for m in self.mismatches]
        lines += [f"  figure {name} has no pin; add it to pins.json with its source" for name in self.unpinned]
        return "\n".join(lines)

    def require(self) -> PinReport:
        """Return the report if every pin holds, else raise ``PinError``."""
        if not self.ok:
            raise PinError(str(self))
        return self


def read_pins(path: Path) -> dict[str, Pin]:
    """Read ``pins.json``: a list of pins, each id once."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; a study without pins cannot be checked") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    pins: dict[str, Pin] = {}
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict) or not set(entry) >= _KEYS or set(entry) - _KEYS - {"decimals"}:
            raise InputError(f"{path}: entry {number} needs {sorted(_KEYS)} (and may have decimals)")
        if entry["id"] in pins:
            raise InputError(f"{path}: pin {entry['id']!r} stands twice")
        pins[entry["id"]] = Pin(**entry)
    if not pins:
        raise InputError(f"{path} holds no pin; it must be a list of them")
    return pins


def check_pins(study: str, pins: Mapping[str, Pin], found: Mapping[str, Any], *, way_back: str) -> PinReport:
    """Compare computed figures with their pins.

    Parameters
    ----------
    study : str
        Name of the study.
    pins : mapping
        Pins by id.
    found : mapping
        Figures by id.
    way_back : str
        What to type to walk from a figure back to its trials; ``{id}`` stands for the pin.
    """
    held, bad = [], []
    for name, pin in pins.items():
        value = found.get(name)
        if name in found and same(pin.value, value, pin.decimals):
            held.append(name)
        else:
            shown = value if name in found else "nothing (the study no longer computes it)"
            bad.append(Mismatch(name, pin.value, shown, way_back.format(id=name)))
    return PinReport(study, tuple(held), tuple(bad), tuple(n for n in found if n not in pins))


def same(expected: Any, found: Any, decimals: int | None = None) -> bool:
    """Say whether a figure equals its pin: text and whole numbers exactly, others to a relative 1e-9 or by rounding."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(same(v, found[k], decimals) for k, v in expected.items())
    if isinstance(expected, list) and isinstance(found, list | tuple):
        return len(expected) == len(found) and all(same(a, b, decimals) for a, b in zip(expected, found, strict=True))
    if isinstance(expected, bool) or isinstance(found, bool) or not _numbers(expected, found):
        return type(expected) is type(found) and bool(expected == found)
    if isinstance(expected, int) and isinstance(found, int):
        return expected == found
    if decimals is not None:
        return math.isclose(expected, found, rel_tol=0, abs_tol=0.5000001 * 10**-decimals)
    return math.isclose(expected, found, rel_tol=RELATIVE, abs_tol=1e-15)


def _numbers(*values: Any) -> bool:
    return all(isinstance(v, int | float) and math.isfinite(v) for v in values)
