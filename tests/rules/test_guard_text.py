"""Each deterministic check finds the fault it is for, and leaves the clean rewording of the same request alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.rules import CODES, PRESERVED, Facts, Finding, compare_texts, guard
from plumbline.rules.lexicon import ACTIONS, BEFORE_A_NUMBER, CLASSES

ORIGINAL = (
    "Please book room B-12 for Dana Reyes on 3 July 2026 at 14:30 for 2 hours, unless it is taken. You must pay at "
    'most 45.00 EUR, only by card, and you may not cancel the first booking before I have answered; say "done" at the '
    "end."
)
CLEAN = (
    "Could you book room B-12 for Dana Reyes on 2026-07-03 at 2:30 pm for two hours unless it's taken? You must pay no "
    "more than EUR 45, only by card, and may not cancel the first booking before I have answered. At the end, say "
    '"done".'
)

PLANTED = [
    ("B-12", "B-21", {"lost_identifier", "new_identifier"}),
    ("Dana Reyes", "Dana Ruiz", {"lost_name", "new_name"}),
    ("2026-07-03", "2026-07-04", {"lost_date", "new_date"}),
    ("2:30 pm", "3:30 pm", {"lost_time", "new_time"}),
    ("two hours", "three hours", {"lost_amount", "new_amount"}),
    ("two hours", "two days", {"lost_amount", "new_amount"}),
    ("EUR 45", "USD 45", {"lost_amount", "new_amount"}),
    ("first booking", "second booking", {"lost_ordinal", "new_ordinal"}),
    ('"done"', '"gone"', {"lost_quote", "new_quote"}),
    ("may not cancel", "may cancel", {"negation_changed"}),
    ("must pay", "should pay", {"modality_changed"}),
    ("Could you book", "Could you immediately book", {"urgency_changed"}),
    ("only by card", "by card", {"scope_changed"}),
    ("no more than", "more than", {"scope_changed"}),
    ("unless it's", "if it's", {"order_changed"}),
    ("before I", "after I", {"order_changed"}),
    ("pay no more", "refund no more", {"action_changed"}),
    ("At the end", "At the\u200b end", {"hidden_text"}),
    ("At the end", "At th\u0435 end", {"hidden_text"}),
    ("Could you", "Sure! Could you", {"meta_text"}),
    ("At the end", "In the Berlin office at the end", {"new_name"}),
]


def test_the_clean_rewording_passes():
    assert [str(f) for f in compare_texts(ORIGINAL, CLEAN)] == []


@pytest.mark.parametrize(("old", "new", "codes"), PLANTED, ids=[f"{new}" for _, new, _ in PLANTED])
def test_each_planted_fault_is_found_and_named(old, new, codes):
    assert old in CLEAN
    found = compare_texts(ORIGINAL, CLEAN.replace(old, new, 1))
    assert {f.code for f in found} == codes, [str(f) for f in found]


@pytest.mark.parametrize(
    ("original", "rewrite", "code"),
    [
        ("Cancel A-17 today.", "  ", "empty"),
        ("Cancel A-17 today.", "Cancel  A-17 today.", "unchanged"),
        ("Cancel the order A-17 today.", "Cancel order A-17 today. " + "We enjoyed the view. " * 8, "length"),
        ("Summarise the annual sales report.", "Birds fly south in winter.", "unrelated"),
        ("Ship 2 chairs and 5 tables.", "Ship 5 chairs and 2 tables.", "quantity_moved"),
        ("Pay 20 EUR, keep a reserve of 50 EUR.", "Pay 50 EUR, keep a reserve of 20 EUR.", "quantity_moved"),
        ("Move it from A-1 to B-2.", "Move it from B-2 to A-1.", "roles_swapped"),
        ("Shift the shift from Monday to Friday.", "Shift the shift to Monday from Friday.", "roles_swapped"),
        ("Do not merge it; ask for a review.", "Merge it; do not ask for a review.", "negation_moved"),
        ("Say where they agree.", "Say where they disagree.", "negation_changed"),
        ("Send it every week.", "Send it every month.", "new_amount"),
    ],
)  # fmt: skip
def test_faults_of_form_and_of_roles_are_found(original, rewrite, code):
    assert code in {f.code for f in compare_texts(original, rewrite)}


@pytest.mark.parametrize(
    ("original", "rewrite"),
    [
        ("Ship 2 chairs and 5 tables.", "Ship 5 tables and 2 chairs."),
        ("Move it from A-1 to B-2.", "Move it to B-2 from A-1."),
        ("Do not merge it; ask for a review.", "Ask for a review and don't merge it."),
        ("Can you cancel order A-17?", "Please cancel order A-17."),
        ("Pay all invoices over 500 EUR.", "Pay every invoice above EUR 500.00."),
        ("It must be done; no more than 3 tries.", "It has to be done with at most three tries."),
    ],
)
def test_their_clean_twins_pass(original, rewrite):
    assert [str(f) for f in compare_texts(original, rewrite)] == []


def test_listed_facts_are_kept_even_if_nothing_reads_them():
    facts = Facts(names=("acme",), identifiers=("alpha beta",))
    assert compare_texts("tell acme of alpha  beta", "let acme know of alpha beta", facts=facts) == []
    codes = {f.code for f in compare_texts("tell acme of alpha beta", "let acmes know of it", facts=facts)}
    assert codes == {"lost_name", "lost_identifier"}


def test_a_listed_amount_may_be_spelled_anew_and_a_name_may_not():
    facts = Facts(amounts=("4,500.00",), names=("Ashfield Logistics",))
    original = "Pay Ashfield Logistics 4,500.00 today"
    assert compare_texts(original, "Please pay 4500 to Ashfield Logistics today", facts=facts) == []
    found = compare_texts(original, "Please pay Logistics Ashfield 4500 today", facts=facts)
    assert [f.code for f in found] == ["lost_name"]


@pytest.mark.parametrize("left_out", PRESERVED)
def test_what_is_not_to_be_preserved_is_not_checked(left_out):
    """Room for relations other than invariance: a lower limit is to change the amount, and nothing else."""
    kept = tuple(word for word in PRESERVED if word != left_out)
    for old, new, codes in PLANTED[:17]:
        found = {f.code for f in compare_texts(ORIGINAL, CLEAN.replace(old, new, 1), preserve=kept)}
        assert found == codes or not found & codes


@settings(deadline=None, max_examples=30)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(first, second):
    for finding in compare_texts(first, second):
        assert finding.code in CODES
        assert finding.found


def test_no_word_of_any_class_can_be_added_unseen():
    phrases = sorted({phrase for _, phrases in CLASSES.values() for phrase in phrases.split("|")})
    original = "The clerk files form B-12 with the desk."
    unseen = [p for p in phrases if guard(original, f"The clerk {p} files form B-12 with the desk.").accepted]
    assert unseen == []
    limits = [p for p in BEFORE_A_NUMBER if guard("Pay 5 EUR now.", f"Pay {p} 5 EUR now.").accepted]
    assert limits == []


def test_no_word_of_action_can_be_added_unseen():
    original = "The clerk files form B-12 with the desk."
    forms = sorted({form for forms in ACTIONS.values() for form in forms.split()})
    assert [f for f in forms if guard(original, f"{original} Also {f} it.").codes != ("action_changed",)] == []


def test_a_finding_has_a_known_code():
    with pytest.raises(ParameterError, match="no guard code"):
        Finding("odd", "nothing")
