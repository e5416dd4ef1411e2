"""The sources and what they say. The town of Vellmoor, its ferry, light, basin and bridge do not exist.

A source's text is written from its facts, so that what it supports is known and not read out of prose.
"""

from __future__ import annotations

from plumbline.running.tables import Tables, TableSchema

__all__ = ["ATTRIBUTES", "FACTS", "OPENING", "QUESTIONS", "SCHEMA", "sentence"]

ATTRIBUTES = {
    "length": "Länge", "height": "Höhe", "depth": "Tiefe", "crew": "Besatzung", "toll": "Maut",
    "year of construction": "Baujahr", "population": "Einwohnerzahl",
}  # fmt: skip
"""What is asked about, in English and in German."""

FACTS = (
    ("S-101", "Marrow Queen", "length", "48 metres"),
    ("S-102", "Marrow Queen", "length", "48 metres"),
    ("S-102", "Marrow Queen", "crew", "9 people"),
    ("S-103", "Tarn Light", "year of construction", "1887"),
    ("S-103", "Tarn Light", "height", "31 metres"),
    ("S-104", "Tarn Light", "height", "31 metres"),
    ("S-105", "Osk Basin", "depth", "14 metres"),
    ("S-106", "Pell Bridge", "toll", "3 crowns"),
    ("S-106", "Pell Bridge", "length", "212 metres"),
    ("S-107", "Pell Bridge", "length", "212 metres"),
)
"""Source, subject, attribute, value."""

_TITLES = {
    "S-101": ("Harbour register of Vellmoor", "Entries are made at Vell Harbour."),
    "S-102": ("Timetable of the Vellmoor ferry", "There is no sailing on the first Monday of a month."),
    "S-103": ("A short history of the coast lights", "Keepers lived there until the light was made automatic."),
    "S-104": ("Notice to mariners 12", "Bearings are true and from seaward."),
    "S-105": ("Dredging report", "The Marrow Queen was moved to another berth for the work."),
    "S-106": ("Tariffs of the bridge office", "Cyclists pay nothing."),
    "S-107": ("Works of the county engineer", "The deck was laid anew in two summers."),
}

QUESTIONS = (
    ("Q-01", "Marrow Queen", "length"), ("Q-02", "Tarn Light", "year of construction"),
    ("Q-03", "Tarn Light", "height"),
    ("Q-04", "Osk Basin", "depth"), ("Q-05", "Marrow Queen", "crew"), ("Q-06", "Pell Bridge", "toll"),
    ("Q-07", "Pell Bridge", "length"), ("Q-08", "Vell Harbour", "population"),
)  # fmt: skip
"""Eight questions; no source answers the last."""


def sentence(subject: str, attribute: str, value: str) -> str:
    """Return how a source states a fact.

    Examples
    --------
    >>> sentence("Osk Basin", "depth", "14 metres")
    'The depth of Osk Basin is 14 metres.'
    """
    return f"The {attribute} of {subject} is {value}."


def _text(source: str) -> str:
    said = [sentence(*fact) for name, *fact in FACTS if name == source]
    return " ".join([*said, _TITLES[source][1]])


OPENING: Tables = {
    "sources": tuple((name, title, _text(name)) for name, (title, _) in _TITLES.items()),
    "facts": tuple((f"{source}/{subject}/{attribute}", source, subject, attribute, value)
                   for source, subject, attribute, value in FACTS),
}  # fmt: skip
"""The opening tables; no tool shows ``facts``."""

SCHEMA = TableSchema(
    """
CREATE TABLE sources (source_id TEXT PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE facts (
    fact_id TEXT PRIMARY KEY, source_id TEXT NOT NULL, subject TEXT NOT NULL, attribute TEXT NOT NULL,
    value TEXT NOT NULL);
CREATE TABLE answers (
    answer_id TEXT PRIMARY KEY, subject TEXT NOT NULL, value TEXT NOT NULL, citations TEXT NOT NULL,
    certain INTEGER NOT NULL);
""",
    {"sources": ("source_id", "title", "text"), "facts": ("fact_id", "source_id", "subject", "attribute", "value")},
    frozenset(),
    ("answers",),
)
"""Sources, what they support, and the answers that were given."""
