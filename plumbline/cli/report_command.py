"""``plumbline report RUN``: a conformance report of any run; ``PAGE.html --pdf``: on paper; ``--index FOLDER``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    from plumbline.cli.choosing import add_policy

    command = commands.add_parser(
        "report",
        help="write a conformance report of a run, or an index of reports",
        description="Write a report of any run with any policy: one page that opens offline, on paper and with a "
        "screen reader. With --index, write index.html over the reports of a folder instead; with a report in place of "
        "RUN, and --pdf, print that report.",
        allow_abbrev=False,
    )
    command.add_argument("run_folder", metavar="RUN", nargs="?", help="run folder, or a report to print")
    add_policy(command)
    command.add_argument("--out", metavar="FILE", help="page to write (default: reports/conformance-RUN.html)")
    command.add_argument(
        "--measure", default="critical", choices=("critical", "all", "outcome"), help="what a success is"
    )
    command.add_argument("--confidence", type=float, default=0.95, help="confidence of every interval (default: 0.95)")
    command.add_argument("--pdf", action="store_true", help="print it to a PDF beside it too, through Chromium")
    command.add_argument("--index", metavar="FOLDER", help="write an index of the reports in this folder")
    command.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError

    if (arguments.run_folder is None) == (arguments.index is None):
        raise ParameterError("give a run folder, or --index FOLDER, one of the two")
    if arguments.index is not None:
        from plumbline.show.standard import index_page

        print(f"index     {index_page(arguments.index)}")
        return 0
    if arguments.run_folder.lower().endswith((".html", ".htm")):
        return _print(arguments)
    return _standard(arguments)


def _print(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.show.standard import print_pdf

    if not arguments.pdf:
        raise ParameterError(f"{arguments.run_folder} is a page, not a run folder; add --pdf to print it")
    page = Path(arguments.run_folder)
    target = page.with_suffix(".pdf") if arguments.out is None else Path(arguments.out)
    print(f"paper     {print_pdf(page, target)}")
    return 0


def _standard(arguments: argparse.Namespace) -> int:
    from plumbline.cli.choosing import domain_of, policy_and_grade
    from plumbline.run import read_run
    from plumbline.show.standard import find_browser, print_pdf, standard_report

    run = read_run(arguments.run_folder)
    policy, grade = policy_and_grade(arguments, run, measure=arguments.measure)
    browser = find_browser() if arguments.pdf else None  # before anything is written
    domain = domain_of(arguments, run) if arguments.policy is None else None
    page = Path(f"reports/conformance-{run.run_id}.html" if arguments.out is None else arguments.out)
    made = standard_report(
        run, policy, out=page, measure=arguments.measure, grade=grade, confidence=arguments.confidence,
        argument_rules=getattr(domain, "argument_fields", None) or None,
    )  # fmt: skip
    print(made)
    if browser is not None:
        print(f"paper     {print_pdf(page, page.with_suffix('.pdf'), browser=browser)}")
    return 0
