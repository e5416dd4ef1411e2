"""How fast studies run: trials a second of eight steps, memory a trial, resuming what is finished, chaos at full size.

The bars of issue 4 are absolute (300 trials/s, 3 s), so they are printed as they came out on this machine, beside the
share of a core that the process got while they were measured: on a busy machine the wall clock says little.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plumbline.domain import Domain, load_domain
from plumbline.running import ReactAgent, Task, Variant, run_study
from plumbline.running.clients import ModelCall, ModelReply, ModelRequest, ScriptedClient
from plumbline.traces import Recording
from tests.bench.race import peak_bytes, row

READS = ("fetch_invoice", "match_purchase_order", "check_duplicate")


def instant(request: ModelRequest) -> ModelReply | str:
    """Answer at once: two turns of parallel calls, then last words; eight steps in all."""
    invoice = request.trial_id.split("/")[1]
    named = json.dumps({"invoice_id": invoice})
    if request.turn == 0:
        return ModelReply("", tuple(ModelCall(f"a{n}", name, named) for n, name in enumerate(READS)))
    if request.turn == 1:
        vendor = json.dumps({"vendor_id": "V-101"})
        log = json.dumps({"invoice_id": invoice, "action": "looked"})
        last = (ModelCall("b1", "check_vendor_status", vendor), ModelCall("b2", "post_audit_log", log))
        return ModelReply("", (ModelCall("b0", "fetch_invoice", named), *last, ModelCall("b3", "fetch_invoice", named)))
    return "done"


def unchanged(task: Task, perturbation: str, name: str) -> Variant:
    """Give the prompt as it is."""
    return Variant(task.prompt)


def study(domain: Domain, trials: int, out: Path | None = None, *, resume: bool = False) -> Recording:
    """Run 20 trials a repetition with the instant model, without a ledger, without times."""
    agent = ReactAgent(ScriptedClient(instant), "instant", system="Look at the invoice.")
    return run_study(
        domain, arms={"react": agent}, tasks=["INV-7002", "INV-7004"], perturbations=["baseline", "again"], variants=5,
        repetitions=trials // 20, out=out, resume=resume, clock=None, workers=8, variant=unchanged, run_id="bench",
    )  # fmt: skip


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Return wall seconds and processor seconds of one call."""
    wall, busy = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - busy


def throughput(domain: Domain, trials: int) -> tuple[float, float, int]:
    """Return trials per wall second while running, per processor second, and steps a trial."""
    marks: list[tuple[float, float, int]] = []
    agent = ReactAgent(ScriptedClient(instant), "instant", system="Look at the invoice.")
    run = run_study(
        domain, arms={"react": agent}, tasks=["INV-7002", "INV-7004"], perturbations=["baseline", "again"], variants=5,
        repetitions=trials // 20, clock=None, workers=8, variant=unchanged,
        progress=lambda p: marks.append((p.seconds, time.process_time(), p.done)),
    )  # fmt: skip
    (_, cpu0, done0), (wall, cpu, done) = marks[0], marks[-1]
    return done / wall, (done - done0) / (cpu - cpu0), len(run.steps) // len(run.trials)


def memory_share(domain: Domain, small: int, large: int) -> float:
    """Return what one more trial adds to the peak memory while running, as a share of its record's size on disk.

    The plan holds a name for every trial, so a little is added; were records held, the share would be above one. What
    is assembled at the end is not counted.
    """

    class StopError(Exception):
        pass

    def running_only(trials: int, out: Path) -> int:
        agent = ReactAgent(ScriptedClient(instant), "instant", system="Look at the invoice.")

        def tell(progress: Any) -> None:
            if progress.done == progress.due:
                raise StopError

        def run() -> None:
            try:
                run_study(
                    domain, arms={"react": agent}, tasks=["INV-7002", "INV-7004"], perturbations=["baseline", "again"],
                    variants=5, repetitions=trials // 20, clock=None, workers=8, variant=unchanged, progress=tell,
                    out=out,
                )  # fmt: skip
            except StopError:
                return

        return peak_bytes(run)

    with tempfile.TemporaryDirectory() as folder:
        running_only(small, Path(folder) / "warm")
        less = running_only(small, Path(folder) / "small")
        more = running_only(large, Path(folder) / "large")
        record = (Path(folder) / "large" / "journal.jsonl").stat().st_size / large
    return max(0.0, more - less) / (large - small) / record


def bench(rounds: int = 5, tiny: bool = False) -> list[dict[str, Any]]:
    """Measure the bars of issue 4, section 6; tiny runs the same code on little data."""
    domain = load_domain("procure_to_pay")
    trials, finished, few, many = (20, 40, 20, 40) if tiny else (1200, 10_000, 100, 1000)
    best = max((throughput(domain, trials) for _ in range(1 if tiny else min(rounds, 3))), key=lambda r: r[0])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "r"
        study(domain, finished, out)
        seconds, busy = min(timed(lambda: study(domain, finished, out, resume=True)) for _ in range(1 if tiny else 3))
    share = memory_share(domain, few, many)
    return [
        row("R1", f"trials of {best[2]} steps a second, 8 workers (a core second: {best[1]:.0f})", best[0], 300, ">="),
        row("R2", f"resume of {finished} finished trials, wall seconds (core seconds: {busy:.2f})", seconds, 3, "<="),
        row("R3", f"peak memory one more trial adds, share of its record ({few} to {many})", share, 0.5, "<="),
    ]  # fmt: skip
