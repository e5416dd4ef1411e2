"""Several p-values at once: families declared before the runs, adjusted by the library.

A gate in which every critical rule must pass needs no correction. "Some rule or condition got worse" does: Holm within
a family of critical rules, Benjamini-Hochberg for exploratory lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plumbline.base.errors import ParameterError
from plumbline.stats._checks import choice, probability
from plumbline.stats.estimate import Result

__all__ = ["Adjusted", "Family", "adjust"]

_METHODS = {
    "holm": "holm",
    "benjamini_hochberg": "fdr_bh",
    "benjamini_yekutieli": "fdr_by",
    "bonferroni": "bonferroni",
    "hommel": "hommel",
}
_KINDS = {"critical": "holm", "exploratory": "benjamini_hochberg"}


@dataclass(frozen=True, kw_only=True)
class Family(Result):
    """Hypotheses that are judged together, declared before the runs.

    Parameters
    ----------
    name : str
        What the family is about.
    members : tuple of str
        Every hypothesis, whether or not it will turn out interesting; no name twice.
    kind : {'critical', 'exploratory'}
        Critical families control any false alarm (Holm), exploratory ones the share of false alarms (BH).

    Examples
    --------
    >>> Family(name="critical rules", members=("paid once", "approved")).method
    'holm'
    """

    name: str
    members: tuple[str, ...]
    kind: str = "critical"

    def __post_init__(self) -> None:
        choice(self.kind, "kind", _KINDS)
        if not self.members or len(set(self.members)) != len(self.members):
            raise ParameterError(f"family {self.name!r} needs members, each once; found {list(self.members)}")

    @property
    def method(self) -> str:
        """The correction this kind of family gets."""
        return _KINDS[self.kind]


@dataclass(frozen=True, kw_only=True)
class Adjusted(Result):
    """Adjusted p-values of a family; hypotheses that could never be rejected are dropped beforehand, by name."""

    family: str
    method: str
    alpha: float
    p: dict[str, float]
    adjusted: dict[str, float]
    rejected: tuple[str, ...]
    dropped: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = [f"  {name}: p {self.p[name]:.4g}, adjusted {value:.4g}" for name, value in self.adjusted.items()]
        rows += [f"  {name}: dropped, cannot reach {self.alpha:g}" for name in self.dropped]
        return "\n".join([f"{self.family} ({self.method}, alpha {self.alpha:g}): {len(self.rejected)} rejected", *rows])


def adjust(
    p: Mapping[str, float],
    *,
    family: Family,
    alpha: float = 0.05,
    method: str | None = None,
    smallest_attainable: Mapping[str, float] | None = None,
) -> Adjusted:
    """Adjust the p-values of one declared family.

    Parameters
    ----------
    p : mapping of str to float
        One p-value in [0, 1] for every member of the family and for nothing else.
    family : Family
        Declared before the runs.
    alpha : float
        Level, in (0, 1).
    method : {'holm', 'benjamini_hochberg', 'benjamini_yekutieli', 'bonferroni', 'hommel'}, optional
        By default what the kind of family calls for.
    smallest_attainable : mapping of str to float, optional
        The smallest p each test could give. Members above alpha can never be rejected and are dropped, which makes the
        correction of the others less severe (Tarone).

    Returns
    -------
    Adjusted
        Adjusted p-values in the family's order.

    Raises
    ------
    ParameterError
        A member without a p-value, a p-value without a member, or a value outside [0, 1].

    Examples
    --------
    >>> family = Family(name="contrasts", members=("a", "b", "c"))
    >>> [round(x, 4) for x in adjust({"a": 0.0029, "b": 0.0005, "c": 0.462}, family=family).adjusted.values()]
    [0.0058, 0.0015, 0.462]

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65. Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57, 289.
    Tarone (1990), Biometrics 46, 515.
    """
    missing = [name for name in family.members if name not in p]
    extra = [name for name in p if name not in family.members]
    if missing or extra:
        raise ParameterError(
            f"family {family.name!r} was declared as {', '.join(family.members)}; "
            f"without a p-value: {', '.join(missing) or 'none'}; not declared: {', '.join(extra) or 'none'}"
        )
    level = probability(alpha, "alpha")
    how = choice(family.method if method is None else method, "method", _METHODS)
    values = {name: probability(p[name], f"p of {name!r}", closed=True) for name in family.members}
    floor = smallest_attainable or {}
    dropped = tuple(
        name
        for name in family.members
        if name in floor and probability(floor[name], f"smallest_attainable of {name!r}", closed=True) > level
    )
    kept = {name: value for name, value in values.items() if name not in dropped}
    adjusted: dict[str, float] = {}
    if kept:
        from statsmodels.stats.multitest import multipletests

        corrected = multipletests(list(kept.values()), alpha=level, method=_METHODS[how])[1]
        adjusted = {name: float(value) for name, value in zip(kept, corrected, strict=True)}
    return Adjusted(
        family=family.name,
        method=how,
        alpha=level,
        p=values,
        adjusted=adjusted,
        rejected=tuple(name for name, value in adjusted.items() if value <= level),
        dropped=dropped,
    )
