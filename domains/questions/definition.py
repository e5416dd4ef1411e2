"""The domain as plumbline loads it."""

from __future__ import annotations

from plumbline.domain import Domain
from plumbline.domains.questions.arms import ARMS
from plumbline.domains.questions.data import QUESTIONS
from plumbline.domains.questions.relations import RELATIONS, case, world
from plumbline.domains.questions.tools import TOOLS
from plumbline.domains.questions.truth import derive, grade, outcome, truth
from plumbline.domains.questions.world import new_world
from plumbline.rules import CallAtMost, MustCall, Ordering, Policy
from plumbline.running import Task

__all__ = ["DOMAIN"]


def _tasks() -> tuple[Task, ...]:
    fresh = new_world()
    try:
        return tuple(
            Task(
                name,
                f"What is the {attribute} of {subject}? Answer from our sources and cite them.",
                context=derive(fresh, name),
            )
            for name, subject, attribute in QUESTIONS
        )
    finally:
        fresh.close()


POLICY = Policy(
    "answers from sources",
    [
        MustCall("search_sources"),
        MustCall("submit_answer"),
        CallAtMost("submit_answer", 1),
        Ordering("search_sources", "submit_answer"),
    ],
)
"""Look before answering, and answer once."""

DOMAIN = Domain(
    "questions",
    "Questions and sources: an answer with citations, or none",
    tasks=_tasks(),
    new_world=new_world,
    tools=TOOLS,
    outcome=outcome,
    truth=truth,
    grade=grade,
    policy=POLICY,
    arms=ARMS,
    case=case,
    world=world,
    relations=lambda: RELATIONS,
)
"""Eight questions, three tools; Vellmoor and all that is in it is made up."""
