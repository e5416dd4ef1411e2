"""How one field of a call is compared: a kind, what it forgives, and how much a difference matters.

Each kind has one constructor. Nothing is forgiven that a rule does not name: tolerances are zero, case counts, and the
only changes to a value are named normalisers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Literal

from plumbline.base.errors import ParameterError
from plumbline.compare.normalise import check_normalisers
from plumbline.compare.quantities import as_exact, identity_key, is_number, json_type, zone_named
from plumbline.compare.verdicts import MISSING, SEVERITIES, Severity, check_word

__all__ = [
    "FieldRule",
    "date",
    "enumeration",
    "exact",
    "identifier",
    "ignore",
    "instant",
    "list_of",
    "money",
    "multiset_of",
    "number",
    "set_of",
    "text",
]

Presence = Literal["same", "required", "optional"]
Items = "FieldRule | Mapping[str, FieldRule] | None"

COLLECTIONS: Final = ("set", "multiset", "list")
KINDS: Final = (
    *("exact", "identifier", "number", "money", "date", "instant", "enumeration", "text", "ignore"),
    *COLLECTIONS,
    *("published", "published_number", "published_set", "published_default"),
)
PRESENCES: Final = ("same", "required", "optional")


@dataclass(frozen=True)
class FieldRule:
    """The rule of one field; build it with the constructor of its kind.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    severity : {'critical', 'high', 'medium', 'low'}
        How much a difference matters.
    presence : {'same', 'required', 'optional'}
        ``same``: present on one side only is a difference. ``required``: so too, even where extra keys are allowed,
        and said when both sides lack it. ``optional``: absence on one side is ignored.
    normalise : tuple of str
        Named normalisers, in their order.
    absolute, relative : Decimal
        Tolerances, 0 by default: the values agree if they are at most ``absolute`` apart, or at most ``relative``
        times the larger size.
    currency, zone : str or None
        Currency of an amount that states none; time zone of a time that states none.
    values : tuple
        The declared values of an enumeration.
    items : FieldRule, or tuple of (path, FieldRule), or None
        Rule of the items of a collection.
    default : object
        Value that an absent key stands for; ``MISSING`` if none is declared.
    """

    kind: str = "exact"
    severity: Severity = "high"
    presence: Presence = "same"
    normalise: tuple[str, ...] = ()
    absolute: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)
    currency: str | None = None
    zone: str | None = None
    values: tuple[Any, ...] = ()
    items: FieldRule | tuple[tuple[str, FieldRule], ...] | None = None
    default: Any = field(default=MISSING)

    def __post_init__(self) -> None:
        check_word(self.kind, KINDS, "the kind of a field rule")
        check_word(self.severity, SEVERITIES, "severity")
        check_word(self.presence, PRESENCES, "presence")
        check_normalisers(self.normalise)
        if self.default is not MISSING:
            identity_key(self.default)

    @property
    def tolerant(self) -> bool:
        """Whether the rule equates values in a way that does not carry over from one pair to the next."""
        return self.absolute > 0 or self.relative > 0 or self.presence == "optional"


def _tolerance(value: object, name: str) -> Decimal:
    if not is_number(value):
        raise ParameterError(f"{name} is {value!r}; give a number that is not negative, for example Decimal('0.01').")
    found = Decimal(as_exact(value))  # type: ignore[arg-type]
    if not found.is_finite() or found < 0:
        raise ParameterError(f"{name} is {value}; it must be finite and not negative.")
    return found


def exact(
    *, severity: Severity = "high", presence: Presence = "same", normalise: tuple[str, ...] = (), default: Any = MISSING
) -> FieldRule:
    """The same recorded value, JSON types included: 1, 1.0, "1" and true are four values.

    Examples
    --------
    >>> exact(severity="critical").kind
    'exact'
    """
    return FieldRule("exact", severity, presence, normalise, default=default)


def identifier(
    *, severity: Severity = "high", presence: Presence = "same", normalise: tuple[str, ...] = (), default: Any = MISSING
) -> FieldRule:
    """A name of a thing: text, case-sensitive, leading zeros and blanks count; the number 7002 is not the text "7002".

    ``normalise=("number_text",)`` declares that an integer and the text that spells it name the same thing.
    """
    return FieldRule("identifier", severity, presence, normalise, default=default)


def number(
    *,
    absolute: int | float | Decimal = 0,
    relative: int | float | Decimal = 0,
    severity: Severity = "high",
    presence: Presence = "same",
    normalise: tuple[str, ...] = (),
    default: Any = MISSING,
) -> FieldRule:
    """A number by its value: 1 equals 1.0; text and booleans are not numbers.

    Parameters
    ----------
    absolute : number, unit of the field, at least 0
        Largest distance that still agrees.
    relative : number, at least 0
        Largest distance as a share of the larger size. It does not apply to two integers of which one exceeds 2**53:
        integers have no rounding noise, and such integers are mostly identifiers.
    severity, presence, normalise, default
        As in ``FieldRule``; ``normalise=("numeric_text",)`` declares that numbers may be spelled as text.

    Examples
    --------
    >>> number(absolute=0.01).absolute
    Decimal('0.01')
    """
    return FieldRule(
        "number",
        severity,
        presence,
        normalise,
        absolute=_tolerance(absolute, "absolute"),
        relative=_tolerance(relative, "relative"),
        default=default,
    )


def money(
    *,
    currency: str | None = None,
    absolute: int | float | Decimal = 0,
    severity: Severity = "high",
    presence: Presence = "same",
    normalise: tuple[str, ...] = (),
    default: Any = MISSING,
) -> FieldRule:
    """An exact decimal amount with its currency: a number, "EUR 4500.00", or an object of amount and currency.

    Parameters
    ----------
    currency : str, optional
        ISO 4217 code of an amount that states none. Without it, an amount with a currency and one without cannot be
        told apart from equal, and the comparison is ``unreadable``.
    absolute : number, unit of the currency, at least 0
        Largest distance that still agrees.
    severity, presence, normalise, default
        As in ``FieldRule``; ``normalise=("thousands_comma",)`` reads 4,500.00.
    """
    if currency is not None and not (isinstance(currency, str) and re.fullmatch(r"[A-Z]{3}", currency)):
        raise ParameterError(f"currency is {currency!r}; give an ISO 4217 code of three capitals such as 'EUR'.")
    tolerance = _tolerance(absolute, "absolute")
    return FieldRule("money", severity, presence, normalise, absolute=tolerance, currency=currency, default=default)


def date(
    *,
    days: int = 0,
    zone: str | None = None,
    severity: Severity = "high",
    presence: Presence = "same",
    default: Any = MISSING,
) -> FieldRule:
    """A calendar date in ISO 8601.

    Parameters
    ----------
    days : int, at least 0
        Largest distance that still agrees.
    zone : str, optional
        IANA name of the zone whose calendar is meant; with it, a date with a time is read as a date.
    severity, presence, default
        As in ``FieldRule``.
    """
    return _temporal("date", days, "days", zone, severity, presence, default)


def instant(
    *,
    seconds: int | float = 0,
    zone: str | None = None,
    severity: Severity = "high",
    presence: Presence = "same",
    default: Any = MISSING,
) -> FieldRule:
    """A point in time in ISO 8601: 12:00+02:00 equals 10:00Z.

    Parameters
    ----------
    seconds : number, at least 0
        Largest distance that still agrees.
    zone : str, optional
        IANA name of the zone of a time that states no offset.
    severity, presence, default
        As in ``FieldRule``.
    """
    return _temporal("instant", seconds, "seconds", zone, severity, presence, default)


def _temporal(
    kind: str, span: object, name: str, zone: str | None, severity: Severity, presence: Presence, default: Any
) -> FieldRule:
    if zone is not None:
        zone_named(zone)
    tolerance = _tolerance(span, name)
    if math.isinf(float(tolerance)):
        raise ParameterError(f"{name} is {span}; it must fit a binary float.")
    return FieldRule(kind, severity, presence, absolute=tolerance, zone=zone, default=default)


def enumeration(
    values: Sequence[Any],
    *,
    severity: Severity = "high",
    presence: Presence = "same",
    normalise: tuple[str, ...] = (),
    default: Any = MISSING,
) -> FieldRule:
    """One of declared values, compared exactly; a value that is not declared is said in the reason.

    Raises
    ------
    ParameterError
        No value, or a value twice.
    """
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise ParameterError(f"values is {values!r}; give the declared values as a list that is not empty.")
    if len({identity_key(value) for value in values}) != len(values):
        raise ParameterError(f"values {list(values)!r} hold a value twice; declare each once.")
    return FieldRule("enumeration", severity, presence, normalise, values=tuple(values), default=default)


def text(
    *,
    severity: Severity = "high",
    presence: Presence = "same",
    normalise: tuple[str, ...] = ("nfc", "collapse_space"),
    default: Any = MISSING,
) -> FieldRule:
    """Free text: the same words in the same case; Unicode spelling and runs of white space do not count.

    ``normalise=()`` makes every character count. The distance is the number of characters to change.
    """
    return FieldRule("text", severity, presence, normalise, default=default)


def ignore(*, severity: Severity = "low") -> FieldRule:
    """A field that is not compared; its verdict is ``ignored``, whatever it holds and whether it is there."""
    return FieldRule("ignore", severity)


def set_of(
    items: FieldRule | Mapping[str, FieldRule] | None = None,
    *,
    severity: Severity = "high",
    presence: Presence = "same",
    default: Any = MISSING,
) -> FieldRule:
    """A list whose order and repetitions do not count; items are paired one to one, as well as possible.

    Parameters
    ----------
    items : FieldRule or mapping of path to FieldRule, optional
        Rule of each item, or of the fields of each item; exact by default.
    severity, presence, default
        As in ``FieldRule``.
    """
    return FieldRule("set", severity, presence, items=_items(items), default=default)


def multiset_of(
    items: FieldRule | Mapping[str, FieldRule] | None = None,
    *,
    severity: Severity = "high",
    presence: Presence = "same",
    default: Any = MISSING,
) -> FieldRule:
    """A list whose order does not count, but whose repetitions do; items are paired one to one, as well as possible."""
    return FieldRule("multiset", severity, presence, items=_items(items), default=default)


def list_of(
    items: FieldRule | Mapping[str, FieldRule] | None = None,
    *,
    severity: Severity = "high",
    presence: Presence = "same",
    default: Any = MISSING,
) -> FieldRule:
    """A list compared position by position; this is also how an undeclared list is compared."""
    return FieldRule("list", severity, presence, items=_items(items), default=default)


def _items(
    items: FieldRule | Mapping[str, FieldRule] | None,
) -> FieldRule | tuple[tuple[str, FieldRule], ...] | None:
    if items is None or isinstance(items, FieldRule):
        return items
    if not isinstance(items, Mapping) or not all(isinstance(rule, FieldRule) for rule in items.values()):
        raise ParameterError(f"items is {items!r}; give a field rule, or a mapping of path to field rule.")
    return tuple(items.items())


def describe(value: Any) -> str:
    """Return the JSON type of a value with its article, for messages."""
    kind = json_type(value)
    return {"integer": "an integer", "object": "an object", "null": "null", "text": "text"}.get(kind, f"a {kind}")
