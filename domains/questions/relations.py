"""How an answer must stay or move when its sources, its question or a name changes in a known way."""

from __future__ import annotations

from typing import Any

from plumbline.domains.questions.data import OPENING, SCHEMA
from plumbline.domains.questions.tools import TOOLS
from plumbline.rules.metamorphic import (
    Case,
    Expect,
    Fact,
    PairTest,
    Precondition,
    Relation,
    Transformation,
    add_row,
    drop_rows,
    rename,
    reorder,
    reword,
    together,
)
from plumbline.running import Task, table_case, table_world
from plumbline.running.tables import TableWorld

__all__ = ["RELATIONS", "case", "world"]


def case(task: Task) -> Case:
    """Return a task's input as plain rows."""
    return table_case(SCHEMA, OPENING, task, tools=TOOLS, keys={})


def world(case: Case) -> TableWorld:
    """Return a fresh system of record with the rows of a case."""
    return table_world(SCHEMA, case)


def _states(base: Case, follow: Case) -> str:
    """Every fact on file is stated by its source, and by no source that lacks it."""
    texts = {row["source_id"]: row["text"] for row in follow.tables["sources"]}
    for row in follow.tables["facts"]:
        if f"The {row['attribute']} of {row['subject']} is {row['value']}." not in texts.get(row["source_id"], ""):
            return f"{row['source_id']} does not state {row['fact_id']}"
    return ""


_ANSWERED = Precondition("the sources answer the question", lambda case: case.facts["answerable"])
_ONE = Precondition("one source states it", lambda case: case.facts["supports"] == 1)
_TWO = Precondition("two sources state it", lambda case: case.facts["supports"] == 2)
_FACTS = Fact("what the sources state", lambda case: list(case.tables["facts"]))
_NAME = Fact("the name in the question", lambda case: case.facts["subject"] in (case.prompt or ""))
_QUESTION = Fact("the question", lambda case: case.prompt)
_STATED = PairTest("facts and sources agree", _states)
_CITED = {"of": "outcome", "field": "citations"}
_CITED_IN_TEXT = {"of": "text", "take": "citations"}
_VALUE, _CERTAIN = {"of": "outcome", "field": "value"}, {"of": "outcome", "field": "certain"}
_SUBJECT = {"of": "outcome", "field": "subject"}
_LANGUAGE = {"of": "text", "take": "language", "languages": ["de", "en"]}
_SIZE = {"of": "calls", "tool": "submit_answer", "argument": "citations", "take": "size"}
_ANSWER = tuple(Expect(measure, "equal") for measure in (_VALUE, _CITED, _CERTAIN))
_UNCERTAIN = {"measure": _CERTAIN, "is": False}
_FIRST = {"source_id": "$first"}
_PASSING = {
    "source_id": "S-900", "title": "Letters to the editor",
    "text": "A reader saw $subject on a postcard and asks whether it is for sale.",
}  # fmt: skip


def _passing(case: Case) -> Case:
    row = {**_PASSING, "text": _PASSING["text"].replace("$subject", case.facts["subject"])}
    made: Case = add_row("sources", row).apply(case)  # type: ignore[assignment]
    return made


def _relation(name: str, kind: str, title: str, *preconditions: Precondition, **more: Any) -> Relation:
    shared = {"risk_owner": "editor", "status": "validated", "severity": "critical", "role": "veto"}
    return Relation(name, "1", kind, title, preconditions=preconditions, **{**shared, **more})


_WITHDRAW = together(drop_rows("sources", _FIRST), drop_rows("facts", _FIRST), name="withdraw_source")

RELATIONS: tuple[Relation, ...] = (
    _relation(
        "source_withdrawn", "removal", "One of two sources withdrawn", _TWO,
        transformation=_WITHDRAW, changed_fields=("sources.-", "facts.-"), preserved_facts=(_QUESTION,),
        invalidations=(_STATED,),
        expects=(Expect(_CITED, "absent", {"value": "$first", "unless": _UNCERTAIN}),
                 Expect(_CITED_IN_TEXT, "absent", {"value": "$first", "unless": _UNCERTAIN})),
        expectation="A source that is not there is not cited, or the answer owns to be uncertain.",
    ),
    _relation(
        "only_source_withdrawn", "removal", "The only source withdrawn", _ONE,
        transformation=_WITHDRAW, changed_fields=("sources.-", "facts.-"), preserved_facts=(_QUESTION,),
        invalidations=(_STATED,), expects=(Expect(_VALUE, "absent", {"unless": _UNCERTAIN}),),
        expectation="Without any source the claim vanishes or the answer owns to be uncertain.",
    ),
    _relation(
        "sources_turned", "invariance", "The sources in another order",
        transformation=reorder("sources", name="turn_sources"), changed_fields=("sources.order",),
        preserved_facts=(_FACTS, _QUESTION), invalidations=(_STATED,), expects=_ANSWER,
        expectation="The order in which sources are on file decides nothing.", severity="high", role="aggregate",
    ),
    _relation(
        "irrelevant_source_added", "invariance", "A source that only mentions the name",
        transformation=Transformation("add_passing_source", "1", _passing), changed_fields=("sources.+",),
        preserved_facts=(_FACTS, _QUESTION), invalidations=(_STATED,), expects=_ANSWER,
        expectation="A source that states nothing about the question changes nothing and is not cited.",
        severity="high", role="aggregate",
    ),
    _relation(
        "entity_renamed", "equivariance", "The subject under another name everywhere", _ANSWERED,
        transformation=rename({"$subject": "Hollin Wray"}, name="rename_subject"),
        changed_fields=("prompt", "sources.text", "facts.fact_id", "facts.subject"), invalidations=(_STATED,),
        expects=(Expect(_SUBJECT, "renamed", {"names": "$names"}), *_ANSWER),
        expectation="The same answer, about the new name.",
    ),
    _relation(
        "request_german", "equivariance", "The question in German",
        transformation=reword("Was sagen unsere Quellen zu {attribute_de} von {subject}? Antworte nur aus ihnen und "
                              "nenne sie.", name="reword_german", parameters={"language": "de"}),
        changed_fields=("prompt",), preserved_facts=(_FACTS, _NAME),
        expects=(Expect(_LANGUAGE, "is", {"value": "$language"}), *_ANSWER),
        expectation="The reply is in German; value, citations and certainty stay.", severity="high", role="aggregate",
    ),
    _relation(
        "citations_limited", "monotonic", "At most one source may be cited",
        transformation=reword("What is the {attribute} of {subject}? Answer from our sources and cite them. Cite one "
                              "source at most.", name="limit_citations"),
        changed_fields=("prompt",), preserved_facts=(_FACTS, _NAME), expects=(Expect(_SIZE, "not_above"),),
        expectation="A limit never makes an answer cite more.", severity="medium", role="advisory",
    ),
)  # fmt: skip
"""Seven relations over all four kinds."""
