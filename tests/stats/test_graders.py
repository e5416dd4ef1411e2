"""Agreement of raters and rates corrected for a grader's errors, against values computed elsewhere."""

from __future__ import annotations

import pytest

from plumbline.base.errors import ParameterError
from plumbline.stats import carried_rate, corrected_rate, grading, prediction_powered, rater_agreement, rating_table

LABELLED = {"right_passed": 55, "right_failed": 2, "wrong_passed": 4, "wrong_failed": 3}


@pytest.mark.parametrize(("table", "observed", "kappa", "ac1", "alpha"), [
    ([[40, 9], [6, 45]], 0.85, 0.6995192307692307, 0.7007481296758106, 0.7007518796992481),
    ([[80, 10], [5, 5]], 0.85, 0.318181818181818, 0.8079999999999999, 0.3177142857142857),
    ([[118, 1], [1, 0]], 0.9833333333333333, -0.008403361344545886, 0.9830532410676458, -0.004201680672272001),
    ([[55, 2], [4, 3]], 0.90625, 0.4498567335243553, 0.8870588235294118, 0.4525862068965518),
])  # fmt: skip
def test_agreement_equals_what_the_packages_of_the_field_compute(table, observed, kappa, ac1, alpha):
    found = rater_agreement(table)
    assert found.observed.value == pytest.approx(observed, rel=1e-12)
    assert (found.kappa, found.ac1, found.alpha) == pytest.approx((kappa, ac1, alpha), rel=1e-9)


def test_where_one_label_prevails_kappa_comes_with_a_warning_and_without_it_does_not():
    told = str(rater_agreement([[118, 1], [1, 0]], labels=["pass", "fail"]))
    assert "99% of the labels are 'pass'" in told
    assert told.index("agree") < told.index("AC1") < told.index("kappa")
    assert rater_agreement([[40, 9], [6, 45]]).caution == ()


def test_three_labels_and_raters_who_give_one_label_only():
    found = rater_agreement([[10, 1, 0], [2, 10, 1], [0, 0, 6]], labels=["a", "b", "c"])
    assert found.kappa == pytest.approx((26 / 30 - (11 * 12 + 13 * 11 + 6 * 7) / 900) / (1 - 317 / 900), rel=1e-12)
    same = rater_agreement([[9, 0], [0, 0]])
    assert (same.kappa, same.alpha, same.ac1) == (None, None, 1.0)


def test_ratings_are_counted_and_impossible_tables_are_refused():
    assert rating_table(["p", "f"], ["p", "p"], labels=["p", "f"])[1].tolist() == [[1, 0], [1, 0]]
    with pytest.raises(ParameterError, match="found 2 and 1 labels"):
        rating_table(["p", "f"], ["p"])
    with pytest.raises(ParameterError, match="label 'x' is none of p, f"):
        rating_table(["p"], ["x"], labels=["p", "f"])
    for odd in ([[1, 2]], [[1]], [[0, 0], [0, 0]], [[1.5, 0], [0, 1]], [[-1, 0], [0, 1]]):
        with pytest.raises(ParameterError, match="agreement table"):
            rater_agreement(odd)


@pytest.mark.parametrize(("passed", "n", "se", "sp", "value", "low", "high"), [
    (60, 64, (48, 50), (36, 40), 0.9738372093023256, 0.8607570607342706, 1),
    (64, 64, (48, 50), (36, 40), 1, 0.9515651251787695, 1),
    (55, 56, (57, 59), (5, 7), 1, 0.881915680648027, 1),
    (300, 320, (190, 200), (85, 100), 0.9843750000000003, 0.9327519555139198, 1),
])  # fmt: skip
def test_a_rate_is_corrected_for_the_graders_errors(passed, n, se, sp, value, low, high):
    found = corrected_rate(passed, n, sensitivity=se, specificity=sp)
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), rel=1e-9)
    assert bool(found.caution) == (passed in (64, 55)), "a raw estimate above 1 is cut off and said"


def test_a_grader_no_better_than_chance_says_nothing():
    assert not corrected_rate(30, 60, sensitivity=(20, 40), specificity=(20, 40)).known
    with pytest.raises(ParameterError, match="needs graded items"):
        corrected_rate(1, 2, sensitivity=(1, 1), specificity=(0, 0))


@pytest.mark.parametrize(("weight", "value", "se"), [
    (0, 0.890625, 0.03901364131921519), (1, 0.90625, 0.040406564190580474),
    (None, 0.898824860724234, 0.03540923238748561),
])  # fmt: skip
def test_prediction_powered_means(weight, value, se):
    found = prediction_powered(**LABELLED, passed=300, n=320, weight=weight)
    assert (found.value, found.se) == pytest.approx((value, se), rel=1e-9)
    assert found.n == 64


def test_errors_of_a_grader_with_abstentions_kept_apart():
    found = grading(right_passed=48, right_failed=2, wrong_passed=4, wrong_failed=36, wrong_abstained=3)
    assert (found.sensitivity.value, found.specificity.value) == (0.96, 0.9)
    assert (found.false_pass.successes, found.false_fail.successes) == (4, 2)
    assert (found.abstained, found.planned) == (3, 93)
    assert "abstained   3 of 93" in str(found)


def test_thirty_variants_of_one_seed_say_no_more_than_the_seed():
    one, many = carried_rate([1], [1]), carried_rate([30], [30])
    assert (one.low, one.high) == (many.low, many.high)
    assert many.caution == ("all pairs descend from one seed: this says little of other seeds",)
    few, same = carried_rate([0, 1, 0], [1, 1, 1]), carried_rate([0, 30, 0], [30, 30, 30])
    assert same.high - same.low >= few.high - few.low


def test_every_source_of_error_widens_and_none_is_carried_by_half():
    counts = ([0, 2, 1, 0, 0, 3], [5] * 6)
    plain = carried_rate(*counts)
    for more in ({"wrong": (3, 60)}, {"found": (95, 100), "cleared": (90, 100)}):
        wider = carried_rate(*counts, **more)
        assert wider.high - wider.low > plain.high - plain.low
    assert plain.value == pytest.approx(6 / 30)
    with pytest.raises(ParameterError, match="together, or neither"):
        carried_rate(*counts, found=(9, 10))
    assert not carried_rate(*counts, found=(3, 6), cleared=(3, 6)).known
    with pytest.raises(ParameterError, match="at least one reviewed pair"):
        carried_rate(*counts, wrong=(0, 0))
