"""A run that is finished: known again by the bytes of its files, so that resuming it costs next to nothing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import NotFoundError
from plumbline.base.schema import STEPS, TRIALS, Column
from plumbline.traces import Plan, Recording, read_run, write_text
from plumbline.traces.frames import arrow_schema, to_frame

__all__ = ["FINISHED_FILE", "finished", "mark_finished"]

FINISHED_FILE = "finished.json"
MANIFEST = "manifest.json"


def mark_finished(folder: Path, seal: str) -> None:
    """Write down what the files of the finished run are, by digest."""
    files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    names = [MANIFEST, *sorted(files.values())]
    write_text(
        folder / FINISHED_FILE,
        canonical_json({"seal": seal, "files": {name: _sha(folder / name) for name in names}}) + "\n",
    )


def finished(folder: Path, seal: str) -> Recording | None:
    """Return the run in a folder if it is the whole of the sealed plan, else None.

    Files that are byte for byte what was written were checked before they were written. Any others are read with every
    check there is, and refused if a row was changed.
    """
    known = _known(folder, seal)
    run = None
    if known:
        run = _trusted(folder)
    else:
        try:
            run = read_run(folder, Recording)
        except NotFoundError:
            return None
    study = run.notes.get("study", {})
    return run if study.get("seal") == seal and study.get("complete") is True else None


def _known(folder: Path, seal: str) -> bool:
    try:
        found = json.loads((folder / FINISHED_FILE).read_text(encoding="utf-8"))
        return found["seal"] == seal and all(_sha(folder / name) == sha for name, sha in found["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _trusted(folder: Path) -> Recording:
    manifest = parse_json((folder / MANIFEST).read_text(encoding="utf-8"))
    fields = {key: manifest[key] for key in ("run_id", "tasks", "domain", "notes", "digest")}
    trials, steps = (
        to_frame(_table(folder / manifest["files"][name], columns), columns)
        for name, columns in (("trials", TRIALS), ("steps", STEPS))
    )
    return Recording._trusted(trials, steps, plan=Plan.from_dict(manifest["plan"]), **fields)


def _table(file: Path, columns: tuple[Column, ...]) -> pa.Table:
    wanted = arrow_schema(columns)
    with pa.memory_map(str(file)) as source:
        return ipc.open_file(source).read_all().select(wanted.names).cast(wanted)


def _sha(file: Path) -> Any:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
