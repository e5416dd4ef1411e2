"""Deterministic checks of a rewording: the same facts, and the same words that change what is asked.

Each check takes two texts and returns what it found; no finding means only that these checks saw nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from plumbline.rules.findings import Finding
from plumbline.rules.lexicon import (
    CLASSES,
    FAMILIES,
    actions_in,
    classes_in,
    content_words,
    negated_words,
    opposites,
    stem,
    words,
)
from plumbline.rules.readings import Reading, Readings, masked, read
from plumbline.rules.task_view import Facts

__all__ = ["PRESERVED", "compare_texts", "hidden_characters"]

PRESERVED = (
    "identifiers", "amounts", "dates", "names", "quotes", "negation", "modality", "urgency", "scope", "order",
    "actions", "roles",
)  # fmt: skip
"""What a rewording keeps unless the perturbation says otherwise."""

_KINDS = {
    "identifier": ("identifiers", "identifier"), "quantity": ("amounts", "amount"), "ordinal": ("amounts", "ordinal"),
    "date": ("dates", "date"), "time": ("dates", "time"), "quote": ("quotes", "quote"),
}  # fmt: skip
_COUNTED = ("quantity",)
_LETTERS = re.compile(r"[a-z]+")
_META = re.compile(
    r"^\s*(?:sure|certainly|of course|absolutely)\b[,!.:]|\b(?:paraphras\w*|rephras\w*|reworded|rewrite|rewording)\b"
    r"|\bas an? (?:ai|language model)\b|^\s*here(?:'s| is| are)\b[^.!?\n]*:"
    r"|\b(?:original|rewritten) (?:text|prompt|request|message)\b",
    re.I,
)
_DIRECTIONS = frozenset(words("from to into onto before after until till over against instead than"))


def compare_texts(
    original: str, rewrite: str, *, facts: Facts | None = None, preserve: Collection[str] = PRESERVED
) -> list[Finding]:
    """Return what a rewording changed that it must keep.

    Parameters
    ----------
    original, rewrite : str
        The two texts.
    facts : Facts, optional
        Facts of the original, beyond those that can be read from it.
    preserve : collection of str
        Which of ``PRESERVED`` are checked.

    Returns
    -------
    list of Finding
        Empty if the checks saw no change.

    Examples
    --------
    >>> [str(f) for f in compare_texts("Do not cancel order A-17.", "Please cancel order A-17.")]
    ["negation_changed: 'not' 1 time in the original, 0 times in the rewrite"]
    """
    found = list(_form(original, rewrite))
    if not rewrite.strip():
        return found
    first, second = read(original), read(rewrite)
    found += _facts(first, second, preserve)
    found += _listed(facts or Facts(), second, preserve)
    if "names" in preserve:
        found += _names(first, second)
    found += _words(first, second, preserve)
    if "roles" in preserve:
        found += [*_moved_quantities(first, second), *_swapped(first, second)]
    return found


def _form(original: str, rewrite: str) -> Iterator[Finding]:
    if not rewrite.strip():
        yield Finding("empty", "the rewrite is empty")
        return
    if " ".join(original.split()) == " ".join(rewrite.split()):
        yield Finding("unchanged", "the rewrite differs from the original in nothing but white space")
    for name in sorted(hidden_characters(rewrite) - hidden_characters(original)):
        yield Finding(
            "hidden_text", f"the rewrite holds {name}, which a reader does not see or takes for another letter"
        )
    if (meta := _META.search(rewrite)) and not _META.search(original):
        yield Finding("meta_text", f"the rewrite speaks of itself: {meta[0].strip()!r}")
    before, after = len(original.split()), len(rewrite.split())
    if not before / 2.5 - 6 <= after <= before * 2.5 + 6:
        yield Finding("length", f"{before} words became {after}; allowed is a factor of 2.5 and 6 words beyond")
    about = content_words(masked(read(original)))
    if len(about) >= 3 and not about & content_words(masked(read(rewrite))):
        yield Finding("unrelated", "the rewrite shares no content word with the original")


def hidden_characters(text: str) -> set[str]:
    """Return the names of characters that are invisible or mix scripts inside a word."""
    found = {
        unicodedata.name(char, f"U+{ord(char):04X}")
        for char in text
        if unicodedata.category(char) in ("Cf", "Co", "Cn")
        or (unicodedata.category(char) == "Cc" and char not in "\n\r\t")
    }
    for word in re.findall(r"\w+", text):
        scripts = {unicodedata.name(char, "?").split()[0] for char in word if char.isalpha()}
        if "LATIN" in scripts and len(scripts) > 1:
            found.add(f"a word of mixed scripts ({', '.join(sorted(scripts))})")
    return found


def _facts(first: Readings, second: Readings, preserve: Collection[str]) -> Iterator[Finding]:
    for kind, (family, word) in _KINDS.items():
        if family not in preserve:
            continue
        had, has = first.keys(kind), second.keys(kind)
        lost, new = had - has - second.soft(kind), has - had - first.soft(kind)
        if kind not in _COUNTED:
            lost, new = Counter(set(had) - set(has)), Counter(set(has) - set(had))
        yield from (Finding(f"lost_{word}", f"{_spelled(first, kind, key)} is gone") for key in sorted(lost))
        yield from (Finding(f"new_{word}", f"{_spelled(second, kind, key)} is new") for key in sorted(new))


def _spelled(readings: Readings, kind: str, key: str) -> str:
    return next(repr(reading.text) for reading in readings.found if reading.kind == kind and reading.key == key)


def _listed(facts: Facts, second: Readings, preserve: Collection[str]) -> Iterator[Finding]:
    """Facts that were listed: each stands in the rewrite as spelled, or is read there in another spelling."""
    plain = " ".join(second.text.split())
    known = {(reading.kind, reading.key) for reading in second.found}
    for family in ("identifiers", "amounts", "dates", "names"):
        for text in getattr(facts, family) if family in preserve else ():
            spelled = re.search(rf"(?<!\w){re.escape(' '.join(text.split()))}(?!\w)", plain) is not None
            again = {(r.kind, r.key) for r in read(text).found if family in ("amounts", "dates")}
            if not spelled and not (again and again <= known):
                yield Finding(f"lost_{family.removesuffix('s')}", f"{text!r} is gone")


def _names(first: Readings, second: Readings) -> Iterator[Finding]:
    had, has = set(first.keys("name")), set(second.keys("name"))
    before, after = set(re.findall(r"\w+", first.text.lower())), set(re.findall(r"\w+", second.text))
    yield from (Finding("lost_name", f"{name!r} is gone") for name in sorted(had - has - after))
    yield from (Finding("new_name", f"{name!r} is new") for name in sorted(has - had) if name.lower() not in before)


def _words(first: Readings, second: Readings, preserve: Collection[str]) -> Iterator[Finding]:
    before, after = masked(first), masked(second)
    had, has = classes_in(before), classes_in(after)
    for family in FAMILIES:
        if family not in preserve:
            continue
        for name in sorted(set(had) | set(has)):
            if CLASSES[name][0] == family and had[name] != has[name]:
                times = f"{had[name]} time{'' if had[name] == 1 else 's'} in the original, "
                times += f"{has[name]} time{'' if has[name] == 1 else 's'} in the rewrite"
                yield Finding(f"{family}_changed", f"{name!r} {times}")
    if "negation" in preserve:
        yield from _negations(before, after)
    if "actions" in preserve:
        for name in sorted(actions_in(before) ^ actions_in(after)):
            where = "only in the original" if name in actions_in(before) else "only in the rewrite"
            yield Finding("action_changed", f"{name!r} is asked {where}")


def _negations(before: str, after: str) -> Iterator[Finding]:
    """What a negation bears on: flagged only if it left one thing and came to another that stood without it."""
    had, has = negated_words(before), negated_words(after)
    freed, caught = had & content_words(after) - has, has & content_words(before) - had
    if freed and caught and not had & has:
        yield Finding("negation_moved", f"{sorted(freed)[0]!r} was negated, and now {sorted(caught)[0]!r} is")
    plain = set(_LETTERS.findall(before)), set(_LETTERS.findall(after))
    for word, opposite in sorted(opposites(plain[0] - plain[1], plain[1] - plain[0])):
        yield Finding("negation_changed", f"{word!r} became {opposite!r}")


def _neighbours(readings: Readings) -> Mapping[tuple[str, str], set[str]]:
    """The content word right before or after each number, by side and stem, with the numbers it stands beside."""
    found: dict[tuple[str, str], set[str]] = {}
    for reading in readings.found:
        if reading.kind != "quantity" or reading.key.startswith("each"):
            continue
        before = re.search(r"([a-z]+)\s+$", readings.text[: reading.start].lower())
        after = re.match(r"\s+([a-z]+)", readings.text[reading.end :].lower())
        for side, match in (("after", before), ("before", after)):
            if match and content_words(match[1]):
                found.setdefault((side, stem(match[1])), set()).add(reading.key)
    return MappingProxyType(found)


def _moved_quantities(first: Readings, second: Readings) -> Iterator[Finding]:
    """Numbers beside a word that other numbers stood beside; the word after one counts more than the word before."""
    had, has = _neighbours(first), _neighbours(second)
    settled = {key for place in set(had) & set(has) if place[0] == "before" for key in had[place] & has[place]}
    for place in sorted(set(had) & set(has)):
        side, word = place
        if moved := sorted(has[place] - had[place] - (settled if side == "after" else set())):
            yield Finding("quantity_moved", f"{moved[0]} now stands {side} {word!r}, where {sorted(had[place])} stood")


def _bound(readings: Readings) -> dict[str, set[str]]:
    """The directional word that stands at most two words before each fact, with the facts it stands before."""
    found: dict[str, set[str]] = {}
    for reading in _joined_names(readings):
        near = readings.text[: reading.start].lower().split()[-3:]
        word = next((word for word in reversed(near) if word in _DIRECTIONS), None)
        if word and "be" not in near and reading.kind != "ordinal" and not reading.key.startswith("each"):
            found.setdefault(word, set()).add(reading.key)
    return found


def _joined_names(readings: Readings) -> Iterator[Reading]:
    """The facts of a text; of names that stand side by side only the first, which a directional word belongs to."""
    end = -2
    for reading in readings.found:
        if reading.kind == "name" and reading.start <= end + 1:
            end = reading.end
            continue
        end = reading.end if reading.kind == "name" else -2
        yield reading


def _swapped(first: Readings, second: Readings) -> Iterator[Finding]:
    had, has = _bound(first), _bound(second)
    for word in sorted(set(had) & set(has)):
        elsewhere = {key for other, keys in had.items() if other != word for key in keys}
        for key in sorted((has[word] - had[word]) & elsewhere):
            yield Finding("roles_swapped", f"{key!r} now follows {word!r}, where {sorted(had[word])} stood")
