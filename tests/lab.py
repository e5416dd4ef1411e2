"""A real Jupyter server on the loopback for tests: free port, token, a folder of its own, ended by its own id."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser import CHROMIUM, FLAGS

__all__ = ["Server", "missing_lab", "opened_notebook", "run_again", "run_all", "serve"]

STARTS_WITHIN = 60


@dataclass(frozen=True)
class Server:
    """Where a Jupyter server listens."""

    port: int
    token: str

    def url(self, kind: str, name: str) -> str:
        """The page of a notebook in JupyterLab (``lab``) or in Notebook 7 (``notebook``)."""
        path = "lab/tree" if kind == "lab" else "notebooks"
        return f"http://127.0.0.1:{self.port}/{path}/{name}?reset&token={self.token}"


def missing_lab() -> str:
    """Return why no test in JupyterLab can run here, or nothing."""
    import importlib.util

    lacking = [name for name in ("jupyterlab", "notebook", "anywidget") if importlib.util.find_spec(name) is None]
    return f"{', '.join(lacking)} is not installed (extra 'test')" if lacking else ""


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Serve a folder until the block ends."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    token = secrets.token_hex(16)
    homes = {"HOME": "", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    with tempfile.TemporaryDirectory(prefix="plumbline-jupyter-") as home, open(Path(home) / "log", "w") as log:
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
            *("--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"),
            "--LabApp.extension_manager=readonly",
        ]
        environment = {**os.environ, **{name: str(Path(home) / part) for name, part in homes.items()}}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _wait(process, f"http://127.0.0.1:{port}/api/status?token={token}", Path(home) / "log")
            yield Server(port, token)
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    ends = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < ends:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                json.load(answer)
                return
        except (urllib.error.URLError, OSError, ValueError):
            time.sleep(0.2)
    raise RuntimeError(f"the Jupyter server did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


@contextmanager
def opened_notebook(server: Server, kind: str, name: str, *, colour: str = "light") -> Iterator[tuple[Any, list[str]]]:
    """Open a notebook with a ready kernel; the list grows with script errors and requests that leave this machine."""
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="plumbline-chromium-") as profile, sync_playwright() as p:
        context = p.chromium.launch_persistent_context(
            profile,
            executable_path=str(CHROMIUM),
            args=FLAGS,
            viewport={"width": 1280, "height": 1000},
            color_scheme=colour,
        )
        context.set_default_timeout(30_000)
        try:
            page = context.new_page()
            page.on("pageerror", lambda error: wrong.append(f"script error: {error}") if _ours(error) else None)
            page.on(
                "request",
                lambda asked: wrong.append(f"left: {asked.url[:100]}") if _leaves(asked.url, server) else None,
            )
            heard = _kernel_answers(page)
            page.goto(server.url(kind, name))
            page.locator(".jp-Notebook .jp-Cell").first.wait_for()
            _until_connected(page, heard)
            yield page, wrong
        finally:
            context.close()


def _kernel_answers(page: Any) -> list[str]:
    """Return a list that grows when the kernel has told the page who it is."""
    heard: list[str] = []

    def listen(frame: Any) -> None:
        text = frame if isinstance(frame, str) else bytes(frame).decode("utf-8", "ignore")
        if "kernel_info_reply" in text:
            heard.append("kernel_info_reply")

    page.on("websocket", lambda socket: socket.on("framereceived", listen))
    return heard


def _until_connected(page: Any, heard: list[str]) -> None:
    """Wait for the kernel's own answer: the page shows ``idle`` before it has a kernel, and then runs nothing."""
    ends = time.monotonic() + STARTS_WITHIN
    while not heard:
        if time.monotonic() > ends:
            raise RuntimeError("the page was never connected to a kernel")
        page.wait_for_timeout(50)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(state="attached")


def _ours(error: Any) -> bool:
    """Whether an error comes from a widget's module, which is loaded from a blob; Jupyter has some of its own."""
    return "blob:" in (error.stack or "")


def _leaves(url: str, server: Server) -> bool:
    return not url.startswith(("data:", "blob:", "about:", f"http://127.0.0.1:{server.port}/"))


def run_all(page: Any) -> None:
    """Run all cells from the menu."""
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def run_again(page: Any, cell: int, *, until: str) -> str:
    """Run one cell and return what it prints once its output holds some text."""
    one = page.locator(".jp-Notebook .jp-Cell").nth(cell)
    one.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    output = one.locator(".jp-OutputArea-output", has_text=until)
    output.wait_for()
    return str(output.inner_text())
