"""``plumbline export``: every format, what it cannot hold, and nothing half written."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

import plumbline as plumb
from plumbline.cli import main
from plumbline.cli.export_command import FORMATS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    domain = plumb.load_domain("procure_to_pay")
    run = plumb.run_study(domain, arms=["plan_execute"], tasks=["INV-7002"], variants=1, repetitions=2, clock=None)
    return run.save(tmp_path_factory.mktemp("runs") / "small")


@pytest.mark.parametrize("name", list(FORMATS))
def test_each_format_is_written_and_holds_every_trial(folder, tmp_path, name, capsys):
    place = tmp_path / "out"
    assert main(["export", str(folder), "--to", name, "--out", str(place)]) == 0
    assert "2 planned, 2 recorded" in capsys.readouterr().out
    run = plumb.read_run(folder)
    calls = int((run.steps["kind"] == "tool_call").sum())
    if name == "event-log":
        log = pd.read_csv(place)
        assert len(log) == calls
        assert log["case:concept:name"].nunique() == 2
    elif name == "csv":
        assert len(pd.read_csv(place / "steps.csv")) == len(run.steps)
    elif name == "parquet":
        assert pq.read_table(place / "steps.parquet").num_rows == len(run.steps)
    elif name == "evaluations":
        records = json.loads(place.read_text())["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        assert len(records) == 2 * len(plumb.load_domain("procure_to_pay").policy)
    else:
        assert len(place.read_text().splitlines()) == 2
        back = plumb.read_traces(place)
        assert (
            back.steps.query("kind == 'tool_call'")["arguments"].tolist()
            == run.steps.query("kind == 'tool_call'")["arguments"].tolist()
        )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--to", "csv", "--out", "HERE"], "is there already"),
        (["--to", "csv", "--out", "x", "--domain", "procure_to_pay"], "a policy has no part in csv"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(folder, tmp_path, more, message, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "HERE").write_text("mine")
    assert main(["export", str(folder), *more]) == 2
    assert message in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["HERE"]
    assert (tmp_path / "HERE").read_text() == "mine"
