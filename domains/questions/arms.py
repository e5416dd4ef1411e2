"""The arms: a reader that follows a fixed procedure without a model, and a model that calls the tools freely."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.domains.questions.data import ATTRIBUTES
from plumbline.running import ReactAgent, Task, Toolbox
from plumbline.running.clients import ModelClient

__all__ = ["ARMS", "POLICY_PROSE", "reader"]

POLICY_PROSE = """You answer questions from sources, through tools, and from nothing else.

1. Search for the name that is asked about and read every source that is found.
2. Submit one answer: the name, the value exactly as the sources state it, and the sources that state it. Cite no other.
3. If no source states it, or sources disagree, submit an empty value without citations and certain=false.
4. Then answer in one sentence in the language of the question, with each cited source in brackets: [S-101]."""
"""Standing instructions of the model arms."""

_SUBJECT = re.compile(r"\b(?:of|von) ([A-Z]\w+ [A-Z]\w+)")
_WORDS = {
    "en": ("The {attribute} of {subject} is {value}",
           "I am not certain: the sources do not say the {attribute} of {subject}"),
    "de": ("Die Angabe zu {attribute} von {subject} lautet {value}",
           "Ich bin nicht sicher: die Quellen sagen nichts zu {attribute} von {subject}"),
}  # fmt: skip


def reader() -> Callable[[Task, Toolbox], str]:
    """Make the reader: search the name, read what is found, answer with what states it."""
    return read


def read(task: Task, toolbox: Toolbox) -> str:
    """Answer one question."""
    asked = task.prompt or ""
    german = [name for name, words in ATTRIBUTES.items() if words in asked]
    attribute = (german or [name for name in ATTRIBUTES if f"the {name} of" in asked] or [""])[0]
    named = _SUBJECT.search(asked)
    if not attribute or named is None:
        return "I do not understand the question."
    subject = named[1]
    states = re.compile(rf"The {attribute} of {re.escape(subject)} is ([^.]+)\.")
    found: dict[str, list[str]] = {}
    for hit in toolbox.call("search_sources", {"query": subject})["sources"]:
        said = states.search(toolbox.call("read_source", {"source_id": hit["source_id"]})["text"])
        if said is not None:
            found.setdefault(said[1], []).append(hit["source_id"])
    certain = len(found) == 1
    value, cited = next(iter(found.items())) if certain else ("", [])
    cited = sorted(cited)[:1] if "one source at most" in asked else sorted(cited)
    answer = {"subject": subject, "value": value, "citations": cited, "certain": certain}
    toolbox.call("submit_answer", answer)
    words = _WORDS["de" if german else "en"][0 if certain else 1]
    shown = words.format(attribute=ATTRIBUTES[attribute] if german else attribute, subject=subject, value=value)
    return f"{shown}{''.join(f' [{name}]' for name in cited)}."


def react(
    *, client: ModelClient | None = None, model: str | None = None, structured: bool = False, max_turns: int = 12,
    settings: Mapping[str, Any] | None = None,
) -> ReactAgent:  # fmt: skip
    """Make the free-form arm: a model that is told the rules and calls the tools.

    Raises
    ------
    ParameterError
        There is no client or no model.
    """
    if client is None or not model:
        raise ParameterError("this arm needs a model to ask: give client= and model=")
    return ReactAgent(
        client, model, system=POLICY_PROSE, max_turns=max_turns, structured=structured,
        settings=dict(settings or {"max_tokens": 512}),
    )  # fmt: skip


ARMS: Mapping[str, Callable[..., Any]] = {
    "reader": reader,
    "react": react,
    "react_choice": functools.partial(react, structured=True, settings={"max_tokens": 128}),
}
"""What makes the agent of each arm; the last holds every answer to a JSON Schema."""
