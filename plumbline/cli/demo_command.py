"""``plumbline demo``: every study that exists, from committed traces, offline."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from pathlib import Path
from typing import Any

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
    from plumbline.study import list_studies, load_study, run_study

    studies = [load_study(name) for name in list_studies()]
    if not studies:
        raise InputError("there is no study here to show")
    studies.sort(key=lambda study: (int(study.spec.get("order", 100)), study.name))
    shown: list[dict[str, Any]] = []
    answers = []
    for number, study in enumerate(studies, 1):
        print(f"[{number}/{len(studies)}] {study.name}: {study.title}", file=sys.stderr, flush=True)
        done = run_study(study, out=arguments.out, progress=_tell, bar=sys.stderr.isatty())
        results = json.loads(done.results.read_text(encoding="utf-8"))
        answers.append(study.summary(results["figures"]))
        pins = None if done.pins is None else {"held": len(done.pins.held), "of": len(study.pins)}
        shown.append({"study": study.name, "report": str(done.report), "pins": pins, "seconds": round(done.seconds, 1)})
    if arguments.json:
        print(json.dumps(shown, indent=1))
    else:
        for answer, row in zip(answers, shown, strict=True):
            checked = f"{row['pins']['held']} of {row['pins']['of']} pins hold" if row["pins"] else "no pins checked"
            print(f"\n{answer}\n\nChecked: {checked}. Report: {row['report']}")
    if not arguments.no_open:
        page = Path(shown[0]["report"]).resolve()
        if not webbrowser.open(page.as_uri()):
            print(f"no browser found here; open {page}", file=sys.stderr)
    return 0


def _tell(line: str) -> None:
    print(f"      {line} …", file=sys.stderr, flush=True)
