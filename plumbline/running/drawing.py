"""The variants of a study, drawn from a domain's catalog and guarded before any agent sees one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.rules import Judge, Perturbation, VariantSet, compose, make_variants
from plumbline.running.system import System

__all__ = ["chosen_perturbations", "draw_variants"]


def chosen_perturbations(domain: System, names: Sequence[str]) -> dict[str, Perturbation] | None:
    """Return the perturbations of a domain's catalog by name; ``a+b`` is the composition of two.

    Returns
    -------
    dict or None
        None if the domain has no catalog.

    Raises
    ------
    ParameterError
        The catalog has no such perturbation.
    """
    catalog = getattr(domain, "catalog", None)
    return None if catalog is None else {name: _one(domain.name, catalog(), name) for name in names}


def _one(domain: str, catalog: Mapping[str, Perturbation], name: str) -> Perturbation:
    if name in catalog:
        return catalog[name]
    parts = name.split("+")
    if lost := [part for part in parts if part not in catalog]:
        raise ParameterError(
            f"domain {domain!r} has no perturbation {lost}; its catalog has {', '.join(catalog)}, and a+b is both"
        )
    return compose(*(catalog[part] for part in parts), name=name)


def draw_variants(
    domain: System, *, tasks: Sequence[str], perturbations: Sequence[str], variants: int, seed: int,
    judge: Judge | None = None,
) -> tuple[VariantSet, ...] | None:  # fmt: skip
    """Draw and guard the variants of every task under every perturbation.

    Parameters
    ----------
    domain : System
        With a ``catalog`` and a ``view`` of its tasks.
    tasks, perturbations : sequence of str
        Ids of tasks, and names in the catalog; ``a+b`` is both, one after the other.
    variants : int
        How many of each are planned, at least 1.
    seed : int
        Of every draw; a task or a perturbation more changes nothing elsewhere.
    judge : Judge, optional
        Asked about wordings that pass the deterministic checks.

    Returns
    -------
    tuple of VariantSet or None
        None if the domain has no catalog.

    Raises
    ------
    ParameterError
        The catalog has no such perturbation.

    Examples
    --------
    >>> from plumbline.domain import load_domain
    >>> domain = load_domain("procure_to_pay")
    >>> print(*draw_variants(domain, tasks=["INV-7002"], perturbations=["paraphrase"], variants=2, seed=7))
    INV-7002 x paraphrase: 2 of 2 variants; 2 different, 0 rejected, 0 abstained
    """
    chosen = chosen_perturbations(domain, perturbations)
    if chosen is None:
        return None
    view: Any = getattr(domain, "view")  # noqa: B009
    known = {task.id: task for task in domain.tasks}
    return tuple(
        make_variants(view(known[name]), one, variants, seed=seed, study=domain.name, judge=judge)
        for name in tasks
        for one in chosen.values()
    )
