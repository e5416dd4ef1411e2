"""The accessors read like sentences, keep no state, and refuse frames that are not theirs."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest

import plumbline  # noqa: F401 - registers the accessors

OLD = pd.DataFrame(
    {
        "trial_id": "a/t/baseline/0/0",
        "step": [0, 1],
        "kind": "tool_call",
        "name": ["look", "pay"],
        "arguments": ['{"id":"T-1"}', '{"amount":4820.00}'],
        "status": "ok",
    }
)


def test_trace_says_paths_calls_and_alignment():
    assert OLD.trace.paths().tolist() == ["look > pay"]
    assert OLD.trace.calls("pay")["step"].tolist() == [1]
    new = OLD.iloc[[0, 0, 1]].assign(step=[0, 1, 2])
    edits = new.trace.align(OLD).edits
    assert edits["edit"].tolist().count("match") == 2
    assert len(edits) == 3


def test_args_are_typed_and_compared_with_their_ratio():
    assert OLD.args.get("amount").tolist()[1] == Decimal("4820.00")
    assert OLD.args.expand().columns.tolist() == ["amount", "id"]
    new = OLD.assign(arguments=['{"id":"T-1"}', '{"amount":48200.00}'])
    assert new.args.compare(OLD).differences["times"].tolist() == ["x10"]


def test_other_frames_have_no_accessor():
    bare = pd.DataFrame({"name": ["x"]})
    assert not hasattr(bare, "trace")
    with pytest.raises(AttributeError, match="arguments"):
        bare.args  # noqa: B018


def test_no_state_is_kept_between_looks():
    frame = OLD.copy()
    assert frame.trace.paths().tolist() == ["look > pay"]
    frame["name"] = ["pay", "look"]
    assert frame.trace.paths().tolist() == ["pay > look"]
