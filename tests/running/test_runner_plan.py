"""The plan of a study: sealed before the first call, refused if it changed, honest about what it lacks."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from plumbline.base.errors import NotFoundError, ParameterError, RunError
from plumbline.running import (
    Fault,
    ReactAgent,
    Variant,
    describe,
)
from plumbline.running.clients import (
    ScriptedClient,
)
from tests.running.runner_help import pair, quick


@pytest.fixture
def system(counting):
    counting.variant = pair
    counting.fault = lambda k: Fault("read", "http_503") if k.perturbation == "tool_fault" else None
    return counting


# the sealed plan


def test_the_plan_is_on_disk_and_shown_before_the_first_call(system, tmp_path):
    seen = []

    def agent(task, toolbox):
        seen.append(("call", (tmp_path / "r" / "plan.json").is_file()))
        return "done"

    quick(system, tmp_path / "r", arms={"a": agent}, approve=lambda plan: seen.append(("asked", plan.seal)) or True)
    assert [what for what, _ in seen] == ["asked"] + ["call"] * 8
    assert all(there for what, there in seen if what == "call")
    assert json.loads((tmp_path / "r" / "plan.json").read_text())["seal"] == seen[0][1]


def test_a_plan_that_is_not_approved_runs_nothing(system, tmp_path):
    with pytest.raises(ParameterError, match="not approved"):
        quick(system, tmp_path / "r", approve=lambda plan: False)
    assert system.worlds == []


@dataclass
class Worded:
    words: str

    def __call__(self, task, toolbox):
        return self.words


CHANGES = {
    "arms": ({"arms": {"a": Worded("other")}}, "arms: a"),
    "repetitions": ({"repetitions": 3}, "plan: repetitions"),
    "seed": ({"seed": 8}, "seed: 7 then, 8 now"),
    "variants": ({"variant": lambda t, p, v: Variant("Another wording.")}, "variants: T-1/baseline/0"),
    "faults": ({"fault": lambda key: Fault("add", "timeout_after")}, "faults: a/T-1/baseline/0/0"),
}


@pytest.mark.parametrize("change", ["arms", "repetitions", "seed", "variants", "faults"])
def test_resume_refuses_a_changed_plan_and_names_what_changed(system, tmp_path, change):
    given = {"arms": {"a": Worded("one")}}
    quick(system, tmp_path / "r", **given)
    other, words = CHANGES[change]
    with pytest.raises(RunError, match=words):
        quick(system, tmp_path / "r", **(given | other), resume=True)
    assert quick(system, tmp_path / "r", **given, resume=True).counts().completed == 8


def test_a_changed_tool_or_an_edited_plan_is_refused(system, tmp_path):
    quick(system, tmp_path / "r")
    before = system.tools
    system.tools = (
        *before[:2],
        before[2].__class__("broken", before[2].function, before[2].parameters, description="new"),
    )
    with pytest.raises(RunError, match="tools: broken"):
        quick(system, tmp_path / "r", resume=True)
    system.tools = before
    file = tmp_path / "r" / "plan.json"
    file.write_text(file.read_text().replace('"seed": 7', '"seed": 9'))
    with pytest.raises(RunError, match="edited after it was sealed"):
        quick(system, tmp_path / "r", resume=True)


def test_a_folder_in_use_is_never_written_over(system, tmp_path):
    quick(system, tmp_path / "r")
    with pytest.raises(RunError, match="resume it, or name another folder"):
        quick(system, tmp_path / "r")
    with pytest.raises(NotFoundError, match="to resume"):
        quick(system, tmp_path / "none", resume=True)
    with pytest.raises(ParameterError, match="give out="):
        quick(system, resume=True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": 0}, {"variants": True}, {"repetitions": 1.0}, {"retries": -1}, {"arms": {}}, {"arms": "a"},
        {"arms": {"a": 4}}, {"arms": ["nobody"]}, {"perturbations": []}, {"tasks": ["T-1", "T-1"]},
        {"fault": lambda key: Fault("nothing", "http_503")}, {"client": ScriptedClient(["x"])},
    ],
)  # fmt: skip
def test_an_impossible_study_is_refused_before_anything_runs(system, tmp_path, wrong):
    with pytest.raises(ParameterError):
        quick(system, tmp_path / "r", **wrong)
    assert system.worlds == []


def test_an_unknown_task_is_refused(system):
    with pytest.raises(NotFoundError, match="no task"):
        quick(system, tasks=["T-9"])


def test_agents_that_act_differently_are_described_differently():
    def made(n):
        def agent(task, toolbox):
            return str(n)

        return agent

    assert describe(made(1)) == describe(made(1)) != describe(made(2))
    assert describe(Worded("x")) == describe(Worded("x")) != describe(Worded("y"))
    client = ScriptedClient(["x"])
    one, other = ReactAgent(client, "m", system="a"), ReactAgent(client, "m", system="b")
    assert describe(one) != describe(other)
    assert describe(one) == describe(ReactAgent(ScriptedClient(["y"]), "m", system="a")), "the client only carries"


def test_fewer_variants_than_planned_is_a_fact_in_the_record(system, tmp_path):
    cells = {("T-1", "p", "0"): Variant("One.")}
    run = quick(system, tmp_path / "r", perturbations=["p"], variant=cells, tasks=["T-1"])
    assert run.trials.groupby("variant")["status"].unique().map(list).to_dict() == {
        "0": ["completed"],
        "1": ["not_run"],
    }
    assert run.notes["study"]["without_variant"] == ["T-1/p/1"]
    assert "gave no variant" in run.trials.set_index("trial_id").loc["a/T-1/p/1/0", "error"]
    assert quick(
        system, tmp_path / "r", perturbations=["p"], variant=cells, tasks=["T-1"], resume=True
    ).digest == run.digest  # fmt: skip
