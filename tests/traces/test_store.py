"""Run folders: what was saved is what is read, and nothing is ever half there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plumbline.base.errors import DigestError, NotFoundError, RunError, SchemaVersionError
from plumbline.traces import Plan, Recording, read_run


def recording(amount: str = "4500.00", count: int = 3, run_id: str = "r") -> Recording:
    trials = pd.DataFrame({"arm": "a", "task_id": [f"t{i}" for i in range(count)], "tokens_in": [1, None, 3][:count]})
    steps = pd.DataFrame(
        {
            "trial_id": [f"a/t{i}/baseline/0/0" for i in range(count) for _ in range(2)],
            "kind": "tool_call",
            "name": ["look", "pay"] * count,
            "arguments": ["{}", f'{{"amount":{amount}}}'] * count,
        }
    )
    plan = Plan(("a",), tuple(f"t{i}" for i in range(count)), ("baseline",), ("0",), 1)
    return Recording(
        trials, steps, run_id=run_id, plan=plan, tasks={"t0": {"context": {"due": 1}}}, notes={"from": "a test"}
    )


def rewrite(path: Path, table: str, change) -> None:
    """Change a table file behind plumbline's back, metadata kept."""
    file = next(path.glob(f"{table}.*.arrow"))
    with pa.memory_map(str(file)) as source:
        old = ipc.open_file(source).read_all()
    frame = old.to_pandas()
    changed = change(frame)
    frame = frame if changed is None else changed
    new = pa.Table.from_pandas(frame, schema=old.schema, preserve_index=False).replace_schema_metadata(
        old.schema.metadata
    )
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, new.schema) as writer:
        writer.write_table(new)
    file.write_bytes(sink.getvalue().to_pybytes())


def test_read_gives_back_what_was_saved(tmp_path):
    run = recording()
    back = read_run(run.save(tmp_path / "run"), Recording)
    pd.testing.assert_frame_equal(back.trials, run.trials)
    pd.testing.assert_frame_equal(back.steps, run.steps)
    assert (back.digest, back.plan, back.tasks, back.notes) == (run.digest, run.plan, run.tasks, run.notes)


def test_the_same_rows_give_the_same_bytes(tmp_path):
    one, two = recording().save(tmp_path / "one"), recording().save(tmp_path / "two")
    assert {p.name: p.read_bytes() for p in one.iterdir()} == {p.name: p.read_bytes() for p in two.iterdir()}


def test_a_new_version_replaces_the_old_and_leaves_other_files(tmp_path):
    path = recording().save(tmp_path / "run")
    (path / "notes.txt").write_text("mine")
    recording(amount="1.00").save(path)
    assert "1.00" in read_run(path, Recording).steps["arguments"][1]
    assert sorted(p.name.split(".")[0] for p in path.iterdir()) == ["manifest", "notes", "steps", "trials"]


def test_one_changed_argument_names_its_trial(tmp_path):
    path = recording().save(tmp_path / "run")

    def change(frame):
        frame.loc[3, "arguments"] = '{"amount":45000.00}'

    rewrite(path, "steps", change)
    with pytest.raises(DigestError, match=r"trial a/t1/baseline/0/0 .*steps\.\w+\.arrow rows 2 to 3.*Restore"):
        read_run(path, Recording)


def test_a_changed_outcome_and_its_digest_are_noticed(tmp_path):
    path = recording().save(tmp_path / "run")

    def change(frame):
        frame.loc[0, "outcome"] = '{"paid":true}'

    rewrite(path, "trials", change)
    with pytest.raises(DigestError, match="trial a/t0"):
        read_run(path, Recording)


def test_a_removed_trial_is_noticed(tmp_path):
    path = recording().save(tmp_path / "run")
    rewrite(path, "steps", lambda f: f[f["trial_id"] != "a/t2/baseline/0/0"])
    rewrite(path, "trials", lambda f: f.drop(index=2))
    with pytest.raises(DigestError, match="added, removed or edited"):
        read_run(path, Recording)


@pytest.mark.parametrize("key", ["tasks", "plan"])
def test_an_edited_manifest_is_noticed(tmp_path, key):
    path = recording().save(tmp_path / "run")
    manifest = json.loads((path / "manifest.json").read_text())
    if key == "tasks":
        manifest["tasks"]["t0"]["context"]["due"] = 2
    else:
        manifest["plan"]["repetitions"] = 2
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DigestError):
        read_run(path, Recording)


@pytest.mark.parametrize(
    ("harm", "error", "match"),
    [
        (lambda p: (p / "manifest.json").unlink(), NotFoundError, "not a run folder"),
        (lambda p: (p / "manifest.json").write_text("{"), RunError, "cannot be read as JSON"),
        (lambda p: next(p.glob("steps.*")).unlink(), RunError, "not in the folder"),
        (lambda p: next(p.glob("steps.*")).write_bytes(b"ARROW1"), RunError, "not a readable Arrow file"),
        (
            lambda p: _set(p, "schema", "plumbline.run/9"),
            SchemaVersionError,
            "'plumbline.run/9'.*reads 'plumbline.run/1'",
        ),
        (lambda p: _set(p, "digest", None), RunError, "'digest' is missing"),
        (lambda p: _set(p, "files", {"trials": "../x", "steps": "y"}), RunError, "not in the folder"),
    ],
)
def test_a_harmed_folder_is_refused_with_a_sentence(tmp_path, harm, error, match):
    path = recording().save(tmp_path / "run")
    harm(path)
    with pytest.raises(error, match=match):
        read_run(path, Recording)


def _set(path: Path, key: str, value) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    manifest[key] = value
    (path / "manifest.json").write_text(json.dumps(manifest))


def test_no_run_at_all_lists_runs_close_by(tmp_path):
    recording().save(tmp_path / "run")
    with pytest.raises(NotFoundError, match="Runs inside it: run"):
        read_run(tmp_path, Recording)
    with pytest.raises(NotFoundError, match="there is no run"):
        read_run(tmp_path / "none", Recording)


def test_a_failed_write_leaves_the_old_run(tmp_path, monkeypatch):
    path = recording().save(tmp_path / "run")
    real = os.replace

    def full(source, target):
        if str(target).endswith("manifest.json"):
            raise OSError("no space left")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        recording(amount="1.00").save(path)
    monkeypatch.undo()
    assert "4500.00" in read_run(path, Recording).steps["arguments"][1]


KILLED = """
import sys, pandas as pd
sys.path.insert(0, sys.argv[2])
from test_store_child import recording
path = sys.argv[1]
print("ready", flush=True)
for i in range(10_000):
    recording(amount=f"{i % 2}.00").save(path)
"""


def test_killed_at_any_moment_the_folder_holds_a_whole_run(tmp_path):
    """A child saves two versions in turn and is killed; what is read is always one of them, whole."""
    path = recording(amount="0.00").save(tmp_path / "run")
    (tmp_path / "test_store_child.py").write_text(Path(__file__).read_text())
    for pause in (0.02, 0.06, 0.11):
        command = [sys.executable, "-c", KILLED, str(path), str(tmp_path)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"ready\n"
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        found = read_run(path, Recording)
        assert found.steps["arguments"][1] in ('{"amount":0.00}', '{"amount":1.00}')
    recording(amount="7.00").save(path)
    assert len(list(path.iterdir())) == 3, "the next save clears what killed writes left"


text = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
whole = st.none() | st.integers(0, 2**60)
money = st.none() | st.floats(0, 1e12)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(text, text, st.none() | st.integers(0, 2**60), st.none() | st.floats(0, 1e12)), min_size=1, max_size=5
    )
)
def test_any_content_goes_through_a_file(tmp_path, rows):
    frame = pd.DataFrame(rows, columns=["error", "final_output", "tokens_in", "cost_usd"], dtype=object)
    run = Recording(frame.assign(arm="a", task_id=[f"t{i}" for i in range(len(rows))]), run_id="r")
    back = read_run(run.save(tmp_path / "run"), Recording)
    pd.testing.assert_frame_equal(back.trials, run.trials)
    assert [None if pd.isna(v) else v for v in back.trials["tokens_in"]] == [r[2] for r in rows]
    assert [None if pd.isna(v) else v for v in back.trials["error"]] == [r[0] for r in rows]
