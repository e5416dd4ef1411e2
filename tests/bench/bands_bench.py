"""How fast bands are applied: the goal is 3,000 fixtures in five seconds of two cores, lexical scoring."""

from __future__ import annotations

import time
from typing import Any

from plumbline.decide.bands import LexicalScorer, apply_bands, example_runs, sample_bands
from tests.bench.race import row


def bench(rounds: int = 5, tiny: bool = False) -> list[dict[str, Any]]:
    """Measure one figure: seconds of one process to judge every field of 3,000 fixtures, the median of the rounds.

    Parameters
    ----------
    rounds : int
        Rounds.
    tiny : bool
        300 fixtures only, to see that it works.

    Returns
    -------
    list of dict
        One row, see ``rules_bench.bench``.
    """
    fixtures = 300 if tiny else 3_000
    baseline, candidate = example_runs(seed=7, fixtures=fixtures)
    bands, seconds = sample_bands(), []
    for _ in range(rounds):
        begun = time.process_time()
        made = apply_bands(bands, baseline=baseline, candidate=candidate, scorer=LexicalScorer())
        seconds.append(time.process_time() - begun)
        if made.fixtures != fixtures:
            raise AssertionError(f"{made.fixtures} of {fixtures} fixtures were judged; nothing was measured")
    what = f"seconds to apply bands of eight fields to {fixtures:,} fixtures, the incumbent's re-runs included"
    return [row("B1", what, sorted(seconds)[len(seconds) // 2], 5, "<=")]
