"""One planted defect for each relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plumbline.domains.questions.truth import truth
from plumbline.running import Agent, Task, Toolbox, describe
from plumbline.running.mutants import Mutant, Operator, Scene, change

__all__ = ["RELATION_MUTANTS"]

_ANSWER = "submit_answer"


def _answer(wrong: Callable[[Scene, dict[str, Any]], Mapping[str, Any]]) -> Operator:
    return change(_ANSWER, lambda scene, given: {**given, **wrong(scene, given)})


def _hits(scene: Scene) -> list[str]:
    return [one["source_id"] for one in scene.results["search_sources"]["sources"]]


def _known(scene: Scene) -> Mapping[str, Any]:
    return truth(scene.task)


def _remembers_source(scene: Scene, given: dict[str, Any]) -> Mapping[str, Any]:
    known = _known(scene)
    return (
        {"citations": known["support"]}
        if known["supports"] == 2 == len(given["citations"]) + 1 and ("most" not in (scene.task.prompt or ""))
        else {}
    )


def _remembers_value(scene: Scene, given: dict[str, Any]) -> Mapping[str, Any]:
    known = _known(scene)
    return {"value": known["values"][0], "certain": True} if not given["certain"] and known["answerable"] else {}


def _first_only(scene: Scene, given: dict[str, Any]) -> Mapping[str, Any]:
    return {"citations": [n for n in _hits(scene) if n in given["citations"]][:1]}


def _cites_letters(scene: Scene, given: dict[str, Any]) -> Mapping[str, Any]:
    return {"citations": [*given["citations"], *(n for n in _hits(scene) if n == "S-900")]}


def _old_name(scene: Scene, given: dict[str, Any]) -> Mapping[str, Any]:
    return {"subject": _known(scene)["subject"]}


def _cites_all(scene: Scene, given: dict[str, Any]) -> Mapping[str, Any]:
    return {"citations": _hits(scene)} if "at most" in (scene.task.prompt or "") else {}


@dataclass(frozen=True)
class EnglishOnly:
    """Does everything right and replies in English whatever it was asked in."""

    agent: Agent

    def describe(self) -> dict[str, Any]:
        """Return what decides how it acts."""
        return {"agent": "english_only", "of": describe(self.agent)}

    def __call__(self, task: Task, toolbox: Toolbox, /) -> Any:
        """Do the task and report in English."""
        said: Any = self.agent(task, toolbox)
        if "Quellen" in (task.prompt or ""):
            cited = said[said.index(" [") : -1] if " [" in said else ""
            return f"The sources were read and this is what they say about the question{cited}."
        return said


@dataclass(frozen=True)
class EnglishMutant:
    """A defect of words and not of calls; see ``Mutant``."""

    id: str = "relation:request_german"
    description: str = "Replies in English to a question in German."

    def of(self, agent: Agent) -> EnglishOnly:
        """Return an agent with this defect."""
        return EnglishOnly(agent)


def _mutant(relation: str, description: str, operator: Operator) -> tuple[str, Mutant]:
    return relation, Mutant(f"relation:{relation}", "relation", _ANSWER, "critical", description, operator)


RELATION_MUTANTS: Mapping[str, Mutant | EnglishMutant] = dict((
    _mutant("source_withdrawn", "Cites a source from memory.", _answer(_remembers_source)),
    _mutant("only_source_withdrawn", "Answers from memory where no source is left.", _answer(_remembers_value)),
    _mutant("sources_turned", "Cites only the source that is found first.", _answer(_first_only)),
    _mutant("irrelevant_source_added", "Cites letters to the editor.", _answer(_cites_letters)),
    _mutant("entity_renamed", "Goes on using the old name.", _answer(_old_name)),
    ("request_german", EnglishMutant()),
    _mutant("citations_limited", "Takes a limit for a request to cite.", _answer(_cites_all)),
))  # fmt: skip
"""Relation to the defect that it alone of the domain's relations finds."""
