"""Run a study: check what was asked, check the pins, execute the notebook, write the report; all or nothing."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbline.base.errors import InputError, ParameterError, PinError, PlumblineError
from plumbline.base.paths import data_folder
from plumbline.running.describing import digest
from plumbline.study.pins import PinReport
from plumbline.study.spec import RESULT, Study, notebook_parameters
from plumbline.traces import write_bytes, write_text

__all__ = ["StudyRun", "check_study", "run_study"]

KERNEL = "python3"
_PLACE = re.compile(r"(?m)^(data|out\w*) = .*$")


class StudyFailedError(PlumblineError):
    """The notebook of a study stopped with an error of its own."""


@dataclass(frozen=True)
class StudyRun:
    """What a run of a study left: executed notebook, report, results, and how the pins stood."""

    study: str
    notebook: Path
    report: Path
    results: Path
    figures: Mapping[str, Any]
    pins: PinReport | None
    seconds: float


def check_study(study: Study, parameters: Mapping[str, Any] | None = None) -> PinReport:
    """Recompute every figure of a study from its recorded runs and compare it with its pin; no notebook is run.

    Raises
    ------
    ParameterError
        Parameters other than the default ones: pins hold for the published setting only.
    """
    values = study.check_parameters(parameters or {})
    if not study.is_default(values):
        raise ParameterError(f"the pins of {study.name!r} hold for its default parameters; run the study instead")
    return study.check(study.figures(values))


def run_study(
    study: Study,
    parameters: Mapping[str, Any] | None = None,
    *,
    out: str | Path,
    progress: Callable[[str], None] | None = None,
    bar: bool = False,
) -> StudyRun:
    """Run a study's notebook and write its report.

    Parameters
    ----------
    study : Study
        As ``load_study`` returns it.
    parameters : mapping, optional
        Values for its parameters.
    out : path
        Folder for ``<name>.ipynb``, ``<name>.html`` and ``<name>.json``; files there are replaced only at the end.
    progress : callable, optional
        Called with one line a stage.
    bar : bool
        Show papermill's progress bar.

    Raises
    ------
    ParameterError, NotFoundError
        A parameter is unknown or impossible; no kernel was started.
    PinError
        A figure of the notebook differs from its pin.
    StudyFailedError
        A cell failed; the notebook with its traceback is kept beside the others as ``<name>.failed.ipynb``.
    """
    tell = progress or (lambda line: None)
    started = time.monotonic()
    values = study.check_parameters(parameters or {})
    values["data"] = str(data_folder(values.get("data") or None).resolve())  # the notebook runs in another folder
    declared = set(notebook_parameters(study.notebook))
    if declared != set(values):
        found = f"{study.notebook.name} declares {sorted(declared)}, study.yaml {sorted(values)}"
        raise InputError(f"{found}; make them agree")
    folder = Path(out).absolute()  # papermill changes the working directory while it runs
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumbline-") as scratch:
        tell("running the notebook")
        made = Path(scratch) / f"{study.name}.ipynb"
        _execute(study, values, made, folder, bar)
        tell("writing the report")
        _tidy(made)
        from plumbline.show.report import export_report

        results = _results(made)
        pins = study.check(results["figures"]).require() if study.is_default(values) else None
        page = Path(scratch) / f"{study.name}.html"
        export_report(made, page, provenance=_provenance(study, results, pins), title=study.title)
        text = json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(folder / f"{study.name}.json", text)
        write_bytes(folder / f"{study.name}.ipynb", made.read_bytes())
        write_bytes(folder / f"{study.name}.html", page.read_bytes())
    notebook, report, written = (folder / f"{study.name}.{ending}" for ending in ("ipynb", "html", "json"))
    return StudyRun(study.name, notebook, report, written, results["figures"], pins, time.monotonic() - started)


def _execute(study: Study, values: dict[str, Any], made: Path, folder: Path, bar: bool) -> None:
    import papermill

    try:
        papermill.execute_notebook(
            str(study.notebook), str(made), values, kernel_name=KERNEL, progress_bar=bar, store_widget_state=False,
            cwd=str(study.folder.resolve()), log_output=False, extra_arguments=["--log-level=40"],
        )  # fmt: skip
    except papermill.PapermillExecutionError as error:
        kept = folder / f"{study.name}.failed.ipynb"
        shutil.copyfile(made, kept)
        message = f"cell {error.exec_count} of {study.notebook.name} stopped with {error.ename}: {error.evalue}"
        kind = PinError if error.ename == "PinError" else StudyFailedError
        raise kind(f"{message}\nThe notebook with its traceback: {kept}") from None


def _tidy(made: Path) -> None:
    """Take out of an executed notebook what differs between two equal runs: times, random ids, places."""
    import nbformat

    notebook = nbformat.read(made, as_version=4)
    notebook.metadata.pop("papermill", None)
    notebook.metadata.pop("widgets", None)
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = f"injected-{number}"
            cell["source"] = re.sub(
                r"(?m)^(data|out\w*) = .*$", r'\1 = "…"  # a folder of this machine', cell["source"]
            )
    nbformat.write(notebook, made)


def _results(made: Path) -> dict[str, Any]:
    """Return the figures that the notebook itself displayed, so that the notebook alone carries its result."""
    import nbformat

    for cell in nbformat.read(made, as_version=4).cells:
        for output in cell.get("outputs", []):
            if RESULT in output.get("data", {}):
                return dict(output["data"][RESULT])
    raise InputError(f"{made.name} displays no result; its last cell must be study.publish(figures)")


def _provenance(study: Study, results: Mapping[str, Any], pins: PinReport | None) -> dict[str, Any]:
    from importlib.metadata import version

    from plumbline._version import __version__

    checked: Any = "not checked: other parameters than the pinned ones"
    if pins is not None:
        checked = {"checked": len(pins.held), "of": len(study.pins)}
    versions = {"plumbline": __version__} | {name: version(name) for name in ("pandas", "scipy", "pyarrow")}
    return {
        "study": study.name, "question": study.question, "runs": dict(results.get("digests", {})), "pins": checked,
        "versions": versions, "plan": digest(dict(study.spec["plan"])),
    }  # fmt: skip
