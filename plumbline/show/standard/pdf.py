"""A report on paper: printed by a Chromium that is installed, without a window and without the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plumbline.base.errors import NotFoundError, RunError

__all__ = ["BROWSERS", "find_browser", "print_pdf"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser")
"""Programs that print a page in the same way, in the order in which they are looked for."""

_FLAGS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--no-pdf-header-footer",
)  # fmt: skip
_SECONDS = 120


def find_browser(names: Sequence[str] = BROWSERS) -> str:
    """Return the path of the first browser that is installed.

    Parameters
    ----------
    names : sequence of str
        Programs to look for.

    Raises
    ------
    NotFoundError
        None of them is there.
    """
    for name in names:
        if found := shutil.which(name):
            return found
    raise NotFoundError(
        f"no browser to print with: none of {', '.join(names)} is installed. Install Chromium, or open the page in any "
        "browser and print it there; the page is made for A4."
    )


def print_pdf(page: str | Path, target: str | Path, *, browser: str | None = None) -> Path:
    """Print a report to a PDF file, in its light colours, on A4.

    Parameters
    ----------
    page : path
        A report.
    target : path
        The PDF to write; an old file stays until the new one is whole.
    browser : str, optional
        Path of a Chromium; by default the first that is found.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    NotFoundError
        No such page, or no browser.
    RunError
        The browser made no PDF; the message holds what it said.
    """
    source, wanted = Path(page), Path(target)
    if not source.is_file():
        raise NotFoundError(f"no page at {source}")
    program = find_browser() if browser is None else browser
    root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []  # Chromium's sandbox refuses root
    with tempfile.TemporaryDirectory(prefix="plumbline-print-") as scratch:
        made = Path(scratch) / "made.pdf"
        command = [program, *_FLAGS, *root, f"--user-data-dir={scratch}/profile", f"--print-to-pdf={made}"]
        try:
            done = subprocess.run(
                [*command, source.resolve().as_uri()], capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(f"{program} did not print {source.name}: {error}") from None
        if not made.is_file() or not made.read_bytes().startswith(b"%PDF"):
            said = " ".join((done.stderr or done.stdout).split())[-300:]
            raise RunError(
                f"{program} made no PDF of {source.name} (exit {done.returncode}): {said or 'it said nothing'}"
            )
        wanted.parent.mkdir(parents=True, exist_ok=True)
        beside = wanted.with_name(f".{wanted.name}.new")
        shutil.copyfile(made, beside)
        os.replace(beside, wanted)
    return wanted
