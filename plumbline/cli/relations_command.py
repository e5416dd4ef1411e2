"""``plumbline relations list|validate|run|report``: does behaviour move as it should when an input changes."""

from __future__ import annotations

import argparse
import json
from typing import Any

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    group = commands.add_parser(
        "relations", help="metamorphic relations: list, validate, run and count them", allow_abbrev=False,
        description="Relations say how behaviour must stay or change when an input changes in a controlled way.",
    )  # fmt: skip
    verbs = group.add_subparsers(dest="verb", metavar="VERB", required=True)
    _verb(verbs, "list", "relations of a domain", _list).add_argument("domain", metavar="DOMAIN")
    _verb(verbs, "validate", "transform every seed and check it, before any model is asked", _validate).add_argument(
        "domain", metavar="DOMAIN"
    )
    run = _verb(verbs, "run", "run every valid pair, whole and repeated, and record it", _run)
    run.add_argument("domain", metavar="DOMAIN")
    run.add_argument("--arm", action="append", required=True, metavar="NAME", help="arm that needs no model")
    run.add_argument("--relation", action="append", default=[], metavar="ID", help="only this one; may be repeated")
    run.add_argument("--repetitions", type=int, default=2, help="how often each pair is run (default: 2)")
    run.add_argument("--seed", type=int, default=7, help="seed of the order of trials (default: 7)")
    run.add_argument("--out", required=True, metavar="RUN", help="run folder")
    report = _verb(verbs, "report", "judge the pairs of a run and count violations by family", _report)
    report.add_argument("folder", metavar="RUN")
    report.add_argument("--by", nargs="+", default=["relation_id", "arm"], metavar="COLUMN", help="slices")
    report.add_argument("--unit", choices=("ever", "share"), default="ever", help="what is counted of a family")
    report.add_argument("--confidence", type=float, default=0.95)


def _verb(verbs: Any, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    verb: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False
    )
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run_verb=run, run=lambda arguments: arguments.run_verb(arguments))
    return verb


def _relations(name: str) -> tuple[Any, tuple[Any, ...]]:
    from plumbline.base.errors import ParameterError
    from plumbline.domain import load_domain

    domain = load_domain(name)
    if domain.relations is None:
        raise ParameterError(f"domain {name!r} declares no relation; domains/README.md says how")
    return domain, tuple(domain.relations())


def _list(arguments: argparse.Namespace) -> int:
    _, found = _relations(arguments.domain)
    rows = [
        {
            "relation": one.relation_id, "version": one.version, "kind": one.kind, "role": one.role,
            "severity": one.severity, "status": one.status, "title": one.title,
            "not_usable_because": one.trouble() or None,
        }
        for one in found
    ]  # fmt: skip
    if arguments.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return 0
    for row in rows:
        print(f"{row['relation']:26} {row['kind']:12} {row['role']:10} {row['severity']:9} {row['status']}")
        print(f"  {row['title']}")
        if row["not_usable_because"]:
            print(f"  refused: {row['not_usable_because']}")
    return 0


def _validate(arguments: argparse.Namespace) -> int:
    from plumbline.running import plan_pairs

    domain, _ = _relations(arguments.domain)
    made = plan_pairs(domain)
    if arguments.json:
        print(made.to_frame().to_json(orient="records", indent=1, force_ascii=False))
    else:
        print(made)
        print(f"{len(made.contracts)} valid pairs")
    for name in made.mostly_invalid:
        print(f"{name}: most of its transformations are invalid; mend or retire the entry")
    return 1 if made.mostly_invalid or not made.contracts else 0


def _run(arguments: argparse.Namespace) -> int:
    from plumbline.rules.metamorphic import relation_named
    from plumbline.running import run_pairs

    domain, found = _relations(arguments.domain)
    chosen = [relation_named(found, name) for name in arguments.relation] or None
    made = run_pairs(
        domain, arms=arguments.arm, relations=chosen, repetitions=arguments.repetitions, seed=arguments.seed,
        out=arguments.out,
    )  # fmt: skip
    if arguments.json:
        print(json.dumps({"run": arguments.out, "digest": made.digest, "counts": vars(made.counts())}))
    else:
        pairs = {name for task in made.tasks.values() for name in (c["pair_id"] for c in task.get("contracts", ()))}
        done = made.counts().completed
        print(f"{arguments.out}: {len(pairs)} valid pairs, {done} completed trials, {made.digest}")
        print(f"Next: plumbline relations report {arguments.out}")
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from plumbline.analysis import relation_rates
    from plumbline.run import read_run
    from plumbline.running import judge_pairs

    pairs = judge_pairs(read_run(arguments.folder))
    table = relation_rates(pairs, by=arguments.by, unit=arguments.unit, confidence=arguments.confidence)
    if arguments.json:
        print(table.to_json(orient="records", indent=1, force_ascii=False))
    else:
        for row in table.to_dict("records"):
            _print_row(row, arguments.by)
        print("Families are the unit: all that descends from one seed counts once.")
    severe = pairs[(pairs["result"] == "violated") & pairs["confirmed"] & (pairs["role"] == "veto")]
    if (table["judged"] == 0).any():
        return 3
    return 1 if len(severe[severe["comparison"] == "relation"]) else 0


def _print_row(row: dict[Any, Any], by: list[str]) -> None:
    name = "  ".join(str(row[key]) for key in by)
    lost = ", ".join(f"{row[k]} {k}" for k in ("invalid", "abstained", "infrastructure") if row[k])
    rate = "no rate" if row["method"] == "none" else f"[{row['low']:.3f}, {row['high']:.3f}]"
    print(f"{name}\n  violating families {row['violating']} of {row['families']} {rate} ({row['method']})")
    pairs = f"{row['violated']} violated of {row['judged']} judged, {row['planned']} planned"
    print(f"  pairs: {pairs}{f' ({lost})' if lost else ''}")
    if row["note"]:
        print(f"  {row['note']}")
