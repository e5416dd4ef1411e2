"""A receiver in a process of its own, on a free port of loopback."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import Any

__all__ = ["Receiver", "body", "post", "receiver", "span"]


class Receiver:
    def __init__(self, process: subprocess.Popen[str], url: str, told: str) -> None:
        self.process, self.url, self.told = process, url, told

    def stop(self, how: int = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@contextmanager
def receiver(out: Any, *more: str):
    command = [sys.executable, "-m", "plumbline", "receive", "--out", str(out), "--port", "0", *more]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://[^ ]+", line)
        assert found, line + process.stderr.read()
        yield Receiver(process, found.group(), line)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def post(url: str, data: bytes, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    given = {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
    request = urllib.request.Request(url, data=data, headers=given)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read(), dict(error.headers)


def span(number: int, *, trace: int = 1, parent: int = 0, name: str = "execute_tool pay", **attributes: Any) -> dict:
    values = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay"} | attributes
    return {
        "traceId": f"{trace:032x}", "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else "",
        "name": name, "startTimeUnixNano": str(10**18 + number * 10), "endTimeUnixNano": str(10**18 + number * 10 + 5),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in values.items()], "status": {},
    }  # fmt: skip


def body(*spans: Any, packed: bool = False) -> bytes:
    scope = {"scope": {"name": "test"}, "spans": list(spans)}
    text = json.dumps({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}).encode()
    return gzip.compress(text) if packed else text
