"""plumbline bands drift: a growing run, its state in a file, alerts in words."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from plumbline.cli import main
from plumbline.traces import Recording


def saved(place, sessions: int, shells: int = 1):
    """Constructed: one call of shell a session, from session 20 on as many as asked."""
    trials = pd.DataFrame({"arm": "a", "task_id": [f"t{i:02}" for i in range(sessions)]})
    rows = [
        (f"a/t{i:02}/baseline/0/0", name)
        for i in range(sessions)
        for name in ["read", *["shell"] * (shells if i >= 20 else 1)]
    ]
    steps = pd.DataFrame(rows, columns=["trial_id", "name"]).assign(kind="tool_call")
    Recording(trials, steps, run_id="grown").save(place / "run")


def drift(capsys, *words: object) -> tuple[int, str, str]:
    try:
        code = main(["bands", "drift", *map(str, words)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_a_growing_run_is_watched_from_where_it_was_left(tmp_path, capsys):
    state = tmp_path / "state.json"
    saved(tmp_path, 20)
    code, out, _ = drift(capsys, tmp_path / "run", "--state", state)
    assert code == 0
    assert "expected false alarms in 100 sessions: 0.55" in out
    assert "CUSUM of failures: 0.176 in 100 sessions, exact: one in 567 sessions at 0.02 failures" in out
    assert "no conformance: no policy was given" in out
    saved(tmp_path, 30, shells=15)
    code, out, _ = drift(capsys, tmp_path / "run", "--state", state)
    assert code == 1
    assert "called shell 14 times more than baseline (15 a session against 1)" in out.split("new alerts:")[1]
    code, out, _ = drift(capsys, tmp_path / "run", "--state", state, "--json")
    assert code == 0, "what was said once is not said again"
    assert json.loads(out)["sessions"] == 30


def test_the_public_rule_is_there_with_its_rate(tmp_path, capsys):
    saved(tmp_path, 22, shells=15)
    code, out, _ = drift(capsys, tmp_path / "run", "--method", "public")
    assert code == 1
    assert "z above 3: tool calls: 1.88 in 100 sessions, exact for normal data after 10 sessions" in out
    assert "z infinite, the baseline never varied above 3" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--baseline", "5"), "baseline is 5; give a whole number of at least 20"),
        (("--arm", "b"), "has no arm 'b'; it has a"),
        (("--method", "loose"), "invalid choice"),
        (("--policy", "none.yaml"), "there is no policy file none.yaml"),
    ],
)
def test_a_mistake_is_a_sentence(tmp_path, capsys, words, said):
    saved(tmp_path, 3)
    code, _, err = drift(capsys, tmp_path / "run", *words)
    assert code == 2
    assert said in err


def test_rules_are_not_changed_under_a_state(tmp_path, capsys):
    saved(tmp_path, 3)
    drift(capsys, tmp_path / "run", "--state", tmp_path / "s.json")
    code, _, err = drift(capsys, tmp_path / "run", "--state", tmp_path / "s.json", "--method", "public")
    assert code == 2
    assert "holds the rules already" in err
