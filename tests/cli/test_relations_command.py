"""``plumbline relations``: list, validate, run, report; exit codes say what a gate would."""

from __future__ import annotations

import json

import pytest

from plumbline.cli import main


def test_list_and_validate_say_what_there_is(capsys):
    assert main(["relations", "list", "questions", "--json"]) == 0
    listed = {row["relation"]: row for row in json.loads(capsys.readouterr().out)}
    assert listed["source_withdrawn"]["kind"] == "removal"
    assert all(row["not_usable_because"] is None for row in listed.values())
    assert main(["relations", "validate", "questions"]) == 0
    assert "46 valid pairs" in capsys.readouterr().out


def test_a_run_is_judged_from_its_record_alone(tmp_path, capsys):
    run = str(tmp_path / "pairs")
    asked = ["relations", "run", "questions", "--arm", "reader", "--relation", "sources_turned", "--out", run]
    assert main([*asked, "--repetitions", "1"]) == 0
    assert "8 valid pairs, 24 completed trials" in capsys.readouterr().out
    assert main(["relations", "report", run]) == 0
    told = capsys.readouterr().out
    assert "violating families 0 of 8 [0.000, 0.369]" in told
    assert "0 violated of 8 judged, 8 planned" in told
    assert main(["relations", "report", run, "--by", "purpose", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["families"] == 8


@pytest.mark.parametrize(("asked", "told"), [
    (["list", "nosuch"], "no domain 'nosuch'"),
    (["run", "questions", "--arm", "reader", "--relation", "x"], "no relation 'x'"),
    (["report", "data/procure_to_pay/local"], "holds no contract of a pair"),
])  # fmt: skip
def test_a_mistake_gets_a_sentence(asked, told, tmp_path, capsys):
    more = ["--out", str(tmp_path / "r")] if asked[0] == "run" else []
    assert main(["relations", *asked, *more]) == 2
    assert told in capsys.readouterr().err
