"""The plan of a gate: the bar, and what must have been run, written down before the data."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.base.errors import NotFoundError, ParameterError, SchemaError, SchemaVersionError
from plumbline.decide.cells import checked_ignorable
from plumbline.decide.evidence import digest_of
from plumbline.decide.measures import MEASURES
from plumbline.decide.settings import share
from plumbline.stats.clusters import DECLARED_RHO
from plumbline.traces import Plan

__all__ = ["SCHEMA", "GatePlan", "read_gate_plan"]

SCHEMA = "plumbline.gate/1"
_NEEDED = ("schema", "created", "threshold", "planned")
_OPTIONAL = (
    "scope", "confidence", "measure", "critical_rules", "faults", "ignorable", "margin", "incumbent", "rho", "note",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GatePlan:
    """What a gate asks, written before the runs.

    Parameters
    ----------
    threshold : float
        What the lower bound must reach, in (0, 1).
    planned : Plan
        Arms, tasks, perturbations, variants and repetitions that must have been run.
    created : str
        When the plan was written: a date, or a time with its zone, in ISO 8601.
    scope : {'suite', 'tasks'}
        These tasks, or tasks like these.
    confidence : float
        Of the lower bound, in (0, 1).
    measure : {'critical', 'all', 'outcome'}
        What a success is.
    critical_rules : tuple of str
        Ids of rules of the policy of which a single violation holds the release.
    faults : tuple of str
        Perturbations that plan faults, besides those the record shows.
    ignorable : mapping of str to str
        Causes of missing runs that cannot depend on the agent, each with its reason.
    margin : float, optional
        The largest loss against the incumbent that does not matter, in (0, 1).
    incumbent : str, optional
        The arm that the margin is about.
    rho : float
        Declared correlation of the runs of one task, in [0, 1]; for scope ``tasks``.
    note : str
        Why the bar is where it is.

    Raises
    ------
    ParameterError
        A value that is not possible; the message says which.

    Examples
    --------
    >>> planned = Plan(("new",), ("t1", "t2"), ("baseline",), ("0",), 30)
    >>> GatePlan(threshold=0.95, planned=planned, created="2026-08-01").digest[:7]
    'sha256:'
    """

    threshold: float
    planned: Plan
    created: str
    scope: str = "suite"
    confidence: float = 0.95
    measure: str = "critical"
    critical_rules: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    ignorable: Mapping[str, str] = field(default_factory=dict)
    margin: float | None = None
    incumbent: str | None = None
    rho: float = DECLARED_RHO
    note: str = ""

    def __post_init__(self) -> None:
        share(self.threshold, "threshold")
        if share(self.confidence, "confidence") <= 0.5:
            raise ParameterError(f"confidence is {self.confidence!r}; a gate needs more than 0.5")
        if self.scope not in ("suite", "tasks"):
            raise ParameterError(f"scope is {self.scope!r}; choose 'suite' (these tasks) or 'tasks' (tasks like these)")
        if self.measure not in MEASURES:
            raise ParameterError(f"measure is {self.measure!r}; choose one of {', '.join(MEASURES)}")
        for name in ("critical_rules", "faults"):
            object.__setattr__(self, name, _texts(getattr(self, name), name))
        object.__setattr__(self, "ignorable", checked_ignorable(self.ignorable))
        _within(self.faults, self.planned.perturbations, "faults", "planned perturbations")
        if not isinstance(self.rho, int | float) or not 0 <= self.rho <= 1:
            raise ParameterError(f"rho is {self.rho!r}; give a correlation from 0 to 1")
        if (self.margin is None) != (self.incumbent is None):
            raise ParameterError("margin and incumbent belong together: the margin is a loss against that arm")
        if self.margin is not None and self.incumbent is not None:
            share(self.margin, "margin")
            _within((self.incumbent,), self.planned.arms, "incumbent", "planned arms")
        written_at(self.created)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values, as a plan file holds them."""
        body: dict[str, Any] = {"schema": SCHEMA, "created": self.created, "threshold": self.threshold}
        body |= {"scope": self.scope, "confidence": self.confidence, "measure": self.measure, "rho": self.rho}
        body |= {"critical_rules": list(self.critical_rules), "faults": list(self.faults)}
        body |= {"ignorable": dict(self.ignorable), "note": self.note, "planned": self.planned.to_dict()}
        if self.margin is not None:
            body |= {"margin": self.margin, "incumbent": self.incumbent}
        return body

    @property
    def digest(self) -> str:
        """Digest of the content, whatever the spelling of the file, as ``sha256:…``."""
        return digest_of(self.to_dict())

    def seal(self) -> dict[str, str]:
        """Return the note that seals this plan into a run: ``run_plan(..., notes=plan.seal())``."""
        return {"gate_plan": self.digest}


def written_at(text: Any) -> date | datetime:
    """Read when a plan was written; a time needs its zone, a date is the whole day.

    Examples
    --------
    >>> written_at("2026-08-01")
    datetime.date(2026, 8, 1)
    """
    if isinstance(text, str):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            found = None
        if found is not None and found.tzinfo is not None:
            return found
    raise ParameterError(f"created is {text!r}; give a date (2026-08-01) or a time with zone (2026-08-01T09:00Z)")


def read_gate_plan(path: str | Path) -> GatePlan:
    """Read the plan of a gate from a file.

    Parameters
    ----------
    path : path
        A ``.yaml``, ``.yml`` or ``.json`` file: ``schema: plumbline.gate/1``, ``created``, ``threshold``, ``planned``
        and whatever else ``GatePlan`` takes. In YAML every value is read as it is written.

    Returns
    -------
    GatePlan

    Raises
    ------
    NotFoundError
        There is no such file.
    SchemaVersionError
        Another version of the format.
    ParameterError
        The file cannot be read, a key is unknown, stands twice or lacks, or a value is not possible.
    """
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no gate plan {path}")
    try:
        text = path.read_text(encoding="utf-8")
        values = parse_json(text) if path.suffix == ".json" else _yaml(text)
    except ValueError as error:
        raise ParameterError(f"{path} cannot be read: {error}") from None
    try:
        return _plan_from(values)
    except SchemaVersionError as error:
        raise SchemaVersionError(f"{path}: {error}") from None
    except (ParameterError, SchemaError) as error:
        raise ParameterError(f"{path}: {error}") from None


def _yaml(text: str) -> Any:
    """Read YAML with every scalar as text; a key that stands twice is refused, where YAML would take the last."""
    import yaml

    class Loader(yaml.BaseLoader):
        pass

    def mapping(loader: Any, node: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str) or key in found:
                raise ValueError(f"line {line}: key {key!r} is no word or stands twice")
            found[key] = loader.construct_object(value_node, deep=True)
        return found

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        return yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {error}") from None


def _plan_from(values: Any) -> GatePlan:
    if not isinstance(values, Mapping):
        raise ParameterError(f"a gate plan is a mapping; found {type(values).__name__}")
    if (found := values.get("schema")) != SCHEMA:
        raise SchemaVersionError(f"schema {found!r}; this version reads {SCHEMA!r}")
    allowed = (*_NEEDED, *_OPTIONAL)
    for key in values:
        if key not in allowed:
            near = difflib.get_close_matches(str(key), allowed, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ParameterError(f"a gate plan has no key {key!r}.{hint} Allowed: {', '.join(allowed)}")
    if lacking := [key for key in _NEEDED if key not in values]:
        raise ParameterError(f"the gate plan lacks {', '.join(lacking)}")
    given: dict[str, Any] = {key: value for key, value in values.items() if key not in ("schema", "planned")}
    for key in ("threshold", "confidence", "margin", "rho"):
        if key in given:
            given[key] = _number(given[key], key)
    return GatePlan(planned=_planned(values["planned"]), **given)


def _planned(values: Any) -> Plan:
    if not isinstance(values, Mapping):
        raise ParameterError(f"planned maps arms, tasks, perturbations, variants, repetitions; found {values!r}")
    lists = {key: value for key, value in values.items() if key != "repetitions"}
    for key, value in lists.items():
        if not isinstance(value, list):
            raise ParameterError(f"planned.{key} must be a list; found {value!r}")
    repetitions = values.get("repetitions")
    whole = int(repetitions) if isinstance(repetitions, str) and repetitions.isdecimal() else repetitions
    return Plan.from_dict({**values, "repetitions": whole} if "repetitions" in values else values)


def _number(value: Any, name: str) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} is {value!r}; give a number") from None


def _texts(values: Any, name: str) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) and value for value in values):
        raise ParameterError(f"{name} is {values!r}; give a list of names")
    if len(set(values)) != len(values):
        raise ParameterError(f"{name} names one twice: {', '.join(values)}")
    return tuple(values)


def _within(names: tuple[str, ...], allowed: tuple[str, ...], what: str, of: str) -> None:
    if strange := [name for name in names if name not in allowed]:
        raise ParameterError(f"{what} names {', '.join(strange)}; the {of} are {', '.join(allowed)}")
