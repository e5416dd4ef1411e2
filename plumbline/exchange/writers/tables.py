"""A run as plain tables for other programs: CSV or Parquet. The run folder itself stays the record."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.base.schema import STEPS, TRIALS
from plumbline.traces import Recording, write_bytes
from plumbline.traces.frames import to_arrow

__all__ = ["TABLE_FORMATS", "write_tables"]

TABLE_FORMATS = ("csv", "parquet")


def write_tables(recording: Recording, folder: str | Path, *, format: str = "parquet") -> tuple[Path, ...]:
    """Write trials and steps as two files.

    Parameters
    ----------
    recording : Recording
        The run.
    folder : path
        Made if it is not there; files of the same name are replaced, each at once.
    format : str
        ``csv`` (UTF-8, RFC 4180, null as an empty field, so that null and empty text cannot be told apart) or
        ``parquet`` (nothing is lost). Arguments and results stay canonical JSON text in both.

    Returns
    -------
    tuple of Path
        ``trials`` and ``steps``.

    Raises
    ------
    ParameterError
        Another format.
    """
    if format not in TABLE_FORMATS:
        raise ParameterError(f"tables are written as {' or '.join(TABLE_FORMATS)}; found {format!r}")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, frame, columns in (("trials", recording.trials, TRIALS), ("steps", recording.steps, STEPS)):
        file = target / f"{name}.{format}"
        if format == "csv":
            write_bytes(file, frame.to_csv(index=False, lineterminator="\r\n").encode())
        else:
            about = {"plumbline": canonical_json({"run_id": recording.run_id, "digest": recording.digest})}
            buffer = io.BytesIO()
            table: pa.Table = to_arrow(frame, columns).replace_schema_metadata(about)
            pq.write_table(table, buffer, compression="zstd")
            write_bytes(file, buffer.getvalue())
        written.append(file)
    return tuple(written)
