"""The rules of certification: which runs each one counts, with which bound, and what it does with the rest."""

from __future__ import annotations

from dataclasses import dataclass

from plumbline.base.errors import ParameterError

__all__ = ["GRADES", "RULES", "CountingRule", "counting_rule", "published_grade"]

GRADES = ((0.95, "A"), (0.85, "B"), (0.70, "C"), (0.50, "D"))
"""Published thresholds; below the last one the grade is F."""


@dataclass(frozen=True)
class CountingRule:
    """How one rule turns the trials of a condition into a bound, and conditions into one figure.

    Parameters
    ----------
    name : str
    method : {'clopper_pearson', 'wilson'}
        Interval of a condition.
    sides : tuple of str
        Sidedness allowed, the default first.
    scopes : tuple of str
        Scopes allowed.
    counts : {'planned', 'completed', 'recorded'}
        The denominator of a condition.
    true_minimum : bool
        Whether the figure is the smallest bound; otherwise it is the bound of the smallest point estimate.
    guards : bool
        Whether exposure below plan blocks a condition, and a condition without runs makes the figure not available.
    missing : str
        What becomes of missing runs, in words.
    says : str
        What the figure is, in words.
    release : str
        The published release that printed figures by this rule; empty for none.
    """

    name: str
    method: str
    sides: tuple[str, ...]
    scopes: tuple[str, ...]
    counts: str
    true_minimum: bool
    guards: bool
    missing: str
    says: str
    release: str = ""


RULES = {
    rule.name: rule
    for rule in (
        CountingRule(
            "planned_minimum", "clopper_pearson", ("lower", "two-sided"), ("suite", "tasks"), "planned", True, True,
            "failures, unless their cause is declared ignorable", "smallest lower bound over planned conditions",
        ),
        CountingRule(
            "completed_minimum", "wilson", ("two-sided",), ("suite",), "completed", True, False,
            "left out", "smallest lower bound over conditions, completed runs only",
        ),
        CountingRule(
            "published", "wilson", ("two-sided",), ("suite",), "completed", False, False,
            "left out", "bound of the smallest point estimate, the first on a tie", "0.3.0",
        ),
        CountingRule(
            "published_fail_all", "wilson", ("two-sided",), ("suite",), "recorded", False, False,
            "failures if on record, otherwise left out", "bound of the smallest point estimate, the first on a tie",
            "0.2.0",
        ),
    )
}  # fmt: skip
"""By name; only ``planned_minimum`` is a certificate, the others stand beside it to be compared."""


def counting_rule(name: str, *, scope: str, sidedness: str | None) -> tuple[CountingRule, str]:
    """Return a rule and the sidedness to use with it.

    Raises
    ------
    ParameterError
        No such rule, or a scope or sidedness the rule was never published or proved for.
    """
    if name not in RULES:
        raise ParameterError(f"rule is {name!r}; choose one of {', '.join(RULES)}")
    rule = RULES[name]
    if scope not in ("suite", "tasks"):
        raise ParameterError(f"scope is {scope!r}; choose 'suite' (these tasks) or 'tasks' (tasks like these)")
    if scope not in rule.scopes:
        raise ParameterError(
            f"rule {name!r} has scope {rule.scopes[0]!r} only; for tasks like these use planned_minimum"
        )
    side = rule.sides[0] if sidedness is None else sidedness
    if side not in rule.sides:
        raise ParameterError(f"sidedness is {side!r}; rule {name!r} takes {' or '.join(map(repr, rule.sides))}")
    return rule, side


def published_grade(bound: float) -> str:
    """Return the letter the published reports print for a bound.

    Examples
    --------
    >>> published_grade(0.9434), published_grade(0.4107)
    ('B', 'F')
    """
    return next((letter for least, letter in GRADES if bound >= least), "F")
