"""``plumbline show RUN --trial TEXT``: one trial in plain text, or beside the same cell of another arm."""

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
        description="Show one trial, its steps and what it violated, or set it beside the same cell of another arm.",
        allow_abbrev=False,
    )
    add_run(show)
    show.add_argument("--trial", required=True, metavar="TEXT", help="id of a trial, or a part of it that only one has")
    show.add_argument("--against", metavar="ARM", help="set it beside the same task, perturbation, variant, repetition")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> int:
    from plumbline.run import read_run

    run = read_run(arguments.run_folder)
    trial = _one(run, arguments.trial)
    if arguments.against is None:
        violations = _violations(arguments, run, trial)
        print(_as_json(run, trial, violations) if arguments.json else "\n".join(_lines(run, trial, violations)))
        return 0
    other = _counterpart(run, trial, arguments.against)
    if arguments.json:
        print(f"[{_as_json(run, trial, None)},\n{_as_json(run, other, None)}]")
    else:
        print(_side_by_side(run, trial, other))
    return 0


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


def _violations(arguments: argparse.Namespace, run: Any, trial: str) -> list[dict[str, Any]] | None:
    """Return what the trial violated, or None where there is no policy to say."""
    from plumbline.rules import read_policy

    if arguments.policy:
        policy = read_policy(arguments.policy)
    else:
        domain = domain_of(arguments, run)
        if domain is None:
            return None
        policy = domain.policy
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


def _side_by_side(run: Any, trial: str, other: str) -> str:
    from plumbline.show import trace_pair

    left, right = run.trial(trial), run.trial(other)
    titles = (trial, other)
    said = [f"{name}: {_record(run, name)['status']}, exposure {_record(run, name)['exposure']}" for name in titles]
    if left.empty and right.empty:
        return "\n".join([*said, "neither recorded a step"])
    table = trace_pair(left, right, titles=titles, pairs=_pairs(left, right))
    return "\n".join([*said, table.text])


def _pairs(left: Any, right: Any) -> list[tuple[int | None, int | None]]:
    """Pair the calls as they are aligned; other steps stand where they were, beside one of their kind if there is."""
    from plumbline.compare import align

    calls = [set(side.loc[side["kind"] == "tool_call", "step"]) for side in (left, right)]
    matched: list[tuple[int | None, int | None]]
    if all(calls):
        script = align(right, left).script
        columns = zip(script["reference_step"], script["candidate_step"], strict=True)
        matched = [(_step(one), _step(two)) for one, two in columns]
    else:
        matched = [*((int(step), None) for step in sorted(calls[0])), *((None, int(s)) for s in sorted(calls[1]))]
    made: list[tuple[int | None, int | None]] = []
    done = [0, 0]
    for pair in [*matched, (len(left), len(right))]:
        between = [list(range(start, end)) if end is not None else [] for start, end in zip(done, pair, strict=True)]
        made += _beside(left, right, *between)
        if pair != (len(left), len(right)):
            made.append(pair)
        done = [start if end is None else end + 1 for start, end in zip(done, pair, strict=True)]
    return made


def _beside(left: Any, right: Any, ours: list[int], theirs: list[int]) -> list[tuple[int | None, int | None]]:
    made: list[tuple[int | None, int | None]] = []
    waiting = list(theirs)
    for step in ours:
        if waiting and left["kind"].iloc[step] == right["kind"].iloc[waiting[0]]:
            made.append((step, waiting.pop(0)))
        else:
            made.append((step, None))
    return made + [(None, step) for step in waiting]


def _step(value: Any) -> int | None:
    import pandas as pd

    return None if pd.isna(value) else int(value)
