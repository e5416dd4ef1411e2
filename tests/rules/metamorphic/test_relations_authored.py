"""Relations written as YAML, and seeds chosen from a run."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plumbline as plumb
from plumbline.base.errors import NotFoundError, ParameterError, RelationError
from plumbline.rules.metamorphic import (
    Case,
    PairTest,
    Transformation,
    make_contract,
    read_relations,
    relation_from,
    seeds,
)
from plumbline.traces import Recording

WHOLE = """
relations:
- relation_id: receipt_withdrawn
  version: "2"
  kind: removal
  title: The receipt withdrawn
  expectation: Without a receipt nothing is paid.
  risk_owner: controller
  severity: critical
  role: veto
  status: validated
  transformation: {make: drop_rows, table: receipts, where: {order: $order}}
  changed_fields: [receipts.-]
  preconditions:
  - {fact: $due, is: true}
  preserved_facts:
  - {table: bills, column: total, where: {id: $id}}
  - {prompt_holds: $id}
  invalidations: [some left]
  expects:
  - measure: {of: calls, tool: pay, take: count}
    must: absent
- relation_id: tripled
  version: "1"
  kind: equivariance
  title: Three times
  expectation: Three times as much is paid.
  risk_owner: controller
  transformation:
  - {make: scale, columns: [[bills, total, {id: $id}]], factor: "3"}
  - {use: shout}
  changed_fields: [bills.total, prompt]
  expects:
  - measure: {of: calls, tool: pay, argument: amount, take: sum}
    must: scaled
    with: {by: $factor}
    tolerance: 0.01
"""
TESTS = {"some left": PairTest("a receipt is left", lambda b, f: "" if f.tables["receipts"] else "none is left")}
SHOUT = {"shout": Transformation("shout", "1", lambda c: c.changed(prompt=c.prompt.upper()))}
CASE = Case(
    "B-1", "Pay B-1.", facts={"id": "B-1", "order": "O-1", "due": True},
    tables={
        "bills": [{"id": "B-1", "total": Decimal("10.00")}],
        "receipts": [{"id": "R-1", "order": "O-1"}, {"id": "R-2", "order": "O-2"}],
    },
)  # fmt: skip


def test_relations_are_read_from_yaml(tmp_path):
    file = tmp_path / "relations.yaml"
    file.write_text(WHOLE)
    first, second = read_relations(file, transformations=SHOUT, tests=TESTS)
    assert (first.name, first.kind, first.usable().role) == ("receipt_withdrawn@2", "removal", "veto")
    contract = make_contract(first, CASE)
    assert contract.valid
    assert [f["name"] for f in contract.preserved_facts] == ["bills.total", "$id in the request"]
    assert first.applies(CASE.changed(facts={**CASE.facts, "due": False})) == "$due is True"
    made = make_contract(second, CASE)
    assert made.follow_up(CASE).prompt == "PAY B-1."
    assert made.expects[0]["with"] == {"by": "3"}
    assert made.expects[0]["tolerance"] == "0.01"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: removal", "kind: vanishing", "line 3: relation 'receipt_withdrawn': kind is one of invariance"),
        ('version: "2"', "version: 2", "line 3: relation 'receipt_withdrawn': write the version as text"),
        ("make: drop_rows", "make: lose_rows", "line 3: a transformation makes one of add_row, drop_rows"),
        ("must: absent", "must: vanish", "line 3: an expectation must be one of equal"),
        ("use: shout", "use: whisper", "line 23: no transformation 'whisper'; there are shout"),
        (
            "risk_owner: controller\n  severity",
            "severity",
            r"line 3: relation 'receipt_withdrawn' lacks",
        ),
        ("title: Three times", "titel: Three times", r"line 23: a relation does not know \['titel'\]"),
        ("[some left]", "[all left]", r"line 3: no invalidation test \['all left'\]; there are some left"),
        ("status: validated", "debatable: yes", "line 3: relation 'receipt_withdrawn': debatable is true or false"),
        ("take: count", "take: average", "line 3: a measure of calls takes one of sum"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(tmp_path, old, new, message):
    file = tmp_path / "relations.yaml"
    assert old in WHOLE
    file.write_text(WHOLE.replace(old, new, 1))
    with pytest.raises(RelationError, match=message):
        read_relations(file, transformations=SHOUT, tests=TESTS)


def test_a_file_that_holds_no_relations_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match="there is no relations file"):
        read_relations(tmp_path / "none.yaml")
    file = tmp_path / "r.yaml"
    file.write_text("rules: []\n")
    with pytest.raises(RelationError, match="holds one list, relations:"):
        read_relations(file)
    with pytest.raises(RelationError, match="a relation is a mapping; found 'x'"):
        relation_from("x")


def recorded(families: list[str], arms: list[str]) -> Recording:
    rows = [
        {"arm": arm, "task_id": f"t{n}", "family_id": family, "repetition": r, "perturbation": p}
        for arm in arms for n, family in enumerate(families) for p in ("baseline", "paraphrase") for r in range(2)
    ]  # fmt: skip
    return Recording(pd.DataFrame(rows), run_id="r")


@given(
    st.lists(st.sampled_from("ABCDEF"), min_size=1, max_size=8), st.integers(0, 4), st.integers(0, 4),
    st.integers(0, 3), st.integers(0, 99),
)  # fmt: skip
def test_a_family_is_chosen_once_and_no_quota_is_overrun(families, one, two, protected, seed):
    run = recorded(families, ["a", "b"])
    severe = list(run.trials["trial_id"].iloc[:2])
    found = seeds(run, privacy="synthetic", quotas={"a": one, "b": two}, severe=severe, protected=protected, seed=seed)
    chosen = [each.family_id for each in found]
    assert len(set(chosen)) == len(chosen)
    assert len(found) + sum(found.shortfall.values()) == one + two + protected
    assert len(found) + found.left_out == len(set(families))
    assert {each.purpose for each in found if each.family_id == families[0]} <= {"severe"}
    if protected:
        assert families[0] in chosen


def test_seeds_say_where_they_come_from_and_what_is_short():
    run = recorded(["F", "F", "G"], ["a"])
    severe = ["a/t2/paraphrase/0/1"]
    found = plumb.seeds(
        run, privacy="redacted", quotas={"a": 3}, severe=severe, protected=1, source="incident", surface="chat"
    )
    assert found[0].to_dict() | {"labels": {}} == {
        "seed_id": "G", "task_id": "t2", "family_id": "G", "source": "incident", "origin": found[0].origin, "at": "",
        "surface": "chat", "privacy": "redacted", "purpose": "severe", "locale": "en", "labels": {},
        "transformations": [], "parent": "",
    }  # fmt: skip
    assert found[0].labels["arm"] == "a"
    assert str(found) == "2 seeds of as many families (1 common, 1 severe); 0 families left out; 2 short of a"
    assert found.to_frame()["slice"].tolist() == ["a", "a"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"quotas": {"z": 1}}, r"quotas name the slices \['z'\]; the run has a"),
        ({"quotas": {"a": -1}}, "the quota of 'a' is a whole number of at least 0; found -1"),
        ({"severe": ["nobody"]}, "severe names 1 trials that are not in run 'r', first 'nobody'"),
        ({"by": "colour"}, "by is a column of trials or a function; found 'colour'"),
        ({"purposes": {"a": "fun"}}, "a purpose is one of common"),
        ({"privacy": "unknown"}, "privacy is one of synthetic"),
    ],
)
def test_an_impossible_choice_is_refused(more, message):
    with pytest.raises((ParameterError, RelationError), match=message):
        seeds(recorded(["F"], ["a"]), **{"privacy": "synthetic", **more})
