"""P11: reading traces and runs against the least that any reader must do; memory in pieces; what the receiver takes in.

``python -m tests.bench.exchange_large`` reads a file of a gigabyte; it is run by hand.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

SPANS_A_TRACE = 8
GOAL_SPANS_A_SECOND = 2000


def traces(count: int) -> list[str]:
    """One OTLP envelope a line, one trace each."""
    lines = []
    for number in range(count):
        spans = []
        for step in range(SPANS_A_TRACE):
            values = {
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"tool_{step}",
                "gen_ai.tool.call.id": f"c{step}",
                "gen_ai.tool.call.arguments": json.dumps({"id": f"A-{number}", "n": step}),
                "gen_ai.tool.call.result": '{"ok": true}',
            }  # fmt: skip
            spans.append({
                "traceId": f"{number + 1:032x}", "spanId": f"{step + 1:016x}", "name": f"execute_tool tool_{step}",
                "startTimeUnixNano": str(10**18 + step), "endTimeUnixNano": str(10**18 + step + 1),
                "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in values.items()],
            })  # fmt: skip
        lines.append(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    return lines


def flatten(data: bytes) -> list[dict[str, Any]]:
    """What every reader of OTLP must do: parse, and make a row of each span."""
    try:
        from orjson import loads
    except ModuleNotFoundError:
        loads = json.loads
    rows = []
    for line in data.splitlines():
        for resource in loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    row = {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}
                    rows.append(row | {"trace": span["traceId"], "span": span["spanId"], "name": span["name"]})
    return rows


def conversations(count: int) -> list[str]:
    """One OpenAI conversation a line, all of one shape."""
    lines = []
    for number in range(count):
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"Pay invoice {number}"}]
        for step in range(SPANS_A_TRACE // 2):
            call = {"name": f"tool_{step}", "arguments": json.dumps({"id": f"A-{number}", "n": step})}
            asked = [{"id": f"c{step}", "type": "function", "function": call}]
            messages.append({"role": "assistant", "content": None, "tool_calls": asked})
            messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": '{"ok": true}'})
        lines.append(
            json.dumps({"task": f"t{number}", "messages": [*messages, {"role": "assistant", "content": "Paid"}]})
        )
    return lines


def json_lines_ratio(count: int, rounds: int) -> float:
    """Return the time of ``read_traces`` over that of ``pyarrow.json.read_json``, of one file of conversations."""
    from pyarrow.json import read_json

    from plumbline.exchange import read_traces

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.jsonl"
        path.write_text("\n".join(conversations(count)) + "\n")
        assert len(read_traces(path, format="openai").trials) == read_json(path).num_rows == count
        return _ratio(lambda: read_traces(path, format="openai"), lambda: read_json(path), rounds)


def run_folder_ratio(count: int, rounds: int) -> float:
    """Return the time of ``read_run``, which verifies every row, over that of pyarrow reading the same tables."""
    import pyarrow as pa

    import plumbline as plumb
    from plumbline.exchange import read_traces

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        read_traces("\n".join(traces(count)).encode()).save(path)

        def alone() -> list[Any]:
            tables = []
            for file in sorted(path.glob("*.arrow")):
                with pa.memory_map(str(file)) as source:
                    tables.append(pa.ipc.open_file(source).read_all())
            return tables

        assert [len(plumb.read_run(path).steps), count] == [table.num_rows for table in alone()]
        return _ratio(lambda: plumb.read_run(path), alone, rounds)


def _ratio(one: Any, other: Any, rounds: int) -> float:
    ratios = []
    for _ in range(rounds):
        times = []
        for act in (one, other):
            start = time.perf_counter()
            act()
            times.append(time.perf_counter() - start)
        ratios.append(times[0] / times[1])
    return statistics.median(ratios)


def _peak(lines: list[str]) -> int:
    from plumbline.exchange import read_pieces

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        path.write_text("\n".join(lines) + "\n")
        tracemalloc.start()
        for piece in read_pieces(path, trials=50):
            assert len(piece.trials) <= 50
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def receive_rate(seconds: float) -> tuple[float, int, int]:
    """Return spans a second that were acknowledged, how many, and how many of them stand in the spool."""
    from plumbline.exchange.receiver import SPOOL_FILE
    from tests.exchange.receiver.receiver_help import post, receiver

    bodies = [line.encode() for line in traces(40)]
    sent = [0, 0]
    with tempfile.TemporaryDirectory() as folder, receiver(Path(folder) / "run") as made:
        begin = time.monotonic()

        def send(mine: int) -> None:
            while time.monotonic() - begin < seconds:
                if post(made.url, bodies[(mine + sent[mine]) % len(bodies)])[0] == 200:
                    sent[mine] += 1

        threads = [threading.Thread(target=send, args=(mine,)) for mine in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - begin
        made.process.kill()
        made.process.communicate()
        kept = len((Path(folder) / "run" / SPOOL_FILE).read_text().splitlines())
    return sum(sent) * SPANS_A_TRACE / took, sum(sent), kept


def bench(rounds: int = 5, *, tiny: bool = False) -> list[dict]:
    """Return ratios to orjson plus flatten and to pyarrow, of peak memory for ten times the file, of spans taken in."""
    from plumbline.exchange import read_traces

    few = traces(20 if tiny else 200)
    data = ("\n".join(few) + "\n").encode()
    rate, acknowledged, kept = receive_rate(1.0 if tiny else 30.0)
    assert kept >= acknowledged, "an acknowledged request is lost"
    rows = [
        {"id": "P11", "what": "read_traces of OTLP JSON lines / orjson and flatten", "better": "<=", "goal": 1.5,
         "ratio": _ratio(lambda: read_traces(data), lambda: flatten(data), 1 if tiny else rounds)},
        {"id": "P11", "what": "peak memory of read_pieces, ten times the file / the file", "better": "<=", "goal": 2.0,
         "ratio": _peak(traces(400 if tiny else 4000)) / _peak(traces(40 if tiny else 400))},
        {"id": "P11", "what": "read_traces of OpenAI JSON lines / pyarrow.json.read_json", "better": "<=", "goal": 2.0,
         "ratio": json_lines_ratio(20 if tiny else 400, 1 if tiny else rounds)},
        {"id": "P11", "what": "read_run of a run folder, verified / pyarrow reading its tables", "better": "<=",
         "goal": 2.0, "ratio": run_folder_ratio(20 if tiny else 400, 1 if tiny else rounds)},
        {"id": "P11", "what": f"receiver: spans/s acknowledged / {GOAL_SPANS_A_SECOND:,} (none lost after a kill)",
         "better": ">=", "goal": 1.0, "ratio": rate / GOAL_SPANS_A_SECOND},
    ]  # fmt: skip
    better = {"<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b}
    return [row | {"ok": better[row["better"]](row["ratio"], row["goal"])} for row in rows]
