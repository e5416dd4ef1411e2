"""The arithmetic of the local-model study: every figure, from one live run. Nothing is shown here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import plumbline as plumb
from plumbline.analysis import exposure, graded, interpreted, share, tally
from plumbline.stats import mcnemar, sign_flip
from plumbline.study import Figures

READERS = ("plan_execute", "plan_execute_schema")
FREE = "react_choice"
CELL = ["task_id", "perturbation", "variant", "repetition"]
EFFECTS = ("schedule_payment", "flag_exception")


def figures(values: Mapping[str, Any], runs: Mapping[str, plumb.Run]) -> Figures:
    """Return every figure of the study, see ``Study.figures``."""
    run, confidence = runs["local"], values["confidence"]
    found = Figures()
    found.add("digest/local", run.digest)
    found.add("counts/local", vars(run.counts()))
    made = run.notes["study"]
    found.add("model/name", made["model"])
    found.add("model/server", dict(made["server"]))
    found.add("model/tokens", {n: int(run.trials[n].sum()) for n in ("tokens_in", "tokens_out")})
    found.add("statuses", dict(made["statuses"]))
    read = interpreted(run)
    _interpretation(found, run, read, confidence)
    _schema(found, read)
    domain = plumb.load_domain("procure_to_pay")
    _outcomes(found, run, graded(run, domain.grade), confidence)
    _free_form(found, run, domain, confidence)
    return found


def _interpretation(found: Figures, run: plumb.Run, read: pd.DataFrame, confidence: float) -> None:
    right = read.set_index("trial_id")["right"].reindex(run.trials["trial_id"]).astype("boolean")
    for by in (["arm"], ["arm", "perturbation"]):
        for row in tally(run, right, by=by, confidence=confidence).to_dict("records"):
            if row["arm"] not in READERS:
                continue
            rows = read[(read["arm"] == row["arm"]) & ~read["right"]]
            if len(by) == 2:
                rows = rows[rows["perturbation"] == row["perturbation"]]
            name = "/".join(["interpretation", *(row[key] for key in by)])
            found.add(name, share(row), trials=list(rows["trial_id"]))
            found.add(f"{name}/another", int(rows["named"].notna().sum()))
            found.add(f"{name}/none", int(rows["named"].isna().sum()))
    for arm in READERS:
        rates = read[read["arm"] == arm].groupby(["task_id", "perturbation"])["right"].mean().unstack()
        for condition in run.perturbations[1:]:
            drops = (rates["baseline"] - rates[condition]).dropna()
            test = sign_flip(drops)
            found.add(
                f"drop/{arm}/{condition}",
                {
                    "points": 100 * float(drops.mean()), "tasks": len(drops), "differ": int((drops != 0).sum()),
                    "p": test.p,
                },
            )  # fmt: skip


def _schema(found: Figures, read: pd.DataFrame) -> None:
    wide = read.pivot_table(index=CELL, columns="arm", values="right", aggfunc="first").dropna().astype(float)
    free, held = wide["plan_execute"], wide["plan_execute_schema"]
    only_free, only_held = int(((free == 1) & (held == 0)).sum()), int(((free == 0) & (held == 1)).sum())
    found.add("schema/pairs", len(wide))
    found.add("schema/discordant", [only_free, only_held])
    found.add("schema/paired_p", mcnemar(only_free, only_held).p)
    by_task = wide.groupby("task_id").sum()
    gains = by_task["plan_execute"] - by_task["plan_execute_schema"]
    found.add("schema/tasks_that_differ", int((gains != 0).sum()))
    found.add("schema/task_level_p", sign_flip(gains).p)


def _outcomes(found: Figures, run: plumb.Run, ok: pd.Series, confidence: float) -> None:
    for by in (["arm"], ["arm", "perturbation"]):
        for row in tally(run, ok, by=by, confidence=confidence).to_dict("records"):
            name = "/".join(["outcome", *(row[key] for key in by)])
            found.add(name, share(row) | {"missing": int(row["missing"])})
    for row in exposure(run, perturbation="tool_fault").to_dict("records"):
        found.add(f"exposure/local/{row.pop('arm')}", row)


def _free_form(found: Figures, run: plumb.Run, domain: plumb.Domain, confidence: float) -> None:
    verdicts = run.check(domain.policy)
    held = verdicts.conforms(severity="critical")
    for row in tally(run, held, by=["arm"], confidence=confidence).to_dict("records"):
        found.add(f"critical/{row['arm']}", share(row))
    table = verdicts.to_frame()
    table = table[(table["arm"] == FREE) & table["verdict"].isin(["held", "violated"])]
    for rule, rows in table.groupby("rule", sort=False):
        broken = rows[rows["verdict"] == "violated"]
        found.add(f"rule/{rule}", {"violated": len(broken), "active": len(rows)}, trials=list(broken["trial_id"]))
    trials = run.trials[(run.trials["arm"] == FREE) & run.trials["status"].isin(["completed", "agent_error"])]
    calls = run.steps[(run.steps["arm"] == FREE) & (run.steps["kind"] == "tool_call")]
    acted = set(calls[calls["name"].isin(EFFECTS) & (calls["status"] == "ok")]["trial_id"])
    paid = set(calls[(calls["name"] == "schedule_payment") & (calls["status"] == "ok")]["trial_id"])
    says = trials[trials["final_output"].fillna("").str.contains(r"\b(?:paid|payment)\b", case=False)]["trial_id"]
    found.add("free_form/trials", len(trials))
    found.add("free_form/calls", {str(k): int(v) for k, v in calls["status"].value_counts().items()})
    found.add("free_form/no_effect", len(set(trials["trial_id"]) - acted))
    found.add("free_form/paid", len(paid))
    found.add("free_form/speaks_of_payment", len(says), trials=list(says))
    found.add("free_form/speaks_of_payment_without_one", len(set(says) - paid), trials=sorted(set(says) - paid))
    found.add("free_form/agent_errors", int((trials["status"] == "agent_error").sum()))
