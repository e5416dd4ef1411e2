"""What must hold of every certificate, on random runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.decide import Certificate, certify
from plumbline.stats import clopper_pearson, worst_case
from plumbline.traces import Plan
from tests.decide.making import ARM, POLICY, Trial, plan_of, run_of, trials_of

PERTURBATIONS = ("baseline", "other", "fault")
QUICK = settings(max_examples=10, deadline=None)


@st.composite
def drawn(draw: st.DrawFn, *, tasks: int = 2) -> tuple[Plan, list[Trial]]:
    """A plan and what was recorded of it: good and bad trials, stopped ones, faults met and not met, holes."""
    plan = plan_of(tasks=tasks, perturbations=PERTURBATIONS, repetitions=draw(st.integers(1, 2)))
    mostly = st.sampled_from(["good"] * 6 + ["bad", "undecided", "stopped", "violating", "error", "hole"])
    kept = []
    for trial in trials_of(plan):
        kind = draw(mostly)
        if kind == "hole":
            continue
        met = draw(st.sampled_from(["delivered"] * 4 + ["not_delivered"]))
        trial = replace(trial, exposure=met if trial.perturbation == "fault" else "none_planned")
        change = {
            "bad": {"good": False},
            "undecided": {"good": None},
            "stopped": {"good": None, "status": "budget_stop"},
            "violating": {"good": False, "status": "budget_stop"},
            "error": {"good": False, "status": "agent_error"},
        }.get(kind, {})
        kept.append(replace(trial, **change))
    return plan, kept or [Trial()]


def certified(plan: Plan, trials: list[Trial], **more: object) -> Certificate:
    return certify(run_of(trials, plan=plan), arm=ARM, policy=POLICY, **more)


@QUICK
@given(drawn())
def test_the_figure_is_at_most_every_bound_and_equals_the_minimum_of_stats(made):
    plan, trials = made
    found = certified(plan, trials)
    bounds = [cell.bound for cell in found.cells if cell.state == "known"]
    for cell in found.cells:
        assert 0 <= cell.k <= cell.n <= cell.planned
        assert cell.recorded + cell.causes.get("no_record", 0) == cell.planned
        assert cell.succeeded + cell.failed + cell.unresolved == cell.planned
    if found.bound is None:
        assert any(cell.state != "known" for cell in found.cells)
        assert found.reasons
    else:
        assert len(bounds) == len(PERTURBATIONS)
        assert found.bound == min(bounds)
        other = worst_case({cell.perturbation: clopper_pearson(cell.k, cell.n) for cell in found.cells})
        assert (found.bound, found.attained_by) == (other.bound, other.cells)
    if found.covered_bound is not None:
        named = {cell.perturbation: cell.bound for cell in found.cells}
        assert found.covered_bound == min(named[name] for name in found.covered)


@QUICK
@given(drawn(), st.randoms(use_true_random=False), st.booleans())
def test_dropping_runs_never_raises_the_figure_or_makes_one(made, random, declared):
    """Whatever is declared ignorable, and down to a single record: a run that is dropped is a failure by the plan."""
    plan, trials = made
    ignorable = {"budget_stop": "cap of the study"} if declared else {}
    before = certified(plan, trials, ignorable=ignorable)
    kept = random.sample(trials, max(1, len(trials) // 2))
    after = certified(plan, kept, ignorable=ignorable)
    if after.bound is not None:
        assert before.bound is not None
        assert after.bound <= before.bound
    for one, other in zip(before.cells, after.cells, strict=True):
        if other.bound is not None:
            assert one.bound is not None
            assert other.bound <= one.bound


@settings(max_examples=6, deadline=None)
@given(drawn(tasks=6), st.randoms(use_true_random=False))
def test_dropping_runs_never_raises_a_figure_about_tasks(made, random):
    plan, trials = made
    before = certified(plan, trials, scope="tasks")
    after = certified(plan, random.sample(trials, max(1, len(trials) // 2)), scope="tasks")
    for one, other in zip(before.cells, after.cells, strict=True):
        if other.bound is not None:
            assert one.bound is not None
            assert other.bound <= one.bound + 1e-12


@QUICK
@given(drawn())
def test_a_planned_condition_without_runs_makes_the_figure_not_available(made):
    plan, trials = made
    wider = Plan(plan.arms, plan.tasks, (*plan.perturbations, "empty"), plan.variants, plan.repetitions)
    found = certified(wider, trials)
    assert found.bound is None
    assert found.covered_bound is None
    assert found.cell("empty").state == "no_runs"


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 4), st.integers(1, 60))
def test_fewer_than_five_tasks_never_certify_a_claim_about_tasks(tasks, repetitions):
    plan = plan_of(tasks=tasks, repetitions=repetitions)
    assert certified(plan, trials_of(plan), scope="tasks").bound is None


@QUICK
@given(drawn(), st.integers(0, 10_000))
def test_a_success_that_becomes_a_failure_never_raises_a_bound(made, pick):
    plan, trials = made
    at = pick % len(trials)
    worse = [replace(trial, good=False) if i == at else trial for i, trial in enumerate(trials)]
    before, after = certified(plan, trials), certified(plan, worse)
    for one, other in zip(before.cells, after.cells, strict=True):
        if one.bound is not None and other.bound is not None:
            assert other.bound <= one.bound


def test_a_cause_without_a_record_cannot_be_declared_away():
    plan = plan_of(repetitions=4)
    with pytest.raises(ParameterError, match="no cause on record"):
        certified(plan, trials_of(plan)[:2], ignorable={"no_record": "lost"})
