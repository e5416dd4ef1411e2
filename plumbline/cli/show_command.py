"""``plumbline show RUN TRIAL [TRIAL]``: one trial in plain text, or two of them side by side."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import Any

from plumbline.cli.choosing import add_run, domain_of

__all__ = ["register"]

_LISTED = 20
_LONGEST = 240


def register(commands: Any) -> None:
    """Add the command to the parser."""
    show = commands.add_parser(
        "show",
        help="one trial in plain text",
        description="Show one trial, its steps and what it violated, or set two trials side by side, step by step.",
        allow_abbrev=False,
    )
    add_run(show)
    show.add_argument("trials", nargs="*", metavar="TRIAL", help="one trial, or two: ids, or parts that only one has")
    show.add_argument("--trial", metavar="TEXT", help="the same for one trial")
    show.add_argument("--against", metavar="ARM", help="set it beside the same task, perturbation, variant, repetition")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> int:
    from plumbline.run import read_run

    run = read_run(arguments.run_folder)
    trial, *rest = (_one(run, text) for text in _named(arguments))
    if arguments.against is not None:
        rest = [_counterpart(run, trial, arguments.against)]
    if not rest:
        violations = _violations(arguments, run, trial)
        print(_as_json(run, trial, violations) if arguments.json else "\n".join(_lines(run, trial, violations)))
        return 0
    if arguments.json:
        print(f"[{_as_json(run, trial, None)},\n{_as_json(run, rest[0], None)}]")
    else:
        print(_side_by_side(arguments, run, trial, rest[0]))
    return 0


def _named(arguments: argparse.Namespace) -> list[str]:
    """Return the one or two trials that were named."""
    from plumbline.base.errors import ParameterError

    named = [*arguments.trials, *([arguments.trial] if arguments.trial is not None else [])]
    most = 1 if arguments.against is not None else 2
    if not 1 <= len(named) <= most:
        allowed = "one trial beside --against" if most == 1 else "one trial, or two to set side by side"
        raise ParameterError(f"{len(named)} trials are named; name {allowed}")
    return named


def _one(run: Any, text: str) -> str:
    """Return the trial with this id, else the only one whose id contains the text."""
    from plumbline.base.errors import NotFoundError, ParameterError

    ids = list(run.trials["trial_id"])
    if text in ids:
        return text
    found = [name for name in ids if text in name]
    if len(found) == 1:
        return str(found[0])
    if found:
        more = f"\n  … and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        listed = "\n  ".join(found[:_LISTED])
        raise ParameterError(f"{len(found)} trials contain {text!r}; name one of them:\n  {listed}{more}")
    if run.plan is not None and text in run.plan.trial_ids():
        raise NotFoundError(f"trial {text!r} was planned, but left no record in run {run.run_id!r}")
    raise NotFoundError(f"run {run.run_id!r} holds no trial that contains {text!r}; the first is {ids[0]!r}")


def _counterpart(run: Any, trial: str, arm: str) -> str:
    from plumbline.base.errors import NotFoundError, ParameterError

    if arm not in run.arms:
        raise ParameterError(f"run {run.run_id!r} has no arm {arm!r}; it has {', '.join(run.arms)}")
    other = f"{arm}/{trial.split('/', 1)[1]}"
    if other == trial:
        raise ParameterError(f"trial {trial} is of arm {arm!r} itself; name another arm")
    if other not in set(run.trials["trial_id"]):
        raise NotFoundError(f"arm {arm!r} left no record of {trial.split('/', 1)[1]}: there is no trial {other}")
    return other


def _policy_and_domain(arguments: argparse.Namespace, run: Any) -> tuple[Any, Any]:
    """Return the policy, or None where nothing names one, and the domain, where one is used."""
    from plumbline.rules import read_policy

    if arguments.policy is not None:
        return read_policy(arguments.policy), None
    domain = domain_of(arguments, run)
    return (None if domain is None else domain.policy), domain


def _violations(arguments: argparse.Namespace, run: Any, trial: str) -> list[dict[str, Any]] | None:
    """Return what the trial violated, or None where there is no policy to say."""
    policy, _ = _policy_and_domain(arguments, run)
    if policy is None:
        return None
    rows = run.check(policy).violations()
    names = ["rule", "severity", "step", "name", "expected", "observed"]
    return list(json.loads(rows.loc[rows["trial_id"] == trial, names].to_json(orient="records")))


def _record(run: Any, trial: str) -> dict[str, Any]:
    import pandas as pd

    row = run.trials[run.trials["trial_id"] == trial].iloc[0]
    return {str(name): None if pd.isna(value) else value for name, value in row.items()}


def _as_json(run: Any, trial: str, violations: list[dict[str, Any]] | None) -> str:
    trials = run.trials[run.trials["trial_id"] == trial]
    body = json.loads(trials.to_json(orient="records", double_precision=15))[0]
    body["steps"] = json.loads(run.trial(trial).to_json(orient="records", double_precision=15))
    if violations is not None:
        body["violations"] = violations
    return json.dumps(body, indent=1, ensure_ascii=False)


def _lines(run: Any, trial: str, violations: list[dict[str, Any]] | None) -> list[str]:
    record = _record(run, trial)
    lines = [f"{trial}: {record['status']}, exposure {record['exposure']}, {record['provenance']}"]
    for name in ("error", "fault", "prompt", "outcome", "final_output"):
        if record[name] is not None:
            lines.append(_wrapped(f"  {name:<13}", str(record[name])))
    lines += _steps(run.trial(trial))
    if violations is None:
        return [*lines, "no policy: name one with --policy FILE or --domain NAME"]
    for row in violations:
        where = "missing call" if row["step"] is None else f"step {row['step']}"
        text = f"{row['rule']} ({row['severity']}), {where}: expected {row['expected']}; found {row['observed']}"
        lines.append(_wrapped("  violated     ", text))
    return lines if violations else [*lines, "no rule of the policy is violated"]


def _steps(steps: Any) -> list[str]:
    lines = []
    for row in steps.to_dict("records"):
        name = row["name"] if isinstance(row["name"], str) else ""
        head = f"{row['kind']} {name}".strip() if row["kind"] != "tool_call" else name
        arguments = row["arguments"] if isinstance(row["arguments"], str) else ""
        lines.append(_wrapped(f"  {row['step']:>3} ", f"{head} {arguments}".strip()))
        if isinstance(row["injected"], str):
            lines.append(_wrapped("      ", f"injected fault: {row['injected']}"))
        if row["status"] != "ok":
            error = row["error"] if isinstance(row["error"], str) else ""
            lines.append(_wrapped("      ", f"{row['status']}: {error}".rstrip(": ")))
        elif isinstance(row["result"], str):
            lines.append(_wrapped("      ", f"-> {row['result']}"))
    return lines or ["  no step was recorded"]


def _wrapped(label: str, text: str) -> str:
    from plumbline.decide.words import WIDTH

    flat = " ".join(text.split())
    if len(flat) > _LONGEST:
        flat = f"{flat[:_LONGEST]}… ({len(flat) - _LONGEST:,} more characters)"
    rest = " " * len(label)
    return textwrap.fill(flat, WIDTH, initial_indent=label, subsequent_indent=rest, break_on_hyphens=False)


def _side_by_side(arguments: argparse.Namespace, run: Any, trial: str, other: str) -> str:
    """Return the diff of two trials, checked and graded where policy and domain are known; arguments as recorded."""
    from plumbline.show.diff import diff

    policy, domain = _policy_and_domain(arguments, run)
    verdicts = None if policy is None else run.check(policy)
    return str(diff((run, trial), (run, other), verdicts=verdicts, grade=None if domain is None else domain.grade))
