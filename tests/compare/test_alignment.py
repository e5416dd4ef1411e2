"""Steps frames aligned: the published script, the refined one, and where trajectories part and meet again."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.compare import ArgumentRules, ToolTraits, align, ignore, read_paths, tool_traits, traits_from_mcp
from tests.compare.oracle import needleman_wunsch

READS = {"fetch": {"read_only": True}, "look": {"read_only": True}, "save": {"idempotent": True}}


def call(name, arguments=None, **more):
    return {"name": name, "arguments": {} if arguments is None else arguments, **more}


def frame(**trials) -> pd.DataFrame:
    """A steps frame; a step is a name, or a call with what else is recorded."""
    rows = []
    for trial, steps in trials.items():
        for position, step in enumerate(steps):
            given = call(step) if isinstance(step, str) else step
            result = given.get("result")
            rows.append(
                {
                    "trial_id": trial,
                    "step": position,
                    "kind": given.get("kind", "tool_call"),
                    "name": given["name"],
                    "arguments": canonical_json(given["arguments"]),
                    "group": given.get("group"),
                    "status": given.get("status", "ok"),
                    "result": None if result is None else canonical_json(result),
                }
            )
    columns = ["trial_id", "step", "kind", "name", "arguments", "group", "status", "result"]
    return pd.DataFrame(rows, columns=columns)


def one(candidate, reference, **options):
    """The alignment of a single pair, and its refined edits as (edit, reference step, candidate step)."""
    found = align(frame(new=candidate), frame(old=reference), **options)
    rows = found.edits[["edit", "reference_step", "candidate_step"]].astype(object).where(lambda x: x.notna(), None)
    return found, [tuple(row) for row in rows.values.tolist()]


def edits(candidate, reference, **options):
    return [row[0] for row in one(candidate, reference, **options)[1]]


def test_the_script_is_the_published_one_with_its_positions():
    found = align(frame(new=["a", "x", "c", "b", "e"]), frame(old=["a", "b", "c", "d", "e"])).script
    assert found["edit"].tolist() == ["match", "substitute", "match", "substitute", "match"]
    front = align(frame(new=["z", "a"]), frame(old=["a", "b"])).script
    got = front[["edit", "at", "severity"]].astype(object).where(front.notna(), None).values.tolist()
    assert got == [["substitute", 0, "high"], ["substitute", 1, "high"]]
    extra = align(frame(new=["z", "a", "b"]), frame(old=["a", "b"])).script
    assert extra[["edit", "at"]].values.tolist() == [["extra", -1], ["match", 0], ["match", 1]]
    assert extra["reference_step"].isna().tolist() == [True, False, False]
    assert extra["name_reference"].isna().tolist() == [True, False, False]
    later = align(frame(new=["a", "z", "b"]), frame(old=["a", "b"])).script
    assert later["at"].tolist() == [0, 0, 1]
    assert later["severity"].dropna().tolist() == ["medium"]


drawn_paths = st.lists(st.sampled_from("abcd"), max_size=7)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(drawn_paths, drawn_paths), min_size=1, max_size=8), st.booleans())
def test_scripts_of_frames_equal_the_table(pairs, shuffled):
    new = {f"n{i}": pair[0] for i, pair in enumerate(pairs)}
    old = {f"o{i}": pair[1] for i, pair in enumerate(pairs)}
    mapping = {f"n{i}": f"o{i}" for i in range(len(pairs))}
    empty = [name for name, path in {**new, **old}.items() if not path]
    left, right = frame(**new), frame(**old)
    if shuffled:
        left, right = left.sample(frac=1, random_state=1), right.iloc[::-1]
    found = align(left, right, pairs=mapping, empty=empty)
    columns = ["edit", "name_reference", "name_candidate", "reference_step", "candidate_step"]
    script, refined = (
        {i: [] for i in range(len(pairs))} | {key: part[columns] for key, part in rows.groupby("pair")}
        for rows in (found.script.astype(object), found.edits.astype(object))
    )
    for i, (candidate, reference) in enumerate(pairs):
        score, expected = needleman_wunsch(candidate, reference)
        assert found.pairs.loc[i, ["score", "same_path"]].tolist() == [score, candidate == reference]
        if not candidate and not reference:
            assert (script[i], refined[i]) == ([], [])
            continue
        assert script[i]["edit"].tolist() == list(expected)
        assert script[i]["name_reference"].dropna().tolist() == reference
        assert script[i]["name_candidate"].dropna().tolist() == candidate
        assert script[i]["candidate_step"].dropna().tolist() == list(range(len(candidate)))
        assert sorted(refined[i]["reference_step"].dropna()) == list(range(len(reference)))
        assert sorted(refined[i]["candidate_step"].dropna()) == list(range(len(candidate)))
        both = refined[i][refined[i]["edit"].isin(["match", "moved"])]
        shared = sum(min(candidate.count(x), reference.count(x)) for x in "abcd")
        assert len(both) == shared  # every call both made is found again, wherever it stands
        assert (both["name_reference"] == both["name_candidate"]).all()


def test_effect_and_control_steps():
    new = [call("plan", kind="decision"), call("think", kind="thought"), "fetch", call("bye", kind="final")]
    old = [call("plan", kind="tool_call"), "fetch"]
    assert edits(new, old) == ["skipped", "match"]
    assert edits(new, old, path="control") == ["substitute", "match"]
    assert read_paths(frame(t=new), path="control").path(0) == [("decision", "plan"), ("tool_call", "fetch")]


def test_a_swap_is_one_move():
    found, rows = one(["b", "a", "c"], ["a", "b", "c"])
    assert found.script["edit"].tolist() == ["substitute", "substitute", "match"]
    assert rows == [("match", 0, 1), ("moved", 1, 0), ("match", 2, 2)]
    assert found.edits["note"].dropna().tolist() == ["now on the other side of a (step 1)"]


def test_a_call_moved_far_is_one_move():
    _, rows = one(["a", "b", "c", "d", "log"], ["log", "a", "b", "c", "d"])
    assert rows == [("moved", 0, 4), ("match", 1, 0), ("match", 2, 1), ("match", 3, 2), ("match", 4, 3)]
    assert edits(["x", "y", "z", "a"], ["a", "b", "c", "d"]) == [
        "extra",
        "moved",
        "substitute",
        "substitute",
        "skipped",
    ]


def test_the_first_of_equal_calls_is_the_expected_one():
    found, rows = one(["pay", "pay", "log"], ["pay", "log"])
    assert found.script["edit"].tolist() == ["extra", "match", "match"]
    assert rows == [("match", 0, 0), ("repeated", None, 1), ("match", 1, 2)]
    assert found.edits["severity"].dropna().tolist() == ["medium"]
    assert found.edits["note"].dropna().tolist() == ["the same call as step 0"]


@pytest.mark.parametrize(
    ("status", "tools", "severity", "said"),
    [
        ("failed", {}, "low", "which failed"),
        ("blocked", {}, "low", "which was blocked"),
        ("no_result", {}, "medium", "which may have happened"),
        ("ok", {"pay": {"idempotent": True}}, "low", "idempotent"),
        ("ok", {"pay": {"read_only": True}}, "low", "only reads"),
        ("no_result", {"pay": {"idempotent": True}}, "low", "idempotent"),
    ],
)
def test_how_grave_a_repetition_is(status, tools, severity, said):
    pay = call("pay", {"n": 1})
    found, rows = one([{**pay, "status": status}, pay, "log"], [pay, "log"], tools=tools)
    assert [row[0] for row in rows] == ["match", "repeated", "match"]
    row = found.edits.iloc[1]
    assert row["severity"] == severity
    assert said in row["note"]


def test_a_repetition_needs_equal_arguments():
    assert edits([call("pay", {"n": 1}), call("pay", {"n": 2})], [call("pay", {"n": 1})]) == ["match", "extra"]
    rules = ArgumentRules({"pay": {"n": ignore()}})
    loose = edits([call("pay", {"n": 1}), call("pay", {"n": 2})], [call("pay", {"n": 1})], rules=rules)
    assert loose == ["match", "repeated"]


def test_arguments_decide_which_of_two_calls_is_meant():
    found, rows = one([call("v", {"id": "name"}), call("v", {"id": "V-1"}), "s"], [call("v", {"id": "V-1"}), "s"])
    assert rows == [("extra", None, 0), ("match", 0, 1), ("match", 1, 2)]
    found, rows = one([call("v", {"id": "V-1"}), call("v", {"id": "name"}), "s"], [call("v", {"id": "V-1"}), "s"])
    assert rows == [("match", 0, 0), ("extra", None, 1), ("match", 1, 2)]
    assert found.differences.empty
    assert found.script_differences["field"].tolist() == ["id"]


S1, S2 = call("save", {"id": 1}), call("save", {"id": 2})
A, B, W = call("fetch", {"id": 1}), call("look", {"id": 2}), call("write", {"id": 3})


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ([B, A], [A, B], ["match", "match"]),
        ([W, A], [A, W], ["match", "moved"]),
        ([A, W], [W, A], ["match", "moved"]),
        ([B, W, A], [A, W, B], ["moved", "match", "moved"]),
        ([call("fetch", {"id": 2}), A], [A, call("fetch", {"id": 2})], ["match", "match"]),
        ([S1, S2], [S2, S1], ["match", "moved"]),
        ([S1, A], [A, S1], ["match", "moved"]),
    ],
)  # fmt: skip
def test_two_reads_may_change_places_and_a_read_and_a_write_may_not(candidate, reference, expected):
    assert edits(candidate, reference, tools=READS) == expected
    unmarked = edits(candidate, reference)
    assert "moved" in unmarked


def test_a_read_that_uses_the_other_ones_result_may_not_change_places():
    first = call("fetch", {"invoice": "INV-7"}, result={"vendor": "V-1044", "invoice": "INV-7"})
    second, other = call("look", {"vendor": "V-1044"}, result={}), call("look", {"invoice": "INV-7"}, result={})
    assert edits([second, first], [first, second], tools=READS) == ["match", "moved"]
    assert edits([other, first], [first, other], tools=READS) == ["match", "match"]
    declared = {**READS, "look": {"read_only": True, "depends_on": []}}
    assert edits([second, first], [first, second], tools=declared) == ["match", "match"]
    needed = {**READS, "look": {"read_only": True, "depends_on": ["fetch"]}}
    assert edits([other, first], [first, other], tools=needed) == ["match", "moved"]


def test_hints_are_advice():
    hints = traits_from_mcp(
        [
            {"name": "fetch", "annotations": {"readOnlyHint": True}},
            {"name": "look", "annotations": {"readOnlyHint": True, "idempotentHint": "yes"}},
            {"name": "bare"},
        ]
    )
    assert hints["bare"] == ToolTraits(source="hint")
    assert hints["look"].idempotent is False
    assert edits([B, A], [A, B], tools=hints) == ["match", "moved"]  # nothing recorded that would bear the hint out
    seen = [{**A, "result": {}}, {**B, "result": {}}]
    found, rows = one(seen[::-1], seen, tools=hints)
    assert [row[0] for row in rows] == ["match", "match"]
    assert "by the server's own hint" in found.edits["note"].dropna().iloc[0]


def group(number, *names):
    return [call(name, {"n": position}, group=number) for position, name in enumerate(names)]


def test_parallel_calls_are_a_set():
    reference = ["plan", *[call(name, {"n": i}) for i, name in enumerate(["m", "d", "v"])], "pay"]
    parallel = group(1, "m", "d", "v")
    for seed in range(6):
        turned = list(parallel)
        random.Random(seed).shuffle(turned)
        assert edits(["plan", *turned, "pay"], reference) == ["match"] * 5
    assert "moved" in edits(["plan", *[{**each, "group": None} for each in parallel[::-1]], "pay"], reference)
    assert "moved" in edits([*parallel, "plan", "pay"], reference)


steps_of_group = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=2, max_size=4)


@settings(deadline=None, max_examples=15)
@given(steps_of_group, st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=5), st.randoms())
def test_permuting_a_parallel_group_changes_nothing(members, reference, shuffler):
    def calls(pairs, number=None):
        return [call(name, {"n": n}, group=number) for name, n in pairs]

    turned = list(members)
    shuffler.shuffle(turned)
    old = ["start", *calls(reference), "end"]

    def said(order):
        found = align(frame(new=["start", *calls(order, 3), "end"]), frame(old=old))
        rows = found.edits[["edit", "at", "reference_step", "name_candidate", "arguments", "differences"]].astype(str)
        return sorted(rows.values.tolist()), found.differences[["field", "value_candidate"]].values.tolist()

    assert said(members) == said(turned)


def test_calls_of_a_group_are_paired_by_their_arguments():
    old = [call("get", {"k": 1, "v": 1}, group=0), call("get", {"k": 2, "v": 2}, group=0)]
    new = [call("get", {"k": 2, "v": 2}, group=5), call("get", {"k": 1, "v": 9}, group=5)]
    found, rows = one(new, old)
    assert rows == [("match", 0, 1), ("match", 1, 0)]
    assert found.differences[["reference_step", "field", "value_candidate"]].values.tolist() == [[0, "v", "9"]]


def test_argument_differences_are_located():
    found = align(
        frame(n0=["a", call("pay", {"amount": 48200})], n1=["a", call("pay", {"amount": 4820})]),
        frame(old=["a", "b", call("pay", {"amount": 4820})]),
    )
    rows = found.differences[["pair", "at", "reference_step", "candidate_step", "tool", "field", "times"]]
    assert rows.values.tolist() == [[0, 2, 2, 1, "pay", "amount", "x10"]]
    got = found.edits.loc[found.edits["name_candidate"] == "pay", ["arguments", "differences"]].values.tolist()
    assert got == [["different", 1], ["equal", 0]]


def test_divergences_say_what_was_expected_and_where_the_paths_meet_again():
    reference = ["fetch", "match", "check", call("pay", {"amount": 4820}), "log"]
    found = align(
        frame(
            clean=reference,
            skipped=["fetch", "check", call("pay", {"amount": 4820}), "log"],
            tenfold=["fetch", "match", "check", call("pay", {"amount": 48200}), "log"],
            lost=["fetch", "wait", "wait"],
        ),
        frame(old=reference),
    )
    assert found.first_divergence(0) is None
    skipped = found.first_divergence(1)
    assert (skipped.expected, skipped.came, skipped.meets, skipped.meets_at) == (("match",), (), (2, 1), "check")
    assert (skipped.candidate_step, skipped.reference_step, skipped.severity) == (None, 1, "high")
    tenfold = found.first_divergence(2)
    assert (tenfold.edits, tenfold.candidate_step, tenfold.meets) == (("arguments",), 3, (4, 4))
    assert tenfold.fields == ("pay.amount: expected 4820, came 48200 (x10); another number",)
    assert "expected pay; came pay" in str(tenfold)
    lost = found.first_divergence(3)
    assert lost.meets is None
    assert "the paths do not meet again" in str(lost)
    assert [each.candidate for each in found.divergences] == ["skipped", "tenfold", "lost"]
    assert "<pre" in found._repr_html_() + skipped._repr_html_()
    assert str(found).startswith("4 pairs of trials, 2 with the same path")


def test_arguments_that_cannot_be_judged_are_no_divergence_and_no_agreement():
    new, old = frame(new=["a"]), frame(old=["a"])
    new["arguments"] = None
    found = align(new, old)
    assert found.edits["arguments"].tolist() == ["not_recorded"]
    assert found.divergences == ()
    bare = align(new.drop(columns=["arguments", "group", "status", "result"]), old)
    assert bare.edits["arguments"].tolist() == ["not_recorded"]


def test_empty_paths_align():
    old = frame(old=["a", "b"], silent=[call("x", kind="message")])
    found = align(
        frame(new=["a"]), old, pairs={"none": "silent", "new": "silent", "gone": "old"}, empty=["none", "gone"]
    )
    assert found.pairs[["score", "skipped", "extra", "same_path"]].values.tolist() == [
        [0, 0, 0, True], [-2, 0, 1, False], [-4, 2, 0, False],
    ]  # fmt: skip
    assert found.edits["edit"].tolist() == ["extra", "skipped", "skipped"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: align(f, frame(x=["a"], y=["a"])), "the reference holds 2 trials"),
        (lambda f: align(f, f, pairs={}), "no pair of trials"),
        (lambda f: align(f, f, pairs={"nwe": "new"}), "no step of trial 'nwe'"),
        (lambda f: align(f, f, pairs={"new": "odl"}), "no step of trial 'odl'"),
        (lambda f: align(f, f, pairs=[("new", "new")]), "pairs is a list"),
        (lambda f: align(f, f, empty="new"), "empty is the text"),
        (lambda f: align(f, f, path="all"), "path is 'all'"),
        (lambda f: align(f.drop(columns="kind"), f), "lacks the columns kind"),
        (lambda f: align(pd.concat([f, f]), f), "stands twice"),
        (lambda f: align(f.assign(trial_id=None), f), "has no trial_id"),
        (lambda f: align(pd.concat([f.assign(run_id="r1"), f.assign(run_id="r2")]), f), "stands in two runs"),
        (lambda f: align(f, f, tools={"a": {"readonly": True}}), "hold readonly"),
        (lambda f: align(f, f, tools={"a": {"read_only": 1}}), "read_only is 1"),
        (lambda f: align(f, f, tools={"a": True}), "allowed are read_only"),
        (lambda f: align(f, f).first_divergence(1), "pair 1 does not exist"),
        (lambda f: read_paths(f, empty=["new"]), "named as empty and has steps"),
        (lambda f: tool_traits({"a": {"read_only": True, "depends_on": "b"}}), "depends_on is 'b'"),
        (lambda f: traits_from_mcp([{"title": "x"}]), "names included"),
    ],
)
def test_bad_input_is_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make(frame(new=["a", "b"]))


@settings(deadline=None, max_examples=10)
@given(drawn_paths.filter(len), drawn_paths.filter(len))
def test_renaming_the_tools_changes_nothing(candidate, reference):
    names = {"a": "zebra", "b": "yak", "c": "xerus", "d": "wolf"}
    tools = {"a": {"read_only": True}, "b": {"read_only": True}}
    plain = one(candidate, reference, tools=tools)[1]
    renamed = one([names[x] for x in candidate], [names[x] for x in reference],
                  tools={names[tool]: marks for tool, marks in tools.items()})[1]  # fmt: skip
    assert plain == renamed
    assert {row[0] for row in one(candidate, candidate)[1]} == {"match"}


def test_a_large_vocabulary_keeps_its_names():
    r = np.random.default_rng(2)
    path = [f"tool{i}" for i in r.permutation(300)]
    assert read_paths(frame(t=path)).path(0) == [("tool_call", name) for name in path]
    assert edits(path, path) == ["match"] * 300


def test_one_verdict_a_pair():
    reference = ["fetch", call("pay", {"n": 1})]
    new = frame(same=reference, other=["fetch", call("pay", {"n": 2})], longer=[*reference, "log"], unknown=reference)
    new.loc[new["trial_id"] == "unknown", "arguments"] = None
    found = align(new, frame(old=reference), empty=["silent"])
    assert found.same_calls.tolist() == [True, False, False, pd.NA, False]
    loose = align(new, frame(old=reference), rules=ArgumentRules({"pay": {"n": ignore()}}))
    assert loose.same_calls.tolist() == [True, True, False, pd.NA]
