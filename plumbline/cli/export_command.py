"""``plumbline export RUN --to FORMAT --out PLACE``: a run in the words of another tool."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["register"]

FORMATS = {
    "event-log": "one CSV file, a row a call, in process-mining columns",
    "csv": "a folder with trials.csv and steps.csv",
    "parquet": "a folder with trials.parquet and steps.parquet",
    "otlp": "one JSON-lines file of OpenTelemetry spans, a line a trial",
    "openai": "one JSON-lines file of OpenAI chat conversations, a line a trial",
    "evaluations": "one OTLP JSON file of gen_ai.evaluation.result events, a verdict an event",
}


def register(commands: Any) -> None:
    """Add the command to the parser."""
    from plumbline.cli.choosing import add_run

    command = commands.add_parser(
        "export",
        help="write a run in the format of another tool",
        description="Write a run in the format of another tool. What the format cannot hold is said.\n\n"
        + "\n".join(f"  {name:12} {told}" for name, told in FORMATS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_run(command)
    command.add_argument("--to", required=True, choices=list(FORMATS), help="format")
    command.add_argument("--out", required=True, metavar="PLACE", help="file or folder to write; it must not exist")
    command.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.run import read_run

    place = Path(arguments.out)
    if place.exists():
        raise ParameterError(f"{arguments.out} is there already; name a place that does not exist")
    if not (arguments.policy is None and arguments.domain is None) and arguments.to != "evaluations":
        raise ParameterError(f"a policy has no part in {arguments.to}; it belongs to --to evaluations")
    run = read_run(arguments.run_folder)
    told = _write(run, arguments, place)
    print(f"{run.counts()}: written to {arguments.out}")
    for line in told:
        print(line, file=sys.stderr)
    return 0


def _write(run: Any, arguments: argparse.Namespace, place: Path) -> list[str]:
    """Write, and return what the format could not hold."""
    if arguments.to in ("csv", "parquet"):
        from plumbline.exchange.writers.tables import write_tables

        write_tables(run, place, format=arguments.to)
        return ["tables hold no tasks, plan or notes; the run folder does"]
    text, told = _text(run, arguments)
    from plumbline.traces import write_text

    write_text(place, text)
    return told


def _text(run: Any, arguments: argparse.Namespace) -> tuple[str, list[str]]:
    if arguments.to == "event-log":
        silent = run.counts().recorded - run.to_event_log()["case:concept:name"].nunique()
        told = (
            [f"{silent} recorded trials without a call have no row; an event log knows no empty case"] if silent else []
        )
        return run.to_event_log().to_csv(index=False), told
    if arguments.to == "otlp":
        from plumbline.exchange import otlp_lines

        return "".join(f"{line}\n" for line in otlp_lines(run)), ["the plan and notes stand in no span"]
    if arguments.to == "openai":
        from plumbline.exchange.writers.openai_messages import to_openai_messages

        made = to_openai_messages(run)
        return made.to_jsonl(), [str(made)]
    from plumbline.cli.choosing import policy_and_grade
    from plumbline.exchange.writers.evaluations import evaluation_events

    policy, _ = policy_and_grade(arguments, run, measure="critical")
    return json.dumps(evaluation_events(run.check(policy).to_frame()), ensure_ascii=False) + "\n", []
