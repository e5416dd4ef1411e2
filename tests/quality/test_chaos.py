"""A study that is killed again and again, and resumed, is the study that was never killed; every call is paid once."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

from plumbline.run import first_difference
from plumbline.running.clients import Ledger
from tests.quality.chaos_child import child, study


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def kill_and_resume(folder: Path, *, repetitions: int, kills: int, seed: int) -> list[int]:
    """Kill the study at random moments of its progress; return the journal's length at each kill."""
    spread = random.Random(seed)
    total = 20 * repetitions
    moments = sorted(spread.sample(range(total - 10), kills))
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.quality.chaos_child"])
    journal, seen = folder / "journal.jsonl", []
    for moment in moments:
        process = processes.Process(target=child, args=(str(folder), repetitions))
        process.start()
        deadline = time.monotonic() + 60
        while lines(journal) - 1 < moment and process.is_alive() and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(spread.random() * 0.03)
        assert process.is_alive(), "the study ended before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        seen.append(lines(journal))
    return seen


def check_chaos(tmp_path: Path, *, repetitions: int, kills: int) -> None:
    clean = study(tmp_path / "clean", repetitions=repetitions, resume=False, pause=0.0)
    (tmp_path / "torn").mkdir()
    seen = kill_and_resume(tmp_path / "torn", repetitions=repetitions, kills=kills, seed=repetitions)
    assert seen == sorted(seen), "a finished trial was lost"
    resumed = study(tmp_path / "torn", repetitions=repetitions, resume=True, pause=0.0)
    assert resumed.digest == clean.digest, first_difference(clean, resumed)
    assert set(resumed.trials["status"]) == {"completed"}

    journal = (tmp_path / "torn/journal.jsonl").read_text().splitlines()[1:]
    written = [json.loads(line)["trial"]["trial_id"] for line in journal]
    assert sorted(written) == sorted(clean.trials["trial_id"]), "a finished trial was run again"
    assert_paid_once(tmp_path, float(clean.trials["cost_usd"].sum()))


def assert_paid_once(tmp_path: Path, cost: float) -> None:
    found = {}
    for name in ("clean", "torn"):
        with Ledger(tmp_path / name / "ledger.sqlite") as ledger:
            calls = ledger.calls()
            answered = calls[calls["status"] == "answered"]
            assert not answered.duplicated(["trial_id", "turn"]).any(), "a question was paid twice"
            found[name] = sorted(answered[["trial_id", "turn", "cost_usd"]].itertuples(index=False, name=None))
            assert ledger.spend().settled_usd == pytest.approx(cost, abs=1e-9)
    assert found["torn"] == found["clean"]


def test_two_hundred_trials_killed_five_times_are_the_trials_that_were_never_killed(tmp_path):
    check_chaos(tmp_path, repetitions=10, kills=5)


@pytest.mark.slow
def test_two_thousand_trials_killed_twenty_times_are_the_trials_that_were_never_killed(tmp_path):
    check_chaos(tmp_path, repetitions=100, kills=20)
