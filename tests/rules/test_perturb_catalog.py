"""Every entry of the catalog: all its outputs are different, pass the guard, and are what the entry says."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.rules import (
    PRESERVED,
    Facts,
    Layout,
    Perturbation,
    TaskView,
    ToolView,
    Variant,
    baseline,
    compose,
    decoy_tools,
    distractor,
    field_order,
    formats,
    guard,
    paraphrase,
    perturbation,
    read,
    respell,
    sampling,
    schema_order,
    tool_descriptions,
    tool_fault,
    tool_order,
    written_paraphrase,
)
from plumbline.rules.guard_parts import formats_changed
from plumbline.rules.spellings import respellings

SCHEMA = {"type": "object", "properties": {"no": {"type": "string"}, "sum": {"type": "number"}}, "required": ["no"]}
TASK = TaskView(
    id="T",
    prompt='Please pay invoice A-17, {"due": "soon", "lines": [2, 1]}, of 4,500.00 EUR by 2026-07-03; allow 2 hours.',
    facts=Facts(identifiers=("A-17",), amounts=("4,500.00 EUR",)),
    slots={"no": "A-17"},
    tools=(ToolView("pay", "Pay an invoice.", SCHEMA), ToolView("log", "Write to the journal."), ToolView("find")),
    decoys=(ToolView("weather"), ToolView("tides"), ToolView("stars")),
)
REMARKS = ("A choir sings.", "The soup smells of pumpkin.", "It rained through the night.")
TOLD = {"pay": ["This pays an invoice.", "Use it to pay an invoice."], "log": ["Write in the journal."]}
ENTRIES = {
    "baseline": (baseline(), 1),
    "distractor": (distractor(REMARKS), 12),
    "decoy_tools": (decoy_tools(), 7),
    "two decoys": (decoy_tools(most=2), 6),
    "tool_order": (tool_order(), 5),
    "tool_descriptions": (tool_descriptions(TOLD), 5),
    "schema_order": (schema_order(), 1),
    "formats": (formats(), None),
    "field_order": (field_order(), 8),
    "sampling": (sampling([{"temperature": 0.0}, {"temperature": 0.5}], default={"temperature": 1.0}), 2),
    "tool_fault": (tool_fault(["pay", "log"], ["http_503", "http_429"]), 4),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRIES)
def test_all_outputs_are_different_and_pass_the_guard(name):
    entry, size = ENTRIES[name]
    held = entry.size_for(TASK)
    assert size in (None, held)
    made = [entry.apply(TASK, seed=7, candidate=n) for n in range(held)]
    assert len({variant.input_hash for variant in made}) == held
    for variant in made:
        result = guard(Variant(TASK.prompt), variant, task=TASK, perturbation=entry)
        assert result.accepted, (variant, str(result))


@pytest.mark.parametrize("name", [name for name in ENTRIES if name != "baseline"])
def test_no_output_is_the_baseline(name):
    entry, _ = ENTRIES[name]
    plain = baseline().apply(TASK, seed=7).input_hash
    assert all(entry.apply(TASK, seed=7, candidate=n).input_hash != plain for n in range(entry.size_for(TASK)))


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_declares_what_a_reader_must_know(name):
    entry, _ = ENTRIES[name]
    told = entry.to_dict()
    assert told["relation"] == "invariance"
    assert told["must_preserve"] == list(PRESERVED)
    assert told["description"]
    assert told["risk_owner"]
    assert told["material_hash"].startswith("sha256:")


def test_the_record_shows_a_changed_catalog_even_if_nobody_raised_the_version():
    one, other = paraphrase(["Do pay {no}."]), paraphrase(["Now pay {no}."])
    assert one.version == other.version
    assert one.material_hash != other.material_hash


@pytest.mark.parametrize(
    ("entry", "task", "said"),
    [
        (paraphrase(["Pay {vendor}."]), TASK, "slots \\['vendor'\\]"),
        (paraphrase(["Pay {no}."]), TASK.with_prompt(None), "not on record"),
        (decoy_tools(), TaskView(id="T", prompt="x"), "no decoy tools"),
        (tool_order(), TaskView(id="T", prompt="x", tools=(ToolView("a"),)), "fewer than two tools"),
        (schema_order(), TaskView(id="T", prompt="x", tools=(ToolView("a"),)), "two arguments"),
        (tool_fault(["gone"], ["http_503"]), TASK, "no tools \\['gone'\\]"),
        (tool_descriptions({"gone": ["x"]}), TASK, "no tools \\['gone'\\]"),
        (formats(), TaskView(id="T", prompt="Cancel A-17."), "no.* unambiguous spelling"),
        (field_order(), TaskView(id="T", prompt="Cancel A-17."), "neither structured data"),
    ],
)
def test_a_precondition_that_fails_is_said(entry, task, said):
    with pytest.raises(ParameterError, match=said):
        entry.apply(task, seed=7)


@pytest.mark.parametrize(
    "make",
    [
        lambda: paraphrase([]),
        lambda: paraphrase("Pay {no}."),
        lambda: paraphrase(["Pay {no}.", "Pay {no}."]),
        lambda: paraphrase(["Pay the invoice."]),
        lambda: distractor(["One."]),
        lambda: distractor(["One.", " "]),
        lambda: decoy_tools(most=0),
        lambda: tool_fault([], ["http_503"]),
        lambda: tool_fault(["pay"], ["a", "a"]),
        lambda: tool_fault(["pay"], ["a"], times=0),
        lambda: tool_fault(["pay"], ["a"], on_call=True),
        lambda: tool_descriptions({}),
        lambda: tool_descriptions({"pay": []}),
        lambda: field_order([Layout()]),
        lambda: field_order([]),
        lambda: sampling([], default={"temperature": 1.0}),
        lambda: sampling([{"temperature": 1.0}], default={"temperature": 1.0}),
        lambda: sampling([{"temperature": 0.3}, {"temperature": 0.3}], default={"temperature": 1.0}),
        lambda: sampling([{"top_p": 0.3}], default={"temperature": 1.0}),
        lambda: respell("x", amounts="roman"),
        lambda: compose(baseline()),
        lambda: Perturbation(name="a/b", function=print, risk_owner="us"),
        lambda: Perturbation(name="a", function=print, risk_owner=" "),
        lambda: Perturbation(name="a", function=print, risk_owner="us", relation="sameness"),
        lambda: Perturbation(name="a", function=print, risk_owner="us", may_change=("mood",)),
        lambda: Perturbation(name="a", function=print, risk_owner="us", may_change="wording"),
        lambda: Perturbation(name="a", function=print, risk_owner="us", may_change=("wording", "remarks")),
        lambda: Perturbation(name="a", function=print, risk_owner="us", must_preserve=("mood",)),
        lambda: Perturbation(name="a", function=print, risk_owner="us", calls=-1),
    ],
)
def test_impossible_declarations_are_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_a_perturbation_cannot_change_what_it_does_not_declare():
    @perturbation("sneaky", risk_owner="us", size=1)
    def sneaky(task, base, draw):
        """Change more than is said."""
        return {"prompt": base.prompt + " Thanks.", "decoys": ("weather",)}

    assert sneaky.description == "Change more than is said."
    with pytest.raises(ParameterError, match=r"changed \['decoys'\]"):
        sneaky.apply(TASK, seed=7)


def test_a_composition_applies_its_stages_in_order_and_names_them():
    whole = compose(formats(), distractor(REMARKS), decoy_tools(), tool_fault(["pay"], ["http_503"]))
    steps = whole.steps(TASK, seed=7)
    last = steps[-1]
    assert [step.perturbation for step in steps[:-1]] == ["formats", "distractor", "decoy_tools"]
    assert last.perturbation == whole.name == "formats+distractor+decoy_tools+tool_fault"
    assert [parent["perturbation"] for parent in last.parents] == whole.name.split("+")
    assert last.parents[1]["input_hash"] == steps[1].input_hash
    assert last.decoys
    assert last.fault
    assert any(remark in last.prompt for remark in REMARKS)
    assert steps[0].prompt in last.prompt
    assert whole.size_for(TASK) == formats().size_for(TASK) * 12 * 7 * 1


def test_a_composition_of_compositions_is_flat_and_of_two_relations_is_refused():
    a, b, c = decoy_tools(), tool_order(), distractor(REMARKS)
    assert [s.name for s in compose(compose(a, b), c).stages] == ["decoy_tools", "tool_order", "distractor"]
    lower = Perturbation(name="lower", function=lambda t, b, d: "", relation="monotonic", risk_owner="us")
    with pytest.raises(ParameterError, match="stages expect"):
        compose(a, lower)


def test_compositions_do_not_repeat_within_their_joint_size():
    whole = compose(decoy_tools(), distractor(REMARKS))
    made = {whole.apply(TASK, seed=7, candidate=n).input_hash for n in range(84)}
    assert len(made) == whole.size_for(TASK) == 84


def test_tool_order_after_decoys_orders_them_too():
    made = compose(decoy_tools(), tool_order()).apply(TASK, seed=7)
    assert set(made.tool_order) == {"pay", "log", "find", *made.decoys}


def test_a_writer_is_asked_for_one_rewording_with_its_number_and_the_facts():
    asked = []

    class Writer:
        name = "model-w"

        def __call__(self, request):
            asked.append(request)
            return f"  Rewording {request.number}\n"

    entry = written_paraphrase(Writer())
    assert entry.apply(TASK, seed=7, candidate=3).prompt == "Rewording 3"
    assert (entry.writer, entry.calls, entry.size_for(TASK)) == ("model-w", 1, None)
    assert asked[0].prompt == TASK.prompt
    assert asked[0].facts == TASK.facts
    assert "A-17" in asked[0].text


AMOUNTS = st.decimals(min_value=1, max_value=10**9, places=2)


@settings(deadline=None, max_examples=25)
@given(AMOUNTS, st.dates(), st.sampled_from(["EUR", "GBP", "USD", "CHF", ""]))
def test_respelling_converts_exactly_and_changes_nothing_else(amount, day, currency):
    text = f"Pay {amount:,.2f} {currency} for A-17 on {day.isoformat()}, within 3 weeks."
    for other in respellings(text):
        assert not list(formats_changed(text, other, TaskView(id="T", prompt=text)))
        assert {r.key for r in read(other).found} == {r.key for r in read(text).found}


@settings(deadline=None, max_examples=25)
@given(AMOUNTS, st.dates())
def test_what_two_readers_could_read_differently_is_never_written(amount, day):
    for other in respellings(f"Pay {amount:.2f} on {day.isoformat()}."):
        for reading in read(other).found:
            assert "," not in reading.text or reading.text.endswith(f"{amount:.2f}"[-3:]) or reading.kind == "date"
            assert "/" not in reading.text


@pytest.mark.parametrize(
    ("text", "styles", "expected"),
    [
        ("Pay 4,500.00 EUR", {"amounts": "plain"}, "Pay 4500.00 EUR"),
        ("Pay EUR 4500", {"amounts": "grouped"}, "Pay EUR 4,500.00"),
        ("Pay £12.05", {"amounts": "minor"}, "Pay 1205 pence"),
        ("Pay 4,500.00", {"amounts": "minor"}, "Pay 4,500.00"),
        ("Pay $1.2k", {"amounts": "plain"}, "Pay $1.2k"),
        ("Order 20,000 screws", {"amounts": "plain"}, "Order 20000 screws"),
        ("Room 4500", {"amounts": "grouped"}, "Room 4500"),
        ("Due July 3, 2026", {"dates": "iso"}, "Due 2026-07-03"),
        ("Due 3 July", {"dates": "iso"}, "Due 3 July"),
        ("Due 03/07/2026", {"dates": "iso"}, "Due 03/07/2026"),
        ("Wait 1.5 hours", {"units": "smaller"}, "Wait 90 minutes"),
        ("Wait 3 weeks", {"units": "smaller"}, "Wait 21 days"),
        ("Run 1.2345 km", {"units": "smaller"}, "Run 1.2345 km"),
        ("A 2-week notice", {"units": "smaller"}, "A 2-week notice"),
    ],
)
def test_spellings_one_by_one(text, styles, expected):
    assert respell(text, **styles) == expected


def test_a_plain_number_is_an_amount_only_if_the_facts_say_so():
    facts = Facts(amounts=("4500",))
    assert respell("Pay 4500 for room 4600", amounts="grouped", facts=facts) == "Pay 4,500.00 for room 4600"


def test_layouts_reach_tool_results_through_the_variant():
    made = field_order([Layout(order="reversed", spaced=False)]).apply(TASK, seed=7)
    assert '{"lines":[2,1],"due":"soon"}' in made.prompt
    assert made.layout.write({"a": Fraction(1, 2).numerator, "b": [2, 1]}) == '{"b":[2,1],"a":1}'
