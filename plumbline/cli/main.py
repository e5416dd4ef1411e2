"""The command ``plumbline``. Only argparse is loaded until a command runs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from plumbline._version import __version__
from plumbline.base.errors import PlumblineError

__all__ = ["main"]

COMMANDS = (
    "demo",
    "study",
    "data",
    "run",
    "certify",
    "gate",
    "bands",
    "verify",
    "parity",
    "show",
    "plan",
    "import",
    "export",
    "receive",
    "relations",
    "report",
    "new-domain",
)
CODES = """exit codes:
  0  fine: done, pins hold, gate says ship
  1  pins or a certificate do not hold, or a gate says hold
  2  usage or bad input
  3  escalate: the evidence cannot tell
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command."""
    top = argparse.ArgumentParser(
        prog="plumbline",
        description="Metamorphic conformance testing of LLM agents.",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"plumbline {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"plumbline.cli.{name.replace('-', '_')}_command").register(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; a mistake of the user gives a sentence, not a traceback."""
    arguments = parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except PlumblineError as error:
        print(f"plumbline: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("plumbline: stopped; nothing half written is left behind", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a disk or a path that refuses: no file is half written, see write_bytes
        place = "" if error.filename is None else f"{error.filename}: "
        print(f"plumbline: {place}{error.strerror or error}", file=sys.stderr)
        return 2
