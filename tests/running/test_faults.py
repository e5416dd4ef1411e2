from __future__ import annotations

import contextlib

import pytest

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError, ToolError
from plumbline.running import Fault, FaultPlan, Toolbox, TrialKey, call_with_retries, is_transient
from plumbline.running.faults import FAULTS
from plumbline.traces import Plan


def served(box: Toolbox, name: str, **arguments) -> str:
    try:
        box.call(name, arguments)
    except ToolError as error:
        return error.error_type
    return "ok"


@pytest.mark.parametrize("error", list(FAULTS))
def test_each_fault_strikes_before_the_tool_and_is_named_on_the_step(counting, error):
    world = counting.new_world()
    box = Toolbox(counting.tools, world, fault=Fault("add", error))
    assert [served(box, "read"), served(box, "add", by=1), served(box, "add", by=1)] == ["ok", "transient", "ok"]
    assert world.value == 1
    step = box.steps[1]
    assert (step["status"], step["error_type"], step["injected"]) == ("failed", "transient", error)
    assert step["error"] == FAULTS[error]
    assert is_transient(step["error"])
    assert [s["injected"] for s in box.steps] == [None, error, None]


@pytest.mark.parametrize(
    ("times", "on_call", "expected"),
    [(1, 1, [1, 0, 0, 0]), (2, 1, [1, 1, 0, 0]), (1, 3, [0, 0, 1, 0]), (2, 2, [0, 1, 1, 0]), (9, 4, [0, 0, 0, 1])],
)
def test_a_fault_strikes_the_calls_it_names(counting, times, on_call, expected):
    box = Toolbox(counting.tools, counting.new_world(), fault=Fault("add", "http_429", times=times, on_call=on_call))
    assert [int(served(box, "add", by=1) != "ok") for _ in range(4)] == expected


def test_a_fault_strikes_even_a_call_whose_arguments_are_wrong(counting):
    box = Toolbox(counting.tools, counting.new_world(), fault=Fault("add", "http_503"))
    assert [served(box, "add"), served(box, "add")] == ["transient", "bad_arguments"]


def test_the_same_fault_value_serves_many_toolboxes_without_being_used_up(counting):
    fault = Fault("read", "http_503")
    boxes = [Toolbox(counting.tools, counting.new_world(), fault=fault) for _ in range(3)]
    assert [served(box, "read") for box in boxes] == ["transient"] * 3


def test_a_fault_that_another_trial_spent_is_never_delivered(counting):
    box = Toolbox(counting.tools, counting.new_world(), fault=Fault("read", "http_503", spent_by="a/T-1/f/0/0"))
    assert served(box, "read") == "ok"
    assert box.steps[0]["injected"] is None


@pytest.mark.parametrize(
    "parts",
    [
        ("read", "http_500"),
        ("", "http_503"),
        ("read", "http_503", 0),
        ("read", "http_503", 1, 0),
        ("read", "http_503", True),
    ],
)
def test_an_impossible_fault_is_refused(parts):
    with pytest.raises(ParameterError):
        Fault(*parts)


def test_a_fault_is_written_and_read_as_canonical_json():
    fault = Fault("read", "http_503", times=2, spent_by="a/T-1/f/0/0")
    assert Fault.from_json(fault.to_json()) == fault
    assert fault.to_json() == canonical_json(fault.to_dict())
    with pytest.raises(ParameterError, match="keys"):
        Fault.from_json('{"tool":"read"}')
    with pytest.raises(ParameterError, match="keys"):
        Fault.from_json('{"tool":"read","error":"http_503","kind":"slow"}')


def test_a_fault_plan_is_per_trial_and_adding_an_arm_changes_nothing_elsewhere():
    def fault(key: TrialKey) -> Fault | None:
        return Fault("read", "http_503") if key.perturbation == "tool_fault" and key.variant == "1" else None

    small = FaultPlan.build(Plan(("a",), ("T-1",), ("baseline", "tool_fault"), ("0", "1"), 2), fault)
    large = FaultPlan.build(Plan(("a", "b"), ("T-1",), ("baseline", "tool_fault"), ("0", "1"), 2), fault)
    assert list(small) == ["a/T-1/tool_fault/1/0", "a/T-1/tool_fault/1/1"]
    assert {k: v for k, v in large.faults.items() if k.startswith("a/")} == small.faults
    assert len(large) == 4
    assert small.get("a/T-1/baseline/0/0") is None
    assert small.digest == FaultPlan(small.faults).digest != large.digest


def test_a_fault_plan_refuses_what_is_no_trial_or_no_fault():
    with pytest.raises(ParameterError, match="trial id"):
        FaultPlan({"a/T-1": Fault("read", "http_503")})
    with pytest.raises(ParameterError, match="must be a Fault"):
        FaultPlan({"a/T-1/tool_fault/0/0": "http_503"})


@pytest.mark.parametrize(
    "error",
    [
        *FAULTS.values(),
        "503 Service Unavailable", "bad gateway (502)", "504", "Error 429: slow down", "read timed out", "Timeout",
        "Temporarily Unavailable", "Connection reset by peer", "you are rate limited",
    ],
)  # fmt: skip
def test_transient_markers(error):
    assert is_transient(error)


@pytest.mark.parametrize(
    "error",
    [
        "no invoice 'INV-503' on file",
        "amount 5030.00",
        "order 4290",
        "no such tool: read",
        "id_504",
        "time out of range",
        "",
    ],
)
def test_a_permanent_error_is_not_transient(error):
    assert not is_transient(error)


def test_a_retry_is_a_step_of_its_own_with_equal_arguments(counting):
    box = Toolbox(counting.tools, counting.new_world(), fault=Fault("add", "connection_reset", times=2))
    assert call_with_retries(box, "add", {"by": 2}, max_retries=3) == {"value": 2}
    assert [(s["arguments"], s["status"]) for s in box.steps] == [
        ('{"by":2}', "failed"), ('{"by":2}', "failed"), ('{"by":2}', "ok"),
    ]  # fmt: skip


def test_what_must_not_happen_twice_is_not_tried_again_after_a_lost_answer(counting):
    for error, tries, total in (("timeout_after", 1, 2), ("http_503", 2, 2)):
        box = Toolbox(counting.tools, counting.new_world(), fault=Fault("add", error))
        with contextlib.suppress(ToolError):
            call_with_retries(box, "add", {"by": 2}, max_retries=3, never_after=("timeout",))
        assert len(box.steps) == tries
        assert box.call("add", {"by": 0}) == {"value": total}


@pytest.mark.parametrize(("retries", "tries"), [(0, 1), (1, 2), (3, 4)])
def test_retries_are_limited(counting, retries, tries):
    box = Toolbox(counting.tools, counting.new_world(), fault=Fault("add", "http_503", times=9))
    with pytest.raises(ToolError, match="503"):
        call_with_retries(box, "add", {"by": 1}, max_retries=retries)
    assert len(box.steps) == tries


def test_only_transient_errors_are_retried(counting):
    box = Toolbox(counting.tools, counting.new_world())
    with pytest.raises(ToolError, match="only upwards"):
        call_with_retries(box, "add", {"by": -1}, max_retries=3)
    assert len(box.steps) == 1


@pytest.mark.parametrize("retries", [-1, True, 1.0, None])
def test_an_impossible_number_of_retries_is_refused(counting, retries):
    with pytest.raises(ParameterError, match="max_retries"):
        call_with_retries(Toolbox(counting.tools, None), "read", {}, max_retries=retries)
