"""In which order trials are run: pairs close in time, nothing systematic about who comes first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from plumbline.running.system import TrialKey

__all__ = ["run_order"]


def run_order(keys: Sequence[TrialKey], *, seed: int) -> list[TrialKey]:
    """Return trials in the order in which they are run.

    Trials of one task, variant number and repetition make a block: the base trial and its perturbed counterparts, of
    every arm, follow one another, so that what drifts in a provider or on a machine meets both sides of a comparison.
    Blocks come in a random order, and so do the trials of a block: whatever a budget stop leaves out is no arm, task or
    perturbation in particular. Each place comes from a stream of its own, so an added arm or task moves no other trial
    past another.

    Parameters
    ----------
    keys : sequence of TrialKey
        The trials.
    seed : int
        The study's seed.

    Returns
    -------
    list of TrialKey

    Examples
    --------
    >>> keys = [TrialKey("a", task, p) for task in ("T-1", "T-2") for p in ("baseline", "paraphrase")]
    >>> [f"{k.task_id} {k.perturbation}" for k in run_order(keys, seed=1)]
    ['T-2 paraphrase', 'T-2 baseline', 'T-1 baseline', 'T-1 paraphrase']
    """

    def place(key: TrialKey) -> tuple[str, str]:
        block = f"{key.task_id}/{key.variant}/{key.repetition}"
        return _draw(seed, "block", block), _draw(seed, "trial", key.trial_id)

    return sorted(keys, key=place)


def _draw(seed: int, stream: str, name: str) -> str:
    return hashlib.sha256(f"{seed}/{stream}/{name}".encode()).hexdigest()
