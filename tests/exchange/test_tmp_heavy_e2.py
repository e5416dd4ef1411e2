"""Readers of message formats, given what no stack should write: they refuse it by name or read it; they never crash."""

from __future__ import annotations

import contextlib
import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import PlumblineError, TraceFormatError
from plumbline.exchange import read_traces

CALL = {"id": "c", "type": "function", "function": {"name": "pay", "arguments": '{"n": 1}'}}
SEEDS = {
    "openai": [
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "go"}]},
                {
                    "role": "assistant",
                    "content": "é",
                    "tool_calls": [CALL, CALL | {"id": "d"}],
                    "function_call": {"name": "x"},
                },
                {"role": "tool", "tool_call_id": "c", "content": '{"error": {"type": "t", "message": "m"}}'},
            ],
            "task": "t",
            "metadata": {"arm": "a", "repetition": 1},
            "outcome": {"ok": True},
            "choices": [{"message": {"role": "assistant", "content": "x"}}],
        }
    ],
    "openai_responses": {
        "input": "go",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "r"}]},
            {"type": "function_call", "call_id": "c", "name": "pay", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]},
            {"type": "mcp_call", "id": "m", "name": "n", "arguments": "{}", "error": "e"},
        ],
        "status": "failed",
        "error": {"code": "server_error"},
        "usage": {"input_tokens": 1},
    },
    "anthropic": {
        "system": "s",
        "messages": [
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t"},
                    {"type": "tool_use", "id": "c", "name": "pay", "input": {"n": 1}},
                ],
                "usage": {"input_tokens": 2},
                "model": "m",
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c",
                        "is_error": True,
                        "content": [{"type": "text", "text": "no"}],
                    }
                ],
            },
        ],
    },
    "langchain": {
        "messages": [
            {
                "type": "ai",
                "content": [{"type": "tool_use", "id": "c"}],
                "tool_calls": [{"name": "pay", "args": {"n": 1}, "id": "c"}],
                "invalid_tool_calls": [{"name": "p", "args": "{", "id": "d", "error": "e"}],
                "usage_metadata": {"input_tokens": 1},
                "response_metadata": {"model": "m"},
            },
            {"type": "tool", "data": {"content": "x", "tool_call_id": "c", "status": "error"}},
            {"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "hi"}},
        ]
    },
    "atif": {
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "a"},
        "final_metrics": {"total_cost_usd": 1},
        "steps": [
            {
                "source": "agent",
                "message": "m",
                "tool_calls": [{"tool_call_id": "c", "function_name": "pay", "arguments": {"n": 1}}],
                "observation": {
                    "results": [
                        {"source_call_id": "c", "content": "x", "subagent_trajectory_ref": [{"trajectory_id": "t"}]}
                    ]
                },
                "metrics": {"prompt_tokens": 1, "cost_usd": 2},
            },
        ],
        "subagent_trajectories": [
            {"trajectory_id": "t", "agent": {"name": "b"}, "steps": [{"source": "user", "message": "hi"}]}
        ],
    },
    "inspect": {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "m"},
        "plan": {},
        "samples": [
            {
                "id": 1,
                "epoch": 1,
                "scores": {"s": {"value": 1}},
                "metadata": {"k": 1},
                "model_usage": {"m": {"input_tokens": 1}},
                "limit": {"type": "token", "limit": 1},
                "messages": [
                    {
                        "role": "assistant",
                        "content": "attachment://h",
                        "tool_calls": [{"id": "c", "function": "pay", "arguments": {"n": 1}}],
                    },
                    {"role": "tool", "tool_call_id": "c", "content": "x", "error": {"type": "t", "message": "m"}},
                ],
                "attachments": {"h": "words"},
                "events": [
                    {"event": "span_begin", "id": "s1", "parent_id": "top", "type": "tool", "name": "pay"},
                    {
                        "event": "tool",
                        "id": "e",
                        "function": "pay",
                        "span_id": "top",
                        "arguments": {},
                        "events": [{"event": "tool", "id": "f"}],
                    },
                    {"event": "tool", "id": "c", "function": "pay", "span_id": "s1"},
                ],
            }
        ],
    },
    "tau_bench": [
        {
            "task_id": 1,
            "trial": 0,
            "reward": 1.0,
            "info": {"task": {"actions": [{"name": "pay", "kwargs": {"n": 1}}]}, "reward_info": {"info": {"r": 1}}},
            "traj": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c", "content": "Error: no"},
            ],
        }
    ],
    "project_folder": {
        "trial_id": "a/t/tool_fault/1/0",
        "perturbation": "tool_fault",
        "variant_id": "tool_fault/1",
        "arm": "a",
        "task_id": "t",
        "error": None,
        "steps": [
            {
                "kind": "tool_call",
                "name": "pay",
                "args": {"n": 1},
                "output": {"ok": True},
                "error": "503",
                "tokens_in": 0,
            }
        ],
        "final_output": "x",
        "tokens_in": 1,
        "cost_usd": 0.0,
    },
}
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**65), 2**65), st.floats(), st.text(max_size=3), st.just([]), st.just({}),
    st.just([[]]), st.just({"type": []}), st.just({"role": {}}), st.just([None, 3, "x"]), st.just({"id": ["x"]}),
    st.just("\ud800"), st.just({"content": "x"}),
)  # fmt: skip


def places(value, path=()):
    """Every place in a value, the innermost too."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(value, path, put):
    if not path:
        return put
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if put is Ellipsis:
        del inner[path[-1]]
    else:
        inner[path[-1]] = put
    return value


@pytest.mark.parametrize("name", SEEDS)
def test_the_seed_itself_is_recognised_and_has_calls(name):
    run = read_traces(SEEDS[name])
    assert run.notes["import"]["format"] == name
    assert (run.steps["kind"] == "tool_call").any()


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=600, deadline=None)
@given(data=st.data())
def test_one_or_two_odd_values_anywhere(name, data):
    value = SEEDS[name]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(value))))
        value = changed(value, path, data.draw(st.just(Ellipsis) | ODD) if path else data.draw(ODD))
    try:
        run = read_traces(value, format=name)
    except PlumblineError:
        return
    assert len(run.trials)


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_file_cut_off_is_refused_with_its_byte(name, data):
    whole = json.dumps(SEEDS[name], ensure_ascii=False).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    for format in ("auto", name):
        with pytest.raises(TraceFormatError) as caught:
            read_traces(whole[:cut], format=format)
        assert caught.value.byte is not None
        assert caught.value.byte <= cut


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_bytes_are_refused_or_read_but_never_crash(name, data):
    whole = bytearray(json.dumps(SEEDS[name], ensure_ascii=False).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    for strict in (True, False):
        with contextlib.suppress(PlumblineError):
            read_traces(bytes(whole), format=name, strict=strict)
