"""A perturbation: a named, versioned change of a task's input, and what it promises to leave alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import ParameterError
from plumbline.rules.draws import Draw
from plumbline.rules.guard_text import PRESERVED
from plumbline.rules.task_view import TaskView
from plumbline.rules.variants import Variant

__all__ = ["CHANGES", "RELATIONS", "Perturbation", "compose", "perturbation"]

RELATIONS = ("invariance", "equivariance", "monotonic", "removal")
"""What is expected of behaviour: stays the same, changes in a known way, moves one way only, or loses what depended."""

CHANGES: Mapping[str, tuple[str, ...]] = {
    "wording": ("prompt",), "remarks": ("prompt",), "formats": ("prompt",), "layout": ("prompt", "layout"),
    "decoys": ("decoys",), "tool_order": ("tool_order",), "tool_descriptions": ("tool_descriptions",),
    "tool_schemas": ("tool_parameters",), "sampling": ("sampling",), "fault": ("fault",),
}  # fmt: skip
"""What a perturbation may say that it changes, and the fields of a variant that this allows."""

_OF_THE_PROMPT = ("wording", "remarks", "formats", "layout")

Function = Callable[[TaskView, Variant, Draw], str | Mapping[str, Any]]
Size = int | None | Callable[[TaskView, Variant], int | None]
Precondition = Callable[[TaskView], str | None]


class Check(Protocol):
    """An invalidation check of a perturbation's own: says what is wrong with a variant, or None."""

    def __call__(self, task: TaskView, original: Variant, variant: Variant, /) -> str | None:
        """Return what makes the variant invalid, or None."""


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """A change of a task's input: what it does, what it may change, what must survive, and who answers for it.

    Parameters
    ----------
    name, version : str
        Name, without ``/``, and version of the code; raise the version whenever the same seed gives other variants.
    function : callable
        ``function(task, base, draw)`` returns the new prompt, or a mapping of fields of ``Variant`` to new values.
        ``base`` is the variant to be changed; chance comes from ``draw`` alone.
    relation : {'invariance', 'equivariance', 'monotonic', 'removal'}
        What is expected of behaviour.
    may_change : tuple of str
        Keys of ``CHANGES``; at most one of wording, remarks, formats and layout. Everything else must stay.
    must_preserve : tuple of str
        Which of ``plumbline.rules.PRESERVED`` a new wording keeps.
    requires : tuple of callable
        Preconditions: each takes the task and returns why the perturbation does not apply to it, or None.
    checks : tuple of callable
        Invalidation checks beyond the guard's.
    size : int, callable or None
        How many different outputs there are for a task (of ``task, base``); None if that is not known.
    calls : int
        Model calls that one candidate costs before the study begins.
    risk_owner : str
        Who answers for a variant that turns out not to keep what it promises.
    writer : str or None
        Model that writes the variants.
    default_sampling : mapping
        What the provider samples with if nothing is sent; needed where sampling is changed.
    material : mapping
        What the function draws from (templates, remarks), as JSON values, so that a change of it shows in the record.
    stages : tuple of Perturbation
        Of a composition, in order.
    description : str
        One sentence.

    Raises
    ------
    ParameterError
        A name, relation or word that is not known, or no risk owner.
    """

    name: str
    version: str = "1"
    function: Function
    relation: str = "invariance"
    may_change: tuple[str, ...] = ("wording",)
    must_preserve: tuple[str, ...] = PRESERVED
    requires: tuple[Precondition, ...] = ()
    checks: tuple[Check, ...] = ()
    size: Size = None
    calls: int = 0
    risk_owner: str
    writer: str | None = None
    default_sampling: Mapping[str, Any] = field(default_factory=dict)
    material: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[Perturbation, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        for name in ("name", "version", "risk_owner"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip() or "/" in text or text != text.strip():
                raise ParameterError(f"perturbation.{name} must be text without '/' or outer spaces; found {text!r}")
        if self.relation not in RELATIONS:
            raise ParameterError(
                f"{self.name}: relation must be one of {', '.join(RELATIONS)}; found {self.relation!r}"
            )
        for name, known in (("may_change", tuple(CHANGES)), ("must_preserve", PRESERVED)):
            given = getattr(self, name)
            if isinstance(given, str) or (odd := [word for word in given if word not in known]):
                raise ParameterError(
                    f"{self.name}: {name} takes {', '.join(known)}; found {given if isinstance(given, str) else odd!r}"
                )
            object.__setattr__(self, name, tuple(given))
        if not self.stages and len(prompts := [word for word in self.may_change if word in _OF_THE_PROMPT]) > 1:
            raise ParameterError(
                f"{self.name}: {prompts} all change the prompt; compose one perturbation of each instead"
            )
        if isinstance(self.calls, bool) or not isinstance(self.calls, int) or self.calls < 0:
            raise ParameterError(f"{self.name}: calls must be a whole number of at least 0; found {self.calls!r}")
        canonical_json(self.material)

    @property
    def material_hash(self) -> str:
        """SHA-256 of what the function draws from."""
        text = canonical_json(parse_json(canonical_json(self.material)))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def not_applicable(self, task: TaskView) -> str | None:
        """Return why the perturbation does not apply to a task, None if it does."""
        if self.stages:
            return next((reason for stage in self.stages if (reason := stage.not_applicable(task))), None)
        return next((reason for condition in self.requires if (reason := condition(task))), None)

    def size_for(self, task: TaskView, base: Variant | None = None) -> int | None:
        """Return how many different outputs there are for a task, None if that is not known."""
        base = base or Variant(task.prompt)
        if self.stages:
            sizes = [stage.size_for(task, base) for stage in self.stages]
            return None if None in sizes else math.prod(size for size in sizes if size is not None)
        return self.size(task, base) if callable(self.size) else self.size

    def apply(
        self, task: TaskView, *, seed: int, study: str = "study", candidate: int = 0, base: Variant | None = None
    ) -> Variant:
        """Return one candidate variant of a task, not yet guarded.

        Parameters
        ----------
        task : TaskView
            The task.
        seed : int
            Seed of the study.
        study : str
            Name of the study; a part of the stream's name.
        candidate : int
            Which candidate of the cell, from 0.
        base : Variant, optional
            What is changed; the plain task by default.

        Raises
        ------
        ParameterError
            The perturbation does not apply to the task, or changed something that it does not declare.
        """
        return self.steps(task, seed=seed, study=study, candidate=candidate, base=base)[-1]

    def steps(
        self, task: TaskView, *, seed: int, study: str = "study", candidate: int = 0, base: Variant | None = None
    ) -> tuple[Variant, ...]:
        """Return one candidate with the variants it went through: one, or one for each stage of a composition."""
        if reason := self.not_applicable(task):
            raise ParameterError(f"{self.name} does not apply to task {task.id!r}: {reason}")
        base = base or Variant(task.prompt)
        draw = Draw(seed, (study, task.id, self.name), candidate, self.size_for(task, base))
        return self._compose(task, base, draw) if self.stages else (self._one(task, base, draw),)

    def _one(self, task: TaskView, base: Variant, draw: Draw) -> Variant:
        made = self.function(task, base, draw)
        changes = {"prompt": made} if isinstance(made, str) else dict(made)
        allowed = {name for word in self.may_change for name in CHANGES[word]} | {"notes"}
        if odd := sorted(set(changes) - allowed):
            raise ParameterError(
                f"{self.name} changed {odd}, which its may_change {self.may_change} does not allow; "
                f"allowed are {sorted(allowed)}"
            )
        notes = (*base.notes, *changes.pop("notes", ()))
        origin: dict[str, Any] = {
            "perturbation": self.name, "version": self.version, "index": draw.candidate, "seed": draw.seed,
            "stream": draw.path, "parents": (), "notes": notes,
        }  # fmt: skip
        return base.changed(changes | origin)

    def _compose(self, task: TaskView, base: Variant, draw: Draw) -> tuple[Variant, ...]:
        left = draw.choice if draw.size is not None else None
        made, parents = [], []
        for number, stage in enumerate(self.stages):
            planned = stage.size_for(task, Variant(task.prompt))
            fixed = None
            if left is not None and planned:
                left, fixed = divmod(left, planned)
            current = task.with_prompt(base.prompt)
            names = (*draw.names, f"{number} {stage.name}")
            own = Draw(draw.seed, names, draw.candidate, stage.size_for(current, base), fixed)
            base = stage._one(current, base, own)
            parents.append({"perturbation": stage.name, "version": stage.version, "input_hash": base.input_hash})
            made.append(base)
        whole = {"perturbation": self.name, "version": self.version, "stream": draw.path, "parents": tuple(parents)}
        return (*made[:-1], made[-1].changed(whole))

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as JSON values; functions by their names, the material by its hash."""
        return {
            "name": self.name, "version": self.version, "relation": self.relation, "may_change": list(self.may_change),
            "must_preserve": list(self.must_preserve), "requires": [_called(each) for each in self.requires],
            "checks": [_called(each) for each in self.checks], "calls": self.calls, "risk_owner": self.risk_owner,
            "writer": self.writer, "default_sampling": dict(self.default_sampling), "description": self.description,
            "material_hash": self.material_hash, "stages": [stage.to_dict() for stage in self.stages],
        }  # fmt: skip


def _called(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def perturbation(
    name: str,
    version: str = "1",
    *,
    risk_owner: str,
    relation: str = "invariance",
    may_change: tuple[str, ...] = ("wording",),
    must_preserve: tuple[str, ...] = PRESERVED,
    requires: tuple[Precondition, ...] = (),
    checks: tuple[Check, ...] = (),
    size: Size = None,
    calls: int = 0,
    writer: str | None = None,
    default_sampling: Mapping[str, Any] | None = None,
    material: Mapping[str, Any] | None = None,
) -> Callable[[Function], Perturbation]:
    """Make a perturbation of your own from a small function.

    Parameters
    ----------
    name, version, risk_owner, relation, may_change, must_preserve, requires, checks, size, calls, writer, material
        See :class:`Perturbation`; the first line of the function's docstring becomes its description.
    default_sampling : mapping, optional
        What the provider samples with if nothing is sent.

    Returns
    -------
    callable
        A decorator of ``function(task, base, draw)``.

    Raises
    ------
    ParameterError
        A declaration that is not possible.

    Examples
    --------
    >>> @perturbation("courtesy", risk_owner="us", size=2)
    ... def courtesy(task, base, draw):
    ...     return ("Please: ", "Kindly: ")[draw.choice] + base.prompt
    >>> courtesy.apply(TaskView(id="T-1", prompt="Cancel A-17."), seed=7).prompt.endswith(": Cancel A-17.")
    True
    """

    def made(function: Function) -> Perturbation:
        described = (function.__doc__ or "").strip().splitlines()
        return Perturbation(
            name=name, version=version, function=function, relation=relation, may_change=may_change,
            must_preserve=must_preserve, requires=requires, checks=checks, size=size, calls=calls,
            risk_owner=risk_owner, writer=writer, default_sampling=default_sampling or {}, material=material or {},
            description=described[0] if described else "",
        )  # fmt: skip

    return made


def _never(task: TaskView, base: Variant, draw: Draw) -> str:
    raise ParameterError("a composition has no function of its own; its stages are applied one after the other")


def compose(*stages: Perturbation, name: str | None = None) -> Perturbation:
    """Apply perturbations one after the other as one perturbation; each stage is guarded against the one before.

    Parameters
    ----------
    *stages : Perturbation
        Two or more; compositions among them are taken apart.
    name : str, optional
        Name of the whole; by default the names joined by ``+``.

    Returns
    -------
    Perturbation

    Raises
    ------
    ParameterError
        Fewer than two stages, or stages that expect different relations of behaviour.

    Examples
    --------
    >>> a = Perturbation(name="a", function=lambda t, b, d: b.prompt + " Thanks.", risk_owner="us", size=1)
    >>> compose(a, a, name="twice").apply(TaskView(id="T", prompt="Cancel A-17."), seed=1).prompt
    'Cancel A-17. Thanks. Thanks.'
    """
    flat = tuple(inner for stage in stages for inner in (stage.stages or (stage,)))
    if len(flat) < 2:
        raise ParameterError(f"a composition needs at least two perturbations; found {len(flat)}")
    active = [stage for stage in flat if stage.may_change] or list(flat)
    if len(relations := sorted({stage.relation for stage in active})) > 1:
        raise ParameterError(
            f"stages expect {relations} of behaviour; what holds of their composition must be stated by hand"
        )
    writers = sorted({stage.writer for stage in flat if stage.writer})
    return replace(
        flat[0],
        name=name or "+".join(stage.name for stage in flat),
        version="+".join(stage.version for stage in flat),
        function=_never,
        relation=relations[0],
        may_change=tuple(dict.fromkeys(word for stage in flat for word in stage.may_change)),
        must_preserve=tuple(word for word in PRESERVED if all(word in stage.must_preserve for stage in flat)),
        requires=(), checks=(), size=None, calls=sum(stage.calls for stage in flat),
        risk_owner=", ".join(dict.fromkeys(stage.risk_owner for stage in flat)),
        writer=", ".join(writers) or None,
        default_sampling={}, material={}, stages=flat,
        description="; then ".join(stage.description for stage in flat if stage.description),
    )  # fmt: skip
