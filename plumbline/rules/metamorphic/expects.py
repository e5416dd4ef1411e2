"""The deterministic oracle: what must hold between a measure of the base trial and the same of its follow-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import RelationError
from plumbline.rules.metamorphic.case import resolve
from plumbline.rules.metamorphic.measures import Behaviour, Measured, checked_measure, measure, number

__all__ = ["MUSTS", "Expect", "Found"]

MUSTS = ("equal", "not_above", "not_below", "scaled", "renamed", "is", "absent", "within", "covers")
"""Same; not more; not less; times an exact factor; with names replaced; this value; gone (or uncertain); a subset; a
superset."""


@dataclass(frozen=True)
class Found:
    """What one expectation found: ``satisfied``, ``violated`` or ``abstained``, with the steps it rests on."""

    result: str
    reason: str = ""
    base_step: int | None = None
    follow_step: int | None = None
    expected: Any = None
    observed: Any = None


@dataclass(frozen=True)
class Expect:
    """One deterministic expectation.

    Parameters
    ----------
    measure : mapping
        What is looked at in both trials; see ``checked_measure``.
    must : str
        One of ``MUSTS``.
    with_ : mapping
        ``{"by": "1/3"}`` for ``scaled``; ``{"names": {old: new}}`` for ``renamed``; ``{"value": v}`` for ``is`` and
        ``absent`` (without it everything must be gone); ``{"order": [...]}`` ranks words for ``not_above`` and
        ``not_below``; ``{"unless": {"measure": ..., "is": v}}`` accepts a follow-up that owns to be uncertain.
        ``$name`` stands for a fact of the case or a parameter of the transformation.
    tolerance : str
        Exact decimal: by how much two numbers may differ.

    Examples
    --------
    >>> total = {"of": "outcome", "field": "total"}
    >>> base, follow = Behaviour("a", outcome={"total": 5}), Behaviour("b", outcome={"total": 7})
    >>> found = Expect(total, "not_above").judge(base, follow)
    >>> found.result, found.reason
    ('violated', 'outcome total: 7 where at most 5 is expected')
    """

    measure: Mapping[str, Any]
    must: str
    with_: Mapping[str, Any] = field(default_factory=dict)
    tolerance: str = "0"

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", checked_measure(self.measure))
        if self.must not in MUSTS:
            raise RelationError(f"an expectation must be one of {', '.join(MUSTS)}; found {self.must!r}")
        needed = {"scaled": "by", "renamed": "names", "is": "value"}.get(self.must)
        if needed and needed not in self.with_:
            raise RelationError(f"an expectation {self.must!r} needs {needed!r}; found {dict(self.with_)!r}")
        try:
            wrong = Decimal(self.tolerance) < 0
        except (ArithmeticError, TypeError, ValueError):
            wrong = True
        if wrong:
            raise RelationError(f"a tolerance is a decimal of at least 0, as text; found {self.tolerance!r}")

    @property
    def what(self) -> str:
        """What is looked at, in words."""
        said = [str(self.measure[k]) for k in ("of", "tool", "argument", "field", "take") if self.measure.get(k)]
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as JSON values."""
        return {"measure": dict(self.measure), "must": self.must, "with": dict(self.with_), "tolerance": self.tolerance}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Expect:
        """Read an expectation from what ``to_dict`` gives."""
        odd = sorted(set(values) - {"measure", "must", "with", "tolerance"})
        if odd or "measure" not in values or "must" not in values:
            raise RelationError(f"an expectation has measure, must, with, tolerance; found {sorted(values)}")
        return cls(values["measure"], values["must"], values.get("with") or {}, str(values.get("tolerance", "0")))

    def resolved(self, facts: Mapping[str, Any]) -> Expect:
        """Return the expectation with every ``$name`` replaced."""
        return Expect(resolve(self.measure, facts), self.must, resolve(self.with_, facts), self.tolerance)

    def as_noise(self) -> Expect:
        """Return what must hold when nothing was changed: the same, or still one way only."""
        return (
            self
            if self.must in ("equal", "not_above", "not_below")
            else Expect(self.measure, "equal", {}, self.tolerance)
        )

    def judge(self, base: Behaviour, follow: Behaviour) -> Found:
        """Judge a follow-up trial against its base."""
        one, other = measure(self.measure, base), measure(self.measure, follow)
        if self.must != "is" and one.trouble:
            return Found("abstained", f"base: {one.trouble}", one.step, other.step)
        if other.trouble:
            return Found("abstained", f"follow-up: {other.trouble}", one.step, other.step)
        result, expected, words = getattr(self, f"_{self.must}")(one.value, other.value)
        if result == "violated" and self._excused(follow):
            result = "satisfied"
        reason = "" if result == "satisfied" else f"{self.what}: {words}"
        steps = (None if self.must == "is" else one.step, _step(other, follow))
        return Found(result, reason, *steps, expected, other.value)

    def _excused(self, follow: Behaviour) -> bool:
        unless = self.with_.get("unless")
        return unless is not None and _same(
            measure(checked_measure(unless["measure"]), follow).value, unless["is"], "0"
        )

    def _equal(self, one: Any, other: Any) -> tuple[str, Any, str]:
        return _verdict(_same(one, other, self.tolerance), one, f"{_say(other)} where {_say(one)} is expected")

    def _is(self, one: Any, other: Any) -> tuple[str, Any, str]:
        return self._equal(self.with_["value"], other)

    def _scaled(self, one: Any, other: Any) -> tuple[str, Any, str]:
        was = number(one)
        if was is None or number(other) is None:
            return "abstained", None, f"{_say(one)} and {_say(other)} cannot be scaled"
        exact = Fraction(was) * Fraction(str(self.with_["by"]))
        off = abs(Fraction(number(other) or 0) - exact)
        shown = _decimal(exact)
        return _verdict(off <= Fraction(self.tolerance), shown, f"{_say(other)} where {_say(shown)} is expected")

    def _renamed(self, one: Any, other: Any) -> tuple[str, Any, str]:
        expected = _rename(one, self.with_["names"])
        return _verdict(
            _same(expected, other, self.tolerance), expected, f"{_say(other)} where {_say(expected)} is expected"
        )

    def _not_above(self, one: Any, other: Any) -> tuple[str, Any, str]:
        return self._ordered(one, other, 1, "at most")

    def _not_below(self, one: Any, other: Any) -> tuple[str, Any, str]:
        return self._ordered(one, other, -1, "at least")

    def _ordered(self, one: Any, other: Any, sign: int, words: str) -> tuple[str, Any, str]:
        order = self.with_.get("order")
        was, now = (number(v) if order is None else _rank(v, order) for v in (one, other))
        if was is None or now is None:
            return "abstained", None, f"{_say(one)} and {_say(other)} have no order"
        kept = (now - was) * sign <= Decimal(self.tolerance)
        return _verdict(kept, {words.replace(" ", "_"): one}, f"{_say(other)} where {words} {_say(one)} is expected")

    def _absent(self, one: Any, other: Any) -> tuple[str, Any, str]:
        gone = self.with_.get("value")
        if not _holds(one, gone):
            return "abstained", None, "the base trial shows nothing that could vanish"
        what = "nothing" if gone is None else f"no {_say(gone)}"
        return _verdict(not _holds(other, gone), {"absent": gone}, f"{_say(other)} where {what} is expected")

    def _within(self, one: Any, other: Any) -> tuple[str, Any, str]:
        extra = [v for v in _list(other) if v not in _list(one)]
        return _verdict(not extra, {"within": one}, f"{_say(extra)} is new beside {_say(one)}")

    def _covers(self, one: Any, other: Any) -> tuple[str, Any, str]:
        lost = [v for v in _list(one) if v not in _list(other)]
        return _verdict(not lost, {"covers": one}, f"{_say(lost)} of {_say(one)} is missing")


def _verdict(kept: bool, expected: Any, words: str) -> tuple[str, Any, str]:
    return ("satisfied" if kept else "violated"), expected, words


def _step(found: Measured, trial: Behaviour) -> int | None:
    """A thing that did not happen is seen where the trial ended."""
    if found.step is not None:
        return found.step
    return trial.text_step if trial.text_step is not None else (trial.calls[-1].step if trial.calls else None)


def _same(one: Any, other: Any, tolerance: str) -> bool:
    first, second = number(one), number(other)
    if first is not None and second is not None:
        return abs(first - second) <= Decimal(tolerance)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return set(one) == set(other) and all(_same(one[k], other[k], tolerance) for k in one)
    return type(one) is type(other) and one == other


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _rename(inner, names) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rename(inner, names) for inner in value]
    if isinstance(value, str):
        for old in sorted(names, key=len, reverse=True):
            value = value.replace(old, names[old])
    return value


def _rank(value: Any, order: Sequence[Any]) -> Decimal | None:
    """Nobody ranks below everybody."""
    if value is None:
        return Decimal(-1)
    return Decimal(list(order).index(value)) if value in order else None


def _holds(value: Any, gone: Any) -> bool:
    if gone is not None:
        return gone in _list(value)
    found = number(value)
    return bool(value) if found is None else found != 0


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else ([] if value is None else [value])


def _decimal(exact: Fraction) -> Any:
    found = Decimal(exact.numerator) / Decimal(exact.denominator)
    return found if Fraction(found) == exact else f"{exact.numerator}/{exact.denominator}"


def _say(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
