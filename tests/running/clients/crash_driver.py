"""Child processes on one ledger, killed and left alone; run as a script, it prints what came of it as JSON.

One process imports the library and forks the others, so that killing many costs little.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from plumbline.running.clients import Ledger, LedgeredClient, ModelReply, ModelRequest, Prices, Usage, parse_price
from plumbline.running.clients.ledger import to_pico
from plumbline.running.clients.records import request_key
from plumbline.running.stops import BudgetStopError

PRICES = Prices({"m": parse_price("in=0,out=1000", as_of="2026-11-30")})
COST, ESTIMATE = Decimal("0.007"), Decimal("0.010")  # seven of at most ten tokens


def asks(count: int, start: int = 0) -> list[ModelRequest]:
    return [
        ModelRequest("m", [{"role": "user", "content": "x" * 200}], settings={"max_tokens": 10}, trial_id=f"t{n}")
        for n in range(start, start + count)
    ]


def note(file: Path, text: str) -> None:
    """Append one line in one write, so that lines of several processes never mix."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{text}\n".encode())
    os.close(handle)


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


class Charging:
    """A provider that takes a moment, and notes each call as charged before it answers; no two answers are alike."""

    def __init__(self, charged: Path, wait_s: float) -> None:
        self.charged, self.wait_s = charged, wait_s

    def complete(self, request: ModelRequest) -> ModelReply:
        note(self.charged, request_key(request))
        time.sleep(self.wait_s)
        return ModelReply(f"{request.trial_id} by {os.getpid()} {time.monotonic_ns()}", usage=Usage(0, 7))


def work(folder: Path, requests: list[ModelRequest], *, cap: float | None = None, wait_s: float = 0.002) -> None:
    """Ask for everything; note each answer once it is in hand."""
    with Ledger(folder / "l.sqlite", cap_usd=cap) as ledger:
        client = LedgeredClient(Charging(folder / "charged", wait_s), ledger, PRICES)
        for request in requests:
            try:
                reply = client.complete(request)
            except BudgetStopError:
                note(folder / "stopped", str(os.getpid()))
                return
            note(folder / "used", f"{request_key(request)} {reply.text}")


def fork(job: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            job()
            code = 0
        finally:
            os._exit(code)
    return pid


def killed(folder: Path, seed: int) -> dict[str, object]:
    """Kill a worker at random moments, then let one finish; compare what was charged, used and recorded."""
    draw = random.Random(seed)
    requests = asks(150)
    kills = 0
    for _ in range(12):
        pid = fork(lambda: work(folder, requests))
        time.sleep(draw.uniform(0.02, 0.12))
        os.kill(pid, signal.SIGKILL)
        kills += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    before = dict(line.split(" ", 1) for line in lines(folder / "used"))
    work(folder, requests, wait_s=0.0)
    with Ledger(folder / "l.sqlite") as ledger:
        recorded = {r.digest: r.reply.text for r in ledger.replies()}
        calls, spend, statements = ledger.calls(), ledger.spend(), ledger.statements()
    rows = Counter(calls["digest"])
    charged = Counter(lines(folder / "charged"))
    return {
        "kills": kills,
        "used_before_last": len(before),
        "used_but_lost": sum(recorded.get(digest) != text for digest, text in before.items()),
        "unanswered": len(requests) - len(recorded),
        "charged_without_row": sum(charged[digest] > rows[digest] for digest in charged),
        "open": int((calls["status"] == "open").sum()),
        "lost": int((calls["status"] == "lost").sum()),
        "statements": len(statements),
        "charged": sum(charged.values()),
        "settled": to_pico(Decimal(str(spend.settled_usd))) == to_pico(COST * len(requests)),
        "assumed": to_pico(Decimal(str(spend.assumed_usd))) == to_pico(ESTIMATE) * spend.lost,
        "reserved": spend.reserved_usd,
    }


def together(folder: Path) -> dict[str, object]:
    """Let four processes ask for the same at once; each request must be charged once and answered alike."""
    requests = asks(40)
    start = time.monotonic() + 0.3

    def job(shift: int) -> None:
        time.sleep(max(0.0, start - time.monotonic()))
        work(folder, requests[shift:] + requests[:shift], wait_s=0.003)

    pids = [fork(lambda shift=shift: job(shift)) for shift in (0, 10, 20, 30)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    answers: dict[str, set[str]] = {}
    for line in lines(folder / "used"):
        digest, text = line.split(" ", 1)
        answers.setdefault(digest, set()).add(text)
    return {
        "codes": codes,
        "used": len(lines(folder / "used")),
        "most_charged": max(Counter(lines(folder / "charged")).values()),
        "charged": len(lines(folder / "charged")),
        "workers_that_paid": len({text.split()[2] for texts in answers.values() for text in texts}),
        "different_answers": sum(len(texts) > 1 for texts in answers.values()),
    }


def capped(folder: Path) -> dict[str, object]:
    """Let four processes spend against one cap."""
    pids = [
        fork(lambda start=start: work(folder, asks(100, start), cap=0.5, wait_s=0.001)) for start in (0, 100, 200, 300)
    ]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    with Ledger(folder / "l.sqlite", cap_usd=0.5) as ledger:
        spend = ledger.spend()
        recorded = {r.digest for r in ledger.replies()}
    used = {line.split(" ", 1)[0] for line in lines(folder / "used")}
    return {
        "codes": codes,
        "stopped": len(lines(folder / "stopped")),
        "charged": len(lines(folder / "charged")),
        "total_usd": spend.total_usd,
        "reserved_usd": spend.reserved_usd,
        "finished_but_lost": len(used - recorded),
        "used": len(used),
    }


if __name__ == "__main__":
    base = Path(sys.argv[1])
    found = {}
    for name in ("killed", "together", "capped"):
        (base / name).mkdir()
    found["killed"] = killed(base / "killed", seed=int(sys.argv[2]))
    found["together"] = together(base / "together")
    found["capped"] = capped(base / "capped")
    print(json.dumps(found))
