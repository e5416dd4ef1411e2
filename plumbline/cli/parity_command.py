"""``plumbline parity RUN INCUMBENT REPLACEMENT``: does the replacement do what the incumbent did?"""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parity = commands.add_parser(
        "parity",
        help="does the replacement do what the incumbent did",
        description="Compare each run of a replacement with one of the incumbent: outcome, path and arguments.",
        allow_abbrev=False,
    )
    parity.add_argument("run_folder", metavar="RUN", help="run folder that holds the incumbent")
    parity.add_argument("incumbent", metavar="INCUMBENT")
    parity.add_argument("replacement", metavar="REPLACEMENT")
    parity.add_argument("--other", metavar="RUN", help="run folder that holds the replacement (default: the same)")
    parity.add_argument("--domain", metavar="NAME", help="whose grader and argument rules (default: the run's domain)")
    parity.add_argument("--definition", default="published", help="published or plumbline (default: published)")
    parity.add_argument("--by", choices=("perturbation", "task_id"), help="show the measures by this key")
    parity.add_argument("--most", type=int, default=10, help="divergences to show (default: 10)")
    parity.add_argument("--json", action="store_true", help="print JSON")
    parity.set_defaults(run=_parity)


def _parity(arguments: argparse.Namespace) -> int:
    from plumbline.analysis.equivalence import equivalence
    from plumbline.base.errors import ParameterError
    from plumbline.cli.choosing import domain_of
    from plumbline.run import read_run

    if arguments.most < 0:
        raise ParameterError(f"--most is {arguments.most}; give a number of at least 0")
    run = read_run(arguments.run_folder)
    domain = domain_of(arguments, run)
    found = equivalence(
        run,
        incumbent=arguments.incumbent,
        replacement=arguments.replacement,
        other=read_run(arguments.other) if arguments.other else None,
        argument_rules=None if domain is None else domain.argument_fields,
        definition=arguments.definition,
        grade=None if domain is None else domain.grade,
    )
    divergences = found.divergences
    if arguments.json:
        rows = json.loads(divergences.to_json(orient="records"))
        measures = {name: estimate.to_dict() for name, estimate in found.measures().items()}
        body: dict[str, Any] = {"title": found.title(), "measures": measures, "divergences": rows}
        if arguments.by:
            table = found.by(arguments.by).to_json(orient="records", double_precision=15)
            body["by"] = json.loads(table)
        print(json.dumps(body | {"notes": list(found.notes())}, indent=1, ensure_ascii=False))
        return 0
    print(found)
    if arguments.by:
        print(f"\n{found.by(arguments.by).to_string(index=False)}")
    shown = divergences.head(arguments.most)
    if len(shown):
        print(f"\ndivergences, {len(shown)} of {len(divergences)}:")
        for row in shown.to_dict("records"):
            print(_line(row))
    return 0


def _line(row: dict[Any, Any]) -> str:
    trials = list(row["trial_ids"])
    more = f" and {len(trials) - 1} more" if len(trials) > 1 else ""
    expected, got = _said(row["expected"]), _said(row["got"])
    text = f"{row['kind']}{_where(row)} ({row['severity']}): expected {expected}, got {got}; {trials[0]}{more}"
    count, rest = f"  {row['count']:4d} ", " " * 7
    return textwrap.fill(text, 100, initial_indent=count, subsequent_indent=rest, break_on_hyphens=False)


def _where(row: dict[Any, Any]) -> str:
    step = f" at step {row['step_index']}" if row["step_index"] >= 0 else ""
    return step + "".join(f", {row[name]}" for name in ("name", "field") if isinstance(row[name], str))


def _said(value: Any) -> str:
    return value if isinstance(value, str) else "nothing"
