"""Certificates as JSON files, versioned, and read back exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from plumbline.base.errors import InputError, NotFoundError, SchemaVersionError
from plumbline.decide.cells import Cell, Exposed, TaskCount
from plumbline.decide.certificate import Certificate
from plumbline.decide.evidence import Evidence
from plumbline.stats import RhoScenario
from plumbline.traces import write_text

__all__ = ["SCHEMA", "certificate_from", "read_certificate", "write_certificate"]

SCHEMA = "plumbline.certificate/1"


def write_certificate(certificate: Certificate, path: str | Path) -> Path:
    """Write a certificate; a reader sees the old file or the new one.

    Raises
    ------
    NotFoundError
        The folder does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise NotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    body = {"schema": SCHEMA, **certificate.to_dict()}
    write_text(path, json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return path


def read_certificate(path: str | Path) -> Certificate:
    """Read a certificate; whether it is true is for ``verify`` to say.

    Parameters
    ----------
    path : path
        A file written by ``Certificate.save``.

    Returns
    -------
    Certificate

    Raises
    ------
    NotFoundError
        There is no such file.
    SchemaVersionError
        Another version of the format.
    InputError
        Not JSON, or not a whole certificate.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no certificate {path}")
    try:
        values = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    try:
        return certificate_from(values)
    except SchemaVersionError as error:
        raise SchemaVersionError(f"{path}: {error}") from None
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is not a whole certificate: {error}") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def certificate_from(values: Mapping[str, Any]) -> Certificate:
    """Build a certificate from what ``to_dict`` gave, with the schema's name.

    Raises
    ------
    SchemaVersionError
        Another schema.
    """
    found = values.get("schema") if isinstance(values, Mapping) else type(values).__name__
    if found != SCHEMA:
        raise SchemaVersionError(f"schema {found!r}; this version reads {SCHEMA!r}")
    body = {name: value for name, value in values.items() if name != "schema"}
    body["cells"] = tuple(_cell(cell) for cell in body["cells"])
    body["rho_table"] = tuple(RhoScenario(**row) for row in body["rho_table"])
    body["evidence"] = Evidence(**body["evidence"])
    for name in ("attained_by", "covered_by", "covered", "reasons", "tasks", "faults", "caution"):
        body[name] = tuple(map(str, body[name]))
    if lacking := [field.name for field in fields(Certificate) if field.name not in body]:
        raise ValueError(f"it lacks {', '.join(lacking)}")
    return Certificate(**body)


def _cell(values: Mapping[str, Any]) -> Cell:
    body = dict(values)
    body["exposure"] = None if body["exposure"] is None else Exposed(**body["exposure"])
    body["by_task"] = tuple(TaskCount(**task) for task in body["by_task"])
    return Cell(**body)
