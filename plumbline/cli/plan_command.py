"""``plumbline plan --threshold 0.95``: how many runs, before any money is spent."""

from __future__ import annotations

import argparse
import json
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    plan = commands.add_parser(
        "plan",
        help="how many runs a gate needs",
        description="How many runs does a gate need, for these tasks and for tasks like these?",
        allow_abbrev=False,
    )
    plan.add_argument("--threshold", type=float, required=True, help="what the lower bound must reach, such as 0.95")
    plan.add_argument("--true-rate", type=float, default=0.99, help="rate the agent is thought to have (default: 0.99)")
    plan.add_argument("--power", type=float, default=0.8, help="chance that such an agent passes (default: 0.8)")
    plan.add_argument("--rho", type=float, default=0.4, help="correlation of the runs of one task (default: 0.4)")
    plan.add_argument("--tasks", type=int, help="tasks at hand")
    plan.add_argument("--runs-per-task", type=int, default=8, help="variants times repetitions (default: 8)")
    plan.add_argument("--conditions", type=int, default=1, help="perturbations, each with its own runs (default: 1)")
    plan.add_argument("--confidence", type=float, default=0.95, help="confidence of the bound (default: 0.95)")
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.set_defaults(run=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    from plumbline.stats import plan_runs

    found = plan_runs(
        arguments.threshold,
        true_rate=arguments.true_rate,
        power=arguments.power,
        tasks=arguments.tasks,
        runs_per_task=arguments.runs_per_task,
        cells=arguments.conditions,
        rhos=sorted({0.0, 0.1, 0.3, arguments.rho, 1.0}),
        confidence=arguments.confidence,
    )
    if arguments.json:
        values = found.to_dict()
        for row in values["scenarios"]:  # JSON has no infinity: endless repetitions of uncorrelated runs have no limit
            row["most"] = None if row["most"] == float("inf") else row["most"]
        print(json.dumps(values | {"total_runs": found.total_runs}, indent=1, allow_nan=False))
    else:
        print(found)
    return 0
