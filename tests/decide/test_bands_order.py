"""The order rule, by property: what nothing rests on may move, what something rests on may not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.decide.bands import judge_order
from plumbline.decide.bands.order import depends
from plumbline.decide.bands.parts import Tool
from plumbline.decide.bands.trials import Call

READS = {f"read_{i}": Tool(effect="read", repeatable=True, reads=(f"s{i % 3}",)) for i in range(5)}
WRITES = {f"write_{i}": Tool(effect="write", writes=(f"s{i % 3}",)) for i in range(3)}
TOOLS = READS | WRITES


def call(step, name, arguments, result, group=None):
    return Call(step, name, json.dumps(arguments), None if result is None else json.dumps(result), group=group)


def placed(calls):
    """The same calls, numbered in their new order."""
    return [Call(i, c.name, c.arguments_text, c.result_text, group=c.group) for i, c in enumerate(calls)]


@st.composite
def independent_reads(draw):
    names = draw(st.lists(st.sampled_from(sorted(READS)), min_size=1, max_size=7))
    keys = draw(st.lists(st.sampled_from(["A", "B", "C"]), min_size=len(names), max_size=len(names)))
    return [
        call(i, n, {"id": k}, {"value": f"answer {n} {k}"}) for i, (n, k) in enumerate(zip(names, keys, strict=True))
    ]


@given(independent_reads().flatmap(lambda calls: st.tuples(st.just(calls), st.permutations(calls))))
def test_permuting_independent_idempotent_reads_never_fails(both):
    old, new = both
    found = judge_order("same_unless_idempotent", old, placed(new), TOOLS, prompts=("A B C", "A B C"))
    assert found.verdict == "pass"
    strict = judge_order("same", old, placed(new), TOOLS)
    same = [(c.name, c.arguments_text) for c in old] == [(c.name, c.arguments_text) for c in new]
    assert (strict.verdict == "pass") == same


@given(
    before=independent_reads(),
    between=independent_reads(),
    write=st.sampled_from(sorted(WRITES)),
    read=st.sampled_from(sorted(READS)),
    repeatable=st.booleans(),
)
def test_swapping_a_write_with_a_read_it_depends_on_always_fails(before, between, write, read, repeatable):
    tools = TOOLS | {write: Tool(effect="write", repeatable=repeatable, writes=("elsewhere",))}
    source = call(0, read, {"id": "Z"}, {"account": "DE-77"})
    effect = call(0, write, {"to": "DE-77"}, {"done": "yes"})
    old = placed([*before, source, *between, effect])
    new = placed([*before, effect, *between, source])
    found = judge_order("same_unless_idempotent", old, new, tools, prompts=("Z", "Z"))
    assert found.verdict == "fail"


@given(write=st.sampled_from(sorted(WRITES)), read=st.sampled_from(sorted(READS)))
def test_declared_state_alone_decides_too(write, read):
    shares = set(WRITES[write].writes) & set(READS[read].reads)
    tools = TOOLS | {write: WRITES[write].model_copy(update={"repeatable": True})}
    old = [call(0, read, {"id": "A"}, {"v": "one"}), call(1, write, {"id": "A"}, {"v": "two"})]
    found = judge_order("same_unless_idempotent", old, placed(old[::-1]), tools, prompts=("A", "A"))
    assert found.verdict == ("fail" if shares else "pass")
    assert (f"both touch {min(shares)}" in found.said) if shares else found.said.endswith("nothing rests on it")


def test_a_value_that_was_known_before_came_from_no_call():
    look = call(0, "read_0", {"id": "A"}, {"id": "A", "total": 12.5})
    pay = call(1, "read_1", {"id": "A", "sum": 12.5}, {"ok": True})
    assert depends([look, pay], 0, 1, prompt="pay A") == "12.5"
    assert depends([look, pay], 0, 1, prompt="pay 12.5 for A") is None
    first = call(0, "read_2", {"id": "B"}, {"total": "12.50"})
    assert depends([first, look, pay], 1, 2, prompt="A B") == "12.5"  # text is not a number
    told = call(0, "read_2", {"id": "B"}, {"total": 12.50})
    assert depends([told, look, pay], 1, 2, prompt="A B") is None


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ({}, "read_0 is not declared, so nothing is assumed of it"),
        ({"read_0": Tool(effect="read")}, "read_1 is not declared"),
        (READS | {"read_0": Tool(effect="read")}, "read_0 is not safe to repeat"),
        (READS | {"read_0": Tool(effect="write", repeatable=True)}, "what one of them writes is not declared"),
    ],
)
def test_what_is_not_declared_is_not_assumed(tools, said):
    old = [call(0, "read_0", {"id": "A"}, {"v": 1}), call(1, "read_1", {"id": "A"}, {"v": 2})]
    found = judge_order("same_unless_idempotent", old, placed(old[::-1]), tools, prompts=("A", "A"))
    assert found.verdict == "fail"
    assert said in found.said


def test_an_answer_that_is_not_on_record_cannot_be_told():
    old = [call(0, "read_0", {"id": "A"}, None), call(1, "read_1", {"id": "A"}, {"v": 2})]
    found = judge_order("same_unless_idempotent", old, placed(old[::-1]), READS, prompts=("A", "A"))
    assert found.verdict == "cannot_tell"
    assert "what it answered is not on record" in found.said


def test_calls_of_one_turn_have_no_order():
    one, two = (call(i, f"read_{i}", {"id": "A"}, {"v": i}, group=1) for i in (0, 1))
    assert judge_order("same", [one, two], placed([two, one]), READS).verdict == "pass"
    later = Call(1, "read_1", two.arguments_text, two.result_text, group=2)
    assert judge_order("same", [one, later], [one, two], READS).verdict == "fail"  # an order that was lost


def test_a_repeat_of_what_is_safe_to_repeat_passes_and_others_do_not():
    one, two = (call(i, f"read_{i}", {"id": "A"}, {"v": i}) for i in (0, 1))
    assert judge_order("same_unless_idempotent", [one, two], placed([one, one, two]), READS).verdict == "pass"
    assert judge_order("same", [one, two], placed([one, one, two]), READS).verdict == "fail"
    missing = judge_order("same_unless_idempotent", [one, two], [one], READS)
    assert (missing.verdict, missing.said) == ("fail", "read_1 (baseline step 1) is not called")
    write = call(2, "write_0", {"id": "A"}, {"v": 3})
    twice = judge_order("same_unless_idempotent", [one, write], placed([one, write, write]), TOOLS)
    assert (twice.verdict, twice.said) == ("fail", "write_0 (step 2) is called besides")
