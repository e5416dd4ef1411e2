"""A study on disk: its question and plan (study.yaml), its notebook, its pins, the code of its results."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from plumbline.base.errors import InputError, NotFoundError, ParameterError
from plumbline.base.paths import data_folder, studies_folder
from plumbline.run import Run, read_run
from plumbline.study.figures import Figures
from plumbline.study.parameters import Parameter, checked
from plumbline.study.pins import Pin, PinReport, check_pins, read_pins
from plumbline.traces import write_text

__all__ = ["RESULT", "Published", "Study", "list_studies", "load_study"]

RESULT = "application/vnd.plumbline.result+json"

_NEEDED = ("title", "question", "plan", "runs", "would_change_our_mind", "parameters")


@dataclass(frozen=True)
class Published:
    """The result of a study as a notebook displays it: JSON for programs, one line for people."""

    result: Mapping[str, Any]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        line = f"{len(self.result['figures'])} figures of study {self.result['study']!r}"
        return {RESULT: dict(self.result), "text/plain": line}


@dataclass(frozen=True, eq=False)
class Study:
    """One question with its plan, notebook and pinned figures.

    Parameters
    ----------
    folder : Path
        The folder ``studies/<name>``.
    spec : mapping
        The content of ``study.yaml``.
    """

    folder: Path
    spec: Mapping[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the study, the name of its folder."""
        return self.folder.name

    @property
    def title(self) -> str:
        """Title, one line."""
        return str(self.spec["title"])

    @property
    def question(self) -> str:
        """The question in one sentence."""
        return str(self.spec["question"]).strip()

    @property
    def notebook(self) -> Path:
        """The source notebook."""
        return self.folder / f"{self.name}.ipynb"

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters by name, with type, bounds, default and help."""
        return {name: Parameter.from_dict(name, entry) for name, entry in self.spec["parameters"].items()}

    @cached_property
    def pins(self) -> dict[str, Pin]:
        """Pinned figures by id."""
        return read_pins(self.folder / "pins.json")

    @cached_property
    def module(self) -> ModuleType:
        """The study's arithmetic, ``results.py``."""
        return self._load("results")

    @cached_property
    def views(self) -> ModuleType:
        """What the study's notebook shows: ``views.py``, frames and sentences made of figures."""
        return self._load("views")

    def _load(self, name: str) -> ModuleType:
        file = self.folder / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"plumbline_study_{self.name}_{name}", file)
        if spec is None or spec.loader is None or not file.is_file():
            raise NotFoundError(f"study {self.name!r} has no {file.name} in {self.folder}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def check_parameters(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every parameter with its value.

        Raises
        ------
        ParameterError
            One is unknown, of the wrong type, NaN, infinite, out of bounds, or names a folder that does not exist.
        """
        return checked(self.parameters, given, study=self.name)

    def is_default(self, parameters: Mapping[str, Any]) -> bool:
        """Say whether these parameters are those the pins were made with (the place of the data does not matter)."""
        return all(
            parameters[name] == p.default for name, p in self.parameters.items() if p.type not in ("folder", "output")
        )

    def runs(self, parameters: Mapping[str, Any] | None = None) -> dict[str, Run]:
        """Read the recorded runs that ``study.yaml`` names, by name.

        Raises
        ------
        NotFoundError
            The data folder or a run is not there.
        DigestError
            A run is not what was saved.
        """
        values = self.check_parameters(parameters or {})
        folder = data_folder(values.get("data") or None)
        return {name: read_run(folder / place) for name, place in self.spec["runs"].items()}

    def figures(self, parameters: Mapping[str, Any] | None = None) -> Figures:
        """Compute every figure of the study from the recorded runs.

        Returns
        -------
        Figures
            Figure id to value (plain JSON values), with the trials behind each.
        """
        values = self.check_parameters(parameters or {})
        figures: Figures = self.module.figures(values, self.runs(values))
        return figures

    def check(self, figures: Mapping[str, Any]) -> PinReport:
        """Compare figures with their pins; the message of a mismatch says how to walk back to the trials."""
        way_back = f"Walk back: `plumbline study check {self.name} --pin {{id}}` names the trials behind it."
        return check_pins(self.name, self.pins, figures, way_back=way_back)

    def publish(self, figures: Mapping[str, Any], *, path: str | Path = "") -> Any:
        """Return the figures as an object that a notebook cell displays, so that the notebook carries its result.

        Parameters
        ----------
        figures : mapping
            Figure id to value.
        path : path
            Write them to this file as JSON too; empty for none.
        """
        digests = {name.split("/")[1]: value for name, value in figures.items() if name.startswith("digest/")}
        result = {"study": self.name, "figures": dict(figures), "digests": digests}
        if path:
            write_text(Path(path), json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        return Published(result)

    def summary(self, figures: Mapping[str, Any]) -> str:
        """Return the study's answer as plain text."""
        return str(self.views.summary(figures))


def load_study(name: str, *, studies: str | Path | None = None) -> Study:
    """Load a study by name.

    Parameters
    ----------
    name : str
        Name of its folder, such as ``retry``.
    studies : path, optional
        The folder of studies; by default that of the checkout.

    Raises
    ------
    NotFoundError
        There is no such study; the message lists those that exist.
    """
    import yaml

    root = studies_folder(studies)
    folder = root / name
    file = folder / "study.yaml"
    if not file.is_file():
        raise NotFoundError(f"no study {name!r} in {root}; studies: {', '.join(list_studies(studies=root)) or 'none'}")
    try:
        spec = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"{file} is not YAML: {error}") from None
    if not isinstance(spec, dict) or (lacking := [k for k in _NEEDED if k not in spec]):
        raise InputError(f"{file} lacks {lacking if isinstance(spec, dict) else 'everything'}; needed: {_NEEDED}")
    study = Study(folder, spec)
    if not study.notebook.is_file():
        raise NotFoundError(f"study {name!r} has no notebook {study.notebook.name} in {folder}")
    return study


def list_studies(*, studies: str | Path | None = None) -> list[str]:
    """Return the names of the studies that exist."""
    root = studies_folder(studies)
    return sorted(p.parent.name for p in root.glob("*/study.yaml"))


def notebook_parameters(notebook: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters a notebook declares in its cell tagged ``parameters``, as papermill reads them."""
    import papermill

    try:
        return {name: dict(entry) for name, entry in papermill.inspect_notebook(str(notebook)).items()}
    except (json.JSONDecodeError, ValueError) as error:
        raise ParameterError(f"{notebook} cannot be inspected: {error}") from None
