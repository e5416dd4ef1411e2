"""The arithmetic of the parity study: every figure, from the recorded runs. Nothing is shown here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import plumbline as plumb
from plumbline.analysis import consistency, equivalence, exposure, graded, paired_outcomes, share, tally
from plumbline.base.paths import data_folder
from plumbline.decide import ladder
from plumbline.domains.procure_to_pay.published import Facts
from plumbline.domains.procure_to_pay.truth import grade_published
from plumbline.stats import (
    anova_icc,
    design_effect,
    effective_interval,
    exact_permutation,
    miettinen_nurminen,
    missing_bounds,
    missingness_homogeneity,
    newcombe,
    tasks_estimate,
    wilson,
)
from plumbline.stats import equivalence as equivalent_within
from plumbline.study import Figures

LEDGER = ("paid", "payment_count", "amount_paid", "exception_raised", "approvals")
"""What the publication compared when it called two outcomes equal."""
CONTRASTS = {
    "no_retry_vs_three_retries": (("parity", "plan_execute"), ("retry", "plan_execute"), 0.0005),
    "no_retry_vs_free_form_agent": (("parity", "plan_execute"), ("retry", "react"), 0.0029),
    "three_retries_vs_free_form_agent": (("retry", "plan_execute"), ("retry", "react"), 0.4620),
}
FAULTS = "tool_fault"
COMPARED = ("parity", "retry")
STUDIES = ("determinism", "parity", "retry")
Runs = Mapping[str, plumb.Run]


def figures(values: Mapping[str, Any], runs: Runs) -> Figures:
    """Return every figure of the study, see ``Study.figures``."""
    found = Figures()
    confidence = values["confidence"]
    ok = {name: graded(run, grade_published) for name, run in runs.items()}
    for name, run in runs.items():
        found.add(f"digest/{name}", run.digest)
        found.add(f"counts/{name}", vars(run.counts()))
    _conformance(found, runs["parity"], confidence)
    order = Facts(data_folder(values["data"]) / "published").retry_incumbents
    _equivalence(found, runs, order)
    _consistency(found, runs)
    _exposure(found, runs)
    _paired(found, runs, ok)
    _margins(found, values["margins"], confidence)
    _missing(found, runs["retry"], ok["retry"], confidence)
    _clusters(found, runs["parity"], ok["parity"], confidence, values["rho"])
    _certificates(found, runs, confidence, values["rho"])
    return found


def _conformance(found: Figures, run: plumb.Run, confidence: float) -> None:
    verdicts = run.check(plumb.load_domain(run.domain).policy)
    for level, worst in (("critical", "critical"), ("all", "low")):
        for row in tally(run, verdicts.conforms(severity=worst), confidence=confidence).to_dict("records"):
            found.add(f"conformance/{row['arm']}/{row['perturbation']}/{level}", share(row))
    critical = verdicts.conforms(severity="critical")
    rows = tally(run, critical, by=["arm"]).set_index("arm")
    a, b = rows.loc["plan_execute"], rows.loc["react"]
    test = exact_permutation((int(a["k"]), int(b["k"])), (int(a["n"]), int(b["n"])))
    found.add("conformance/contrast/exact_p", test.p)


def _equivalence(found: Figures, runs: Runs, order: list[str]) -> None:
    for name in COMPARED:
        rules = plumb.load_domain(runs[name].domain).argument_fields
        compared = equivalence(
            runs[name], incumbent="plan_execute", replacement="react", argument_rules=rules, outcome_keys=LEDGER,
            grade=grade_published, order=order if name == "retry" else None,
        )  # fmt: skip
        for measure in ("outcome", "path", "arguments", "self_consistency", "matched_arguments", "no_worse"):
            found.add(f"equivalence/{name}/{measure}", _counts(getattr(compared, measure)))
        for key in ("perturbation", "task_id"):
            rows = compared.by(key)
            for row in rows[rows["measure"] == "same outcome"].to_dict("records"):
                found.add(f"equivalence/{name}/outcome/{row[key]}", {"k": int(row["k"]), "n": int(row["n"])})
        kinds = compared.divergences.groupby("kind")["count"].sum()
        found.add(f"equivalence/{name}/divergences", {kind: int(n) for kind, n in kinds.items()})
        found.add(f"equivalence/{name}/unpaired", len(compared.unpaired))
        published = compared.retirement
        found.add(f"equivalence/{name}/retirement", {"bound": published.bound, "band": published.band})
        truth = compared.against_truth.set_index(["incumbent", "replacement"])["different"]
        found.add(f"equivalence/{name}/different_incumbent_wrong", int(truth["wrong", "right"]))
        found.add(f"equivalence/{name}/different_replacement_wrong", int(truth["right", "wrong"]))
        for side in ("incumbent", "replacement"):
            agreement = getattr(compared, f"{side}_agreement").baseline
            u = {"value": agreement.value, "low": agreement.low, "high": agreement.high}
            found.add(f"equivalence/{name}/{side}_agreement", u)


def _consistency(found: Figures, runs: Runs) -> None:
    for name in STUDIES:
        rules = plumb.load_domain(runs[name].domain).argument_fields
        for arm in runs[name].arms:
            own = consistency(runs[name], arm=arm, argument_rules=rules, outcome_keys=LEDGER)
            for measure in ("structural", "arguments", "self_consistency"):
                found.add(f"consistency/{name}/{arm}/{measure}", _counts(getattr(own, measure)))


def _exposure(found: Figures, runs: Runs) -> None:
    for name in COMPARED:
        for row in exposure(runs[name], perturbation=FAULTS).to_dict("records"):
            found.add(f"exposure/{name}/{row.pop('arm')}", row)


def _paired(found: Figures, runs: Runs, ok: Mapping[str, pd.Series]) -> None:
    for name, ((run_a, arm_a), (run_b, arm_b), printed) in CONTRASTS.items():
        pairs = paired_outcomes(
            runs[run_a], arm_a, runs[run_b], arm_b, ok_first=ok[run_a], ok_second=ok[run_b], perturbation=FAULTS
        )
        margins = [_all(runs[r], ok[r], a) for r, a in ((run_a, arm_a), (run_b, arm_b))]
        unpaired = exact_permutation([m[0] for m in margins], [m[1] for m in margins])
        flips = pairs.sign_flip()
        found.add(f"paired/{name}/published_p", printed)
        found.add(f"paired/{name}/exact_unpaired_p", unpaired.p)
        found.add(f"paired/{name}/pairs", pairs.table.n, trials=_discordant(pairs))
        found.add(f"paired/{name}/incomplete", pairs.table.incomplete)
        found.add(f"paired/{name}/discordant", list(pairs.table.discordant), trials=_discordant(pairs))
        found.add(f"paired/{name}/mcnemar_p", pairs.mcnemar().p)
        found.add(f"paired/{name}/mcnemar_midp", pairs.mcnemar(method="midp").p)
        found.add(f"paired/{name}/task_p", flips.p)
        found.add(f"paired/{name}/task_smallest_p", flips.smallest_attainable_p)


def _all(run: plumb.Run, ok: pd.Series, arm: str) -> tuple[int, int]:
    rows = tally(run, ok).set_index(["arm", "perturbation"])
    return int(rows.loc[(arm, FAULTS), "k"]), int(rows.loc[(arm, FAULTS), "n"])


def _discordant(pairs: Any) -> list[str]:
    rows = pairs.pairs[pairs.pairs["complete"]]
    rows = rows[rows["first"] != rows["second"]]
    arm = pairs.first.split("/")[1]
    keys = rows[["task_id", "perturbation", "variant", "repetition"]].itertuples(index=False, name=None)
    return ["/".join(map(str, (arm, *key))) for key in keys]


def _margins(found: Figures, margins: list[float], confidence: float) -> None:
    """Executor with retries against free-form agent: the published 64/64 and 55/56, from figures above."""
    rows = found["exposure/retry/plan_execute"]["completed"], found["exposure/retry/react"]["completed"]
    lost = sum(found["paired/three_retries_vs_free_form_agent/discordant"])
    successes, n = (rows[0], rows[1] - lost), rows
    for name, made in (("newcombe", newcombe), ("miettinen_nurminen", miettinen_nurminen)):
        interval = made(successes, n, confidence=confidence)
        found.add(f"difference/{name}", {"value": interval.value, "low": interval.low, "high": interval.high})
    for margin in margins:
        within = equivalent_within(successes, n, margin=margin)
        points = f"{100 * margin:g}"
        found.add(f"margin/{points}/noninferior_p", within.p_noninferior)
        found.add(f"margin/{points}/nonsuperior_p", within.p_nonsuperior)
        found.add(f"margin/{points}/equivalence_p", within.p)
        found.add(f"margin/{points}/equivalent", within.equivalent)


def _missing(found: Figures, run: plumb.Run, ok: pd.Series, confidence: float) -> None:
    critical = run.check(plumb.load_domain(run.domain).policy).conforms(severity="critical")
    rows = tally(run, critical)
    rows = rows[rows["arm"] == "react"].set_index("perturbation")
    for name, row in rows.iterrows():
        ends = missing_bounds(int(row["k"]), int(row["n"]), int(row["planned"]), confidence=confidence)
        found.add(f"missing/{name}", _ends(ends))
    total = [int(rows[column].sum()) for column in ("k", "n", "planned")]
    found.add("missing/all", _ends(missing_bounds(*total, confidence=confidence)))
    outcome = tally(run, ok).set_index(["arm", "perturbation"]).loc[("react", FAULTS)]
    ends = missing_bounds(int(outcome["k"]), int(outcome["n"]), int(outcome["planned"]), confidence=confidence)
    found.add("missing/outcome_under_tool_fault", _ends(ends))
    lost = [int(v) for v in rows["planned"] - rows["n"]]
    found.add("missing/not_at_random_p", missingness_homogeneity(lost, [int(v) for v in rows["n"]]).p)


def _ends(bounds: Any) -> dict[str, Any]:
    return {
        "planned": bounds.planned,
        "finished": bounds.finished,
        "worst": bounds.worst.value,
        "best": bounds.best.value,
        "low_of_worst": bounds.worst.low,
        "low_of_complete": bounds.complete.low,
        "low_of_best": bounds.best.low,
    }


def _clusters(found: Figures, run: plumb.Run, ok: pd.Series, confidence: float, rho: float) -> None:
    """The published 52 of 64 by invoice: what eight clusters leave of its interval."""
    rows = tally(run, ok, by=["arm", "task_id", "perturbation"])
    rows = rows[(rows["arm"] == "plan_execute") & (rows["perturbation"] == FAULTS)]
    k, n = [int(v) for v in rows["k"]], [int(v) for v in rows["n"]]
    icc = anova_icc(k, n)
    runs_each = sum(n) / len(n)
    effective_n = sum(n) / float(design_effect(runs_each, float(icc)))
    found.add("clusters/by_task", k)
    found.add("clusters/icc", f"{icc.numerator}/{icc.denominator}")
    naive, tasks = wilson(sum(k), sum(n), confidence=confidence), tasks_estimate(k, n, rho=rho, confidence=confidence)
    effective = effective_interval(sum(k), sum(n), effective_n, confidence=confidence)
    for name, made in (("naive_wilson", naive), ("wilson_effective_n", effective), ("korn_graubard", tasks)):
        found.add(f"clusters/{name}", {"low": made.low, "high": made.high})
    found.add("clusters/effective_n", effective_n)


def _certificates(found: Figures, runs: Runs, confidence: float, rho: float) -> None:
    for name in COMPARED:
        policy = plumb.load_domain(runs[name].domain).policy
        rows = ladder(runs[name], arm="react", policy=policy, confidence=confidence, rho=rho)
        for row in rows.to_dict("records"):
            rule = row["rule"] if row["scope"] == "suite" else f"{row['rule']}_{row['scope']}"
            kept = {key: None if pd.isna(row[key]) or row[key] == "" else row[key] for key in ("bound", "grade")}
            covered = None if pd.isna(row["covered_bound"]) else float(row["covered_bound"])
            attained = row["attained_by"] or None
            found.add(f"certificate/{name}/{rule}", {**kept, "attained_by": attained, "covered_bound": covered})


def _counts(estimate: Any) -> dict[str, int]:
    return {"k": estimate.successes, "n": estimate.n}
