"""What identifies a request, and replies that read back as they were."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.running.clients import (
    ModelCall,
    ModelReply,
    ModelRequest,
    Usage,
)
from plumbline.running.clients.records import decode_reply, encode_reply, request_key, request_text, stable_json


def ask(trial: str = "t/0", turn: int = 0, **changed) -> ModelRequest:
    given = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "settings": {"max_tokens": 10}}
    return ModelRequest(**(given | changed), trial_id=trial, turn=turn)


TOOLS = [{"name": name, "description": name, "parameters": {"type": "object"}} for name in ("a", "b", "c")]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # lone surrogates too


@settings(deadline=None, max_examples=60)
@given(text=ANY_TEXT, arguments=ANY_TEXT, raw=st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_a_reply_reads_back_equal(text, arguments, raw):
    reply = ModelReply(text, (ModelCall("c", "pay", arguments),), "end_turn", Usage(1, None, 3), "m", raw)
    assert replace(decode_reply(encode_reply(reply)), source="live") == reply


@settings(deadline=None, max_examples=60)
@given(value=VALUES)
def test_the_fast_text_is_the_canonical_text(value):
    assert stable_json(value) == canonical_json(value)


@settings(deadline=None, max_examples=60)
@given(tools=st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6), data=st.data())
def test_only_the_order_of_tools_does_not_matter(tools, data):
    described = [{"name": name, "parameters": {}} for name in tools]
    base = ask(tools=described)
    assert request_key(replace(base, tools=data.draw(st.permutations(described)))) == request_key(base)
    others = [
        replace(base, turn=1), replace(base, trial_id="t/1"), replace(base, model="n"), replace(base, system="x"),
        replace(base, settings={"max_tokens": 11}), replace(base, schema={}), replace(base, messages=[]),
        replace(base, tools=[*described, {"name": "z", "parameters": {}}]),
    ]  # fmt: skip
    assert len({request_key(other) for other in [base, *others]}) == len(others) + 1


def test_decimals_and_floats_have_keys_and_surrogates_have_none():
    assert '"limit":4500.00' in request_text(ask(settings={"limit": Decimal("4500.00")}))
    with pytest.raises(ParameterError, match="no JSON"):
        request_text(ask(system="\ud800"))
    with pytest.raises(ParameterError, match="no JSON"):
        request_text(ask(settings={"temperature": float("nan")}))
    with pytest.raises(ParameterError, match="share a name"):
        request_text(ask(tools=[TOOLS[0], TOOLS[0]]))
