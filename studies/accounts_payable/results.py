"""The arithmetic of the accounts-payable study: every figure from four runs. Nothing is shown here."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import plumbline as plumb
from plumbline.analysis import (
    catches,
    exposure,
    graded,
    interpreted,
    planted_faults,
    redundant_rules,
    share,
    survivors,
    tally,
    tampered_traces,
)
from plumbline.domains.accounts_payable.mutants import MUTANTS
from plumbline.domains.accounts_payable.rebuild import REFERENCE
from plumbline.domains.accounts_payable.schema import REASON_CODES
from plumbline.domains.accounts_payable.tasks import NEAR_MISSES
from plumbline.rules import check
from plumbline.rules.words import HELD, VIOLATED
from plumbline.stats import clopper_pearson, sign_flip
from plumbline.study import Figures

READERS = ("plan_execute", "plan_execute_schema")
FREE = "react_choice"
COUNTS = ("faults", "trials", "changed", "caught", "in_doubt", "localised", "tasks", "tasks_caught")


def figures(values: Mapping[str, Any], runs: Mapping[str, plumb.Run]) -> Figures:
    """Return every figure of the study, see ``Study.figures``."""
    confidence = values["confidence"]
    domain = plumb.load_domain("accounts_payable")
    found = Figures()
    with ExitStack() as held:
        runs = dict(runs) | (live(domain, values, held) if values["model"] else {})
        for name, run in runs.items():
            found.add(f"digest/{name}", run.digest)
            found.add(f"counts/{name}", vars(run.counts()))
        verdicts = {name: run.check(domain.policy) for name, run in runs.items()}
        planted = planted_faults(runs["planted"], verdicts["planted"], MUTANTS, reference=REFERENCE)
        _planted(found, domain, planted, confidence)
        told, traced = _traces(found, domain, runs["executors"], confidence)
        _rules(found, domain, verdicts, planted, told, traced)
        _false_alarms(found, domain, runs["executors"], verdicts["executors"], confidence)
        _coverage(found, domain, runs)
        _executors(found, domain, runs["executors"], confidence)
        _reading(found, domain, runs["local_planned"], confidence)
        _choosing(found, domain, runs["local_free"], verdicts["local_free"], confidence)
    return found


def _shares(k: int, n: int, confidence: float) -> dict[str, Any]:
    made = clopper_pearson(k, n, confidence=confidence, sidedness="two-sided")
    return {"k": k, "n": n, "value": made.value, "low": made.low, "high": made.high}


def _tables(found: Figures, name: str, planted: pd.DataFrame, confidence: float, *by: str) -> None:
    for key in by:
        for row in catches(planted, key).to_dict("records"):
            found.add(f"{name}/{key}/{row[key]}", {each: int(row[each]) for each in COUNTS})
            whole = _shares(int(row["tasks_caught"]), int(row["tasks"]), confidence)
            found.add(f"{name}/{key}/{row[key]}/documents", whole)


def _planted(found: Figures, domain: plumb.Domain, planted: pd.DataFrame, confidence: float) -> None:
    everything = catches(planted.assign(every="all"), "every").iloc[0]
    found.add("planted/all", {each: int(everything[each]) for each in COUNTS})
    shown = planted[planted["changed"]]
    harm = shown[shown["harmful"]]
    missed = harm[~harm["caught"] & ~harm["in_doubt"]]
    found.add("planted/harmful", len(harm))
    found.add("planted/harmful/caught", int(harm["caught"].sum()))
    found.add("planted/harmful/in_doubt", int(harm["in_doubt"].sum()), trials=list(harm[harm["in_doubt"]]["trial_id"]))
    found.add("planted/harmful/missed", len(missed), trials=list(missed["trial_id"]))
    by_document = ~harm["caught"].groupby(harm["task_id"]).all()
    found.add("planted/harmful/documents", _shares(int((~by_document).sum()), len(by_document), confidence))
    never = sorted(set(planted["fault"]) - set(shown["fault"]))
    found.add("planted/never_shows", never)
    caught = shown[shown["caught"] & shown["localised"]]
    found.add("planted/where/absent", int(caught["step"].isna().sum()))
    found.add("planted/where/its_own_tool", int((caught["step"].notna() & (caught["at"] == caught["tool"])).sum()))
    found.add(
        "planted/where/what_it_should_guard", int((caught["step"].notna() & (caught["at"] != caught["tool"])).sum())
    )
    _tables(found, "planted", planted, confidence, "kind", "severity")
    tools = {rule.id: rule.tools for rule in domain.policy}
    for (fault, tool), rows in shown.groupby(["fault", "tool"], sort=False):
        seen = rows[rows["caught"]]
        told = [next((rule for rule in rules if tool in tools[rule]), rules[0]) for rules in seen["rules"]]
        places = seen["at"].where(seen["at"] != tool, "its own call").where(seen["step"].notna(), "absent").dropna()
        found.add(f"planted/fault/{fault}", {
            "showed": len(rows), "caught": len(seen), "in_doubt": int(rows["in_doubt"].sum()),
            "rule": None if seen.empty else pd.Series(told).mode()[0],
            "at": None if places.empty else str(places.mode()[0]),
        })  # fmt: skip
    for row in catches(planted, "perturbation").to_dict("records"):
        found.add(f"planted/perturbation/{row['perturbation']}", {each: int(row[each]) for each in COUNTS[:-2]})
    for row in catches(planted.assign(changed=planted["harmful"]), "severity").to_dict("records"):
        whole = _shares(int(row["tasks_caught"]), int(row["tasks"]), confidence)
        found.add(f"harmful/severity/{row['severity']}", {each: int(row[each]) for each in COUNTS})
        found.add(f"harmful/severity/{row['severity']}/documents", whole)
    for row in survivors(planted).to_dict("records"):
        name = row.pop("fault")
        trials = shown[(shown["fault"] == name) & ~shown["caught"]]["trial_id"]
        row["documents"] = len(row.pop("tasks").split(", "))
        found.add(f"planted/survivor/{name}", row, trials=list(trials))


def _traces(
    found: Figures, domain: plumb.Domain, run: plumb.Run, confidence: float
) -> tuple[pd.DataFrame, plumb.Verdicts]:
    made = tampered_traces(run, domain.policy, arm=REFERENCE, fields=domain.argument_fields)
    verdicts = check(made.recording, domain.policy)
    told = planted_faults(made.recording, verdicts, made.faults, reference=REFERENCE)
    everything = catches(told.assign(every="all"), "every").iloc[0]
    found.add("traces/all", {each: int(everything[each]) for each in COUNTS})
    _tables(found, "traces", told, confidence, "kind")
    missed = told[told["changed"] & ~told["caught"]]
    for (kind, tool), rows in missed.groupby(["kind", "tool"], sort=False):
        found.add(f"traces/survivor/{kind}/{tool}", {"traces": len(rows), "documents": rows["task_id"].nunique()})
    return told, verdicts


def _rules(
    found: Figures, domain: plumb.Domain, verdicts: Mapping[str, plumb.Verdicts], planted: pd.DataFrame,
    told: pd.DataFrame, traced: plumb.Verdicts,
) -> None:  # fmt: skip
    needed, also = redundant_rules(planted, verdicts["planted"]), redundant_rules(told, traced)
    tested = np.isin(verdicts["planted"].verdict, (HELD, VIOLATED)).any(axis=1)
    broken = (verdicts["planted"].verdict == VIOLATED).sum(axis=1)
    alone = needed["faults_alone"] + needed["localises_alone"] + also["faults_alone"] + also["localises_alone"]
    for place, rule in enumerate(domain.policy):
        mine, traces = needed.iloc[place], also.iloc[place]
        found.add(f"rule/{rule.id}", {
            "severity": rule.severity, "put_to_the_test": bool(tested[place]), "violated": int(broken[place]),
            "caught": int(mine["caught"]), "caught_in_traces": int(traces["caught"]),
            "alone": int(mine["faults_alone"]), "only_place": int(mine["localises_alone"]),
            "alone_in_traces": int(traces["faults_alone"]), "only_place_in_traces": int(traces["localises_alone"]),
        })  # fmt: skip
    found.add("rules/all", len(domain.policy))
    found.add("rules/put_to_the_test", int(tested.sum()))
    found.add("rules/that_caught_something", int(((needed["caught"] + also["caught"]) > 0).sum()))
    found.add("rules/redundant", int((alone == 0).sum()))
    found.add("rules/needed", int((alone > 0).sum()))


def _false_alarms(
    found: Figures, domain: plumb.Domain, run: plumb.Run, verdicts: plumb.Verdicts, confidence: float
) -> None:
    mine = run.trials[run.trials["arm"] == REFERENCE]
    accused = set(verdicts.violations()["trial_id"]) & set(mine["trial_id"])
    tasks = mine[mine["trial_id"].isin(accused)]["task_id"].nunique()
    found.add("false_alarms/trials", len(accused), trials=sorted(accused))
    found.add("false_alarms/of_trials", len(mine))
    found.add("false_alarms/of_documents", mine["task_id"].nunique())
    for name, k, n in (("trials", len(accused), len(mine)), ("documents", tasks, mine["task_id"].nunique())):
        found.add(f"false_alarms/{name}/upper", clopper_pearson(k, n, confidence=confidence, sidedness="upper").high)
    right = graded(run, domain.grade).reindex(mine["trial_id"])
    found.add("reference/right", int(right.sum()))


def _coverage(found: Figures, domain: plumb.Domain, runs: Mapping[str, plumb.Run]) -> None:
    steps = runs["executors"].steps
    steps = steps[(steps["arm"] == REFERENCE) & (steps["kind"] == "tool_call") & (steps["status"] == "ok")]
    calls = steps["name"].value_counts()
    for tool in domain.tools:
        found.add(f"coverage/tool/{tool.name}", int(calls.get(tool.name, 0)))
    context = [task.context for task in domain.tasks]
    for code in REASON_CODES:
        listed = [one for one in context if code in one["reason_codes"]]
        primary = sum(one["primary_reason_code"] == code for one in listed)
        near = sum(reason == code for reason in NEAR_MISSES.values())
        found.add(f"coverage/class/{code}", {"first": primary, "also": len(listed) - primary, "almost": near})
    for word in ("pay", "hold", "credit"):
        found.add(f"coverage/disposition/{word}", sum(one["disposition"] == word for one in context))


def _executors(found: Figures, domain: plumb.Domain, run: plumb.Run, confidence: float) -> None:
    ok = graded(run, domain.grade)
    for by in (["arm"], ["arm", "perturbation"]):
        for row in tally(run, ok, by=by, confidence=confidence).to_dict("records"):
            found.add("/".join(["outcome", *(row[key] for key in by)]), share(row) | {"missing": int(row["missing"])})
    for condition in ("tool_fault", "lost_answer"):
        for row in exposure(run, perturbation=condition).to_dict("records"):
            found.add(f"exposure/{condition}/{row.pop('arm')}", row)
    rates = run.trials.assign(ok=ok.reindex(run.trials["trial_id"]).to_numpy(float))
    rates = rates[rates["perturbation"] == "tool_fault"].groupby(["task_id", "arm"])["ok"].mean().unstack()
    drops = rates[REFERENCE] - rates["plan_execute_once"]
    test = sign_flip(drops)
    differ = int((drops != 0).sum())
    found.add("retries/points", 100 * float(drops.mean()))
    found.add("retries/documents", {"differ": differ, "of": len(drops), "p": test.p})


def _reading(found: Figures, domain: plumb.Domain, run: plumb.Run, confidence: float) -> None:
    made = run.notes["study"]
    found.add("model/name", made["model"])
    found.add("model/server", dict(made["server"] or {}))
    read = interpreted(run)
    right = read.set_index("trial_id")["right"].reindex(run.trials["trial_id"]).astype("boolean")
    ok = graded(run, domain.grade)
    for by in (["arm"], ["arm", "perturbation"]):
        for row in tally(run, right, by=by, confidence=confidence).to_dict("records"):
            name = "/".join(["reading", *(row[key] for key in by)])
            mine = read[
                (read["arm"] == row["arm"])
                & read["perturbation"].isin([row.get("perturbation", p) for p in run.perturbations])
            ]
            wrong = mine[~mine["right"]]
            found.add(name, share(row) | {"missing": int(row["missing"])}, trials=list(wrong["trial_id"]))
            found.add(f"{name}/another", int(wrong["named"].notna().sum()))
        for row in tally(run, ok, by=by, confidence=confidence).to_dict("records"):
            found.add("/".join(["reading_outcome", *(row[key] for key in by)]), share(row))


def _choosing(
    found: Figures, domain: plumb.Domain, run: plumb.Run, verdicts: plumb.Verdicts, confidence: float
) -> None:
    done = run.trials[run.trials["status"].isin(["completed", "agent_error"])]
    ok = graded(run, domain.grade)
    row = tally(run, ok, by=["arm"], confidence=confidence).to_dict("records")[0]
    found.add("choosing/outcome", share(row) | {"missing": int(row["missing"])})
    held = tally(run, verdicts.conforms(severity="critical"), by=["arm"], confidence=confidence).to_dict("records")[0]
    found.add("choosing/critical", share(held))
    found.add("choosing/statuses", {str(k): int(v) for k, v in run.trials["status"].value_counts().items()})
    calls = run.steps[run.steps["kind"] == "tool_call"]
    found.add("choosing/calls", {str(k): int(v) for k, v in calls["status"].value_counts().items()})
    made = calls[calls["status"] == "ok"].groupby("trial_id")["name"].agg(set)
    effects = {"schedule_payment", "flag_exception", "apply_credit_note"}
    acted = [trial for trial, names in made.items() if names & effects]
    paid = {trial for trial, names in made.items() if "schedule_payment" in names}
    found.add("choosing/no_effect", len(done) - len(set(acted)))
    found.add("choosing/paid", len(paid), trials=sorted(paid))
    says = done[done["final_output"].fillna("").str.contains(r"\b(?:paid|payment)\b", case=False)]["trial_id"]
    lying = sorted(set(says) - paid)
    found.add("choosing/speaks_of_payment", len(says), trials=list(says))
    found.add("choosing/speaks_of_payment_without_one", len(lying), trials=lying)
    table = verdicts.to_frame()
    table = table[table["verdict"].isin(["held", "violated"])]
    for rule, rows in table.groupby("rule", sort=False):
        broken = rows[rows["verdict"] == "violated"]
        if len(broken):
            found.add(
                f"choosing/rule/{rule}", {"violated": len(broken), "active": len(rows)}, trials=list(broken["trial_id"])
            )


def live(domain: plumb.Domain, values: Mapping[str, Any], held: ExitStack) -> dict[str, plumb.Run]:
    """Ask another model, as the two recorded live runs asked theirs."""
    from plumbline.running.clients import LOCAL_MODEL, LocalModel, Prices, local_prices, model_client, parse_price

    local = values["model"] == "local"
    model = LOCAL_MODEL if local else values["model"]
    prices = local_prices() if local else None
    if not local and values["price"]:
        prices = Prices({model: parse_price(values["price"], as_of=datetime.now(UTC).date().isoformat())})
    api = "" if values["api"] == "auto" else values["api"]
    client = LocalModel() if local else model_client(api=api, base_url=values["base_url"])
    held.callback(getattr(client, "close", lambda: None))
    folder = Path(values["out_live"] or held.enter_context(tempfile.TemporaryDirectory(prefix="plumbline-")))
    tasks = [task.id for task in domain.tasks][: values["documents"]]
    grid: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "local_planned": (READERS, ("baseline", "paraphrase", "distractor", "sampling", "decoy_tools", "tool_fault")),
        "local_free": ((FREE if local else "react",), ("baseline",)),
    }
    made = {}
    for name, (arms, perturbations) in grid.items():
        there = (folder / name / "plan.json").exists() or (folder / name / "manifest.json").exists()
        made[name] = plumb.run_study(
            domain, arms=arms, tasks=tasks, perturbations=perturbations, variants=1, repetitions=1, client=client,
            model=model, prices=prices, budget=values["budget"] or None, workers=1 if local else 4,
            out=folder / name, resume=there, run_id=name,
        )  # fmt: skip
    return made
