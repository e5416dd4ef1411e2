"""Gates: ship, hold and escalate, each for its own reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.decide import GatePlan, gate
from plumbline.rules import MustCall, Policy
from plumbline.stats import clopper_pearson, paired_equivalence, runs_needed, tasks_estimate
from plumbline.stats.paired import PairTable
from plumbline.traces import Plan
from tests.decide.making import ARM, POLICY, Trial, clean_run, met, plan_of, run_of, trials_of

CREATED = "2026-08-01"


def plan_for(planned: Plan, **more: object) -> GatePlan:
    return GatePlan(**{"threshold": 0.95, "planned": planned, "created": CREATED, **more})


def asked(run, plan: GatePlan, **more: object):
    return gate(run, arm=ARM, policy=POLICY, plan=plan, **more)


def codes(decision) -> dict[str, str]:
    return {check.name: check.code for check in decision.reasons}


def failing(first: int):
    """Let the first repetitions of the perturbation ``other`` fail."""
    return lambda t: replace(t, good=not (t.perturbation == "other" and t.repetition < first))


TWO = plan_of(perturbations=("baseline", "other"), repetitions=100)


def test_ship_needs_every_bound():
    plan = plan_for(TWO)
    found = asked(clean_run(TWO, notes=plan.seal()), plan)
    assert found.decision == "ship"
    assert found.exit_code == 0
    assert found.caution == ("policy: must_not_call:drop: 'drop' is called nowhere in this run; check the name",)
    assert found.certificate.bound == pytest.approx(0.05 ** (1 / 100))
    assert found.certificate.passes
    one = asked(clean_run(TWO, failing(1), notes=plan.seal()), plan)
    assert one.decision == "ship"
    assert one.certificate.attained_by == ("other",)


def test_hold_when_even_the_best_case_is_below_the_threshold():
    plan = plan_for(TWO)
    found = asked(clean_run(TWO, failing(15)), plan)
    assert found.decision == "hold"
    assert found.exit_code == 1
    assert codes(found) == {"other": "below_threshold"}
    best = clopper_pearson(85, 100, confidence=0.975, sidedness="upper").high
    assert found.reasons[0].numbers["best"] == pytest.approx(best), "corrected for two conditions"
    assert best < 0.95


def test_a_best_case_counts_missing_runs_as_successes():
    plan = plan_for(TWO)
    run = clean_run(TWO, lambda t: replace(t, good=None, status="no_response") if t.repetition < 15 else t)
    lost = asked(run, plan)
    assert lost.decision == "escalate"
    assert codes(lost) == {"baseline": "missing_share", "other": "missing_share"}


def test_escalate_between_the_two_and_say_how_many_more_clean_runs_would_do():
    plan = plan_for(TWO)
    found = asked(clean_run(TWO, failing(3)), plan)
    assert found.decision == "escalate"
    assert found.exit_code == 3
    (check,) = found.reasons
    assert check.code == "bound_below"
    more = runs_needed(0.95, failures=3) - 100
    assert check.numbers["more_runs"] == more == 53
    assert "53 more clean runs would do" in check.sentence
    enough = plan_of(perturbations=("baseline", "other"), repetitions=153)
    assert asked(clean_run(enough, failing(3)), plan_for(enough)).decision == "ship"
    less = plan_of(perturbations=("baseline", "other"), repetitions=152)
    assert asked(clean_run(less, failing(3)), plan_for(less)).decision == "escalate"


def test_a_critical_rule_violated_once_holds_whatever_the_bound():
    plan = plan_for(TWO, critical_rules=("must_not_call:drop",))
    found = asked(clean_run(TWO, failing(1)), plan)
    assert found.decision == "hold"
    (check,) = found.reasons
    assert (check.kind, check.name, check.code) == ("rule", "must_not_call:drop", "rule_violated")
    assert check.numbers["trials"] == [f"{ARM}/t0/other/0/0"]
    assert found.certificate.passes, "the bound alone would have shipped it"
    assert asked(clean_run(TWO), plan).decision == "ship"


def test_a_violation_in_a_stopped_trial_holds_too():
    plan = plan_for(TWO, critical_rules=("must_not_call:drop",), ignorable={"budget_stop": "cap"})
    stopped = clean_run(TWO, lambda t: replace(t, good=False, status="budget_stop") if t.repetition == 0 else t)
    assert codes(asked(stopped, plan)) == {"must_not_call:drop": "rule_violated"}


def test_a_critical_rule_that_cannot_be_seen_or_is_never_tested_escalates():
    policy = Policy("pay", [*POLICY.rules, MustCall("sign", when="big", id="signed", severity="high")])
    plan = plan_for(TWO, critical_rules=("must_call:check",))
    unseen = clean_run(TWO, lambda t: replace(t, good=None) if t.repetition == 0 else t)
    assert codes(gate(unseen, arm=ARM, policy=policy, plan=plan))["must_call:check"] == "rule_unobservable"
    contexts = {"t0": {"context": {"big": False}}}
    run = run_of(trials_of(TWO), plan=TWO)
    quiet = type(run)(run.trials, run.steps, run_id="made", plan=TWO, tasks=contexts)
    plan = plan_for(TWO, critical_rules=("signed",))
    assert codes(gate(quiet, arm=ARM, policy=policy, plan=plan)) == {"signed": "rule_vacuous"}
    with pytest.raises(ParameterError, match="critical_rules names nothing; policy 'pay' has"):
        asked(quiet, plan_for(TWO, critical_rules=("nothing",)))


def test_planned_conditions_must_have_been_run_and_faults_met():
    planned = plan_of(perturbations=("baseline", "fault"), repetitions=60)
    plan = plan_for(planned)
    assert asked(clean_run(planned, met), plan).decision == "ship"
    empty = run_of([t for t in trials_of(planned, met) if t.perturbation == "baseline"], plan=planned)
    assert codes(asked(empty, plan)) == {"fault": "no_runs"}
    assert asked(empty, plan).reasons[0].numbers["more_runs"] == 60
    unmet = clean_run(planned, lambda t: replace(met(t), exposure="not_delivered") if t.repetition == 7 else met(t))
    assert "fault" in codes(asked(unmet, plan))
    assert codes(asked(unmet, plan))["fault"] == "exposure"
    assert codes(asked(clean_run(planned), plan_for(planned, faults=("fault",)))) == {"fault": "exposure"}


def test_two_tasks_never_ship_a_claim_about_tasks():
    planned = plan_of(tasks=2, repetitions=100)
    found = asked(clean_run(planned), plan_for(planned, scope="tasks"))
    assert found.decision == "escalate"
    assert codes(found) == {"baseline": "too_few_tasks"}
    assert asked(clean_run(planned), plan_for(planned)).decision == "ship"


def test_a_claim_about_tasks_says_how_many_more_tasks_would_do():
    planned = plan_of(tasks=6, repetitions=4)
    found = asked(clean_run(planned), plan_for(planned, scope="tasks", threshold=0.8))
    (check,) = found.reasons
    more = check.numbers["more_runs"] // 4
    assert f"{more} further clean tasks of 4 runs would do" in check.sentence
    for extra, enough in ((more, True), (more - 1, False)):
        tasks = 6 + extra
        assert (tasks_estimate([4] * tasks, [4] * tasks, sidedness="lower").low >= 0.8) is enough
    good = plan_of(tasks=6 + more, repetitions=4)
    assert asked(clean_run(good), plan_for(good, scope="tasks", threshold=0.8)).decision == "ship"
    bad = clean_run(good, lambda t: replace(t, good=t.task == "t0"))
    assert asked(bad, plan_for(good, scope="tasks", threshold=0.8)).decision == "hold"


# -- the plan ----------------------------------------------------------------------------------------------------------


def test_a_plan_that_was_changed_after_the_data_does_not_ship():
    lenient, strict = plan_for(TWO, threshold=0.9), plan_for(TWO, threshold=0.95)
    run = clean_run(TWO, notes=strict.seal())
    assert asked(run, strict).decision == "ship"
    found = asked(run, lenient)
    assert found.decision == "escalate"
    assert codes(found) == {"plan_changed": "plan_changed"}
    assert "changed after the data" in found.reasons[0].sentence
    assert codes(gate(run, arm=ARM, policy=POLICY, min_bound=0.9)) == {"plan_not_given": "plan_not_given"}


def test_a_plan_that_was_not_sealed_is_said_so():
    found = asked(clean_run(TWO), plan_for(TWO))
    assert found.decision == "ship"
    assert found.caution[0] == "the plan was not sealed before the run: its digest is not among the run's notes"
    assert "no trial records when it started" in found.caution[1]


@pytest.mark.parametrize(
    ("created", "decision"),
    [
        ("2026-08-01", "ship"),
        ("2026-08-02", "ship"),
        ("2026-08-03", "escalate"),
        ("2026-08-02T07:59:59Z", "ship"),
        ("2026-08-02T10:00:00+02:00", "ship"),
        ("2026-08-02T08:00:01Z", "escalate"),
    ],
)
def test_a_plan_dated_after_the_first_trial_does_not_ship(created, decision):
    start = "2026-08-02T08:00:00+00:00"
    run = clean_run(TWO, lambda t: replace(t, started_at=start if t.repetition == 3 else "2026-08-02T09:00:00+00:00"))
    found = asked(run, plan_for(TWO, created=created))
    assert found.decision == decision
    assert ("plan_after_data" in codes(found)) is (decision == "escalate")
    assert any("of the same day" in sentence for sentence in found.caution) is (created == "2026-08-02")


def test_a_plan_narrower_than_the_run_needs_its_seal():
    narrow = plan_for(plan_of(repetitions=100))
    loose = clean_run(TWO)
    assert codes(asked(loose, narrow)) == {"plan_narrower": "plan_narrower"}
    assert "leaves out 100 trials" in asked(loose, narrow).reasons[0].sentence
    sealed = asked(clean_run(TWO, notes=narrow.seal()), narrow)
    assert sealed.decision == "ship"
    assert any("the sealed plan says so" in sentence for sentence in sealed.caution)


def test_a_plan_wider_than_the_run_finds_what_is_missing():
    wide = plan_for(plan_of(perturbations=("baseline", "other", "third"), repetitions=100))
    found = asked(clean_run(TWO), wide)
    assert found.decision == "escalate"
    assert codes(found) == {"third": "no_runs"}


def test_without_any_plan_nothing_ships():
    run = run_of([Trial(repetition=i) for i in range(100)])
    found = gate(run, arm=ARM, policy=POLICY, min_bound=0.95)
    assert codes(found) == {"no_plan": "no_plan"}
    assert gate(clean_run(TWO), arm=ARM, policy=POLICY, min_bound=0.95).decision == "ship"


# -- the incumbent -----------------------------------------------------------------------------------------------------

PAIR = plan_of(repetitions=100, arms=(ARM, "old"))


def against(losses: int, gains: int = 0, lost: int = 0, margin: float = 0.1):
    """The new arm fails some trials the old one passes, and the other way round; some of its runs are lost."""

    def change(t: Trial) -> Trial:
        bad = losses > t.repetition if t.arm == ARM else losses <= t.repetition < losses + gains
        gone = t.arm == ARM and t.repetition >= 100 - lost
        return replace(t, good=None, status="no_response") if gone else replace(t, good=not bad)

    plan = plan_for(PAIR, threshold=0.5, margin=margin, incumbent="old")
    return asked(clean_run(PAIR, change), plan)


def test_a_loss_within_the_margin_ships_and_a_larger_one_holds():
    fine = against(2)
    assert fine.decision == "ship"
    (check,) = [check for check in fine.checks if check.kind == "comparison"]
    table = PairTable(both=98, only_first=0, only_second=2, neither=0)
    wanted = paired_equivalence(table, margin=0.1)
    assert check.numbers["p_noninferior"] == pytest.approx(wanted.p_noninferior)
    assert check.numbers["difference"] == pytest.approx(-0.02)
    assert codes(against(30)) == {f"{ARM} against old": "shown_worse"}
    assert against(30).decision == "hold"
    assert codes(against(9)) == {f"{ARM} against old": "margin_not_shown"}


def test_lost_runs_count_against_the_new_arm_but_never_hold_it():
    assert codes(against(2, lost=10)) == {f"{ARM} against old": "margin_not_shown"}
    assert against(2, lost=40).decision == "escalate"


def test_arms_that_did_not_meet_the_same_faults_are_not_compared():
    planned = plan_of(perturbations=("baseline", "fault"), repetitions=60, arms=(ARM, "old"))

    def half(t: Trial) -> Trial:
        return replace(t, exposure="not_delivered") if t.perturbation == "fault" and t.arm == "old" else met(t)

    found = asked(clean_run(planned, half), plan_for(planned, margin=0.1, incumbent="old"))
    assert codes(found) == {f"{ARM} against old": "comparison_exposure"}
    assert "met 60 of 60 faults, old 0 of 60" in found.reasons[0].sentence


def test_a_comparison_about_tasks_takes_tasks_as_units():
    planned = plan_of(tasks=8, repetitions=10, arms=(ARM, "old"))
    plan = plan_for(planned, scope="tasks", threshold=0.5, margin=0.1, incumbent="old")
    odd = clean_run(planned, lambda t: replace(t, good=not (t.arm == ARM and t.task == "t0" and t.repetition == 0)))
    assert asked(odd, plan).decision == "ship"
    worse = clean_run(planned, lambda t: replace(t, good=not (t.arm == ARM and t.repetition <= 3 + (t.task == "t0"))))
    assert codes(asked(worse, plan)).get(f"{ARM} against old") == "shown_worse"
    same = asked(clean_run(planned), plan)
    assert codes(same) == {f"{ARM} against old": "comparison_cannot_tell"}, "no spread over tasks to be seen"


# -- what is refused, and what holds always ----------------------------------------------------------------------------


NO_POLICY = {"policy": None, "grade": bool}


@pytest.mark.parametrize(
    ("given_", "match"),
    [
        ({}, "a gate needs a bar"),
        ({"min_bound": 95}, "write it as a share: 0.95"),
        ({"plan": plan_for(TWO), "min_bound": 0.9}, "min_bound is 0.9, the plan says 0.95"),
        ({"min_bound": 0.9, "incumbent": "old"}, "needs a plan with that incumbent"),
        ({"plan": plan_for(TWO), "arm": "old"}, "no arm 'old'; it has new"),
        ({"plan": plan_for(PAIR, margin=0.1, incumbent=ARM)}, "the incumbent is the arm itself"),
        ({"plan": plan_for(TWO, critical_rules=("x",), measure="outcome"), **NO_POLICY}, "give policy="),
    ],
)
def test_what_cannot_be_asked_is_refused(given_, match):
    run = clean_run(TWO)
    tasks = {"t0": {"context": {"x": 1}}}
    run = type(run)(run.trials, run.steps, run_id="made", plan=TWO, tasks=tasks)
    with pytest.raises(ParameterError, match=match):
        gate(run, **{"arm": ARM, "policy": POLICY, **given_})


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.sampled_from(["good", "good", "good", "bad", "stopped", "hole"]), min_size=60, max_size=60),
    st.sampled_from([0.3, 0.6, 0.9]),
)
def test_ship_says_that_the_bound_reaches_the_threshold_and_nothing_else_does(kinds, threshold):
    planned = plan_of(perturbations=("baseline", "other"), repetitions=30)
    trials = []
    for kind, trial in zip(kinds, trials_of(planned), strict=True):
        if kind != "hole":
            stopped = {"good": None, "status": "no_response"}
            trials.append(replace(trial, **{"bad": {"good": False}, "stopped": stopped}.get(kind, {})))
    run = run_of(trials or [Trial()], plan=planned)
    found = asked(run, plan_for(planned, threshold=threshold))
    certificate = found.certificate
    assert (found.decision == "ship") is bool(certificate.passes)
    if found.decision == "hold":
        assert certificate.bound is None or certificate.bound < threshold
        worst = max(cell.failed / cell.planned for cell in certificate.cells)
        assert 1 - worst < threshold
    assert len(found.checks) == 2
