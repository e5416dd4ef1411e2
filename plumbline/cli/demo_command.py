"""``plumbline demo``: every study that exists, from committed traces, offline."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plumbline.study import Study, StudyRun

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    demo = commands.add_parser(
        "demo",
        help="run the studies from committed traces and open the report",
        description="Run every study from the committed traces, check every pin, write the reports. Needs no network.",
        allow_abbrev=False,
    )
    demo.add_argument("--out", default="reports", help="folder for the reports (default: reports)")
    demo.add_argument("--no-open", action="store_true", help="do not open the report in a browser")
    demo.add_argument("--json", action="store_true", help="print JSON")
    demo.set_defaults(run=_demo)


def _demo(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import InputError
    from plumbline.study import list_studies, load_study

    studies = [load_study(name) for name in list_studies()]
    if not studies:
        raise InputError("there is no study here to show")
    studies.sort(key=lambda study: (int(study.spec.get("order", 100)), study.name))
    # Processes, not threads: papermill changes the working directory while it runs a notebook.
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        begun = {s.name: pool.submit(_run, s.name, arguments.out) for s in sorted(studies, key=_size, reverse=True)}
        done = [begun[study.name].result() for study in studies]
    shown = [
        {
            "study": run.study,
            "report": str(run.report),
            "pins": {"held": len(run.pins.held), "of": len(study.pins)} if run.pins else None,
            "seconds": round(run.seconds, 1),
        }
        for study, run in zip(studies, done, strict=True)
    ]
    answers = [study.summary(run.figures) for study, run in zip(studies, done, strict=True)]
    if arguments.json:
        print(json.dumps(shown, indent=1))
    else:
        for answer, row in zip(answers, shown, strict=True):
            pins: Any = row["pins"]
            checked = f"{pins['held']} of {pins['of']} pins hold" if pins else "no pins checked"
            print(f"\n{row['study']}\n\n{answer}\n\nChecked: {checked}. Report: {row['report']}")
    if not arguments.no_open:
        page = done[0].report.resolve()
        if not webbrowser.open(page.as_uri()):
            print(f"no browser found here; open {page}", file=sys.stderr)
    return 0


def _size(study: Study) -> int:
    """Bytes of the runs a study reads: the longest is begun first, so that none is left alone at the end."""
    from plumbline.base.paths import data_folder

    folders = (data_folder() / place for place in study.spec["runs"].values())
    return sum(file.stat().st_size for folder in folders for file in folder.glob("*.arrow"))


def _run(name: str, out: str) -> StudyRun:
    from plumbline.study import load_study, run_study

    def tell(line: str) -> None:
        print(f"  {name}: {line} …", file=sys.stderr, flush=True)

    return run_study(load_study(name), out=out, progress=tell)
