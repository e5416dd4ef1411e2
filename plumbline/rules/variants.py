"""One frozen output of a perturbation for one task, with the hashes by which it is stored, compared and trusted."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import DigestError, ParameterError
from plumbline.rules.layouts import Layout

__all__ = ["INPUT_FIELDS", "Variant", "checked_sampling"]

INPUT_FIELDS = (
    "prompt", "decoys", "tool_order", "tool_descriptions", "tool_parameters", "layout", "sampling", "fault",
)  # fmt: skip
"""The fields that the agent or its surroundings meet; the others say where the variant comes from."""


@dataclass(frozen=True)
class Variant:
    """What a perturbation gives an agent instead of the plain task.

    Parameters
    ----------
    prompt : str or None
        What the agent is asked; None if the wording is not on record.
    decoys : tuple of str
        Names of the domain's decoy tools that are offered beside the real ones.
    tool_order : tuple of str
        Names of the offered tools in the order in which the agent is told of them; empty: in the domain's order.
    tool_descriptions : mapping of str to str
        Tool to the description that replaces its own.
    tool_parameters : mapping of str to mapping
        Tool to the JSON Schema that replaces its own; it accepts the same calls. The order of its keys counts.
    layout : Layout, optional
        How structured results of tools are written out for the agent; None: as the domain does.
    sampling : mapping
        Sampling settings that are sent explicitly, such as ``{"temperature": 0.3}``; empty: none is sent.
    fault : mapping, optional
        The fault that every trial of this variant is planned to meet, in JSON values; None: none.
    perturbation, version : str
        What made it.
    index : int
        Number of the variant within its cell, from 0; its name in a run is ``str(index)``.
    seed : int or None
        Seed of the study; None if nothing was drawn.
    stream : tuple of str
        Names of the stream it was drawn from.
    parents : tuple of mapping
        For a composition, the stages in order: ``perturbation``, ``version`` and ``input_hash`` of each.
    notes : tuple of str
        What a reader must know, for example that the catalog was exhausted and this repeats another variant.

    Raises
    ------
    ParameterError
        A value that cannot be stored as JSON, a sampling setting that is unknown or out of range, or a name that
        stands twice.

    Examples
    --------
    >>> plain, hot = Variant("Cancel order A-17."), Variant("Cancel order A-17.", sampling={"temperature": 0.3})
    >>> plain.input_hash == hot.input_hash, Variant.from_dict(hot.to_dict()) == hot
    (False, True)
    """

    prompt: str | None
    decoys: tuple[str, ...] = ()
    tool_order: tuple[str, ...] = field(default=(), kw_only=True)
    tool_descriptions: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    tool_parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, kw_only=True)
    layout: Layout | None = field(default=None, kw_only=True)
    sampling: Mapping[str, float | int] = field(default_factory=dict, kw_only=True)
    fault: Mapping[str, Any] | None = field(default=None, kw_only=True)
    perturbation: str = field(default="baseline", kw_only=True)
    version: str = field(default="1", kw_only=True)
    index: int = field(default=0, kw_only=True)
    seed: int | None = field(default=None, kw_only=True)
    stream: tuple[str, ...] = field(default=(), kw_only=True)
    parents: tuple[Mapping[str, str], ...] = field(default=(), kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.prompt is not None and not isinstance(self.prompt, str):
            raise ParameterError(f"variant.prompt must be text or None; found {self.prompt!r}")
        for name in ("decoys", "tool_order", "stream", "notes"):
            texts = getattr(self, name)
            if isinstance(texts, str) or not all(isinstance(text, str) and text for text in texts):
                raise ParameterError(f"variant.{name} must be texts; found {texts!r}")
            object.__setattr__(self, name, tuple(texts))
        for name in ("decoys", "tool_order"):
            if len(set(getattr(self, name))) != len(getattr(self, name)):
                raise ParameterError(f"variant.{name} names a tool twice: {getattr(self, name)!r}")
        if isinstance(self.index, bool) or not isinstance(self.index, int) or self.index < 0:
            raise ParameterError(f"variant.index must be a whole number of at least 0; found {self.index!r}")
        object.__setattr__(self, "sampling", checked_sampling(self.sampling))
        object.__setattr__(self, "parents", tuple(dict(parent) for parent in self.parents))
        for name in ("tool_descriptions", "tool_parameters", "fault"):
            if (held := getattr(self, name)) is not None:
                object.__setattr__(self, name, copy.deepcopy(dict(held)))
        try:
            canonical_json(self._values())
        except (TypeError, ValueError) as error:
            raise ParameterError(f"variant {self.perturbation}/{self.index} cannot be stored: {error}") from None

    @property
    def name(self) -> str:
        """The variant's name in a run."""
        return str(self.index)

    @property
    def input_hash(self) -> str:
        """SHA-256 of what the agent and its surroundings meet; equal inputs have equal hashes."""
        values = self._values()
        return _sha256({name: values[name] for name in INPUT_FIELDS})

    @property
    def content_hash(self) -> str:
        """SHA-256 of the whole variant, its origin included."""
        return _sha256(self._values())

    def offered(self, tools: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the tools that the agent is told of, in their order.

        Parameters
        ----------
        tools : sequence of str
            Names of the domain's real tools.

        Returns
        -------
        tuple of str
            Real tools and decoys; those that ``tool_order`` does not name come last.

        Raises
        ------
        ParameterError
            The order names a tool that is neither real nor a decoy of this variant.
        """
        plain = (*tools, *self.decoys)
        if lost := [name for name in self.tool_order if name not in plain]:
            raise ParameterError(f"variant.tool_order names {lost}, which are not offered; offered are {list(plain)}")
        return (*self.tool_order, *(name for name in plain if name not in self.tool_order))

    def changed(self, changes: Mapping[str, Any]) -> Variant:
        """Return the variant with some fields replaced."""
        return replace(self, **changes)

    def _values(self) -> dict[str, Any]:
        """The fields as JSON values. Schemas become texts, because canonical JSON forgets the order of keys."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        schemas = {tool: Layout().write(schema) for tool, schema in self.tool_parameters.items()}
        return values | {"layout": None if self.layout is None else self.layout.to_dict(), "tool_parameters": schemas}

    def to_dict(self) -> dict[str, Any]:
        """Return the variant as JSON values, with ``content_hash``."""
        return _plain(self._values()) | {"content_hash": self.content_hash}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Variant:
        """Read a variant from what ``to_dict`` gives.

        Raises
        ------
        DigestError
            The content hash is absent or does not fit: this is not what was stored.
        ParameterError
            A field is missing or unknown.
        """
        given = dict(values)
        said = given.pop("content_hash", None)
        names = {each.name for each in fields(cls)}
        if set(given) != names:
            raise ParameterError(
                f"a stored variant has the fields {sorted(names)}; missing {sorted(names - set(given))}, "
                f"unknown {sorted(set(given) - names)}"
            )
        given["tool_parameters"] = {tool: json.loads(text) for tool, text in given["tool_parameters"].items()}
        if given["layout"] is not None:
            given["layout"] = Layout.from_dict(given["layout"])
        found = cls(**given)
        if said != found.content_hash:
            raise DigestError(
                f"variant {found.perturbation}/{found.index} has content hash {found.content_hash}, but {said} is "
                "stored with it: it was changed after it was frozen. Make the variants again."
            )
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _sha256(values: Any) -> str:
    """Hash canonical JSON, read once and written again, so that 1e-07 and 0.0000001 are one number."""
    text = canonical_json(parse_json(canonical_json(values)))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


_REAL = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0)}
_WHOLE = {"top_k": 1, "seed": 0, "max_tokens": 1}


def checked_sampling(settings: Mapping[str, Any]) -> dict[str, float | int]:
    """Return sampling settings with each number in its own type, or refuse them.

    Raises
    ------
    ParameterError
        An unknown setting, or a value out of its range.
    """
    found: dict[str, float | int] = {}
    for name, value in settings.items():
        number = isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)
        if name in _REAL and number and _REAL[name][0] <= value <= _REAL[name][1]:
            found[name] = float(value)
        elif name in _WHOLE and number and value == int(value) and value >= _WHOLE[name]:
            found[name] = int(value)
        else:
            raise ParameterError(
                f"sampling setting {name!r} = {value!r} is not possible; known are temperature in [0, 2], "
                "top_p in [0, 1], and the whole numbers top_k >= 1, seed >= 0, max_tokens >= 1"
            )
    return found
