"""``plumbline bands …``: the tolerance bands of an agent. Each file of ``PARTS`` adds its own sub-commands."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

__all__ = ["PARTS", "add_today", "register"]

PARTS = ("bands_policy", "bands_governance", "bands_drift")
"""Files beside this one; each has ``add_commands(commands)``."""


def register(commands: Any) -> None:
    """Add the command and its sub-commands to the parser."""
    bands = commands.add_parser(
        "bands",
        help="when a changed agent still counts as the same agent",
        description="Tolerance bands: one YAML file, field by field, applied to two runs of the same fixtures.",
        allow_abbrev=False,
    )
    actions = bands.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name in PARTS:
        importlib.import_module(f"plumbline.cli.{name}").add_commands(actions)


def add_today(command: argparse.ArgumentParser) -> None:
    """Add the day on which the command counts as run."""
    command.add_argument("--today", metavar="DATE", help="day to judge dates by, as 2026-08-01 (default: today)")
