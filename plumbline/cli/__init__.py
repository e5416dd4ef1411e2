"""The command line: one file per command."""

from plumbline.cli.main import main

__all__ = ["main"]
