"""What one comparison can say: seven verdicts, and the record of one compared field."""

from __future__ import annotations

import html
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError

__all__ = [
    "AGREEING",
    "MISSING",
    "SEVERITIES",
    "VERDICTS",
    "FieldComparison",
    "Severity",
    "Verdict",
    "as_html",
    "check_word",
    "show_ratio",
    "show_value",
]

Verdict = Literal["equal", "different", "missing", "extra", "unreadable", "not_recorded", "ignored"]
Severity = Literal["critical", "high", "medium", "low"]

VERDICTS: Final = ("equal", "different", "missing", "extra", "unreadable", "not_recorded", "ignored")
"""``missing``: only the reference has it. ``extra``: only the candidate has it. ``unreadable``: something is there and
cannot be read as what it is declared to be. ``not_recorded``: nothing says whether it was there."""
SEVERITIES: Final = ("critical", "high", "medium", "low")
AGREEING: Final = ("equal", "ignored")


class _Missing:
    """The absence of a key, which is not the value null."""

    _only: _Missing | None = None

    def __new__(cls) -> _Missing:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "<missing>"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


@dataclass(frozen=True)
class FieldComparison:
    """One field of a candidate's call against the same field of a reference call.

    Parameters
    ----------
    field : str
        Path of the field, ``items[2].sku``; empty for the call as a whole.
    verdict : str
        One of ``VERDICTS``.
    severity : str
        ``critical``, ``high``, ``medium`` or ``low``, as the rule of the field declares.
    candidate, reference : object
        The two values as recorded; ``MISSING`` where the key is absent.
    distance : float or None
        How far apart, in the unit of the rule (the number's own unit, days, seconds, characters, fields); None if no
        distance is defined.
    ratio : float or None
        Candidate over reference, for numbers and money; None if undefined.
    reason : str
        Why, in words.
    counted : bool
        Whether the rules count this comparison as a disagreement.
    """

    field: str
    verdict: Verdict
    severity: Severity
    candidate: Any
    reference: Any
    distance: float | None = None
    ratio: float | None = None
    reason: str = ""
    counted: bool = False

    @property
    def agrees(self) -> bool:
        """Whether the two sides are the same for the rule."""
        return self.verdict in AGREEING

    def __str__(self) -> str:
        times = f" ({show_ratio(self.ratio)})" if self.ratio is not None and not self.agrees else ""
        where = self.field or "arguments"
        return (
            f"{where}: {self.verdict}, reference {show_value(self.reference)}, "
            f"candidate {show_value(self.candidate)}{times}; {self.reason}"
        )


def show_ratio(ratio: float | None) -> str:
    """Return a ratio as a reader says it.

    Examples
    --------
    >>> show_ratio(10.0), show_ratio(0.5), show_ratio(None)
    ('x10', 'x0.5', '')
    """
    return "" if ratio is None else f"x{ratio:.6g}"


def show_value(value: Any, limit: int = 60) -> str:
    """Return a value as canonical JSON text, cut to ``limit`` characters; ``<missing>`` for an absent key."""
    if value is MISSING:
        return repr(MISSING)
    try:
        text = canonical_json(value)
    except (TypeError, ValueError):
        text = str(value) if isinstance(value, float | Decimal) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_word(value: object, allowed: tuple[str, ...], what: str) -> None:
    """Raise unless ``value`` is one of the allowed words."""
    if value not in allowed:
        raise ParameterError(f"{what} is {value!r}; allowed are {', '.join(allowed)}.")


def as_html(result: object) -> str:
    """Return the plain text of a result as escaped HTML, for a notebook."""
    return f'<pre class="plumbline">{html.escape(str(result))}</pre>'
