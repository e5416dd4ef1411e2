"""Named normalisers: the only changes a rule may make to a value before comparing it.

A rule names them in the order in which they act; each name says what it forgives. There is no way to pass a function,
so that a policy can be read, stored and digested as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from plumbline.base.errors import ParameterError

__all__ = ["NORMALISERS", "apply_normalisers", "check_normalisers", "published_value"]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_THOUSANDS = re.compile(r"([^\d]*)(\d{1,3}(?:,\d{3})+)((?:\.\d+)?[^\d]*)", re.ASCII)


def _on_text(change: Callable[[str], Any]) -> Callable[[Any], Any]:
    def normaliser(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    return normaliser


def _numeric_text(text: str) -> Any:
    """A text that spells a finite decimal number becomes that number; any other text stays as it is."""
    plain = text.strip()
    if not _NUMBER.fullmatch(plain):
        return text
    return int(plain) if plain.lstrip("+-").isdigit() and len(plain) < 400 else Decimal(plain)


def _thousands_comma(text: str) -> str:
    """Drop the commas of ``4,500.00``; a comma that does not stand between groups of three digits stays."""
    found = _THOUSANDS.fullmatch(text)
    return found[1] + found[2].replace(",", "") + found[3] if found else text


def _number_text(value: Any) -> Any:
    """An integer becomes the text that spells it, so that ``7002`` and ``"7002"`` are one identifier."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def published_value(value: Any) -> Any:
    """Normalise as the founding studies did: trimmed, white space collapsed, lower case; every number a binary float.

    Kept only so that their figures can be recomputed: it makes identifiers that differ in case equal and large
    integers indistinct.
    """
    if isinstance(value, str):
        return " ".join(value.split()).lower()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        try:
            return float(value)
        except OverflowError:
            return value
    if isinstance(value, Mapping):
        return {key: published_value(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [published_value(item) for item in value]
    return value


NORMALISERS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "trim": _on_text(str.strip),
        "collapse_space": _on_text(lambda text: " ".join(text.split())),
        "lowercase": _on_text(str.lower),
        "casefold": _on_text(str.casefold),
        "nfc": _on_text(lambda text: unicodedata.normalize("NFC", text)),
        "nfkc": _on_text(lambda text: unicodedata.normalize("NFKC", text)),
        "numeric_text": _on_text(_numeric_text),
        "thousands_comma": _on_text(_thousands_comma),
        "number_text": _number_text,
        "published": published_value,
    }
)
"""Name to function: ``trim`` white space at both ends; ``collapse_space`` runs of it to one blank; ``lowercase``;
``casefold``; ``nfc`` and ``nfkc`` Unicode forms; ``numeric_text`` text that spells a number becomes the number;
``thousands_comma`` 4,500.00 becomes 4500.00; ``number_text`` an integer becomes text; ``published`` as the founding
studies."""


def check_normalisers(names: tuple[str, ...]) -> None:
    """Raise unless every name is a known normaliser.

    Raises
    ------
    ParameterError
        A single text instead of a tuple, or a name that is not in ``NORMALISERS``.
    """
    if isinstance(names, str) or not isinstance(names, tuple):
        raise ParameterError(f"normalise is {names!r}; give a tuple of names, for example ('trim', 'casefold').")
    for name in names:
        if name not in NORMALISERS:
            allowed = ", ".join(sorted(NORMALISERS))
            raise ParameterError(f"normaliser {name!r} is unknown; allowed are {allowed}. Functions are not accepted.")


def apply_normalisers(value: Any, names: tuple[str, ...]) -> Any:
    """Return the value after the named normalisers, in their order.

    Examples
    --------
    >>> apply_normalisers("  Ashfield   Logistics ", ("collapse_space", "casefold"))
    'ashfield logistics'
    """
    for name in names:
        value = NORMALISERS[name](value)
    return value
