"""Questions and sources: what the sources support, what the reader answers, what is graded right."""

from __future__ import annotations

import pytest

import plumbline as plumb
from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import NotFoundError
from plumbline.domains.questions.data import FACTS, OPENING, sentence
from plumbline.domains.questions.truth import derive, grade
from plumbline.domains.questions.world import new_world
from plumbline.running.clients import ModelCall, ModelReply, Prices, ScriptedClient, parse_price

DOMAIN = plumb.load_domain("questions")


def test_every_fact_is_stated_by_its_source_and_by_no_other():
    texts = {name: text for name, _, text in OPENING["sources"]}
    for source, subject, attribute, value in FACTS:
        stated = {name for name, text in texts.items() if sentence(subject, attribute, value) in text}
        assert stated == {s for s, *fact in FACTS if fact == [subject, attribute, value]}
        assert source in stated


def test_truth_knows_what_supports_an_answer_and_that_one_question_has_none():
    by_name = {task.id: task.context for task in DOMAIN.tasks}
    assert by_name["Q-01"]["support"] == ["S-101", "S-102"]
    assert (by_name["Q-04"]["values"], by_name["Q-04"]["first"]) == (["14 metres"], "S-105")
    assert [name for name, context in by_name.items() if not context["answerable"]] == ["Q-08"]
    with pytest.raises(NotFoundError, match="no question 'Q-99'; there are Q-01"):
        derive(new_world(), "Q-99")


def test_the_reader_is_right_on_every_question_and_keeps_the_policy():
    run = plumb.run_study(DOMAIN, arms=["reader"], variants=1, repetitions=1, clock=None)
    for trial in run.trials.itertuples():
        assert grade(parse_json(trial.outcome), DOMAIN.task(trial.task_id).context), trial.task_id
    assert run.check(DOMAIN.policy).violations().empty
    said = dict(zip(run.trials["task_id"], run.trials["final_output"], strict=True))
    assert said["Q-03"] == "The height of Tarn Light is 31 metres [S-103] [S-104]."
    assert said["Q-08"] == "I am not certain: the sources do not say the population of Vell Harbour."


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({}, True), ({"citations": ["S-105", "S-101"]}, False), ({"citations": []}, False),
        ({"value": "15 metres"}, False),
        ({"answers": 2}, False), ({"certain": False}, False),
    ],
)  # fmt: skip
def test_an_answer_is_right_if_what_it_cites_states_it(change, right):
    good = {"answers": 1, "value": "14 metres", "citations": ["S-105"], "certain": True}
    assert grade(good | change, DOMAIN.task("Q-04").context) is right


def test_a_question_without_an_answer_must_be_left_open():
    context = DOMAIN.task("Q-08").context
    assert grade({"answers": 1, "value": "", "citations": [], "certain": False}, context)
    assert not grade({"answers": 1, "value": "90", "citations": [], "certain": True}, context)


def test_a_model_arm_answers_through_the_same_tools():
    answer = {"subject": "Osk Basin", "value": "14 metres", "citations": ["S-105"], "certain": True}
    script = [
        ModelReply("", (ModelCall("1", "search_sources", '{"query": "Osk Basin"}'),), model="m"),
        ModelReply("", (ModelCall("2", "submit_answer", canonical_json(answer)),), model="m"),
        "The depth of Osk Basin is 14 metres [S-105].",
    ]
    free = Prices({"m": parse_price("in=0,out=0", as_of="2026-01-01")})
    run = plumb.run_study(
        DOMAIN, arms=["react"], tasks=["Q-04"], variants=1, repetitions=1, client=ScriptedClient(script), model="m",
        prices=free,
    )  # fmt: skip
    assert parse_json(run.trials["outcome"].iloc[0])["citations"] == ["S-105"]
    assert run.trials["final_output"].tolist() == ["The depth of Osk Basin is 14 metres [S-105]."]
