"""Run folders of the original project: its rows come out, and with them the published figures.

The shared sample holds one finished record and one without a response. What it cannot show is shown on whole folders
written here in the same shape from the committed runs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plumbline as plumb
from plumbline.base.errors import TraceFormatError
from plumbline.domains.procure_to_pay.truth import grade_published
from plumbline.exchange import read_traces
from plumbline.run import Run
from plumbline.study import load_study

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT.parent / "shared" / "published" / "sample"
DONE = "plan_execute/INV-7002/baseline/1/0"
STUDIES = ("determinism", "parity", "retry")


def step(kind, name, args=None, output=None, error=None):
    counted = {"index": 0, "latency_ms": None, "tokens_in": 0, "tokens_out": 0}
    return {"kind": kind, "name": name, "args": args or {}, "output": output, "error": error} | counted


def trajectory(trial_id, *steps, error=None, final="done", **more):
    arm, task, perturbation, variant, _ = trial_id.split("/")
    names = {"trial_id": trial_id, "perturbation": perturbation, "variant_id": f"{perturbation}/{variant}", "arm": arm}
    spent = {"model": "m-1", "seed": None, "latency_ms": 9.5, "tokens_in": 163, "tokens_out": 26, "cost_usd": 0.0}
    said = {"task_id": task, "steps": list(steps), "final_output": final, "task_input": "pay it", "error": error}
    return names | said | spent | {"metadata": {}} | more


def folder(path, trajectories, ledgers=None):
    path.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in trajectories)
    (path / "trajectories.jsonl").write_text(text, encoding="utf-8")
    if ledgers is not None:
        (path / "ledger_states.json").write_text(json.dumps(ledgers), encoding="utf-8")
    return path


def original(run, path):
    """Write a committed run as the original project would have written it, in another order than ours."""
    steps = dict(iter(run.steps.groupby("trial_id", sort=False)))
    trajectories, ledgers = [], {}
    for trial in run.trials.iloc[::-1].itertuples():
        told = []
        for row in steps[trial.trial_id].itertuples() if trial.trial_id in steps else ():
            final = row.kind == "final"
            args = json.loads(row.arguments) if isinstance(row.arguments, str) else {}
            output = json.loads(row.result) if isinstance(row.result, str) else None
            told.append(
                step(
                    row.kind,
                    "respond" if final else row.name,
                    args,
                    output,
                    row.error if isinstance(row.error, str) else None,
                )
            )
        answered = trial.status == "completed"
        error = None if answered else "OfflineError: no recorded response"
        trajectories.append(
            trajectory(
                trial.trial_id,
                *told,
                error=error,
                final=trial.final_output if isinstance(trial.final_output, str) else "",
            )
        )
        ledger = json.loads(trial.outcome)
        ledgers[trial.trial_id] = {key: ledger[key] for key in ledger if key != "elsewhere"}
    return folder(path, trajectories, ledgers)


@pytest.mark.skipif(not SAMPLE.exists(), reason="the shared sample is not here")
def test_the_published_sample_gives_the_rows_of_the_committed_run():
    run, committed = read_traces(SAMPLE, run_id="sample"), plumb.read_run(ROOT / "data" / "procure_to_pay" / "retry")
    assert vars(run.counts()) == {"planned": 2, "recorded": 2, "completed": 1, "missing": 1}
    theirs, ours = run.trials.set_index("trial_id"), committed.trials.set_index("trial_id")
    assert set(theirs.index) <= set(ours.index)
    for name in theirs.index:
        assert theirs.loc[name, "status"] == ours.loc[name, "status"]
        assert theirs.loc[name, "model"] == ours.loc[name, "model"]
        assert theirs.loc[name, "exposure"] == ours.loc[name, "exposure"]
    mine, known = run.steps, committed.steps[committed.steps["trial_id"] == DONE]
    assert mine[["kind", "status"]].values.tolist() == known[["kind", "status"]].values.tolist()
    assert mine["name"].tolist()[:-1] == known["name"].tolist()[:-1]
    for own, other in zip(mine["arguments"].tolist()[:-2], known["arguments"].tolist()[:-2], strict=True):
        assert json.loads(own) == json.loads(other)  # the last two hold free text, which was not published
    outcome, expected = (json.loads(frame.loc[DONE, "outcome"]) for frame in (theirs, ours))
    assert outcome == {key: expected[key] for key in expected if key != "elsewhere"}
    row = theirs.loc[DONE]
    assert (row["tokens_in"], row["tokens_out"], row["prompt"]) == (163, 26, "(prompt left out)")


@pytest.mark.skipif(not SAMPLE.exists(), reason="the shared sample is not here")
def test_the_published_sample_is_judged_like_the_committed_run():
    """Both studies rest on these four readings of a trial; each agrees for the one finished record there is."""
    run, committed = read_traces(SAMPLE, run_id="sample"), plumb.read_run(ROOT / "data" / "procure_to_pay" / "retry")
    judged = Run(run.trials, run.steps, run_id="sample", tasks={k: committed.tasks[k] for k in ("INV-7002",)})
    policy = plumb.load_domain("procure_to_pay").policy
    for severity in ("critical", "low"):
        own = judged.check(policy).conforms(severity=severity)
        theirs = committed.check(policy).conforms(severity=severity)
        assert own[DONE] == theirs[DONE]
        assert own.isna().tolist() == [False, True]  # nothing is said of the trial without a response
    assert grade_published(json.loads(run.trials["outcome"][0]), committed.context("INV-7002"))
    assert plumb.traces.paths(run.steps).iloc[0] == plumb.traces.paths(committed.trial(DONE)).iloc[0]


@pytest.fixture(scope="module")
def reread(tmp_path_factory):
    """The three committed runs, written in the original's shape and read back; the domain supplies the ground truth."""
    runs = {}
    for name in STUDIES:
        committed = plumb.read_run(ROOT / "data" / "procure_to_pay" / name)
        run = read_traces(original(committed, tmp_path_factory.mktemp("original") / name))
        assert run.run_id == name
        runs[name] = Run(
            run.trials, run.steps, run_id=name, tasks=committed.tasks, plan=committed.plan, domain=committed.domain
        )
    return runs


@pytest.mark.parametrize("name", ["retry", "parity"])
def test_whole_folders_meet_the_pins_of_the_studies(name, reread):
    study = load_study(name, studies=ROOT / "studies")
    values = study.check_parameters({"data": str(ROOT / "data")})
    report = study.check(study.module.figures(values, {run: reread[run] for run in study.runs(values)}))
    # Rows hold what the original recorded, not ours: its digests differ, and its ledger has no payments elsewhere.
    texts = {"pair/parity/outcome", "pair/retry/outcome"} if name == "retry" else set()
    assert {m.id for m in report.mismatches} == {f"digest/{run}" for run in STUDIES} | texts
    assert not report.unpinned
    assert len(report.held) > 120


def test_completion_order_is_kept(tmp_path):
    names = [f"react/INV-1/baseline/0/{r}" for r in (1, 0, 2)]
    run = read_traces(folder(tmp_path / "r", [trajectory(name) for name in names]))
    lines = run.notes["import"]["sources"]
    assert sorted(lines, key=lambda trial: int(lines[trial].rsplit(" ", 1)[1])) == names


@pytest.mark.parametrize(
    ("variant", "failing", "exposure", "fault"),
    [
        (0, ("match_purchase_order", "503 service unavailable"), "delivered", ("match_purchase_order", "http_503")),
        (1, ("check_duplicate", "HTTP 429"), "delivered", ("check_duplicate", "http_429")),
        (
            5,
            ("check_vendor_status", "connection reset by peer"),
            "delivered",
            ("check_vendor_status", "connection_reset"),
        ),
        (2, ("check_vendor_status", "vendor not found"), "not_delivered", ("check_vendor_status", "connection_reset")),
        (4, None, "not_delivered", ("check_duplicate", "http_429")),
    ],
)
def test_whether_a_fault_was_met_is_read_from_the_calls(tmp_path, variant, failing, exposure, fault):
    steps = [step("tool_call", "check_vendor_status", {"vendor_id": "V-1"}, {"payable": True})]
    steps += [step("tool_call", failing[0], error=failing[1])] if failing else []
    run = read_traces(folder(tmp_path / "r", [trajectory(f"react/INV-1/tool_fault/{variant}/0", *steps)]))
    row = run.trials.iloc[0]
    planned = json.loads(row["fault"])
    assert (row["exposure"], planned["tool"], planned["error"]) == (exposure, *fault)


@pytest.mark.parametrize(
    ("error", "steps", "status"),
    [
        (None, 1, "completed"),
        ("OfflineError: no cache", 0, "no_response"),
        ("BadRequestError: credit", 0, "no_response"),
        ("BudgetExceeded: 11.00", 0, "budget_stop"),
        ("KeyError: 'x'", 0, "harness_error"),
        ("turn limit reached", 2, "agent_error"),
    ],
)
def test_an_ending_says_whose_it_is(tmp_path, error, steps, status):
    told = [step("tool_call", "fetch_invoice", {}, {"n": 1})] * steps
    run = read_traces(folder(tmp_path / "r", [trajectory("react/INV-1/baseline/0/0", *told, error=error)]))
    assert (run.trials["status"].tolist(), len(run.steps)) == ([status], steps)


def test_vetoes_decisions_and_last_words(tmp_path):
    steps = [
        step("decision", "interpret_request", {"invoice_id": "INV-1"}, "```json\n{}\n```"),
        step("decision", "blocked:schedule_payment", {"amount": 10.50}, "checks are missing"),
        step("final", "respond", {}, "held"),
    ]
    run = read_traces(folder(tmp_path / "r", [trajectory("guarded/INV-1/baseline/0/0", *steps, final="held")]))
    assert run.steps[["kind", "name", "status"]].values.tolist() == [
        ["decision", "interpret_request", "ok"],
        ["tool_call", "schedule_payment", "blocked"],
        ["final", "respond", "ok"],
    ]
    assert run.steps["arguments"].fillna("").tolist() == ['{"invoice_id":"INV-1"}', '{"amount":10.5}', ""]


def test_what_has_no_place_is_kept_and_a_missing_ledger_is_said(tmp_path):
    odd = trajectory("react/INV-1/baseline/0/0", step("dance", "x"), step("tool_call", None), more={"a": 1})
    run = read_traces(
        folder(tmp_path / "r", [odd, trajectory("react/INV-1/baseline/0/1")], {odd["trial_id"]: {"paid": False}})
    )
    assert [note.split(":")[0] for note in run.notes["import"]["unread"][odd["trial_id"]]] == [
        "step 0",
        "step 1",
        "more",
    ]
    assert run.trials["outcome"].fillna("").tolist() == ['{"paid":false}', ""]
    assert any("no end state" in line for line in run.notes["import"]["said"])


@pytest.mark.parametrize(
    "broken",
    [
        lambda t: t | {"trial_id": "react/INV-1"},
        lambda t: t | {"trial_id": "react/INV-1/baseline/0/x"},
        lambda t: t | {"arm": "other"},
        lambda t: t | {"variant_id": "baseline/9"},
        lambda t: t | {"steps": None},
        lambda t: [],
    ],
)
def test_a_record_that_contradicts_itself_is_named_with_its_line(tmp_path, broken):
    good = trajectory("react/INV-1/baseline/0/0")
    with pytest.raises(TraceFormatError) as caught:
        read_traces(folder(tmp_path / "r", [good, broken(trajectory("react/INV-1/baseline/0/1"))]))
    assert caught.value.line == 2
    assert caught.value.byte == len(json.dumps(good).encode()) + 1


def test_a_trial_recorded_twice_and_a_broken_ledger_are_refused(tmp_path):
    one = trajectory("react/INV-1/baseline/0/0")
    with pytest.raises(ValueError, match="jsonl line 2 and trajectories"):
        read_traces(folder(tmp_path / "r", [one, one]))
    with pytest.raises(TraceFormatError, match="end states"):
        read_traces(folder(tmp_path / "q", [one], {"x": 1}))


def test_a_file_alone_is_read_with_the_ledger_beside_it(tmp_path):
    path = folder(
        tmp_path / "r", [trajectory("react/INV-1/baseline/0/0")], {"react/INV-1/baseline/0/0": {"paid": True}}
    )
    assert read_traces(path / "trajectories.jsonl", run_id="x").digest == read_traces(path, run_id="x").digest


def test_a_folder_cut_off_keeps_whole_lines_only_when_asked(tmp_path):
    path = folder(tmp_path / "r", [trajectory(f"react/INV-1/baseline/0/{r}") for r in (0, 1)])
    file = path / "trajectories.jsonl"
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(TraceFormatError) as caught:
        read_traces(path)
    assert caught.value.byte == file.stat().st_size
    run = read_traces(path, strict=False)
    assert run.trials["repetition"].tolist() == [0]
    assert any("left out" in line for line in run.notes["import"]["said"])
