"""The arithmetic of the retry study: every figure, from the recorded runs and one fresh run. Nothing is shown here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import plumbline as plumb
from plumbline.analysis import as_treated, exposure, graded, share, tally
from plumbline.domains.procure_to_pay.truth import grade_published
from plumbline.stats import exact_permutation, mcnemar, monte_carlo_check, newcombe, pair_table, sign_flip
from plumbline.study import Figures
from plumbline.traces import Recording, paths

COLUMNS = {
    "no_retry": ("parity", "plan_execute", "executor, no retry"),
    "three_retries": ("retry", "plan_execute", "executor, three retries"),
    "free_form_agent": ("retry", "react", "free-form agent"),
}
"""Columns of the published table: the run and arm each one was counted from, and how it is called here."""
CONTRASTS = {
    "no_retry_vs_three_retries": ("no_retry", "three_retries", 0.0005),
    "three_retries_vs_free_form_agent": ("three_retries", "free_form_agent", 0.4620),
    "no_retry_vs_free_form_agent": ("no_retry", "free_form_agent", 0.0029),
}
"""The published contrasts, with the Monte Carlo p-value printed for each (20,000 draws)."""
DRAWS = 20_000
FAULTS = "tool_fault"
STUDIES = ("determinism", "parity", "retry")
PAIR = ("plan_execute/INV-7002/tool_fault/0/0", "plan_execute/INV-7002/tool_fault/0/0")
"""The trial shown side by side: the same fault on the same invoice, in ``parity`` (no retry) and in ``retry``."""


def corrected_run(*, repetitions: int = 2) -> Recording:
    """Run both executors afresh, with a fault of its own planned for every tool_fault trial."""
    domain = plumb.load_domain("procure_to_pay")
    arms = {
        "no_retry": domain.arms["plan_execute"](max_retries=0),
        "three_retries": domain.arms["plan_execute"](max_retries=3),
    }
    return plumb.run_study(
        domain, arms=arms, perturbations=(FAULTS,), variants=4, repetitions=repetitions, variant=domain.variant,
        run_id="corrected", clock=None,
    )  # fmt: skip


def figures(values: Mapping[str, Any], runs: Mapping[str, plumb.Run]) -> Figures:
    """Return every figure of the study, see ``Study.figures``."""
    found = Figures()
    ok = {name: graded(run, grade_published) for name, run in runs.items()}
    confidence = values["confidence"]
    for name, run in runs.items():
        found.add(f"digest/{name}", run.digest)
        found.add(f"counts/{name}", vars(run.counts()))
    _totals(found)
    _conformance(found, runs)
    _headline(found, runs, ok, confidence)
    _contrasts(found, confidence)
    _exposure(found, runs, ok, confidence)
    _pair(found, runs)
    _corrected(found, corrected_run(repetitions=values["repetitions"]), confidence)
    return found


def _totals(found: Figures) -> None:
    counts = [found[f"counts/{name}"] for name in STUDIES]
    total = {key: sum(c[key] for c in counts) for key in counts[0]}
    found.add("counts/all", total)
    found.add("counts/all/recorded_without_completion", total["recorded"] - total["completed"])


def _conformance(found: Figures, runs: Mapping[str, plumb.Run]) -> None:
    policy = plumb.load_domain("procure_to_pay").policy
    for name, run in runs.items():
        verdicts = run.check(policy)
        for level, worst in (("critical", "critical"), ("all", "low")):
            held = verdicts.conforms(severity=worst)
            for row in tally(run, held, by=["arm"]).to_dict("records"):
                failed = run.trials[(run.trials["arm"] == row["arm"]) & ~held.to_numpy(bool, na_value=True)]["trial_id"]
                found.add(
                    f"conformance/{name}/{row['arm']}/{level}", {"k": row["k"], "n": row["n"]}, trials=list(failed)
                )


def _headline(found: Figures, runs: Mapping[str, plumb.Run], ok: Mapping[str, pd.Series], confidence: float) -> None:
    for column in COLUMNS:
        run, arm, _ = COLUMNS[column]
        table = tally(runs[run], ok[run], confidence=confidence)
        trials = runs[run].trials
        for row in table[table["arm"] == arm].to_dict("records"):
            cell = trials[(trials["arm"] == arm) & (trials["perturbation"] == row["perturbation"])]["trial_id"]
            failed = [t for t in cell if ok[run][t] is not pd.NA and not ok[run][t]]
            found.add(f"headline/{row['perturbation']}/{column}", share(row), trials=failed)
            found.add(f"missing/{row['perturbation']}/{column}", int(row["missing"]))


def _contrasts(found: Figures, confidence: float) -> None:
    for name, (first, second, published) in CONTRASTS.items():
        a, b = found[f"headline/{FAULTS}/{first}"], found[f"headline/{FAULTS}/{second}"]
        exact = exact_permutation((a["k"], b["k"]), (a["n"], b["n"]))
        check = monte_carlo_check(published, exact.p, draws=DRAWS)
        found.add(f"contrast/{name}/published_p", published)
        found.add(f"contrast/{name}/exact_p", exact.p)
        found.add(f"contrast/{name}/exact_fraction", f"{exact.fraction.numerator}/{exact.fraction.denominator}")
        apart = newcombe((a["k"], b["k"]), (a["n"], b["n"]), confidence=confidence)
        found.add(f"contrast/{name}/difference", {"value": apart.value, "low": apart.low, "high": apart.high})
        found.add(f"contrast/{name}/monte_carlo_se", check.se)
        found.add(f"contrast/{name}/distance_in_se", check.distance)
        found.add(f"contrast/{name}/within_monte_carlo_error", check.within)


def _exposure(found: Figures, runs: Mapping[str, plumb.Run], ok: Mapping[str, pd.Series], confidence: float) -> None:
    for name, run in runs.items():
        for row in exposure(run, perturbation=FAULTS).to_dict("records"):
            arm = row.pop("arm")
            found.add(f"exposure/{name}/{arm}", row)
        critical = run.check(plumb.load_domain("procure_to_pay").policy).conforms(severity="critical")
        for measure, values in (("outcome", ok[name]), ("critical", critical)):
            for row in as_treated(run, values, perturbation=FAULTS, confidence=confidence).to_dict("records"):
                trials = run.trials[
                    (run.trials["arm"] == row["arm"])
                    & (run.trials["perturbation"] == FAULTS)
                    & (run.trials["exposure"] == row["exposure"])
                ]["trial_id"]
                found.add(
                    f"as_treated/{name}/{row['arm']}/{row['exposure']}/{measure}", share(row), trials=list(trials)
                )


def _pair(found: Figures, runs: Mapping[str, plumb.Run]) -> None:
    for name, trial in zip(("parity", "retry"), PAIR, strict=True):
        run = runs[name]
        steps = run.trial(trial)
        found.add(f"pair/{name}/path", paths(steps).iloc[0], trials=[trial])
        found.add(f"pair/{name}/failed_steps", int((steps["status"] == "failed").sum()), trials=[trial])
        found.add(f"pair/{name}/outcome", run.trials.set_index("trial_id").loc[trial, "outcome"], trials=[trial])


def _corrected(found: Figures, run: Recording, confidence: float) -> None:
    domain = plumb.load_domain("procure_to_pay")
    ok = graded(run, domain.grade)
    for row in exposure(run, perturbation=FAULTS).to_dict("records"):
        found.add(f"corrected/{row.pop('arm')}/exposure", row)
    shares = {}
    for row in tally(run, ok, by=["arm"], confidence=confidence).to_dict("records"):
        failed = run.trials[(run.trials["arm"] == row["arm"]) & ~ok.to_numpy(bool, na_value=True)]["trial_id"]
        shares[row["arm"]] = found.add(f"corrected/{row['arm']}/outcome", share(row), trials=list(failed))
    a, b = shares["three_retries"], shares["no_retry"]
    gain = newcombe((a["k"], b["k"]), (a["n"], b["n"]), confidence=confidence)
    found.add("corrected/effect", {"value": gain.value, "low": gain.low, "high": gain.high})
    found.add("corrected/exact_p", exact_permutation((a["k"], b["k"]), (a["n"], b["n"])).p)
    wide = run.trials.assign(ok=ok.to_numpy()).pivot_table(
        index=["task_id", "variant", "repetition"], columns="arm", values="ok", aggfunc="first"
    )
    pairs = pair_table(wide["three_retries"].astype(float), wide["no_retry"].astype(float))
    found.add("corrected/discordant", list(pairs.discordant))
    found.add("corrected/paired_p", mcnemar(*pairs.discordant).p)
    by_task = wide.astype(float).groupby("task_id").sum()
    gains = by_task["three_retries"] - by_task["no_retry"]
    found.add("corrected/tasks_that_differ", int((gains != 0).sum()))
    found.add("corrected/tasks", len(gains))
    by_tasks = sign_flip(gains)
    found.add("corrected/task_level_p", by_tasks.p)
    found.add("corrected/task_level_smallest_p", by_tasks.smallest_attainable_p)
