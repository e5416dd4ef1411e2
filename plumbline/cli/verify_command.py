"""``plumbline verify CERT RUN``: make a certificate again from the traces and say what differs."""

from __future__ import annotations

import argparse
import json
from typing import Any

from plumbline.cli.choosing import add_policy, policy_and_grade

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    verify = commands.add_parser(
        "verify",
        help="make a certificate again from the traces and say what differs",
        description="Make a certificate again from the traces. Exit 1 if it does not hold.",
        allow_abbrev=False,
    )
    verify.add_argument("certificate", metavar="CERT", help="certificate file")
    verify.add_argument("run_folder", metavar="RUN", help="run folder")
    add_policy(verify)
    verify.add_argument("--json", action="store_true", help="print JSON")
    verify.set_defaults(run=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    from plumbline.base.errors import DigestError
    from plumbline.decide import read_certificate, verify
    from plumbline.run import read_run

    certificate = read_certificate(arguments.certificate)
    try:
        run = read_run(arguments.run_folder)
    except DigestError:
        report = verify(certificate, arguments.run_folder)  # reads it again and reports what it finds
    else:
        policy, grade = policy_and_grade(arguments, run, measure=certificate.measure)
        report = verify(certificate, run, policy, grade=grade)
    if arguments.json:
        print(json.dumps(report.to_dict(), indent=1, ensure_ascii=False))
    else:
        print(report)
    return 0 if report.ok else 1
