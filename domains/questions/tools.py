"""The three tools: look for sources, read one, answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ToolError
from plumbline.running import Tool
from plumbline.running.tables import TableWorld
from plumbline.running.tool import parameters, text

__all__ = ["TOOLS"]


def search_sources(world: TableWorld, query: str) -> dict[str, Any]:
    """Return the sources whose title or text holds the words, in the order in which they are on file."""
    rows = world.all("SELECT * FROM sources")
    wanted = query.casefold()
    hits = [row for row in rows if wanted in f"{row['title']} {row['text']}".casefold()]
    return {"sources": [{"source_id": row["source_id"], "title": row["title"]} for row in hits]}


def read_source(world: TableWorld, source_id: str) -> dict[str, Any]:
    """Return a source."""
    found = world.one("SELECT * FROM sources WHERE source_id = ?", source_id)
    if found is None:
        raise ToolError(f"no source {source_id!r} on file; source ids look like S-101", "not_found")
    return found


def submit_answer(
    world: TableWorld, subject: str, value: str, citations: Sequence[str], certain: bool
) -> dict[str, Any]:
    """Write the answer down."""
    key = f"A-{world.count('answers') + 1:03}"
    row = {"answer_id": key, "subject": subject, "value": value, "citations": canonical_json(list(citations))}
    world.add("answers", row | {"certain": int(certain)})
    return {"answer_id": key, "recorded": True}


TOOLS = (
    Tool(
        "search_sources", search_sources, parameters({"query": text("A name, such as Marrow Queen.")}), idempotent=True,
        description="Find the sources that mention a name.",
    ),
    Tool(
        "read_source", read_source, parameters({"source_id": text("Number of a source, such as S-101.")}),
        idempotent=True, description="Read a source.",
    ),
    Tool(
        "submit_answer", submit_answer,
        parameters({
            "subject": text("The name that was asked about."),
            "value": text("The answer as the sources state it; empty if they do not."),
            "citations": {"type": "array", "items": {"type": "string"}, "description": "Sources that state it."},
            "certain": {"type": "boolean", "description": "False if the sources do not answer the question."},
        }),
        mutating=True, description="Write the answer down, with the sources that state it.",
    ),
)  # fmt: skip
"""The last one changes the system of record."""
