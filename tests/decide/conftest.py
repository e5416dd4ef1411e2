"""The founding runs, read once."""

from __future__ import annotations

from pathlib import Path

import pytest

import plumbline as plumb


@pytest.fixture(scope="session")
def founding(root: Path) -> dict[str, plumb.Run]:
    """The three committed runs by name."""
    return {
        name: plumb.read_run(root / "data" / "procure_to_pay" / name) for name in ("determinism", "parity", "retry")
    }


@pytest.fixture(scope="session")
def domain() -> plumb.Domain:
    """The domain of the founding runs."""
    return plumb.load_domain("procure_to_pay")
