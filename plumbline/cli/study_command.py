"""``plumbline study list|check|run``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    group = commands.add_parser("study", help="list, check or run studies", allow_abbrev=False)
    verbs = group.add_subparsers(dest="verb", metavar="VERB", required=True)

    one = verbs.add_parser("list", help="studies that exist", allow_abbrev=False)
    one.set_defaults(run=_list)

    two = verbs.add_parser("check", help="recompute every pinned figure, without a notebook", allow_abbrev=False)
    two.add_argument("name", nargs="?", help="a study; all of them if left out")
    two.add_argument("--pin", metavar="ID", help="show one figure with its pin and the trials behind it")
    two.set_defaults(run=_check)

    three = verbs.add_parser("run", help="run a study's notebook and write its report", allow_abbrev=False)
    three.add_argument("name")
    three.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    three.add_argument("--out", default="reports", help="folder for notebook, report and results (default: reports)")
    three.set_defaults(run=_run)

    for verb in (one, two, three):
        verb.add_argument("--json", action="store_true", help="print JSON")
        verb.add_argument("--studies", metavar="FOLDER", help="folder of studies (default: the checkout's)")


def _list(arguments: argparse.Namespace) -> int:
    from plumbline.study import list_studies, load_study

    studies = [load_study(name, studies=arguments.studies) for name in list_studies(studies=arguments.studies)]
    if arguments.json:
        keys = ("name", "title", "question")
        print(json.dumps([{k: getattr(s, k) for k in keys} | {"pins": len(s.pins)} for s in studies], indent=1))
    for study in studies if not arguments.json else ():
        print(f"{study.name:20} {study.title}\n{'':20} {study.question} ({len(study.pins)} pins)")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import InputError
    from plumbline.study import check_study, list_studies, load_study

    if arguments.pin:
        return _one_pin(arguments)
    names = [arguments.name] if arguments.name else list_studies(studies=arguments.studies)
    if not names:
        raise InputError("there is no study to check")
    reports = [check_study(load_study(name, studies=arguments.studies)) for name in names]
    if arguments.json:
        print(json.dumps([_report(r) for r in reports], indent=1))
    else:
        print("\n".join(map(str, reports)))
    return 0 if all(r.ok for r in reports) else 1


def _one_pin(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import InputError
    from plumbline.study import load_study
    from plumbline.study.pins import same

    if not arguments.name:
        raise InputError("--pin needs the study's name: plumbline study check NAME --pin ID")
    study = load_study(arguments.name, studies=arguments.studies)
    figures = study.figures()
    trials = figures.behind(arguments.pin)
    pin, value = study.pins.get(arguments.pin), figures[arguments.pin]
    holds = pin is not None and same(pin.value, value, pin.decimals)
    if arguments.json:
        expected = None if pin is None else pin.value
        print(json.dumps({"id": arguments.pin, "expected": expected, "found": value, "holds": holds, "trials": trials}))
    else:
        print(f"{arguments.pin}\n  pinned  {'no pin' if pin is None else pin.value}\n  found   {value}")
        if pin is not None:
            print(f"  method  {pin.method}\n  source  {pin.source}")
        print("  trials  " + ("\n          ".join(trials) or "not counted from single trials"))
    return 0 if holds else 1


def _run(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import ParameterError
    from plumbline.study import load_study, run_study
    from plumbline.study.parameters import from_text

    study = load_study(arguments.name, studies=arguments.studies)
    given = {}
    for name, text in arguments.parameters:
        if name in given:
            raise ParameterError(f"parameter {name!r} is given twice")
        given[name] = from_text(study.parameters[name], text) if name in study.parameters else text
    done = run_study(study, given, out=arguments.out, progress=_tell, bar=sys.stderr.isatty())
    if arguments.json:
        paths = {"notebook": str(done.notebook), "report": str(done.report), "results": str(done.results)}
        print(json.dumps({"study": done.study, **paths, "pins": None if done.pins is None else _report(done.pins)}))
    else:
        pins = "pins not checked: other parameters than the pinned ones" if done.pins is None else str(done.pins)
        print(f"{pins}\nreport    {done.report}\nnotebook  {done.notebook}\nresults   {done.results}")
    return 0


def _report(report: Any) -> dict[str, Any]:
    bad = [{"id": m.id, "expected": m.expected, "found": m.found, "way_back": m.way_back} for m in report.mismatches]
    held = len(report.held)
    return {"study": report.study, "ok": report.ok, "held": held, "mismatches": bad, "unpinned": list(report.unpinned)}


def _tell(line: str) -> None:
    print(f"  {line} …", file=sys.stderr, flush=True)
