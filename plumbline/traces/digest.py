"""A digest of rows, not of file bytes: no release of a file library can change it, one changed argument does.

Each trial has a digest over its own row and its steps; the run's digest is over the schema's name, the tasks, the plan
and the trial digests in order. A row that changed is therefore named by its trial.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import NoneType
from typing import Any

import pandas as pd

from plumbline.base.canonical import canonical_json
from plumbline.base.schema import SCHEMA, STEPS, TRIALS
from plumbline.traces.frames import listed

__all__ = ["run_digest", "trial_digests"]

_JSON = frozenset((str, int, float, NoneType))
_line = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def trial_digests(trials: pd.DataFrame, steps: pd.DataFrame) -> list[str]:
    """Return one SHA-256 (hex) a trial, in the order of the trials; every column of the schema enters."""
    hashes = {t: hashlib.sha256() for t in trials["trial_id"]}
    for name, frame, columns in (("trial", trials, TRIALS), ("step", steps, STEPS)):
        lists = [_plain(listed(frame[c.name])) for c in columns]
        owners = frame["trial_id"].tolist()
        for owner, row in zip(owners, zip(*lists, strict=True), strict=True):
            hashes[owner].update(_line((name, *row)).encode() + b"\n")
    return [h.hexdigest() for h in hashes.values()]


def run_digest(digests: list[str], tasks: Mapping[str, Any], plan: Mapping[str, Any] | None) -> str:
    """Return the digest of a run as ``sha256:…``."""
    whole = hashlib.sha256(f"{SCHEMA}\n{canonical_json(tasks)}\n{canonical_json(plan)}\n".encode())
    for digest in digests:
        whole.update(digest.encode() + b"\n")
    return f"sha256:{whole.hexdigest()}"


def _plain(values: list[Any]) -> list[Any]:
    """Return the values of a column as JSON values: text, floats, None, and everything else as whole numbers."""
    if set(map(type, values)) <= _JSON:
        return values
    return [value if value is None or isinstance(value, str | float) else int(value) for value in values]
