"""Run folders: two Arrow IPC tables and a manifest.

The manifest names the table files and is replaced last, in one step: whoever reads sees the old run or the new one,
never half of either. Table files carry a piece of the digest in their names, so a new version never overwrites an old
one; what a killed write left behind is removed by the next save. Other files in the folder are left alone.
"""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import DigestError, NotFoundError, RunError, SchemaError, SchemaVersionError
from plumbline.base.schema import SCHEMA, STEPS, TRIALS, Column
from plumbline.traces.digest import run_digest, trial_digests
from plumbline.traces.frames import arrow_schema, steps_frame, to_arrow, to_frame, trials_frame
from plumbline.traces.recording import Plan, Recording

__all__ = ["read_run", "write_bytes", "write_run", "write_text"]

MANIFEST = "manifest.json"
_TABLE = re.compile(r"(trials|steps)\.[0-9a-f]{12}\.arrow(\.part)?")
R = TypeVar("R", bound=Recording)


def write_text(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old content or the new one."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder stands where the file should be written", str(path))
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


def write_run(run: Recording, path: Path) -> Path:
    """Write a run folder atomically; the same rows give the same bytes."""
    if path.exists() and not path.is_dir():
        raise RunError(f"{path} is a file; a run is saved as a folder")
    path.mkdir(parents=True, exist_ok=True)
    digests = trial_digests(run.trials, run.steps)
    plan = None if run.plan is None else run.plan.to_dict()
    digest = run_digest(digests, run.tasks, plan)
    tag = digest.removeprefix("sha256:")[:12]
    tables = {
        "trials": to_arrow(run.trials, TRIALS).append_column(
            pa.field("digest", pa.string(), nullable=False), pa.array(digests, pa.string())
        ),
        "steps": to_arrow(run.steps, STEPS),
    }
    files = {}
    for name, table in tables.items():
        files[name] = f"{name}.{tag}.arrow"
        metadata = {"plumbline.digest": digest, "plumbline.run_id": run.run_id, "plumbline.schema": f"{SCHEMA}#{name}"}
        write_bytes(path / files[name], _ipc(table.replace_schema_metadata(metadata)))
    manifest = {
        "schema": SCHEMA,
        "run_id": run.run_id,
        "domain": run.domain,
        "digest": digest,
        "rows": {name: table.num_rows for name, table in tables.items()},
        "files": files,
        "plan": plan,
        "tasks": run.tasks,
        "notes": run.notes,
    }
    write_text(path / MANIFEST, _pretty(manifest))
    for old in path.iterdir():
        if _TABLE.fullmatch(old.name) and old.name not in files.values():
            old.unlink()
    return path


def read_run(path: Path, cls: type[R]) -> R:
    """Read a run folder and verify that its rows are the rows that were saved."""
    manifest = _manifest(path)
    for key, kind in (("run_id", str), ("digest", str), ("files", dict), ("tasks", dict), ("notes", dict)):
        if not isinstance(manifest.get(key), kind):
            raise RunError(f"{path / MANIFEST}: {key!r} is missing or not a {kind.__name__}; restore the file")
    trials, digests = _table(path, manifest, "trials", TRIALS)
    steps, _ = _table(path, manifest, "steps", STEPS)
    plan = None if manifest.get("plan") is None else Plan.from_dict(manifest["plan"])
    _verify(path, manifest, trials, steps, digests)
    fields = {k: manifest.get(k) for k in ("run_id", "tasks", "domain", "notes")}
    return cls._trusted(trials, steps, plan=plan, digest=manifest["digest"], **fields)


def _manifest(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise NotFoundError(f"there is no run at {path}; give the folder that holds {MANIFEST}")
    file = path / MANIFEST
    if not file.is_file():
        held = sorted(p.name for p in path.iterdir()) if path.is_dir() else []
        runs = [n for n in held if (path / n / MANIFEST).is_file()]
        hint = f" Runs inside it: {', '.join(runs)}." if runs else " An interrupted first save leaves no manifest."
        raise NotFoundError(f"{path} is not a run folder: it holds no {MANIFEST}.{hint}")
    try:
        manifest = parse_json(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise RunError(f"{file} cannot be read as JSON ({error}); restore it from its origin") from None
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        found = manifest.get("schema") if isinstance(manifest, dict) else type(manifest).__name__
        raise SchemaVersionError(
            f"{file}: schema {found!r}; this version reads {SCHEMA!r}. Read it with the version that wrote it and save "
            "it again, or upgrade plumbline."
        )
    return manifest


def _table(
    path: Path, manifest: dict[str, Any], name: str, columns: tuple[Column, ...]
) -> tuple[pd.DataFrame, list[str]]:
    file = path / str(manifest["files"].get(name))
    if not _TABLE.fullmatch(file.name) or not file.is_file():
        raise RunError(f"{path / MANIFEST} names {file.name!r} for {name}, which is not in the folder; restore it")
    try:
        with pa.memory_map(str(file)) as source:
            table = ipc.open_file(source).read_all()
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{file} is not a readable Arrow file ({error}); restore it from its origin") from None
    found = (table.schema.metadata or {}).get(b"plumbline.schema", b"none").decode()
    if found != f"{SCHEMA}#{name}":
        raise SchemaVersionError(f"{file}: schema {found!r}; this version reads '{SCHEMA}#{name}'. Upgrade plumbline.")
    digests = table["digest"].to_pylist() if "digest" in table.column_names else []
    wanted = arrow_schema(columns)
    try:
        table = table.select(wanted.names).cast(wanted)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise SchemaError(f"{file}: columns do not fit {SCHEMA} ({error}); restore it from its origin") from None
    return to_frame(table, columns), digests


def _verify(path: Path, manifest: dict[str, Any], trials: pd.DataFrame, steps: pd.DataFrame, saved: list[str]) -> None:
    checked = trials_frame(trials, manifest["run_id"])
    steps_frame(steps, checked)
    found = trial_digests(trials, steps)
    odd = [i for i, (a, b) in enumerate(zip(found, saved, strict=False)) if a != b]
    names = trials["trial_id"]
    if odd:
        row = odd[0]
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        rows = steps.index[steps["trial_id"] == names[row]]
        where = f"{manifest['files']['trials']} row {row}"
        where += f" or {manifest['files']['steps']} rows {rows[0]} to {rows[-1]}" if len(rows) else ""
        raise DigestError(
            f"{path}: the rows of trial {names[row]}{more} are not the rows that were saved ({where}). "
            "Restore the run from its origin, or rebuild it; do not analyse it."
        )
    plan = manifest.get("plan")
    whole = run_digest(found, manifest["tasks"], plan)
    if whole != manifest["digest"] or len(saved) != len(trials):
        raise DigestError(
            f"{path}: digest {whole[:19]}… does not match the manifest's {manifest['digest'][:19]}…, although each "
            f"trial's rows match: trials, tasks or plan were added, removed or edited in {MANIFEST}. Restore the run."
        )


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(sink, table.schema, options=options) as writer:
        if table.num_rows:
            writer.write_batch(table.combine_chunks().to_batches()[0])
    return sink.getvalue().to_pybytes()


def _pretty(manifest: dict[str, Any]) -> str:
    """Return the manifest as JSON a person can read and diff: one line a task and a note, exact numbers."""
    lines = []
    for key in ("schema", "run_id", "domain", "digest", "rows", "files", "plan"):
        lines.append(f"  {json.dumps(key)}: {canonical_json(manifest[key])}")
    for key in ("tasks", "notes"):
        inner = ",\n".join(f"    {json.dumps(k)}: {canonical_json(v)}" for k, v in sorted(manifest[key].items()))
        lines.append(f"  {json.dumps(key)}: " + (f"{{\n{inner}\n  }}" if inner else "{}"))
    return "{\n" + ",\n".join(lines) + "\n}\n"
