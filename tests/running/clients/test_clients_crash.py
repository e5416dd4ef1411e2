"""Kill -9 and several processes on one ledger: nothing used is lost, nothing is paid twice, the cap holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the driver forks its workers")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("crash")
    ran = subprocess.run(
        [sys.executable, str(HERE / "crash_driver.py"), str(folder), "7"], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_kill_9_loses_no_answer_that_was_used(found):
    killed = found["killed"]
    assert killed["kills"] >= 5
    assert killed["used_before_last"] >= 5, "the workers were killed before they did anything; the test says nothing"
    assert killed["used_but_lost"] == 0
    assert killed["unanswered"] == 0


def test_kill_9_leaves_a_row_for_every_call_that_was_charged(found):
    killed = found["killed"]
    assert killed["charged_without_row"] == 0
    assert killed["lost"] >= 1, "no worker was killed within a call; the test says nothing"


def test_what_a_kill_leaves_open_is_counted_at_its_estimate_and_said(found):
    killed = found["killed"]
    assert killed["open"] == 0
    assert killed["statements"] == killed["lost"]
    assert killed["settled"], "the answers cost their tokens"
    assert killed["assumed"], "a lost call counts at its estimate"
    assert killed["reserved"] == 0


def test_processes_that_ask_the_same_pay_once_and_agree(found):
    together = found["together"]
    assert together["codes"] == [0] * 4
    assert together["used"] == 160
    assert (together["charged"], together["most_charged"]) == (40, 1)
    assert together["different_answers"] == 0
    assert together["workers_that_paid"] >= 2, "one process did everything; the test says nothing"


def test_weakness_25_four_processes_do_not_overshoot_the_cap(found):
    capped = found["capped"]
    assert capped["codes"] == [0] * 4
    assert capped["stopped"] == 4
    assert capped["total_usd"] == pytest.approx(capped["charged"] * 0.007, abs=1e-9)
    assert 0.49 < capped["total_usd"] <= 0.5
    assert capped["reserved_usd"] == 0


def test_weakness_25_a_budget_stop_loses_no_finished_result(found):
    capped = found["capped"]
    assert capped["used"] == capped["charged"]
    assert capped["finished_but_lost"] == 0
