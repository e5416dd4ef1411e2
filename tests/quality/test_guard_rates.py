"""How often the deterministic guard is wrong, on 150 rewordings whose labels are true by construction.

The set was written by the developers, who also wrote the guard; no person's judgement beyond theirs is claimed. The
guard was revised after its verdicts on the dev part were seen. Its verdicts on the audit third (five whole requests,
chosen by the hash of their ids) were looked at once, after that, and it was not changed again. Intervals treat
rewordings as independent; those of one request are not quite, so the intervals are somewhat too narrow.
``pytest -s`` prints the tables.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from plumbline.rules import Facts, GuardResult, guard
from plumbline.rules.task_view import stands_in
from plumbline.stats import clopper_pearson

SET = json.loads((Path(__file__).parents[1] / "reference" / "rewrites.json").read_text(encoding="utf-8"))
FAMILIES = SET["families"]
CASES = [(family, rewrite) for family in FAMILIES for rewrite in family["rewrites"]]
LABELS = ("valid", "subtly_invalid", "grossly_invalid")

WRONG = {
    ("dev", "valid"): (15, 40),
    ("dev", "subtly_invalid"): (10, 40),
    ("dev", "grossly_invalid"): (0, 20),
    ("audit", "valid"): (7, 20),
    ("audit", "subtly_invalid"): (6, 20),
    ("audit", "grossly_invalid"): (0, 10),
}
"""Measured: wrong verdicts (rejected if valid, accepted if not) of how many. Whoever changes the guard so that these
numbers change states the new ones, better or worse; the audit third is then no longer an audit."""

UNSEEN = {
    "actor_changed": (2, 2),
    "instruction_dropped": (2, 2),
    "object_swapped": (1, 1),
    "objects_swapped": (1, 1),
    "subject_changed": (1, 1),
    "recipient_changed": (1, 2),
    "default_reversed": (1, 1),
    "person_changed": (1, 1),
    "destination_changed": (1, 1),
    "numbers_swapped": (1, 4),
    "roles_swapped": (1, 3),
    "condition_dropped": (1, 2),
    "scope_changed": (1, 2),
    "prefix_negation": (1, 1),
}
"""Kinds of subtle error that the deterministic guard let pass, of how many there are: who does what to whom, an
instruction or a describing word left out, one object in place of another. They are what a judge or a person is for."""


def verdict(family, rewrite, decide=guard) -> GuardResult:
    return decide(family["original"], rewrite["text"], Facts.from_dict(family["facts"]))


def wrong(family, rewrite, decide=guard) -> bool:
    return verdict(family, rewrite, decide).accepted != (rewrite["label"] == "valid")


def tally(decide=guard) -> dict[tuple[str, str], tuple[int, int]]:
    found = Counter((f["split"], r["label"]) for f, r in CASES if wrong(f, r, decide))
    there = Counter((f["split"], r["label"]) for f, r in CASES)
    return {cell: (found[cell], there[cell]) for cell in there}


def rates(cells, splits):
    """False accept over both kinds of invalid rewordings, and false reject, each with its exact interval."""
    made = {}
    for name, labels in (("false accept", LABELS[1:]), ("false reject", LABELS[:1])):
        chosen = [cells[split, label] for split in splits for label in labels]
        made[name] = clopper_pearson(sum(k for k, _ in chosen), sum(n for _, n in chosen), sidedness="two-sided")
    return made


def test_the_set_is_what_it_says():
    assert len(CASES) == 150
    assert len({family["id"] for family in FAMILIES}) == len({family["kind"] for family in FAMILIES}) == 15
    texts = [rewrite["text"] for _, rewrite in CASES] + [family["original"] for family in FAMILIES]
    assert len(set(texts)) == len(texts)
    for family in FAMILIES:
        assert Counter(r["label"] for r in family["rewrites"]) == dict(zip(LABELS, (4, 4, 2), strict=True))
        assert all(bool(r["wrong"]) == (r["label"] != "valid") for r in family["rewrites"])
        stands_in(Facts.from_dict(family["facts"]), family["original"], family["id"])
    assert "No person's judgement" in SET["about"]


def test_the_audit_third_was_chosen_by_a_hash_and_holds_whole_requests():
    ordered = sorted((f["id"] for f in FAMILIES), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    assert {f["id"] for f in FAMILIES if f["split"] == "audit"} == set(ordered[:5])
    assert {f["split"] for f in FAMILIES} == {"dev", "audit"}


def test_error_rates_of_the_deterministic_guard_are_as_measured():
    cells = tally()
    for splits in (("dev",), ("audit",), ("dev", "audit")):
        for name, estimate in rates(cells, splits).items():
            print(f"{'+'.join(splits):9s} {name}: {estimate}")
    assert cells == WRONG
    audit = rates(cells, ("audit",))
    assert audit["false accept"].high < 0.39
    assert audit["false reject"].high < 0.60
    everything = rates(cells, ("dev", "audit"))
    assert everything["false accept"].high < 0.28
    assert everything["false reject"].high < 0.51


def test_the_audit_third_does_not_contradict_the_development_part():
    """Had the guard been tuned to the cases it was written with, the audit third would come out much worse."""
    cells = tally()
    dev, audit = rates(cells, ("dev",)), rates(cells, ("audit",))
    for name in dev:
        assert dev[name].low <= audit[name].high
        assert audit[name].low <= dev[name].high


def test_no_gross_error_passes():
    caught = [(f["id"], r["wrong"]) for f, r in CASES if r["label"] == "grossly_invalid" and not wrong(f, r)]
    assert len(caught) == 30


def test_which_subtle_errors_are_not_seen_is_known_by_kind():
    there = Counter(r["wrong"] for _, r in CASES if r["label"] == "subtly_invalid")
    missed = Counter(r["wrong"] for f, r in CASES if r["label"] == "subtly_invalid" and wrong(f, r))
    for kind in sorted(there, key=lambda kind: (-missed[kind], kind)):
        print(f"{kind:22s} {missed[kind]} of {there[kind]} not seen")
    assert {kind: (missed[kind], there[kind]) for kind in missed} == UNSEEN


def test_why_valid_rewordings_are_rejected_is_known_by_code():
    codes = Counter(code for f, r in CASES if r["label"] == "valid" for code in set(verdict(f, r).codes))
    for code, count in codes.most_common():
        print(f"{code:22s} rejects {count} of 60 valid rewordings")
    assert {code.partition("_")[0] for code, _ in codes.most_common(3)} <= {"scope", "order", "modality", "action"}


@pytest.mark.parametrize("accepts", [True, False])
def test_a_guard_that_does_not_look_is_told_apart(accepts):
    """The measurement would show it: a guard that accepts everything is wrong on every invalid rewording."""
    blind = guard("Cancel A-17.", "Please cancel A-17." if accepts else "Cancel A-71.")
    found = rates(tally(lambda original, rewrite, facts: blind), ("dev", "audit"))
    assert found["false accept"].value == float(accepts)
    assert found["false reject"].value == float(not accepts)


def test_the_words_of_a_language_matter_beyond_its_facts():
    """A guard that compares facts alone lets far more subtle errors pass; that is what the false rejects pay for."""
    from plumbline.rules import PRESERVED, Perturbation

    facts_only = Perturbation(
        name="facts", function=lambda task, base, draw: "", risk_owner="test", must_preserve=PRESERVED[:5]
    )
    weak = tally(lambda original, rewrite, facts: guard(original, rewrite, facts, perturbation=facts_only))
    passed = {
        name: sum(cells[split, "subtly_invalid"][0] for split in ("dev", "audit"))
        for name, cells in (("facts", weak), ("all", tally()))
    }
    print(f"subtle errors not seen, of 60: {passed['facts']} by facts alone, {passed['all']} with the words")
    assert passed["all"] < passed["facts"] / 2
