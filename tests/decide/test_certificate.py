"""Certificates: every published figure, the true minimum, and what makes a figure not available."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from plumbline.base.errors import ParameterError
from plumbline.decide import certify, ladder, ladder_text, published_grade
from plumbline.rules import MustCall, Policy
from plumbline.running import FaultPlan, run_plan
from plumbline.stats import clopper_pearson, rho_scenarios, wilson, worst_case
from plumbline.traces import Plan
from tests.decide.making import ARM, POLICY, Trial, clean_run, met, plan_of, run_of, trials_of


def test_every_published_certificate_comes_out(founding, domain, root):
    """Fourteen certificates of two releases: bound, letter and condition."""
    table = pd.read_csv(root / "data" / "published" / "certificates.csv")
    table = table[table["release"].isin(["0.2.0", "0.3.0"])]
    assert len(table) == 14
    for (study, arm), rows in table.groupby(["study", "arm"]):
        steps = ladder(founding[study], arm=arm, policy=domain.policy).set_index("release")
        for row in rows.to_dict("records"):
            found = steps.loc[row["release"]]
            assert round(float(found["bound"]), 4) == row["bound"], row
            assert (found["grade"], found["attained_by"]) == (row["grade"], row["worst"]), row
            assert published_grade(float(found["bound"])) == row["grade"]


@pytest.mark.parametrize(
    ("study", "arm", "published", "true", "where"),
    [
        ("retry", "react", 0.9433759402071946, 0.8984854458466763, ("decoy_tools",)),
        ("parity", "react", 0.9433759402071946, 0.9358060632812366, ("tool_fault", "decoy_tools", "sampling")),
        ("determinism", "plan_execute", 0.8928208017449295, 0.6456695649333127, ("distractor",)),
    ],
)
def test_the_published_figure_is_not_the_minimum_of_the_bounds(founding, domain, study, arm, published, true, where):
    made = certify(founding[study], arm=arm, policy=domain.policy, rule="published")
    minimum = certify(founding[study], arm=arm, policy=domain.policy, rule="completed_minimum")
    assert made.bound == pytest.approx(published, rel=1e-12)
    assert minimum.bound == pytest.approx(true, rel=1e-12)
    assert minimum.attained_by == where


def test_a_condition_without_a_completed_run_is_skipped_by_the_published_rule_only(founding, domain):
    run, policy = founding["determinism"], domain.policy
    made = certify(run, arm="guarded", policy=policy, rule="published")
    assert published_grade(made.bound) == "B"
    assert "distractor is skipped: it has no counted run" in made.caution
    for rule in ("completed_minimum", "planned_minimum"):
        true = certify(run, arm="guarded", policy=policy, rule=rule)
        assert true.bound is None
        assert not true.known
        assert true.cell("distractor").state == "no_runs"
        assert any(reason.startswith("distractor: none of 32 planned runs has a result") for reason in true.reasons)


def test_the_planned_minimum_takes_missing_runs_as_failures_and_blocks_faults_that_were_not_met(founding, domain):
    found = certify(founding["retry"], arm="react", policy=domain.policy)
    assert found.bound is None
    assert found.covered_bound == pytest.approx(0.42144277223645343, rel=1e-12)
    assert found.covered_by == ("decoy_tools",)
    assert "tool_fault" not in found.covered
    cell = found.cell("tool_fault")
    assert (cell.state, cell.exposure.delivered, cell.exposure.planned) == ("blocked", 0, 64)
    assert cell.bound == pytest.approx(0.7857443296913792, rel=1e-12), "about the input under that name"
    assert "not about faults" in found.reasons[0]
    counts = {c.perturbation: (c.planned, c.recorded, c.completed, c.missing, c.k, c.n) for c in found.cells}
    assert counts["decoy_tools"] == (64, 64, 34, 30, 34, 64)
    assert counts["distractor"] == (64, 64, 58, 6, 58, 64)
    assert certify(founding["parity"], arm="react", policy=domain.policy).cell("tool_fault").exposure.unknown == 8


def test_a_declared_cause_leaves_its_runs_out_and_is_named(founding, domain):
    reason = "recordings lost when the tool list was reordered"
    found = certify(founding["retry"], arm="react", policy=domain.policy, ignorable={"no_response": reason})
    assert found.covered_bound == pytest.approx(0.9156603566, rel=1e-9)
    assert found.cell("decoy_tools").ignored == 30
    assert f"52 runs left out, cause no_response declared ignorable: {reason}" in found.caution
    assert found.ignorable == {"no_response": reason}


def test_a_task_of_which_nothing_is_left_is_named():
    plan = plan_of(tasks=6, repetitions=4)
    run = clean_run(plan, lambda t: replace(t, good=None, status="budget_stop") if t.task == "t3" else t)
    found = certify(run, arm=ARM, policy=POLICY, ignorable={"budget_stop": "cap"})
    assert "baseline: nothing is left of task t3" in found.caution
    assert found.cells[0].n == 20
    four = clean_run(plan, lambda t: replace(t, good=None, status="budget_stop") if t.task in ("t3", "t4") else t)
    assert certify(four, arm=ARM, policy=POLICY, ignorable={"budget_stop": "cap"}, scope="tasks").bound is None


def test_the_bounds_are_those_computed_outside(founding, domain, root):
    """Worst ends of retry/react as in the reference values: Wilson and Clopper-Pearson."""
    file = root.parent / "shared" / "published" / "reference-values.json"
    if not file.is_file():
        pytest.skip("the shared reference values are not here")
    entries = {entry["id"]: entry["outputs"] for entry in json.loads(file.read_text(encoding="utf-8"))["entries"]}
    run, policy = founding["retry"], domain.policy
    planned = certify(run, arm="react", policy=policy)
    failed = certify(run, arm="react", policy=policy, rule="published_fail_all")
    for cell in planned.cells:
        wanted = entries[f"manski-retry-react-critical-{cell.perturbation}"]
        assert cell.value == pytest.approx(wanted["worst_case"], rel=1e-9)
        assert cell.bound == pytest.approx(wanted["clopper_pearson_one_sided_lower_of_worst"], rel=1e-9)
        assert failed.cell(cell.perturbation).bound == pytest.approx(wanted["wilson_lower_of_worst"], rel=1e-9)
    outputs = entries["certified-retry-react"]
    assert failed.bound == pytest.approx(outputs["missing_fail_all"], rel=1e-9)
    true = certify(run, arm="react", policy=policy, rule="completed_minimum")
    assert true.bound == pytest.approx(outputs["complete_cases"], rel=1e-9)


def test_a_run_whose_faults_were_all_met_is_certified(domain):
    arms = {"three_retries": domain.arms["plan_execute"](max_retries=3)}
    plan = Plan(tuple(arms), tuple(t.id for t in domain.tasks), ("baseline", "tool_fault"), ("0", "1"), 2)
    run = run_plan(domain, arms, plan, run_id="fresh", faults=FaultPlan.build(plan, domain.fault))
    found = certify(run, arm="three_retries", policy=domain.policy, measure="outcome", grade=domain.grade)
    assert found.cell("tool_fault").exposure.delivered == 32
    assert found.bound == pytest.approx(0.05 ** (1 / 32), rel=1e-12)
    assert found.attained_by == ("baseline", "tool_fault")
    assert not found.caution
    assert found.evidence.grade_name.endswith("grade")


def test_the_figure_is_the_minimum_that_stats_gives(founding, domain):
    found = certify(founding["determinism"], arm="react", policy=domain.policy)
    counts = {"baseline": 32, "paraphrase": 32, "distractor": 32, "tool_fault": 25, "decoy_tools": 30, "sampling": 32}
    other = worst_case({name: clopper_pearson(k, 32) for name, k in counts.items()})
    assert (found.bound, found.attained_by) == (other.bound, other.cells)
    assert found.attained_by == ("tool_fault",)


def test_a_planned_condition_without_runs_is_never_skipped():
    plan = plan_of(tasks=5, perturbations=("baseline", "other"), repetitions=12)
    without = [trial for trial in trials_of(plan) if trial.perturbation == "baseline"]
    found = certify(run_of(without, plan=plan), arm=ARM, policy=POLICY)
    assert found.bound is None
    assert found.covered_bound is None
    assert found.reasons == ("other: none of 60 planned runs has a result (60 no_record)",)


def test_a_violation_in_a_stopped_run_stands_whatever_is_declared_ignorable():
    plan = plan_of(repetitions=60)
    stopped = {0: replace(Trial(), good=None, status="budget_stop")}
    violating = {0: replace(Trial(), good=False, status="budget_stop")}
    declared = {"budget_stop": "cap of the study"}
    for change, n, k in ((stopped, 59, 59), (violating, 60, 59)):
        run = clean_run(plan, lambda t, c=change: c.get(t.repetition, t))
        cell = certify(run, arm=ARM, policy=POLICY, ignorable=declared).cells[0]
        assert (cell.k, cell.n, cell.missing, cell.ignored, cell.undecided) == (k, n, 1, 60 - n, 0)


def test_what_the_record_cannot_tell_is_no_success():
    plan = plan_of(repetitions=10)
    run = clean_run(plan, lambda t: replace(t, good=None) if t.repetition < 3 else t)
    found = certify(run, arm=ARM, policy=POLICY)
    assert (found.cells[0].k, found.cells[0].n, found.cells[0].undecided) == (7, 10, 3)
    assert "3 finished runs have no known result; counted as failures" in found.caution


def test_a_condition_that_misses_too_much_cannot_pass_even_where_the_cause_is_ignorable():
    plan = plan_of(repetitions=200)
    for lost, passes in ((10, True), (11, False)):
        run = clean_run(plan, lambda t, n=lost: replace(t, good=None, status="budget_stop") if t.repetition < n else t)
        found = certify(run, arm=ARM, policy=POLICY, ignorable={"budget_stop": "cap"}, threshold=0.95)
        assert found.bound > 0.98
        assert found.passes is passes
        assert any("cannot pass" in sentence for sentence in found.caution) is not passes
    assert certify(run, arm=ARM, policy=POLICY).passes is None


def test_faults_that_were_not_met_block_unless_the_trial_failed_anyway():
    plan = plan_of(perturbations=("baseline", "fault"), repetitions=60)

    def one_odd(good: bool):
        return clean_run(plan, lambda t: replace(met(t), exposure="not_delivered", good=good) if (
            t.perturbation == "fault" and t.repetition == 0) else met(t))  # fmt: skip

    assert certify(clean_run(plan, met), arm=ARM, policy=POLICY).bound == pytest.approx(0.05 ** (1 / 60))
    blocked = certify(one_odd(True), arm=ARM, policy=POLICY)
    assert blocked.bound is None
    assert blocked.cell("fault").state == "blocked"
    assert blocked.covered == ("baseline",)
    failed = certify(one_odd(False), arm=ARM, policy=POLICY)
    assert failed.bound == clopper_pearson(59, 60).low, "a failure counts against the agent, fault met or not"
    unrecorded = run_of(trials_of(plan, met)[:-1], plan=plan)
    assert certify(unrecorded, arm=ARM, policy=POLICY).cell("fault").exposure.unknown == 1
    assert certify(unrecorded, arm=ARM, policy=POLICY).bound is None


def test_faults_may_be_declared_where_the_record_shows_none():
    plan = plan_of(perturbations=("baseline", "fault"), repetitions=60)
    run = clean_run(plan)
    assert certify(run, arm=ARM, policy=POLICY).known
    assert certify(run, arm=ARM, policy=POLICY, faults=["fault"]).cell("fault").state == "blocked"
    with pytest.raises(ParameterError, match="fautl, which is not planned; planned are baseline, fault"):
        certify(run, arm=ARM, policy=POLICY, faults=["fautl"])


def test_two_tasks_never_certify_a_claim_about_tasks():
    two = clean_run(plan_of(tasks=2, repetitions=100))
    found = certify(two, arm=ARM, policy=POLICY, scope="tasks")
    assert found.bound is None
    assert found.cells[0].state == "no_claim"
    assert "2 tasks are fewer than 5" in found.reasons[0]
    assert certify(two, arm=ARM, policy=POLICY).bound == pytest.approx(0.05 ** (1 / 200)), "these two tasks: yes"
    five = certify(clean_run(plan_of(tasks=5, repetitions=100)), arm=ARM, policy=POLICY, scope="tasks")
    assert 0 < five.bound < 0.95


def test_the_tasks_scope_prints_what_a_declared_correlation_does():
    found = certify(clean_run(plan_of(tasks=8, repetitions=8)), arm=ARM, policy=POLICY, scope="tasks")
    rows = {row.rho: row.clopper_pearson_lower for row in found.rho_table}
    wanted = rho_scenarios(64, 64, runs_per_cluster=8, rhos=(0.0, 0.3, 0.4, 1.0))
    assert {row.rho: row.clopper_pearson_lower for row in wanted}.items() <= rows.items()
    assert found.bound == pytest.approx(rows[0.4], rel=1e-12)
    assert found.rho == 0.4
    assert "Korn-Graubard" in found.method
    spoiled = clean_run(plan_of(tasks=8, repetitions=8), lambda t: replace(t, good=t.id != f"{ARM}/t0/baseline/0/0"))
    assert not certify(spoiled, arm=ARM, policy=POLICY, scope="tasks").rho_table


def test_without_a_plan_only_what_was_recorded_is_certified():
    trials = [Trial(repetition=i) for i in range(59)]
    other = Trial(arm="old", perturbation="odd")
    found = certify(run_of([*trials, other]), arm=ARM, policy=POLICY)
    assert found.bound >= 0.95
    assert found.plan_source == "recorded"
    assert "the run holds no plan" in found.caution[0]
    assert found.caution[0].endswith("other arms also recorded odd")


def test_a_rule_that_no_trial_puts_to_the_test_is_named():
    policy = Policy("pay", [MustCall("check"), MustCall("notify", when="urgent", severity="critical")])
    run = clean_run(plan_of(repetitions=3))
    found = certify(run, arm=ARM, policy=policy)
    assert any("policy: must_call:notify" in sentence for sentence in found.caution)


def test_the_ladder_stands_side_by_side_with_its_reasons(founding, domain):
    table = ladder(founding["retry"], arm="react", policy=domain.policy)
    assert table["rule"].tolist() == ["published", "published_fail_all", "completed_minimum", *["planned_minimum"] * 2]
    assert table["scope"].tolist() == ["suite"] * 4 + ["tasks"]
    assert table["grade"].tolist() == ["B", "F", "", "", ""]
    assert [round(bound, 6) for bound in table["bound"].dropna()] == [0.943376, 0.410721, 0.898485]
    assert table["bound"].isna().tolist() == [False, False, False, True, True]
    reasons = table["reason"]
    assert "the smallest of the same bounds is 0.8985 (decoy_tools, 34/34)" in reasons[0]
    assert "52 unfinished runs count as failures" in reasons[1]
    assert "not available: tool_fault: 0 of 64 planned faults were met" in reasons[3]
    text = ladder_text(table)
    assert max(map(len, text.splitlines())) <= 100
    for figure in ("0.9434, grade B", "0.4107, grade F", "0.8985", "not available"):
        assert figure in text


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"arm": "nobody"}, "no arm 'nobody'"),
        ({"measure": "vibes"}, "measure is 'vibes'"),
        ({"measure": "outcome"}, "needs grade="),
        ({"policy": None}, "needs policy="),
        ({"policy": {"rules": []}}, "policy is a dict"),
        ({"rule": "best"}, "rule is 'best'"),
        ({"scope": "world"}, "scope is 'world'"),
        ({"rule": "published", "scope": "tasks"}, "scope 'suite' only"),
        ({"rule": "published", "sidedness": "lower"}, "takes 'two-sided'"),
        ({"sidedness": "upper"}, "takes 'lower' or 'two-sided'"),
        ({"confidence": 95}, "write it as a share: 0.95"),
        ({"confidence": float("nan")}, "confidence"),
        ({"threshold": 1.0}, "threshold is 1.0"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"scope": "tasks", "rho": 1.5}, "rho"),
        ({"ignorable": ["budget_stop"]}, "maps a cause to its reason"),
        ({"ignorable": {"budget_stop": " "}}, "needs a reason"),
        ({"ignorable": {"agent_error": "x"}}, "is not one of not_run"),
        ({"ignorable": {"no_record": "lost"}}, "no cause on record"),
        ({"ignorable": {"budget_stop": "cap"}, "rule": "published"}, "takes no ignorable causes"),
        ({"faults": "fault"}, "faults is the text"),
    ],
)
def test_what_is_not_possible_is_refused(changed, match):
    run = clean_run(plan_of(tasks=5, repetitions=2))
    with pytest.raises(ParameterError, match=match):
        certify(run, **{"arm": ARM, "policy": POLICY, **changed})


def test_a_run_without_trials_certifies_nothing():
    from plumbline.traces import Recording

    empty = Recording(pd.DataFrame({"arm": [], "task_id": []}, dtype=object), run_id="empty", plan=plan_of())
    with pytest.raises(ParameterError, match="holds no trials"):
        certify(empty, arm=ARM, policy=POLICY)


def test_text_frame_and_html_say_the_same(founding, domain):
    found = certify(founding["retry"], arm="react", policy=domain.policy, threshold=0.95)
    text = str(found)
    assert text.splitlines()[0] == "retry, arm react: not available"
    assert max(map(len, text.splitlines())) <= 100
    assert "0.4214 over baseline, paraphrase, distractor, decoy_tools, sampling alone" in " ".join(text.split())
    frame = found.to_frame()
    assert frame["bound"].tolist() == [cell.bound for cell in found.cells]
    assert frame.loc[frame["perturbation"] == "tool_fault", "faults_met"].tolist() == [0]
    assert "not available" in found._repr_html_()
    assert wilson(64, 64).low == pytest.approx(0.9433759402071946)
