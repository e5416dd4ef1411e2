"""Where the project's data and studies lie; the installed package holds neither."""

from __future__ import annotations

import os
from pathlib import Path

from plumbline.base.errors import NotFoundError

__all__ = ["data_folder", "project_root", "studies_folder"]

_MARK = 'name = "plumbline-studies"'


def project_root() -> Path | None:
    """Return the checkout the caller stands in, else the one this package was installed from, else None."""
    here = Path.cwd()
    package = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, package):
        file = folder / "pyproject.toml"
        if file.is_file() and _MARK in file.read_text(encoding="utf-8"):
            return folder
    return None


def data_folder(given: str | Path | None = None) -> Path:
    """Return the folder of recorded runs.

    Parameters
    ----------
    given : path, optional
        What the caller asked for. Otherwise the environment variable ``PLUMBLINE_DATA``, otherwise ``data`` of the
        checkout.

    Raises
    ------
    NotFoundError
        There is no such folder.
    """
    return _folder(given, "PLUMBLINE_DATA", "data")


def studies_folder(given: str | Path | None = None) -> Path:
    """Return the folder of studies.

    As given; else ``PLUMBLINE_STUDIES``; else the folder around the study the caller stands in, which is where a
    study's notebook runs; else ``studies`` of the checkout.
    """
    here = Path.cwd()
    if not given and not os.environ.get("PLUMBLINE_STUDIES") and (here / "study.yaml").is_file():
        return here.parent
    return _folder(given, "PLUMBLINE_STUDIES", "studies")


def _folder(given: str | Path | None, variable: str, name: str) -> Path:
    if given:
        found, origin = Path(given), "given"
    elif os.environ.get(variable):
        found, origin = Path(os.environ[variable]), f"from {variable}"
    else:
        root = project_root()
        if root is None:
            raise NotFoundError(
                f"no {name} folder: this is not a checkout of the project. Stand in one, or set {variable} to its "
                f"{name!r} folder; the installed package ships no {name}."
            )
        found, origin = root / name, "of the checkout"
    if not found.is_dir():
        raise NotFoundError(f"the {name} folder {found} ({origin}) does not exist; give an existing one")
    return found.absolute()
