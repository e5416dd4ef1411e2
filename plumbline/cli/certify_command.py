"""``plumbline certify RUN --arm A``: what can be claimed about an arm, and the published rules beside it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from plumbline.cli.choosing import add_run, add_settings, causes, policy_and_grade

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    certify = commands.add_parser(
        "certify",
        help="what can be claimed about an arm, with the published rules beside it",
        description="Certify an arm from its recorded runs. Exit 3 if the figure asked for is not available.",
        allow_abbrev=False,
    )
    add_run(certify)
    certify.add_argument("--arm", required=True, help="the arm to certify")
    add_settings(certify)
    rules = "planned_minimum (the certificate), completed_minimum, published or published_fail_all"
    certify.add_argument("--rule", default="planned_minimum", help=rules)
    certify.add_argument("--scope", default="suite", help="suite (these tasks) or tasks (tasks like these)")
    certify.add_argument("--out", metavar="FILE", help="write the certificate, for plumbline verify")
    certify.add_argument("--json", action="store_true", help="print JSON")
    certify.set_defaults(run=_certify)


def _certify(arguments: argparse.Namespace) -> int:
    from plumbline.decide import ladder, ladder_text
    from plumbline.run import read_run

    run = read_run(arguments.run_folder)
    policy, grade = policy_and_grade(arguments, run, measure=arguments.measure)
    ignorable = causes(arguments.ignorable)
    rho = {} if arguments.rho is None else {"rho": arguments.rho}
    shared: dict[str, Any] = {"arm": arguments.arm, "policy": policy, "grade": grade, "measure": arguments.measure}
    shared |= {"confidence": arguments.confidence, "ignorable": ignorable, **rho}
    certificate = run.certify(rule=arguments.rule, scope=arguments.scope, **shared)
    steps = ladder(run, **shared)
    if arguments.out:
        certificate.save(arguments.out)
    if arguments.json:
        rows = json.loads(steps.to_json(orient="records", double_precision=15))
        print(json.dumps({"certificate": certificate.to_dict(), "ladder": rows}, indent=1, ensure_ascii=False))
    else:
        print(f"{certificate}\n\nRules side by side, arm {arguments.arm}:\n\n{ladder_text(steps)}")
        if arguments.out:
            print(f"\nwritten to {arguments.out}; check it with plumbline verify {arguments.out} RUN")
    return 0 if certificate.known else 3
