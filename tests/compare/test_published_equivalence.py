"""The founding studies' path and argument agreement, and every divergence with its trials, from the committed runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import plumbline
from plumbline.compare import align, published_rules, read_paths
from plumbline.domains.procure_to_pay.policy import ARGUMENT_FIELDS

ROOT = Path(__file__).resolve().parents[2]
RUNS, FACTS = ROOT / "data" / "procure_to_pay", ROOT.parent / "shared" / "published" / "facts.json"
INCUMBENT, REPLACEMENT = "plan_execute", "react"
CELL = ["task_id", "perturbation", "variant"]
pytestmark = pytest.mark.skipif(
    not (RUNS / "parity").is_dir() or not FACTS.is_file(), reason="needs the committed runs and the published facts"
)


def canonical_runs(trials: pd.DataFrame, path: dict[str, tuple], chosen: dict[str, str]) -> dict[tuple, str]:
    """The incumbent's run of each cell: the first on the modal path, or the one the facts infer where that is a tie."""
    found = {}
    for key, cell in trials.groupby(CELL, sort=False):
        counts = Counter(path[trial] for trial in cell["trial_id"])
        first = [trial for trial in cell["trial_id"] if counts[path[trial]] == max(counts.values())]
        word = chosen.get("/".join(map(str, key)))
        if word is not None:
            faulted = cell["exposure"] == "delivered"
            first = cell.loc[faulted if word == "faulted repetition" else ~faulted, "trial_id"].tolist()
        found[key] = first[0]
    return found


@pytest.fixture(scope="module", params=["parity", "retry"])
def study(request):
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    run = plumbline.read_run(RUNS / request.param)
    done = run.trials[run.trials["status"].isin(["completed", "agent_error"])]
    old, new = (done[done["arm"] == arm] for arm in (INCUMBENT, REPLACEMENT))
    steps = [run.steps[run.steps["trial_id"].isin(part["trial_id"])] for part in (new, old)]
    paths = read_paths(steps[1])
    path = {trial: tuple(paths.path(position)) for position, trial in enumerate(paths.trials)}
    chosen = facts["derived"]["incumbent_reference_in_retry_tool_fault"] if request.param == "retry" else {}
    runs = canonical_runs(old, path, chosen)
    pairs = {row["trial_id"]: runs[tuple(row[name] for name in CELL)] for _, row in new.iterrows()}
    itself = sum(path[trial] == path[runs[key]] for key, cell in old.groupby(CELL) for trial in cell["trial_id"])
    found = align(
        *steps, pairs=pairs, rules=published_rules(ARGUMENT_FIELDS), empty=set(pairs) - set(steps[0]["trial_id"])
    )
    return facts["studies"][request.param]["equivalence"], found, itself


def test_agreement_is_as_published(study):
    facts, found, itself = study
    same = found.pairs.loc[found.pairs["same_path"], "pair"]
    counted = found.script_differences[found.script_differences["counted"]]
    apart = counted[counted["pair"].isin(same)]["pair"].nunique()
    assert [len(same), len(found.pairs)] == [facts["path"][word] for word in ("ok", "n")]
    assert [len(same) - apart, len(same)] == [facts["argument_given_same_path"][word] for word in ("ok", "n")]
    assert itself == facts["incumbent_self_consistency"]["ok"]


def test_every_aligned_divergence_is_as_published(study):
    facts, found, _ = study
    rows = found.script[found.script["edit"] != "match"].merge(found.pairs[["pair", "candidate"]])
    got: dict[tuple, set] = {}
    for row in rows.astype(object).where(rows.notna(), None).itertuples():
        got.setdefault((row.edit, row.at, row.name_reference, row.name_candidate, row.severity), set()).add(
            row.candidate
        )
    expected = {
        (each["kind"], each["step_index"], each["expected"], each["got"], each["severity"]): set(each["trial_ids"])
        for each in facts["divergences"]
        if each["kind"] in ("skipped", "extra", "substitute")
    }
    assert got == expected


def test_every_argument_divergence_is_as_published(study):
    facts, found, _ = study
    same = found.pairs.loc[found.pairs["same_path"], ["pair", "candidate"]]
    counted = found.script_differences[found.script_differences["counted"]].merge(same)
    got: dict[tuple, set] = {}
    for row in counted.itertuples():
        expected = f"{row.tool}.{row.field}={json.loads(row.value_reference)}"
        got.setdefault((row.at, expected, json.loads(row.value_candidate)), set()).add(row.candidate)
    published = {
        (each["step_index"], each["expected"], each["got"]): set(each["trial_ids"])
        for each in facts["divergences"]
        if each["kind"] == "arg"
    }
    assert got == published


def test_exact_rules_would_not_have_folded_case(study):
    _, found, _ = study
    pairs = dict(zip(found.pairs["candidate"], found.pairs["reference"], strict=True))
    strict = align(found.candidate, found.reference, pairs=pairs)
    assert strict.script.equals(found.script)
    assert len(strict.script_differences) > len(found.script_differences)
