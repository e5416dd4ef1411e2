"""Which policy and which grader a command uses: a file, a domain by name, or the domain recorded in the run."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_policy", "add_run", "add_settings", "causes", "domain_of", "policy_and_grade"]


def add_run(command: argparse.ArgumentParser) -> None:
    """Add the run folder and the choice of policy."""
    command.add_argument("run_folder", metavar="RUN", help="run folder")
    add_policy(command)


def add_policy(command: argparse.ArgumentParser) -> None:
    """Add the choice of policy; by default that of the domain recorded in the run."""
    which = command.add_mutually_exclusive_group()
    which.add_argument("--policy", metavar="FILE", help="policy file, YAML or JSON (default: that of the run's domain)")
    which.add_argument("--domain", metavar="NAME", help="domain whose policy and grader are used, or module:attribute")


def add_settings(command: argparse.ArgumentParser) -> None:
    """Add what a certificate is asked for."""
    command.add_argument("--measure", default="critical", help="critical, all or outcome (default: critical)")
    command.add_argument("--confidence", type=float, default=0.95, help="confidence of each bound (default: 0.95)")
    command.add_argument("--rho", type=float, help="declared correlation of the runs of one task (default: 0.4)")
    command.add_argument(
        "--ignorable",
        action="append",
        default=[],
        metavar="CAUSE=REASON",
        help="status of missing runs whose cause cannot depend on the agent, with the reason",
    )


def causes(given: list[str]) -> dict[str, str]:
    """Read ``CAUSE=REASON`` pairs.

    Raises
    ------
    ParameterError
        A pair without a reason, or a cause given twice.
    """
    from plumbline.base.errors import ParameterError

    found: dict[str, str] = {}
    for text in given:
        cause, equals, reason = text.partition("=")
        if not equals or not reason.strip() or cause in found:
            raise ParameterError(f"--ignorable {text!r}: write CAUSE=REASON, each cause once")
        found[cause] = reason.strip()
    return found


def domain_of(arguments: argparse.Namespace, recording: Any) -> Any:
    """Return the domain that was named, else that of the run, else None."""
    from plumbline.domain import load_domain

    name = recording.domain if arguments.domain is None else arguments.domain
    return None if name is None else load_domain(name)


def policy_and_grade(arguments: argparse.Namespace, recording: Any, *, measure: str) -> tuple[Any, Any]:
    """Return the policy and, for outcomes, the grader.

    Raises
    ------
    ParameterError
        Neither a file, nor a domain, nor a domain in the run.
    """
    from plumbline.base.errors import ParameterError
    from plumbline.rules import read_policy

    policy = None if arguments.policy is None else read_policy(arguments.policy)
    if policy is not None and measure != "outcome":
        return policy, None
    domain = domain_of(arguments, recording)
    if domain is None:
        what, more = ("a grader", "") if policy is not None else ("a policy", " or --policy FILE")
        raise ParameterError(f"run {recording.run_id!r} names no domain that has {what}: give --domain NAME{more}")
    return policy or domain.policy, domain.grade if measure == "outcome" else None
