"""``plumbline bands drift RUN``: did the agent change though nobody changed it?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from plumbline.cli.choosing import add_policy, domain_of

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add the sub-command."""
    drift = commands.add_parser(
        "drift",
        help="what changed without an edit, session by session",
        description="Watch the completed sessions of a run, recorded or received, and say in words what changed, by "
        "how much, against which baseline, and how many false alarms to expect. With --state a growing run is taken in "
        "where it was left. Exit 0 nothing new, 1 alerts.",
        allow_abbrev=False,
    )
    drift.add_argument("run_folder", metavar="RUN", help="run folder")
    add_policy(drift)
    drift.add_argument("--arm", help="the agent that is watched, where the run has several")
    drift.add_argument("--state", metavar="FILE", help="go on from this file and leave the new state in it")
    drift.add_argument("--method", choices=("sound", "public"), help="rules of a new monitor (default: sound)")
    drift.add_argument("--baseline", type=int, default=0, metavar="N", help="sessions taken as usual (default: 20)")
    drift.add_argument("--json", action="store_true", help="print JSON")
    drift.set_defaults(run=_drift)


def _drift(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.decide.drift import DriftMonitor, DriftRules, read_monitor
    from plumbline.rules import read_policy
    from plumbline.run import read_run

    run = read_run(arguments.run_folder)
    state = None if arguments.state is None else Path(arguments.state)
    if state is not None and state.exists():
        if arguments.method or arguments.baseline:
            raise ParameterError(f"{state} holds the rules already; leave --method and --baseline out, or start anew")
        monitor = read_monitor(state)
    else:
        rules = DriftRules(method=arguments.method or "sound", baseline=arguments.baseline)
        monitor = DriftMonitor(rules, name=arguments.arm or run.run_id)
    domain = None if arguments.policy else domain_of(arguments, run)
    policy = read_policy(arguments.policy) if arguments.policy else None if domain is None else domain.policy
    fresh = monitor.observe_run(run, policy=policy, arm=arguments.arm)
    if state is not None:
        monitor.save(state)
    expected = monitor.false_alarms()
    if arguments.json:
        rows = json.loads(expected.to_json(orient="records"))
        print(json.dumps({"new": [one.to_dict() for one in fresh], "expected": rows, "sessions": len(monitor.seen)}))
        return 1 if fresh else 0
    print(monitor.summary())
    for row in expected.to_dict("records"):
        print(f"  {row['rule']}: {row['per_100_sessions']:.3g} in 100 sessions, {row['basis']}")
    print("no conformance: no policy was given" if policy is None else f"conformance by policy {policy.name}")
    print(f"new alerts: {len(fresh)}" + "".join(f"\n  {one}" for one in fresh))
    return 1 if fresh else 0
