"""Facts read from a text: identifiers, quantities, dates, times, ordinals, names, quotations, each in one spelling.

Two spellings of one fact have one key: ``4,500.00`` and ``4500``, ``90 minutes`` and ``1.5 hours``, ``2026-07-03`` and
``3 July 2026``. Numbers are read as English writes them (comma between thousands, point before decimals); only a text
with both separators in the other order, ``4.500,00``, is read the other way. Nothing passes through a binary float.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from plumbline.rules import moments, quantities
from plumbline.rules.lexicon import NUMBER, words

__all__ = ["KINDS", "Reading", "Readings", "masked", "read"]

KINDS = ("quote", "identifier", "date", "time", "quantity", "ordinal", "name")
"""What can be read. ``date`` includes weekdays, months and words like tomorrow."""


@dataclass(frozen=True)
class Reading:
    """One fact and where it stands.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    key : str
        The fact in one spelling; two readings say the same exactly if kind and key agree.
    text : str
        The fact as spelled.
    start, end : int
        Where it stands in the text.
    soft : bool
        Whether it may be absent elsewhere: the word ``one`` is as often a pronoun as a number.
    """

    kind: str
    key: str
    text: str
    start: int
    end: int
    soft: bool = False


@dataclass(frozen=True)
class Readings:
    """Everything read from one text.

    Parameters
    ----------
    text : str
        The text.
    found : tuple of Reading
        In their order in the text.
    """

    text: str
    found: tuple[Reading, ...]

    def keys(self, kind: str) -> Counter[str]:
        """Count the facts of a kind that must be there."""
        return Counter(reading.key for reading in self.found if reading.kind == kind and not reading.soft)

    def soft(self, kind: str) -> Counter[str]:
        """Count the facts of a kind that may be there."""
        return Counter(reading.key for reading in self.found if reading.kind == kind and reading.soft)


_QUOTE = re.compile(r'"([^"\n]{1,400})"|“([^”\n]{1,400})”|`([^`\n]{1,400})`')
_IDENTIFIER = re.compile(
    r"""
    [\w.+-]+@[\w-]+(?:\.[\w-]+)+            # mail address
    | https?://[^\s<>"']+                   # web address
    | \#\d+\b                               # ticket number
    | (?<![\w/])/[\w.-]+(?:/[\w.-]+)+       # path
    | \b\d+(?:-\d+)+\b                      # account number, telephone number, range
    | \b\w+(?:[-./:\#]\w+)*\b               # word with joints; kept below only if it is built like an identifier
    """,
    re.VERBOSE,
)
_BUILT = re.compile(
    r"\d+(?:-\d+)+$|(?=.*\d)(?=.*[A-Za-z])|[a-z0-9]+_\w+|.*[@/\#]|.*[a-z][A-Z]|.*\w\.[a-z]{2,4}$", re.ASCII
)
_PLAIN_NUMBERED = re.compile(r"\d+(?:st|nd|rd|th)|\d+-[A-Za-z]+(?:-[a-z]+)?|\d{1,2}[ap]m|[A-Za-z]+-[a-z]+", re.ASCII)
_PROSE_JOINT = re.compile(r"[A-Za-z]+/[A-Za-z]+", re.ASCII)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_OPENING = re.compile(r"(?:^|[.!?:;\n\r(\[{•*>–—-]|[\"“”'‘])\s*$")
_NO_NAMES = frozenset(words("i i'm i'd i've i'll ok okay please thanks thank hi hello dear mr mrs ms dr am pm"))


@lru_cache(maxsize=4096)
def read(text: str) -> Readings:
    """Read the facts that stand in a text.

    Parameters
    ----------
    text : str
        Prose.

    Returns
    -------
    Readings
        Non-overlapping, in their order.

    Examples
    --------
    >>> [(r.kind, r.key) for r in read("Pay USD 4,500.00 for INV-7002 by 3 July 2026.").found]
    [('quantity', '4500 USD'), ('identifier', 'INV-7002'), ('date', '2026-07-03')]
    """
    found: list[Reading] = []
    left = text.replace("’", "'")
    for reader in (_quotes, _joined, _moments, _identifiers, _numbers, _names):
        new = reader(left)
        found += new
        left = _blank(left, new)
    return Readings(text, tuple(sorted(found, key=lambda reading: reading.start)))


def masked(readings: Readings) -> str:
    """Return the text in lower case with every fact blanked out but names, which are words too."""
    return _blank(readings.text.replace("’", "'"), [r for r in readings.found if r.kind != "name"]).lower()


def _blank(text: str, readings: list[Reading]) -> str:
    for reading in readings:
        sign = NUMBER if reading.kind in ("quantity", "ordinal") else "\0"
        text = text[: reading.start] + sign * (reading.end - reading.start) + text[reading.end :]
    return text


def _quotes(text: str) -> list[Reading]:
    made = []
    for match in _QUOTE.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        made.append(Reading("quote", " ".join(inner.split()), match[0], *match.span()))
    return made


def _joined(text: str) -> list[Reading]:
    """Dates and numbers whose inner signs would otherwise be taken for the joints of an identifier."""
    return [Reading("date", key, raw, start, end) for key, raw, start, end in moments.numeric_dates(text)]


def _moments(text: str) -> list[Reading]:
    return [Reading(kind, key, raw, start, end) for kind, key, raw, start, end in moments.find(text)]


def _identifiers(text: str) -> list[Reading]:
    made = []
    for match in _IDENTIFIER.finditer(text):
        raw = match[0].rstrip(".,;:!?")
        if not _BUILT.match(raw) or _PLAIN_NUMBERED.fullmatch(raw) or _PROSE_JOINT.fullmatch(raw):
            continue
        if quantities.is_quantity(raw):
            continue
        made.append(Reading("identifier", raw, raw, match.start(), match.start() + len(raw)))
    return made


def _numbers(text: str) -> list[Reading]:
    return [Reading(*parts) for parts in quantities.find(text)]


def _names(text: str) -> list[Reading]:
    """Capitalised words that do not open a sentence, and words in capitals anywhere."""
    made = []
    for match in _WORD.finditer(text):
        word = re.sub(r"['’]s?$|['’](?=[A-Z]?[a-z]*$).*", "", match[0]) or match[0]
        if match[0].lower() in _NO_NAMES or word.lower() in _NO_NAMES or not word[0].isupper():
            continue
        capitals = len(word) > 1 and word.isupper()
        if capitals or not _OPENING.search(text[: match.start()].replace("\0", "x").replace(NUMBER, "x")):
            made.append(Reading("name", word, word, match.start(), match.start() + len(word)))
    return made
