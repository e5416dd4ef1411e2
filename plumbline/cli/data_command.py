"""``plumbline data build|check``: rebuild a domain's committed runs from published facts."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    group = commands.add_parser("data", help="rebuild or check the committed runs", allow_abbrev=False)
    verbs = group.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, text, run in (
        ("build", "execute every recorded decision again and write the runs", _build),
        ("check", "rebuild in memory and compare with the committed runs, row by row", _check),
    ):
        verb = verbs.add_parser(name, help=text, description=text.capitalize() + ".", allow_abbrev=False)
        verb.add_argument("--domain", default="procure_to_pay", help="a domain that can be rebuilt")
        verb.add_argument("--data", metavar="FOLDER", help="data folder (default: the checkout's)")
        verb.add_argument("--json", action="store_true", help="print JSON")
        verb.set_defaults(run=run)
        if name == "build":
            verb.add_argument("--out", metavar="FOLDER", help="write the runs here (default: DATA/DOMAIN)")


def _build(arguments: argparse.Namespace) -> int:
    runs, home = _rebuilt(arguments)
    out = Path(arguments.out) if arguments.out else home
    written = []
    for run in runs:
        name = run.run_id
        print(f"  {name} …", file=sys.stderr, flush=True)
        run.save(out / name)
        written.append({"run": name, "path": str(out / name), "digest": run.digest, "counts": vars(run.counts())})
        if not arguments.json:
            print(f"{name:14} {run.counts()}\n{'':14} {run.digest}")
    if arguments.json:
        print(json.dumps(written, indent=1))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from plumbline.run import first_difference, read_run

    runs, home = _rebuilt(arguments)
    rows = []
    for run in runs:
        name = run.run_id
        committed = read_run(home / name)
        difference = None if committed.digest == run.digest else first_difference(committed, run)
        rows.append({"run": name, "digest": run.digest, "equal": difference is None, "difference": difference})
        if not arguments.json:
            print(f"{name:14} " + (f"equal, {run.digest}" if difference is None else f"DIFFERS: {difference}"))
    if arguments.json:
        print(json.dumps(rows, indent=1))
    return 0 if all(row["equal"] for row in rows) else 1


def _rebuilt(arguments: argparse.Namespace) -> tuple[Any, Path]:
    from plumbline.base.errors import ParameterError
    from plumbline.base.paths import data_folder
    from plumbline.domain import load_domain

    domain = load_domain(arguments.domain)
    if domain.rebuild is None:
        raise ParameterError(f"domain {arguments.domain!r} has no committed runs that can be made again")
    data = data_folder(arguments.data)
    return domain.rebuild(data / "published"), data / domain.name
