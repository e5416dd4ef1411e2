"""Cases, transformations, contracts and the deterministic oracle, on a domain of three tables."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import RelationError, SchemaError
from plumbline.rules.metamorphic import (
    PAIR_COLUMNS,
    Behaviour,
    Call,
    Case,
    Contract,
    Expect,
    Fact,
    PairTest,
    Precondition,
    Relation,
    Seed,
    Transformation,
    apply_changes,
    difference,
    drop_rows,
    exactly,
    make_contract,
    pairs_frame,
    rename,
    reorder,
    scale,
    set_value,
    together,
    validate_relations,
)

BILLS = [
    {"id": "B-1", "vendor": "V-1", "sum": Decimal("10.00")},
    {"id": "B-2", "vendor": "V-2", "sum": Decimal("5.00")},
]
PAID = {"of": "calls", "tool": "pay", "argument": "amount", "take": "sum"}


def case(**more) -> Case:
    facts = {"bill": {"id": "B-1", "vendor": "V-1"}, "due": True}
    return Case("B-1", "Pay B-1 of V-1.", tables={"bills": BILLS}, tools=("pay", "look"), facts=facts, **more)


def relation(**more) -> Relation:
    known = {
        "transformation": set_value("bills", "sum", Decimal("7.00"), {"id": "$bill.id"}),
        "changed_fields": ("bills.sum",), "risk_owner": "controller",
        "expects": (Expect(PAID, "not_above"),), "expectation": "A smaller bill costs no more.",
        "status": "validated",
    }  # fmt: skip
    return Relation("smaller", "1", "monotonic", "A smaller bill", **{**known, **more})


def paid(name: str, *amounts: str, status: str = "ok") -> Behaviour:
    return Behaviour(name, calls=tuple(Call(n, "pay", {"amount": Decimal(a)}, status) for n, a in enumerate(amounts)))


keys = st.sampled_from(["R-1", "R-2", "R-3", "R-4", "R-5"])
cells = st.one_of(st.integers(-9, 9), st.sampled_from(["a", "b", ""]), st.none(), st.just(Decimal("1.50")))
rows = st.lists(st.tuples(keys, cells, cells), unique_by=lambda r: r[0]).map(
    lambda found: [{"id": k, "x": x, "y": y} for k, x, y in found]
)
cases = st.builds(
    lambda prompt, tools, one, two: Case("t", prompt, tools=tools, tables={"one": one, "two": two}),
    st.sampled_from(["Pay.", "Zahlen.", None]), st.permutations(["a", "b"]).map(tuple), rows, rows,
)  # fmt: skip


@given(cases, cases)
def test_the_difference_makes_one_case_of_the_other(base, follow):
    made = apply_changes(base, difference(base, follow))
    assert made.digest == follow.digest
    assert (difference(base, follow) == ()) == (base.digest == follow.digest)


def test_a_change_is_not_made_where_something_else_stands():
    changes = difference(case(), case().changed(prompt="Hold B-1."))
    with pytest.raises(RelationError, match=r"prompt was 'Pay B-1 of V-1\.', here it is 'Hi'"):
        apply_changes(case().changed(prompt="Hi"), changes)


@given(st.integers(-(10**6), 10**6), st.fractions(min_value="1/8", max_value=8, max_denominator=8))
def test_conversion_is_exact_or_refused(cents, factor):
    amount = Decimal(cents).scaleb(-2)
    try:
        made = exactly(amount, factor)
    except RelationError:
        assert (cents * factor).denominator != 1
    else:
        assert made == Decimal(int(cents * factor)).scaleb(-2)
        assert exactly(made, 1 / factor) == amount


@given(rows)
def test_reordering_keeps_every_row(found):
    base = Case("t", "Pay.", tables={"one": found})
    made = reorder("one")(base).case
    assert sorted(map(str, made.tables["one"])) == sorted(map(str, base.tables["one"]))
    assert {c.field for c in difference(base, made)} <= {"one.order"}


@given(rows, st.sampled_from(["R-1", "R-3", "R-9"]))
def test_dropping_takes_exactly_the_rows_that_fit(found, key):
    base = Case("t", "Pay.", tables={"one": found})
    changes = difference(base, drop_rows("one", {"id": key})(base).case)
    assert [(c.field, c.row) for c in changes] == [("one.-", (r["id"],)) for r in found if r["id"] == key]


def test_a_rename_reaches_the_request_and_every_row_and_nothing_else():
    made = rename({"$bill.vendor": "V-9"})(case())
    assert made.case.prompt == "Pay B-1 of V-9."
    assert [str(c) for c in difference(case(), made.case)] == [
        "prompt: 'Pay B-1 of V-1.' -> 'Pay B-1 of V-9.'",
        "bills.vendor[B-1]: 'V-1' -> 'V-9'",
    ]
    assert made.parameters == {"names": {"V-1": "V-9"}}
    with pytest.raises(RelationError, match="'V-2' is taken; a new name must be new"):
        rename({"V-1": "V-2"})(case())


def test_a_contract_says_everything_and_is_replayed_from_its_document():
    contract = make_contract(
        relation(preserved_facts=(Fact("vendor", lambda c: c.tables["bills"][0]["vendor"]),)), case()
    )
    assert contract.valid
    assert contract.pair_id == "smaller@1:B-1"
    again = Contract.from_dict(contract.to_dict())
    assert again.follow_up(case()).tables["bills"][0]["sum"] == Decimal("7.00")
    with pytest.raises(RelationError, match="the base case has digest"):
        again.follow_up(case().changed(prompt="Another."))
    assert again.judge(paid("a", "10.00"), paid("b", "12.00")).result == "violated"
    assert again.judge(paid("a", "10.00"), paid("b", "7.00")).result == "satisfied"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "vibes"}, "kind: 'vibes' is not one of"),
        ({"changes": []}, "changes: "),
        ({"validity": "invalid"}, "reasons: "),
        ({"extra": 1}, "document: Additional properties"),
        ({"family_id": ""}, "family_id: "),
    ],
)
def test_a_contract_that_does_not_fit_its_schema_is_refused_by_place(change, message):
    values = make_contract(relation(), case()).to_dict() | change
    with pytest.raises(RelationError, match=f"contract 'smaller@1:B-1': {message}"):
        Contract.from_dict(values)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"changed_fields": ("bills.vendor",)}, "bills.sum[B-1]: Decimal('10.00') -> Decimal('7.00') is outside"),
        ({"changed_fields": ("bills.sum", "prompt")}, "prompt was to change and did not"),
        ({"preserved_facts": (Fact("sum", lambda c: c.tables["bills"][0]["sum"]),)}, "fact 'sum' was to stay: 10.00"),
        ({"invalidations": (PairTest("no sevens", lambda b, f: "found 7"),)}, "no sevens: found 7"),
        (
            {"transformation": scale([("bills", "sum", {"id": "B-1"})], "1/3")},
            "10.00 times 1/3 is 10/3, which has no 2",
        ),
        ({"transformation": set_value("bills", "sum", "$nothing", {})}, "no fact '$nothing'; the case has bill, due"),
    ],
)
def test_an_invalid_transformation_is_said_before_any_model_sees_it(more, reason):
    contract = make_contract(relation(**more), case())
    assert contract.validity == "invalid"
    assert reason in contract.reasons[0]


def test_invalid_and_abstained_are_counted_apart_and_a_mostly_invalid_entry_is_named():
    doubt = relation(invalidations=(PairTest("spelling", lambda b, f: "? nobody knows"),))
    broken = Relation(
        "broken", "1", "invariance", "Changes nothing", transformation=Transformation("nothing", "1", lambda c: c),
        changed_fields=("prompt",), expects=(Expect(PAID, "equal"),), expectation="Same.", risk_owner="x",
    )  # fmt: skip
    never = relation(preconditions=(Precondition("it is due", lambda c: False),))
    kept = ("transformation", "changed_fields", "expectation", "risk_owner", "expects", "preconditions")
    other = Relation("never", "1", "monotonic", "Never", **{name: getattr(never, name) for name in kept})
    found = validate_relations([doubt, broken, other], [case()])
    assert [(e.valid, e.invalid, e.abstained, e.not_applicable) for e in found.entries] == [
        (0, 0, 1, 0), (0, 1, 0, 0), (0, 0, 0, 1),
    ]  # fmt: skip
    assert found.mostly_invalid == ("broken@1",)
    assert found.unused == ("never@1",)
    assert "broken@1: 1 planned; 0 valid, 1 invalid, 0 abstained; 0 not applicable  MOSTLY INVALID" in str(found)
    assert list(validate_relations([], [case()]).to_frame().columns) == list(found.to_frame().columns)
    with pytest.raises(RelationError, match="the relation 'smaller' stands twice"):
        validate_relations([doubt, doubt], [case()])
    rates = found.to_frame().set_index("relation")
    assert rates.loc["smaller@1", "abstained_rate"] == 1.0
    assert rates["invalid_rate"].isna().tolist() == [False, False, True]


NAMES = {"names": {"V-1": "V-9"}}
VENDOR = {"of": "calls", "tool": "pay", "argument": "vendor", "take": "last"}
ROLE = {"of": "calls", "tool": "ask", "argument": "role", "take": "last"}
CITED = {"of": "text", "take": "citations"}
NUMBERS = {"of": "text", "take": "numbers"}


def did(**arguments) -> Behaviour:
    return Behaviour("t", calls=(Call(2, "pay" if "vendor" in arguments else "ask", arguments),))


def said(text: str, **outcome) -> Behaviour:
    return Behaviour("t", text=text, text_step=4, outcome=outcome)


@pytest.mark.parametrize(
    ("expect", "base", "follow", "result"),
    [
        (Expect(PAID, "equal"), paid("a", "10.00"), paid("b", "10.0"), "satisfied"),
        (Expect(PAID, "equal"), paid("a", "10.00"), paid("b", "10.01"), "violated"),
        (Expect(PAID, "equal", {}, "0.01"), paid("a", "10.00"), paid("b", "10.01"), "satisfied"),
        (Expect(PAID, "equal"), paid("a", "10.00"), paid("b", "10.00", status="no_result"), "abstained"),
        (Expect(PAID, "equal"), paid("a", "10.00"), paid("b", "10.00", status="failed"), "violated"),
        (Expect(PAID, "scaled", {"by": "3"}), paid("a", "10.00"), paid("b", "30.00"), "satisfied"),
        (Expect(PAID, "scaled", {"by": "1/3"}), paid("a", "10.00"), paid("b", "3.33"), "violated"),
        (Expect(PAID, "absent"), paid("a", "10.00"), paid("b"), "satisfied"),
        (Expect(PAID, "absent"), paid("a", "10.00"), paid("b", "1.00"), "violated"),
        (Expect(PAID, "absent"), paid("a"), paid("b", "1.00"), "abstained"),
        (Expect(VENDOR, "renamed", NAMES), did(vendor="V-1"), did(vendor="V-9"), "satisfied"),
        (Expect(VENDOR, "renamed", NAMES), did(vendor="V-1"), did(vendor="V-1"), "violated"),
        (Expect(ROLE, "not_below", {"order": ["clerk", "cfo"]}), did(role="clerk"), did(role="cfo"), "satisfied"),
        (Expect(ROLE, "not_below", {"order": ["clerk", "cfo"]}), did(role="cfo"), did(role="clerk"), "violated"),
        (Expect(ROLE, "not_below", {"order": ["clerk", "cfo"]}), did(role="cfo"), did(role="boss"), "abstained"),
        (Expect(CITED, "absent", {"value": "S-1"}), said("So [S-1]."), said("So [S-2]."), "satisfied"),
        (Expect(CITED, "absent", {"value": "S-1"}), said("So [S-1]."), said("So [S-1]."), "violated"),
        (Expect(CITED, "within"), said("So [S-1] [S-2]."), said("So [S-3]."), "violated"),
        (Expect(CITED, "covers"), said("So [S-1]."), said("So [S-1] [S-2]."), "satisfied"),
        (Expect(NUMBERS, "equal"), said("12,5 and 1,200.50"), said("1200.5 and 12,5"), "satisfied"),
        (
            Expect(CITED, "absent", {"unless": {"measure": {"of": "outcome", "field": "sure"}, "is": False}}),
            said("So [S-1]."), said("Maybe [S-1].", sure=False), "satisfied",
        ),
    ],
)  # fmt: skip
def test_the_oracle_knows_each_expectation(expect, base, follow, result):
    found = expect.judge(base, follow)
    assert found.result == result, found
    assert (found.reason == "") == (result == "satisfied")


def test_a_violation_names_both_steps():
    found = Expect(PAID, "not_above").judge(paid("a", "10.00"), paid("b", "6.00", "6.00"))
    assert (found.base_step, found.follow_step) == (0, 1)
    assert found.reason == "calls pay amount sum: 12.00 where at most 10.00 is expected"


def test_a_debatable_relation_is_refused_by_name_until_someone_signs():
    open_ = relation(debatable=True)
    with pytest.raises(RelationError, match="'smaller@1' is debatable and nobody has signed it; give signed_by= once"):
        open_.usable()
    assert relation(debatable=True, signed_by="controller, 2026-11-02").usable().trouble() == ""
    assert "is a draft" in relation(status="draft").trouble()
    assert (
        relation(status="retired", status_reason="the tool is gone").trouble().endswith("is retired: the tool is gone")
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"severity": "awful"}, "severity is one of critical, high, medium, low; found 'awful'"),
        ({"risk_owner": ""}, "needs risk_owner"),
        ({"changed_fields": ()}, "must say what its transformation changes"),
        ({"expects": ()}, "has no oracle"),
        ({"status": "retired"}, "status_reason= must say why"),
    ],
)
def test_a_relation_that_is_not_whole_is_refused(more, message):
    with pytest.raises(RelationError, match=message):
        relation(**more)


def test_a_redaction_that_changes_the_premise_makes_a_new_seed_of_the_family():
    seed = Seed("S-1", "B-1", "F", source="incident", labels={"right": True})
    new = seed.redacted("S-1-r", what="the vendor", premise_changed=True)
    assert (new.parent, new.family_id, new.labels, new.privacy) == ("S-1", "F", {}, "redacted")
    same = seed.redacted("S-1", what="a phone number", premise_changed=False)
    assert (same.labels, same.transformations) == ({"right": True}, ("redaction: a phone number",))
    with pytest.raises(
        RelationError, match="a redaction that changes the premise makes a new seed; found the name 'S-1'"
    ):
        seed.redacted("S-1", what="the vendor", premise_changed=True)
    assert Seed.from_dict(new.to_dict()) == new


def test_stages_are_one_transformation_and_their_code_counts():
    both = together(rename({"V-1": "V-9"}), reorder("bills"), name="both")
    assert {c.field for c in difference(case(), both(case()).case)} == {"prompt", "bills.vendor", "bills.order"}
    assert both.digest != together(reorder("bills"), name="both").digest


def test_a_pairs_frame_refuses_what_does_not_fit():
    row = dict.fromkeys(PAIR_COLUMNS, "x") | {
        "kind": "removal", "severity": "critical", "role": "veto", "repetition": 0, "comparison": "relation",
        "result": "violated", "layer": "deterministic", "base_witness": None, "follow_witness": 3, "confirmed": True,
        "source": "design", "purpose": "common", "length": 3,
    }  # fmt: skip
    frame = pairs_frame([row])
    assert (str(frame["follow_witness"].dtype), str(frame["confirmed"].dtype)) == ("Int64", "bool")
    with pytest.raises(SchemaError, match=r"found 'maybe'\. allowed are satisfied, violated"):
        pairs_frame([row | {"result": "maybe"}])
    with pytest.raises(SchemaError, match="a pair stands once per arm"):
        pairs_frame([row, row])
