"""A scripted study that a test kills and resumes: every question and every price is known beforehand."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from plumbline.domain import load_domain
from plumbline.running import run_study
from plumbline.running.clients import ModelCall, ModelReply, ModelRequest, Prices, ScriptedClient, Usage, parse_price
from plumbline.traces import Recording

MODEL = "scripted"
PRICES = Prices({MODEL: parse_price("in=1,out=5", as_of="2026-11-30")})


def answer(request: ModelRequest) -> ModelReply:
    """Give the two lookups of a turn, then a hold or nothing, then last words; what is said depends on the trial."""
    invoice = request.trial_id.split("/")[1]
    usage = Usage(tokens_in=100 + len(request.trial_id), tokens_out=10 + request.turn)
    named = json.dumps({"invoice_id": invoice})
    if request.turn == 0:
        calls = (ModelCall("a", "fetch_invoice", named), ModelCall("b", "check_duplicate", named))
    elif request.turn == 1 and request.trial_id[-1] in "02468":
        reason = {"invoice_id": invoice, "reason": f"held in {request.trial_id}"}
        calls = (ModelCall("c", "flag_exception", json.dumps(reason)),)
    else:
        return ModelReply(f"done with {request.trial_id}", usage=usage, model=MODEL, stop="end_turn")
    return ModelReply("", calls, "tool_use", usage, MODEL)


def study(folder: str | Path, *, repetitions: int, resume: bool, workers: int = 8, pause: float = 0.001) -> Recording:
    """Run the study: two tasks, two perturbations, five variants, one arm; 20 trials a repetition."""

    def slowly(request: ModelRequest) -> ModelReply:
        time.sleep(pause)  # so that a kill finds calls under way
        return answer(request)

    return run_study(
        load_domain("procure_to_pay"), arms=["react"], tasks=["INV-7002", "INV-7004"],
        perturbations=["baseline", "tool_fault"], variants=5, repetitions=repetitions, client=ScriptedClient(slowly),
        model=MODEL, prices=PRICES, budget=1000.0, workers=workers, out=folder, resume=resume, run_id="chaos",
        clock=None,
    )  # fmt: skip


def child(folder: str, repetitions: int) -> None:
    """Begin the study or go on with it, in a process that may be killed."""
    study(folder, repetitions=repetitions, resume=os.path.exists(os.path.join(folder, "plan.json")))
