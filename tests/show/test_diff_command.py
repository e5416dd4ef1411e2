"""``plumbline show RUN A B`` prints the text of the diff."""

from __future__ import annotations

from pathlib import Path

import plumbline as plumb
from plumbline.cli import main
from plumbline.show.diff import diff

PARITY = Path(__file__).resolve().parents[2] / "data" / "procure_to_pay" / "parity"
LEFT, RIGHT = "plan_execute/INV-7002/tool_fault/0/0", "react/INV-7002/tool_fault/0/0"


def test_two_trials_are_set_side_by_side(capsys):
    assert main(["show", str(PARITY), LEFT, RIGHT]) == 0
    run, domain = plumb.read_run(PARITY), plumb.load_domain("procure_to_pay")
    made = diff((run, LEFT), (run, RIGHT), verdicts=run.check(domain.policy), grade=domain.grade)
    said = capsys.readouterr().out
    assert said == f"{made}\n"
    assert "against ground truth, left: ✗ wrong" in said
    assert main(["show", str(PARITY), "--trial", LEFT, "--against", "react"]) == 0
    assert capsys.readouterr().out == said
    assert main(["show", str(PARITY), LEFT]) == 0
    assert "injected fault: http_503" in capsys.readouterr().out


def test_no_trial_or_three_are_refused(capsys):
    for words in ([], [LEFT, RIGHT, LEFT], [LEFT, RIGHT, "--against", "react"]):
        assert main(["show", str(PARITY), *words]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "trials are named; name one trial" in said.err
