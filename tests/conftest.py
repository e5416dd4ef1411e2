"""What every test needs: a clean home, no network names, the place of the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True, scope="session")
def _clean_home(tmp_path_factory: pytest.TempPathFactory):
    """Keep a person's own Jupyter settings out of the tests, and the tests out of their home."""
    home = tmp_path_factory.mktemp("home")
    names = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "IPYTHONDIR": home / "ipython",
    }
    before = {name: os.environ.get(name) for name in [*names, "PLUMBLINE_DATA", "PLUMBLINE_STUDIES"]}
    os.environ.update({name: str(path) for name, path in names.items()})
    os.environ.pop("PLUMBLINE_DATA", None)
    os.environ.pop("PLUMBLINE_STUDIES", None)
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
