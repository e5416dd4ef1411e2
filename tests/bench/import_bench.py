"""P14: what it costs to import plumbline and to ask for its help, against a bare interpreter."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

PROGRAMS = {
    "bare": "pass",
    "import": "import plumbline",
    "help": "import sys; from plumbline.cli import main; sys.argv = ['plumbline', '--help']; main()",
}


def bench(rounds: int = 9, *, tiny: bool = False) -> list[dict]:
    """Return the ratios of start-up times, medians over rounds in which each program runs once."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(1 if tiny else rounds):
        for name, program in PROGRAMS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
            times[name].append(time.perf_counter() - start)
    rows = []
    for name, what in (("import", "import plumbline"), ("help", "plumbline --help")):
        ratio = statistics.median(a / b for a, b in zip(times[name], times["bare"], strict=True))
        rows.append({"id": "P14", "what": f"{what} / bare interpreter", "ratio": ratio, "goal": 4.0, "better": "<="})
    return [row | {"ok": row["ratio"] <= row["goal"]} for row in rows]
