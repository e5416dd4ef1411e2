"""Every reference value about statistics, by id, at its stated tolerance; outputs left out are named with why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.stats import answers_arms, answers_drift, answers_rates
from tests.stats.reference_loop import ENTRIES, OWN, SHARED, agrees, flat, tolerance

ANSWERS = {**answers_rates.ANSWERS, **answers_arms.ANSWERS, **answers_drift.ANSWERS}

LATER = {"grader"}
"""The group that belongs to later work: grader calibration."""

NOT_COMPUTED = {
    ("permutation-", "barnard_p_if_table_transposed_by_mistake"): "what a wrong call gives; tested apart",
    ("published-pairs-", "published_p"): "as printed, an input",
    ("parity-plan-execute-tool-fault-by-task", "faulted_runs_per_task"): "an input of the faulted correlation",
    (
        "coverage-lower-",
        "clopper_pearson_one_sided_lower/at_c",
    ): "every count gives 0.05: rounding decides which is named",
    (
        "coverage-lower-",
        "clopper_pearson_one_sided_lower/at_p",
    ): "every count gives 0.05: rounding decides which is named",
    ("reliabilitybench-counts", "counts"): "inferred from rounding, an input",
    ("reliabilitybench-counts", "rates"): "the inferred counts as shares, an input",
    ("semantic-invariance-counts", "count"): "inferred from rounding, an input",
    ("agentassay-examples", "n_star_actual"): "the entry does not say from which rates",
}


def answer(entry: dict[str, Any]) -> dict[str, Any]:
    start = next(start for start in sorted(ANSWERS, key=len, reverse=True) if entry["id"].startswith(start))
    return ANSWERS[start](entry)


def left_out(id: str, path: str) -> bool:
    return any(id.startswith(start) and (path == name or path.startswith(f"{name}/")) for start, name in NOT_COMPUTED)


@pytest.mark.parametrize("id", sorted(ENTRIES))
def test_entry(id):
    entry = ENTRIES[id]
    found, expected = dict(flat(answer(entry))), dict(flat(entry["outputs"]))
    wanted = {path for path in expected if not left_out(id, path)}
    assert set(found) >= wanted, f"not computed: {sorted(wanted - set(found))}"
    assert set(found) <= set(expected), f"not in the reference: {sorted(set(found) - set(expected))}"
    wrong = {
        path: (found[path], expected[path])
        for path in wanted
        if not agrees(found[path], expected[path], tolerance(id, path))
    }
    assert not wrong


def test_no_entry_is_without_an_answer_and_no_answer_without_an_entry():
    for start in ANSWERS:
        assert any(id.startswith(start) for id in ENTRIES), start
    assert all(any(id.startswith(start) for start in ANSWERS) for id in ENTRIES)


def test_every_exception_is_needed():
    for start, name in NOT_COMPUTED:
        entries = [entry for id, entry in ENTRIES.items() if id.startswith(start)]
        assert entries, start
        for entry in entries:
            assert any(path == name or path.startswith(f"{name}/") for path, _ in flat(entry["outputs"])), (start, name)


def test_own_copy_is_the_shared_one_and_leaves_only_later_groups_out():
    if not SHARED.exists():
        pytest.skip("the shared reference material is not beside this checkout")
    shared = json.loads((SHARED / "published" / "reference-values.json").read_text(encoding="utf-8"))
    theirs = {entry["id"]: entry for entry in shared["entries"]}
    assert {id for id in theirs if id not in ENTRIES} == {id for id, e in theirs.items() if e["group"] in LATER}
    for id, entry in ENTRIES.items():
        assert all(theirs[id][key] == value for key, value in entry.items()), id
        assert entry["computed_with"]
    assert OWN["simulated"]["rows"] == shared["simulated"]["rows"]


def test_the_loop_can_fail():
    """A value off by one part in ten million, a missing output and an unknown one are all noticed."""
    assert not agrees(0.9433759402 * (1 + 1e-7), 0.9433759402, 1e-9)
    assert not agrees(None, 0.5, 1e-9)
    assert not agrees(0.0, None, 1e-9)
    assert not agrees(True, 1.0, 1e-9)
    assert not agrees(1.0, True, 1e-9)
