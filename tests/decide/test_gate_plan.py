"""Gate plans: what a file may say, and what it may not."""

from __future__ import annotations

import json

import pytest

from plumbline.base.errors import NotFoundError, ParameterError, SchemaVersionError
from plumbline.decide import GatePlan, read_gate_plan
from tests.decide.making import plan_of

YAML = """\
# Written before the run.
schema: plumbline.gate/1
created: 2026-08-01
threshold: 0.95
scope: tasks
confidence: 0.9
measure: outcome
rho: 0.3
critical_rules: [must_call:check]
faults: [fault]
ignorable: {budget_stop: cap of the study}
margin: 0.05
incumbent: old
note: because
planned:
  arms: [new, old]
  tasks: [t0, t1]
  perturbations: [baseline, fault]
  variants: [0, no]
  repetitions: 2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gate.yaml"
    path.write_text(YAML)
    return path


def test_a_file_is_read_as_it_is_written(file):
    plan = read_gate_plan(file)
    assert (plan.threshold, plan.scope, plan.confidence, plan.measure, plan.rho) == (0.95, "tasks", 0.9, "outcome", 0.3)
    assert plan.planned.variants == ("0", "no"), "0 and no are names here, not a number and a boolean"
    assert plan.planned.repetitions == 2
    assert (plan.margin, plan.incumbent) == (0.05, "old")
    assert plan.ignorable == {"budget_stop": "cap of the study"}


def test_the_digest_is_of_the_content(file, tmp_path):
    plan = read_gate_plan(file)
    as_json = tmp_path / "gate.json"
    as_json.write_text(json.dumps(plan.to_dict()))
    assert read_gate_plan(as_json) == plan
    assert read_gate_plan(as_json).digest == plan.digest
    spelled = file.with_name("spelled.yaml")
    spelled.write_text(YAML.replace("0.95", "0.950").replace("# Written", "# Rewritten"))
    assert read_gate_plan(spelled).digest == plan.digest
    other = file.with_name("other.yaml")
    other.write_text(YAML.replace("0.95", "0.94"))
    assert read_gate_plan(other).digest != plan.digest
    assert plan.seal() == {"gate_plan": plan.digest}


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("threshold: 0.95", "treshold: 0.95", "no key 'treshold'. Did you mean 'threshold'"),
        ("threshold: 0.95\n", "", "lacks threshold"),
        ("threshold: 0.95", "threshold: 0.95\nthreshold: 0.5", "line 5: key 'threshold' is no word or stands twice"),
        ("threshold: 0.95", "threshold: 95", "write it as a share: 0.95"),
        ("threshold: 0.95", "threshold: nan", "threshold is nan"),
        ("threshold: 0.95", "threshold: high", "threshold is 'high'; give a number"),
        ("2026-08-01", "soon", "created is 'soon'"),
        ("2026-08-01", "2026-08-01T09:00:00", "with zone"),
        ("scope: tasks", "scope: world", "scope is 'world'"),
        ("measure: outcome", "measure: vibes", "measure is 'vibes'"),
        ("confidence: 0.9", "confidence: 0.4", "more than 0.5"),
        ("faults: [fault]", "faults: [flood]", "faults names flood; the planned perturbations are baseline, fault"),
        ("faults: [fault]", "faults: fault", "faults is 'fault'; give a list"),
        ("[must_call:check]", "[a, a]", "names one twice"),
        ("budget_stop: cap of the study", "agent_error: x", "is not one of"),
        ("incumbent: old\n", "", "margin and incumbent belong together"),
        ("incumbent: old", "incumbent: older", "incumbent names older; the planned arms are new, old"),
        ("margin: 0.05", "margin: 5", "write it as a share: 0.05"),
        ("rho: 0.3", "rho: 3", "rho is 3"),
        ("repetitions: 2", "repetitions: two", "repetitions"),
        ("tasks: [t0, t1]", "tasks: t0", "planned.tasks must be a list"),
        ("  tasks: [t0, t1]\n", "", "a plan has the keys"),
        ("planned:", "planned: all\nnote2:", "no key 'note2'"),
        ("[new, old]", "[new, old", "not YAML"),
    ],
)
def test_a_mistake_is_named_with_the_file(file, old, new, match):
    assert old in YAML
    file.write_text(YAML.replace(old, new))
    with pytest.raises(ParameterError, match=r"gate\.yaml") as caught:
        read_gate_plan(file)
    assert match in str(caught.value)


def test_other_versions_and_missing_files(file):
    file.write_text(YAML.replace("gate/1", "gate/2"))
    with pytest.raises(SchemaVersionError, match=r"gate.yaml: schema 'plumbline.gate/2'"):
        read_gate_plan(file)
    file.write_text("- a list\n")
    with pytest.raises(ParameterError, match="a gate plan is a mapping; found list"):
        read_gate_plan(file)
    with pytest.raises(NotFoundError, match="there is no gate plan"):
        read_gate_plan(file.with_name("none.yaml"))


def test_a_time_with_its_zone_is_a_time():
    assert GatePlan(threshold=0.9, planned=plan_of(), created="2026-08-01T09:00:00+02:00").threshold == 0.9
