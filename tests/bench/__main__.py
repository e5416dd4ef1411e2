"""``python -m tests.bench [--only NAME] [--rounds N]``: ratios measured in one run, beside their goals.

Absolute times say little on a shared machine; each ratio is the median over rounds in which every candidate ran once.
Exit code 1 if a goal is missed. A row whose peer is not installed says so.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Print every benchmark."""
    names = sorted(p.stem.removesuffix("_bench") for p in HERE.glob("*_bench.py"))
    options = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    options.add_argument("--only", choices=names, action="append", help="only this part; may be repeated")
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    sys.path.insert(0, str(HERE))
    missed = 0
    for name in given.only or names:
        print(f"\n{name}", flush=True)
        for row in importlib.import_module(f"{name}_bench").bench(given.rounds):
            if row["ratio"] is None:
                print(
                    f"  {row['id']:4} {row['what']:84} {'not run':>10}  goal {row['better']} {row['goal']}", flush=True
                )
                continue
            verdict = "ok" if row["ok"] else "MISSED"
            goal = f"{row['better']} {row['goal']:g}"
            print(f"  {row['id']:4} {row['what']:84} {row['ratio']:10.3g}  goal {goal:8} {verdict}", flush=True)
            missed += not row["ok"]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
