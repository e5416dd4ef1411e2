"""What a grader that errs says of a rate: its errors, the corrected rate, and labels that it helps to stretch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import confidence_level, count_pair, whole
from plumbline.stats.estimate import Estimate, Result
from plumbline.stats.proportions import clopper_pearson

__all__ = ["Grading", "corrected_rate", "grading", "prediction_powered"]

_CLIPPED = "the corrected rate lies outside [0, 1] and is cut off there: the grader errs more than its record says"


@dataclass(frozen=True, kw_only=True)
class Grading(Result):
    """How a grader did against adjudicated labels.

    Parameters
    ----------
    sensitivity : Estimate
        Share of items that are right which it passes.
    specificity : Estimate
        Share of items that are wrong which it fails.
    false_pass, false_fail : Estimate
        Their complements: wrong items passed, right items failed.
    abstained : int
        Items on which it gave no label; they are in none of the rates, see ``planned``.
    planned : int
        All items.
    """

    sensitivity: Estimate
    specificity: Estimate
    false_pass: Estimate
    false_fail: Estimate
    abstained: int
    planned: int

    def __str__(self) -> str:
        names = ("sensitivity", "specificity", "false_pass", "false_fail")
        lines = [f"{name:12}{getattr(self, name)}" for name in names]
        return "\n".join([*lines, f"abstained   {self.abstained} of {self.planned}"])


def grading(
    *, right_passed: int, right_failed: int, wrong_passed: int, wrong_failed: int, right_abstained: int = 0,
    wrong_abstained: int = 0, confidence: float = 0.95,
) -> Grading:  # fmt: skip
    """Compare a grader with adjudicated labels.

    Parameters
    ----------
    right_passed, right_failed, wrong_passed, wrong_failed : int
        Items by adjudicated label and by what the grader said.
    right_abstained, wrong_abstained : int
        Items on which the grader gave no label.
    confidence : float
        Of the Clopper-Pearson intervals, in (0, 1).

    Returns
    -------
    Grading
        Each rate cannot be told where there is no item of its kind.

    Raises
    ------
    ParameterError
        A count is not a whole number of 0 or more.

    Examples
    --------
    >>> print(grading(right_passed=48, right_failed=2, wrong_passed=4, wrong_failed=36).specificity)
    36/40 = 0.9000 [0.7634, 0.9721] Clopper-Pearson 95% two-sided, suite
    """
    counts = {
        name: whole(value, name)
        for name, value in (
            ("right_passed", right_passed), ("right_failed", right_failed), ("wrong_passed", wrong_passed),
            ("wrong_failed", wrong_failed), ("right_abstained", right_abstained), ("wrong_abstained", wrong_abstained),
        )
    }  # fmt: skip

    def share(k: str, other: str) -> Estimate:
        n = counts[k] + counts[other]
        return clopper_pearson(counts[k], n, confidence=confidence, sidedness="two-sided")

    return Grading(
        sensitivity=share("right_passed", "right_failed"), specificity=share("wrong_failed", "wrong_passed"),
        false_pass=share("wrong_passed", "wrong_failed"), false_fail=share("right_failed", "right_passed"),
        abstained=counts["right_abstained"] + counts["wrong_abstained"], planned=sum(counts.values()),
    )  # fmt: skip


def corrected_rate(
    passed: int, n: int, *, sensitivity: tuple[int, int], specificity: tuple[int, int], confidence: float = 0.95
) -> Estimate:
    """Correct the share of items a grader passed for the errors it makes (Rogan-Gladen, Lang-Reiczigel interval).

    Parameters
    ----------
    passed, n : int
        Items that the grader passed, of those it labelled.
    sensitivity : tuple of int
        Of the right items in the calibration set: how many it passed, of how many.
    specificity : tuple of int
        Of the wrong items in the calibration set: how many it failed, of how many. These limit every claim: with few
        wrong items nothing is known of what the grader lets through.
    confidence : float
        In (0, 1).

    Returns
    -------
    Estimate
        Cannot tell where the grader is no better than chance. The items must not be those of the calibration set.

    Raises
    ------
    ParameterError
        Impossible counts, or a calibration set without right or without wrong items.

    Examples
    --------
    >>> print(corrected_rate(60, 64, sensitivity=(48, 50), specificity=(36, 40)))
    n=64 = 0.9738 [0.8608, 1.0000] Rogan-Gladen with Lang-Reiczigel 95% two-sided, suite

    References
    ----------
    Rogan and Gladen (1978), American Journal of Epidemiology 107, 71; Lang and Reiczigel (2014), Preventive Veterinary
    Medicine 113, 13.
    """
    x, size = count_pair(passed, n)
    level = confidence_level(confidence)
    (se_k, se_n), (sp_k, sp_n) = count_pair(*sensitivity), count_pair(*specificity)
    if not size or not se_n or not sp_n:
        raise ParameterError("correcting a rate needs graded items, and right and wrong items in the calibration set")
    described: dict[str, Any] = {"n": size, "confidence": level, "method": "Rogan-Gladen with Lang-Reiczigel"}
    use = se_k / se_n + sp_k / sp_n - 1
    if use <= 0:
        why = "the grader is no better than chance on its calibration set, so that its labels say nothing of the rate"
        return Estimate(value=None, low=None, high=None, scope="none", caution=(why,), **described)
    raw = (x / size + sp_k / sp_n - 1) / use
    z = NormalDist().inv_cdf((1 + level) / 2)
    p, n_ = (x + z * z / 2) / (size + z * z), size + z * z
    se, sp = (se_k + 1) / (se_n + 2), (sp_k + 1) / (sp_n + 2)
    youden = se + sp - 1
    if youden <= 0:
        why = "the calibration set is too small to show that the grader is better than chance"
        return Estimate(value=None, low=None, high=None, scope="none", caution=(why,), **described)
    rate = (p + sp - 1) / youden
    of_se, of_sp = se * (1 - se) / (se_n + 2), sp * (1 - sp) / (sp_n + 2)
    shift = 2 * z * z * (rate * of_se - (1 - rate) * of_sp)
    half = z * math.sqrt(p * (1 - p) / n_ + rate**2 * of_se + (1 - rate) ** 2 * of_sp) / youden
    low, high = rate + shift - half, rate + shift + half
    cautions = () if 0 <= raw <= 1 else (_CLIPPED,)
    return Estimate(value=_inside(raw), low=_inside(low), high=_inside(high), caution=cautions, **described)


def prediction_powered(
    *, right_passed: int, right_failed: int, wrong_passed: int, wrong_failed: int, passed: int, n: int,
    weight: float | None = None, confidence: float = 0.95,
) -> Estimate:  # fmt: skip
    """Estimate the share of right items from few labelled and many graded ones (prediction-powered mean, PPI++).

    Parameters
    ----------
    right_passed, right_failed, wrong_passed, wrong_failed : int
        Labelled items by label and by what the grader said of them.
    passed, n : int
        Items without label that the grader passed, of how many.
    weight : float, optional
        How much the grader counts, in [0, 1]: 0 is the mean of the labels alone, 1 the plain prediction-powered mean;
        by default the weight with the smallest variance, which is never worse than either in large samples.
    confidence : float
        In (0, 1).

    Returns
    -------
    Estimate
        With its standard error; ``n`` counts the labelled items, and the method names the weight.

    Raises
    ------
    ParameterError
        Impossible counts, no labelled or no graded item, or a weight outside [0, 1].

    Examples
    --------
    >>> labelled = {"right_passed": 55, "right_failed": 2, "wrong_passed": 4, "wrong_failed": 3}
    >>> print(prediction_powered(**labelled, passed=300, n=320))
    n=64 = 0.8988 [0.8294, 0.9682] prediction-powered mean, weight 0.5248 95% two-sided, suite

    References
    ----------
    Angelopoulos and others (2023), Science 382, 669; Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv 2311.01453.
    """
    cells = [
        whole(value, name) for name, value in (
            ("right_passed", right_passed), ("right_failed", right_failed), ("wrong_passed", wrong_passed),
            ("wrong_failed", wrong_failed),
        )
    ]  # fmt: skip
    x, many = count_pair(passed, n)
    few, level = sum(cells), confidence_level(confidence)
    if not few or not many:
        raise ParameterError("a prediction-powered mean needs labelled items and graded ones without label")
    if weight is not None and not (isinstance(weight, int | float) and 0 <= weight <= 1):
        raise ParameterError(f"weight is {weight!r}; give a number from 0 to 1")
    right, seen = (cells[0] + cells[1]) / few, (cells[0] + cells[2]) / few
    pooled = (cells[0] + cells[2] + x) / (few + many)
    spread, common = pooled * (1 - pooled), cells[0] / few - right * seen
    best = 0.0 if spread == 0 else common / ((1 + few / many) * spread)
    used = min(1.0, max(0.0, best)) if weight is None else float(weight)
    value = used * x / many + right - used * seen
    of_few = right * (1 - right) + used**2 * seen * (1 - seen) - 2 * used * common
    se = math.sqrt(used**2 * (x / many) * (1 - x / many) / many + of_few / few)
    z = NormalDist().inv_cdf((1 + level) / 2)
    return Estimate(
        value=_inside(value),
        low=_inside(value - z * se),
        high=_inside(value + z * se),
        n=few,
        confidence=level,
        se=se,
        method=f"prediction-powered mean, weight {used:.4f}",
    )


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))
