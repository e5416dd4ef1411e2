"""``plumbline gate RUN --arm A``: ship, hold or escalate."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from plumbline.cli.choosing import add_run, policy_and_grade

__all__ = ["register", "write_output"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    gate = commands.add_parser(
        "gate",
        help="ship, hold or escalate",
        description="Decide about a release. Exit 0 ship, 1 hold, 2 usage, 3 escalate.",
        allow_abbrev=False,
    )
    add_run(gate)
    gate.add_argument("--arm", required=True, help="the arm to be released")
    gate.add_argument("--min-bound", type=float, metavar="SHARE", help="what the bound must reach, such as 0.95")
    gate.add_argument("--plan", metavar="FILE", help="gate plan written before the run, YAML or JSON")
    gate.add_argument("--incumbent", metavar="ARM", help="arm to compare with; must be that of the plan")
    gate.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    gate.add_argument("--markdown", metavar="FILE", help="append a summary, for example to $GITHUB_STEP_SUMMARY")
    gate.add_argument("--json", action="store_true", help="print JSON")
    gate.set_defaults(run=_gate)


def _gate(arguments: argparse.Namespace) -> int:
    from plumbline.decide import read_gate_plan
    from plumbline.run import read_run

    run = read_run(arguments.run_folder)
    plan = read_gate_plan(arguments.plan) if arguments.plan else None
    measure = "critical" if plan is None else plan.measure
    policy, grade = policy_and_grade(arguments, run, measure=measure)
    decision = run.gate(
        arm=arguments.arm,
        policy=policy,
        plan=plan,
        min_bound=arguments.min_bound,
        incumbent=arguments.incumbent,
        grade=grade,
    )
    if arguments.junit:
        write_output(arguments.junit, decision.junit())
    if arguments.markdown:
        before = Path(arguments.markdown).read_text(encoding="utf-8") if Path(arguments.markdown).is_file() else ""
        write_output(arguments.markdown, before + decision.markdown())
    print(json.dumps(decision.to_dict(), indent=1, ensure_ascii=False) if arguments.json else decision)
    return int(decision.exit_code)


def write_output(name: str, text: str) -> None:
    """Write what a machine reads to a folder that is there."""
    from plumbline.base.errors import NotFoundError
    from plumbline.traces import write_text

    path = Path(name)
    if not path.parent.is_dir():
        raise NotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    write_text(path, text)
