"""``plumbline receive --out RUN``: OTLP over HTTP, written down before it is acknowledged; at the end a run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

__all__ = ["register"]

TOKEN_VARIABLE = "PLUMBLINE_RECEIVE_TOKEN"


def register(commands: Any) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "receive",
        help="take in traces from a live OpenTelemetry exporter",
        description="Listen for OTLP over HTTP (POST /v1/traces, JSON or protobuf, gzip) and write every request down "
        "before it is acknowledged. Stopped with Ctrl-C or SIGTERM, it makes the run and prints what it supports. "
        "Killed and started again with the same folder, it goes on.",
        allow_abbrev=False,
    )
    command.add_argument("--out", required=True, metavar="RUN", help="run folder")
    command.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1; others need a token)")
    command.add_argument("--port", type=int, default=4318, help="port, 0 for any free one (default: 4318)")
    command.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"file that holds the bearer token senders must give (default: {TOKEN_VARIABLE} if set)",
    )
    command.add_argument("--max-request", type=int, default=4 * 2**20, metavar="BYTES", help="largest request as sent")
    command.add_argument("--queue", type=int, default=1000, metavar="N", help="requests that may wait for the disk")
    command.add_argument(
        "--queue-bytes", type=int, default=256 * 2**20, metavar="BYTES", help="their bytes (default: 256 MiB)"
    )
    command.set_defaults(run=_receive)


def _receive(arguments: argparse.Namespace) -> int:
    from plumbline.exchange import coverage
    from plumbline.exchange.receiver import Limits
    from plumbline.exchange.receiver.serve import receive, run_of_spool

    limits = Limits(body=arguments.max_request, unpacked=8 * arguments.max_request)
    receive(
        arguments.out, host=arguments.host, port=arguments.port, token=_token(arguments.token_file), limits=limits,
        waiting=arguments.queue,
        waiting_bytes=arguments.queue_bytes, tell=lambda line: print(line, file=sys.stderr, flush=True),
    )  # fmt: skip
    recording = run_of_spool(arguments.out)
    if recording is None:
        print(f"nothing was received; there is no run in {arguments.out}")
        return 0
    print(f"{coverage(recording)}\n\nwritten to {arguments.out}")
    return 0


def _token(place: str | None) -> str | None:
    from plumbline.base.errors import ParameterError

    if place is None:
        return os.environ.get(TOKEN_VARIABLE)
    try:
        return Path(place).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"--token-file {place} cannot be read ({error})") from None
