"""Run the receiver until it is stopped, then make the run from its spool."""

from __future__ import annotations

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.exchange.api import read_traces
from plumbline.exchange.receiver.app import Limits, receiver_app
from plumbline.exchange.receiver.spool import SPOOL_FILE, WAITING_BYTES, Spool
from plumbline.traces import Recording

__all__ = ["receive", "run_of_spool"]

_INSTALL = "pip install 'plumbline-studies[server]'"


def receive(
    out: str | Path, *, host: str = "127.0.0.1", port: int = 4318, token: str | None = None,
    limits: Limits | None = None, waiting: int = 1000, waiting_bytes: int = WAITING_BYTES,
    tell: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Take traces in until SIGINT or SIGTERM.

    Parameters
    ----------
    out : path
        Folder of the run; the spool lies in it.
    host : str
        Address to listen on; anything but loopback needs a token.
    port : int
        Port, 0 for any free one.
    token : str, optional
        Bearer token that senders must give.
    limits : Limits, optional
        Sizes of requests.
    waiting : int
        Requests that may wait for the disk.
    waiting_bytes : int
        Bytes of requests that may wait for the disk.
    tell : callable, optional
        Told in one line where the receiver listens.

    Raises
    ------
    ParameterError
        uvicorn is not installed, the address is not loopback and there is no token, or it cannot be listened on.
    RunError
        Another process receives into the folder.
    """
    if token is not None and not token.strip():
        raise ParameterError("the token is empty; give one, or none at all")
    if token is None and not _is_loopback(host):
        raise ParameterError(f"{host} is not loopback: whoever reaches it could send traces. Give a token")
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise ParameterError(f"the receiver needs the package uvicorn: {_INSTALL}") from None
    listening = _listen(host, port)
    try:
        spool = Spool(Path(out), waiting=waiting, waiting_bytes=waiting_bytes)
        try:
            app = receiver_app(spool, limits=limits, token=token)
            config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off", server_header=False)
            server = uvicorn.Server(config)
            with _ended_by_signals(server):
                if tell is not None:
                    tell(_where(host, listening.getsockname()[1], out, spool))
                server.run(sockets=[listening])
        finally:
            spool.close()
    finally:
        listening.close()


def _where(host: str, port: int, out: str | Path, spool: Spool) -> str:
    place = f"http://{'[' + host + ']' if ':' in host else host}:{port}/v1/traces"
    begun = f", going on after {spool.lines:,} requests" if spool.lines else ""
    mended = f", a half-written line of {spool.cut_off:,} bytes cut off" if spool.cut_off else ""
    return f"receiving at {place} into {out}{begun}{mended}"


@contextmanager
def _ended_by_signals(server: Any) -> Iterator[None]:
    """Let a signal end the server and nothing else, from before it listens until after uvicorn raised it again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_of_spool(out: str | Path) -> Recording | None:
    """Make the run of what was received and save it beside the spool; None if nothing was.

    Raises
    ------
    TraceFormatError
        The spool holds no trajectory, or was edited.
    """
    folder = Path(out)
    spool = folder / SPOOL_FILE
    if not spool.is_file() or not spool.stat().st_size:
        return None
    recording = read_traces(spool, format="otlp", run_id=folder.resolve().name)
    recording.save(folder)
    return recording


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65_535:
        raise ParameterError(f"port must be a whole number from 0 to 65535; found {port!r}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        raise ParameterError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    return listening
