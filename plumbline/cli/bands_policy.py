"""``plumbline bands init|check|calibrate|diff|schema``: the file, the verdicts, the threshold."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from plumbline.cli.bands_command import add_today
from plumbline.cli.bands_governance import add_judging

__all__ = ["add_commands", "today_of"]


def add_commands(commands: Any) -> None:
    """Add the sub-commands."""
    init = commands.add_parser("init", help="write a band file to start from", allow_abbrev=False)
    init.add_argument("file", metavar="FILE", help="file to write; never over one that is there")
    init.add_argument("--owner", required=True, help="who owns the agent")
    init.add_argument("--approver", required=True, help="who approves this version; not the owner")
    add_today(init)
    init.set_defaults(run=_init)

    check = commands.add_parser(
        "check",
        help="check a band file, and apply it to two runs",
        description="Without runs: is the file well-formed? With --baseline and --candidate: what moved, with a "
        "verdict each. Exit 0 ship, 1 hold, 2 usage, 3 escalate.",
        allow_abbrev=False,
    )
    check.add_argument("file", metavar="FILE", help="band file")
    check.add_argument("--baseline", metavar="RUN", help="run of the incumbent")
    check.add_argument("--candidate", metavar="RUN", help="run of the changed agent")
    check.add_argument("--baseline-arm", metavar="ARM", help="needed where the run holds several arms")
    check.add_argument("--candidate-arm", metavar="ARM", help="needed where the run holds several arms")
    check.add_argument("--rerun", metavar="RUN", help="another run of the incumbent, to measure its own noise")
    check.add_argument("--event", choices=("pull_request",), help="refuse fixtures that may delete, unless named")
    check.add_argument("--cache", metavar="FOLDER", help="keep scores of texts here, by content")
    check.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    check.add_argument("--markdown", metavar="FILE", help="append a summary, for example to $GITHUB_STEP_SUMMARY")
    check.add_argument("--report", metavar="FILE", help="write a page with a diff of every case that moved")
    check.add_argument("--json", action="store_true", help="print JSON")
    add_judging(check)
    add_today(check)
    check.set_defaults(run=_check)

    calibrate = commands.add_parser(
        "calibrate", help="find the threshold of the text band from judged pairs", allow_abbrev=False
    )
    calibrate.add_argument("pairs", metavar="PAIRS", help="judged pairs, CSV or JSON lines; 'example' for ours")
    calibrate.add_argument("--scorer", default="lexical", help="lexical (default) or embedding")
    calibrate.add_argument("--cost-false-alarm", type=float, default=1.0, help="of an equivalent pair that alarms")
    calibrate.add_argument("--cost-miss", type=float, default=5.0, help="of a difference that passes (default: 5)")
    calibrate.add_argument("--cases-a-week", type=int, default=300, help="cases compared in a week (default: 300)")
    calibrate.add_argument("--seed", type=int, default=7, help="seed of splits and resamples (default: 7)")
    calibrate.add_argument("--json", action="store_true", help="print JSON")
    calibrate.set_defaults(run=_calibrate)

    diff = commands.add_parser("diff", help="what moved between two band files, and which way", allow_abbrev=False)
    diff.add_argument("before", metavar="BEFORE")
    diff.add_argument("after", metavar="AFTER")
    diff.add_argument("--json", action="store_true", help="print JSON")
    diff.set_defaults(run=_diff)

    schema = commands.add_parser("schema", help="print the JSON Schema of a band file", allow_abbrev=False)
    schema.set_defaults(run=_schema)


def today_of(arguments: argparse.Namespace) -> date:
    """Return the day that was given, else today in UTC."""
    from plumbline.base.errors import ParameterError

    if arguments.today is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(arguments.today)
    except ValueError:
        raise ParameterError(f"--today {arguments.today!r} is no day; write it as 2026-08-01") from None


def _init(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import NotFoundError, ParameterError
    from plumbline.decide.bands import parse_bands, sample_bands
    from plumbline.decide.bands.reading import parse_yaml, write_yaml
    from plumbline.traces import write_text

    path = Path(arguments.file)
    if path.exists():
        raise ParameterError(f"{path} is there already; nothing was written. Type: plumbline bands check {path}")
    if not path.parent.is_dir():
        raise NotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    tree, _ = parse_yaml(sample_bands().text, "the sample band file")
    tree["owner"], tree["approver"], tree["created"] = arguments.owner, arguments.approver, today_of(arguments)
    text = write_yaml(tree)
    parse_bands(text, source=str(path))
    write_text(path, text)
    print(f"bands     {path}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.cli.bands_governance import judged_in_book
    from plumbline.decide.bands import CachedScorer, apply_bands, load_bands, scorer_named
    from plumbline.run import read_run

    bands = load_bands(arguments.file, today=today_of(arguments))
    if (arguments.baseline is None) != (arguments.candidate is None):
        raise ParameterError("give --baseline RUN and --candidate RUN, both or neither")
    if arguments.baseline is None:
        print(json.dumps(bands.to_dict(), indent=1, ensure_ascii=False) if arguments.json else bands)
        return 0
    text = bands.rules.text
    scorer = CachedScorer(scorer_named(text.scorer if text else "lexical"), folder=arguments.cache)
    report = apply_bands(
        bands,
        baseline=read_run(arguments.baseline),
        candidate=read_run(arguments.candidate),
        baseline_arm=arguments.baseline_arm,
        candidate_arm=arguments.candidate_arm,
        rerun=read_run(arguments.rerun) if arguments.rerun else None,
        scorer=scorer,
        event=arguments.event,
    )
    scorer.save()
    if arguments.book:
        report = judged_in_book(report, arguments)
    return _written(report, arguments)


def _written(report: Any, arguments: argparse.Namespace) -> int:
    from plumbline.cli.gate_command import write_output

    if arguments.junit:
        write_output(arguments.junit, report.junit())
    if arguments.markdown:
        before = Path(arguments.markdown).read_text(encoding="utf-8") if Path(arguments.markdown).is_file() else ""
        write_output(arguments.markdown, before + report.markdown())
    if arguments.report:
        from plumbline.show.bands import bands_page

        bands_page(report, arguments.report)
    print(json.dumps(report.to_dict(), indent=1, ensure_ascii=False) if arguments.json else report)
    return int(report.exit_code)


def _calibrate(arguments: argparse.Namespace) -> int:
    import numpy as np

    from plumbline.decide.bands import calibrate, example_pairs, read_pairs, scorer_named

    made_up = arguments.pairs == "example"
    found = calibrate(
        example_pairs(seed=arguments.seed) if made_up else read_pairs(arguments.pairs),
        scorer=scorer_named(arguments.scorer), cost_false_alarm=arguments.cost_false_alarm,
        cost_miss=arguments.cost_miss, cases_a_week=arguments.cases_a_week,
        generator=np.random.default_rng(arguments.seed),
    )  # fmt: skip
    print(json.dumps(found.to_dict(), indent=1, ensure_ascii=False) if arguments.json else found)
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    from plumbline.decide.bands import compare_bands, load_bands

    found = compare_bands(load_bands(arguments.before), load_bands(arguments.after))
    if arguments.json:
        rows = found.to_frame().to_dict("records")
        print(json.dumps({"way": found.way, "changes": rows}, indent=1, ensure_ascii=False))
    else:
        print(found)
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    from plumbline.decide.bands import bands_schema

    print(json.dumps(bands_schema(), indent=1, ensure_ascii=False))
    return 0
