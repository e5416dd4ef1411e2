"""The 2x2 tests of scipy, called the way they must be called.

``barnard_exact`` and ``boschloo_exact`` need the arms as *columns*; given as rows they answer another question without
a word, and ``fisher_exact`` hides the mistake because it is symmetric. These wrappers take arms, so it cannot be made.
"""

from __future__ import annotations

from collections.abc import Sequence

from plumbline.stats._checks import choice, two_arms
from plumbline.stats.estimate import Contrast

__all__ = ["unpaired_test"]

_NAMES = {
    "fisher": "Fisher exact",
    "barnard": "Barnard exact (pooled)",
    "boschloo": "Boschloo exact",
}


def unpaired_test(successes: Sequence[int], n: Sequence[int], *, method: str = "fisher") -> Contrast:
    """Test two arms with a named 2x2 test of scipy, two-sided, to check against other reports.

    Parameters
    ----------
    successes, n : (int, int)
        Successes and runs of the first and the second arm, at least one run each.
    method : {'fisher', 'barnard', 'boschloo'}
        Fisher orders tables by probability, which is not the |difference| order of
        :func:`plumbline.stats.exact_permutation`; the two agree in many tables, not in all.

    Returns
    -------
    Contrast
        Unit ``run``.

    Raises
    ------
    ParameterError
        Not two arms, impossible counts, or an unknown method.

    Examples
    --------
    >>> round(unpaired_test([52, 55], [64, 56], method="fisher").p, 10)
    0.0026793905

    References
    ----------
    Barnard (1947), Biometrika 34, 123. Boschloo (1970), Statistica Neerlandica 24, 1.
    """
    from scipy import stats

    x1, n1, x2, n2 = two_arms(successes, n)
    choice(method, "method", _NAMES)
    columns = [[x1, x2], [n1 - x1, n2 - x2]]
    caution: tuple[str, ...] = ()
    if x1 + x2 in (0, n1 + n2):
        p, caution = 1.0, ("all runs ended alike: no test can tell the arms apart",)
    elif method == "fisher":
        p = float(stats.fisher_exact(columns).pvalue)
    elif method == "barnard":
        p = float(stats.barnard_exact(columns, pooled=True).pvalue)
    else:
        p = float(stats.boschloo_exact(columns).pvalue)
        caution = ("scipy doubles the one-sided Boschloo p",)
    return Contrast(
        p=min(1.0, p), difference=x1 / n1 - x2 / n2, method=_NAMES[method], unit="run", n=n1 + n2, caution=caution
    )
