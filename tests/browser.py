"""Chromium for tests: Debian's own, headless, without network chatter, a new profile each time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing() -> str:
    """Return why no browser test can run here, or nothing."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed (extra 'test')"
    return "" if CHROMIUM.exists() else f"no chromium at {CHROMIUM} (apt-get install chromium)"


@contextmanager
def page(*, width: int = 1200, height: int = 900, colour: str = "light") -> Iterator[tuple[Any, list[str]]]:
    """Open an offline page and collect what goes wrong on it.

    Yields
    ------
    (playwright page, list of str)
        The list grows with failed requests, script errors, console errors, and requests that leave the page.
    """
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="plumbline-chromium-") as profile, sync_playwright() as p:
        context = p.chromium.launch_persistent_context(
            profile,
            executable_path=str(CHROMIUM),
            args=FLAGS,
            offline=True,
            viewport={"width": width, "height": height},
            color_scheme=colour,
        )
        try:
            opened = context.new_page()
            opened.on("requestfailed", lambda request: wrong.append(f"failed request: {request.url[:120]}"))
            opened.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
            opened.on("console", lambda said: wrong.append(f"console: {said.text}") if said.type == "error" else None)
            opened.on(
                "request", lambda asked: wrong.append(f"request: {asked.url[:120]}") if _leaves(asked.url) else None
            )
            yield opened, wrong
        finally:
            context.close()


def _leaves(url: str) -> bool:
    return not url.startswith(("file:", "data:", "about:", "blob:"))
