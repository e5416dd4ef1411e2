"""Killed in the middle of a stream and started again, with senders that retry: every span is there, counted once."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections import Counter

import pytest

import plumbline as plumb
from plumbline.exchange.receiver import SPOOL_FILE
from tests.exchange.receiver.receiver_help import body, post, receiver, span

SPANS_A_REQUEST = 20


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Sender(threading.Thread):
    """Sends its requests in order, each again and again until it is acknowledged, as an exporter does."""

    def __init__(self, url: str, mine: int, until: float) -> None:
        super().__init__(daemon=True)
        self.url, self.mine, self.until = url, mine, until
        self.acknowledged: list[int] = []
        self.met: Counter[str] = Counter()

    def run(self) -> None:
        number = 0
        while time.monotonic() < self.until:
            first = (self.mine * 1_000_000 + number) * SPANS_A_REQUEST + 1
            spans = [span(first + k, trace=first, **{"gen_ai.tool.call.id": f"c{first + k}"})
                     for k in range(SPANS_A_REQUEST)]  # fmt: skip
            while not self.sent(body(*spans)):
                time.sleep(0.02)
            self.acknowledged += range(first, first + SPANS_A_REQUEST)
            number += 1

    def sent(self, data: bytes) -> bool:
        try:
            return post(self.url, data)[0] == 200
        except (OSError, http.client.HTTPException) as error:  # refused, or cut in the middle of an answer
            self.met[type(error).__name__] += 1
            return False


@pytest.mark.parametrize(("seconds", "kills"), [(3.0, 2)])
def test_killed_in_the_stream_nothing_acknowledged_is_lost_and_nothing_counts_twice(tmp_path, seconds, kills):
    out, chance, port = tmp_path / "run", random.Random(7), str(free_port())
    senders: list[Sender] = []
    until = time.monotonic() + 60
    for round_ in range(kills + 1):
        with receiver(out, "--port", port) as made:
            if not senders:
                until = time.monotonic() + seconds
                senders = [Sender(made.url, mine, until) for mine in range(2)]
                for sender in senders:
                    sender.start()
            if round_ < kills:
                time.sleep(seconds / (kills + 2) * chance.uniform(0.6, 1.4))
                made.process.kill()  # while both are sending
                made.process.communicate()
                continue
            for sender in senders:
                sender.join(60)
            code, _, err = made.stop()
    assert code == 0, err
    acknowledged = {number for sender in senders for number in sender.acknowledged}
    assert not any(sender.is_alive() for sender in senders)
    met = sum((sender.met for sender in senders), Counter())
    assert met, "no request met a receiver that was gone: the kill fell in a silence"
    lines = [json.loads(line) for line in (out / SPOOL_FILE).read_text(encoding="utf-8").splitlines()]
    spooled = [one["spanId"] for line in lines for one in line["resourceSpans"][0]["scopeSpans"][0]["spans"]]
    assert acknowledged == {int(one, 16) for one in spooled}
    steps = plumb.read_run(out).steps
    assert sorted(steps["call_id"]) == sorted(f"c{number}" for number in acknowledged)
    print(f"{len(acknowledged) / seconds:,.0f} spans/s, {len(acknowledged):,} acknowledged, "
          f"{len(spooled) - len(acknowledged):,} delivered twice, met {dict(met)} in {kills} kills")  # fmt: skip
