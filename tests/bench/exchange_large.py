"""``python -m tests.bench.exchange_large [--megabytes N] [--seconds N]``: time and peak memory of ``read_pieces``.

Run by hand, not in CI. The file stands in a temporary folder and is removed. Peak memory is the resident set of a
process that only reads.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.exchange_bench import SPANS_A_TRACE, traces

_AT_ONCE = 1000


def written(path: Path, size: int) -> int:
    """Write OTLP JSON lines of at least `size` bytes, one trace each, and return how many."""
    lines = [line.encode() + b"\n" for line in traces(_AT_ONCE)]
    ids = [f"{number + 1:032x}".encode() for number in range(_AT_ONCE)]
    count = done = 0
    with path.open("wb") as file:
        while done < size:
            for line, known in zip(lines, ids, strict=True):
                count += 1
                done += file.write(line.replace(known, f"{count:032x}".encode()))
    return count


def measured(path: Path, seconds: float) -> str:
    """Read a file in pieces of whole trials, no longer than some seconds, and say what it took."""
    from plumbline.exchange import read_pieces

    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    trials = steps = 0
    for piece in read_pieces(path):
        trials, steps = trials + len(piece.trials), steps + len(piece.steps)
        if time.perf_counter() - start > seconds:
            break
    took, peak = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"{trials:,} trials, {steps:,} steps in {took:.0f} s (the file: {path.stat().st_size / 1e6:,.0f} MB); "
        f"peak RSS {peak / 1024:.0f} MiB, of which {before / 1024:.0f} MiB before reading"
    )


def main() -> int:
    """Write the file, read it in a process of its own, print the figures; exit code 1 if a trial is missing."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.exchange_large", description=__doc__)
    options.add_argument("--megabytes", type=int, default=1000)
    options.add_argument("--seconds", type=float, default=480, help="stop reading after this time")
    options.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.file is not None:
        print(measured(given.file, given.seconds))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.jsonl"
        count = written(path, given.megabytes * 10**6)
        print(f"{path.stat().st_size / 1e6:,.0f} MB, {count:,} traces of {SPANS_A_TRACE} spans", flush=True)
        command = [sys.executable, "-m", "tests.bench.exchange_large", "--file", str(path)]
        command += ["--seconds", str(given.seconds)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(said, end="")
    return 0 if said.startswith(f"{count:,} trials, {count * SPANS_A_TRACE:,} steps") else 1


if __name__ == "__main__":
    sys.exit(main())
