"""A rate that carries the errors of transformer and grader covers the truth at least as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from plumbline.stats import carried_rate

WRONG, SEES, SPARES = 0.05, 0.95, 0.9


def covered(rate, *, families, variants, seed, times=150):
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(times):
        own = rng.beta(2 * rate, 2 * (1 - rate), families)
        truth = rng.random((families, variants)) < own[:, None]
        said = np.where(truth, rng.random(truth.shape) < SEES, rng.random(truth.shape) >= SPARES)
        said = np.where(rng.random(truth.shape) < WRONG, rng.random(truth.shape) < rng.random(), said)
        found = carried_rate(
            said.sum(1), np.full(families, variants), wrong=(int(rng.binomial(100, WRONG)), 100),
            found=(int(rng.binomial(200, SEES)), 200), cleared=(int(rng.binomial(200, SPARES)), 200),
        )  # fmt: skip
        hits += found.low <= rate <= found.high
    return hits / times


@pytest.mark.parametrize(("rate", "families", "variants"), [(0.02, 40, 5), (0.1, 40, 5), (0.3, 12, 5), (0.6, 40, 2)])
def test_coverage_is_at_least_nominal(rate, families, variants):
    assert covered(rate, families=families, variants=variants, seed=11) >= 0.95
