"""The committed runs of accounts payable are what the seed makes: a few documents here, all of them in .ci/run."""

from __future__ import annotations

import pytest

import plumbline as plumb
from plumbline.base.paths import data_folder
from plumbline.domains.accounts_payable.rebuild import REFERENCE, rebuild_runs
from plumbline.traces.digest import trial_digests

DOMAIN = plumb.load_domain("accounts_payable")
FEW = ("INV-8210", "INV-8229")


def by_trial(run, tasks):
    trials = run.trials[run.trials["task_id"].isin(tasks)]
    steps = run.steps[run.steps["trial_id"].isin(set(trials["trial_id"]))]
    return dict(zip(trials["trial_id"], trial_digests(trials, steps), strict=True))


@pytest.mark.parametrize("place", [0, 1])
def test_documents_made_again_are_row_for_row_those_on_record(place):
    made = next(run for n, run in enumerate(rebuild_runs(system=DOMAIN, tasks=FEW[place:])) if n == place)
    committed = plumb.read_run(data_folder() / "accounts_payable" / made.run_id)
    mine = by_trial(made, FEW[place:])
    assert mine == by_trial(committed, FEW[place:])
    assert len(mine) == (2 * 10 * 8 * 2 if place == 0 else len(committed.arms) * 6)
    assert REFERENCE in committed.arms


def test_every_planned_trial_is_on_record():
    for name in ("executors", "planted"):
        counts = plumb.read_run(data_folder() / "accounts_payable" / name).counts()
        assert counts.planned == counts.completed
