"""Parameters of a study: declared with type, bounds and help; anything impossible is refused before a kernel starts."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plumbline.base.errors import InputError, NotFoundError, ParameterError

__all__ = ["Parameter", "checked", "from_text"]

_TYPES = ("int", "float", "numbers", "text", "bool", "folder", "choice", "choices", "output")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a study.

    Parameters
    ----------
    name : str
        Its name in the notebook.
    type : str
        ``int``, ``float``, ``numbers`` (a list, each within the bounds), ``text``, ``bool``, ``folder`` (must exist;
        empty means the project's own), ``choice`` (one of ``allowed``), ``choices`` (a list of them) or ``output`` (a
        file to write; empty for none).
    default : object
        The value the pins were made with.
    help : str
        One line.
    minimum, maximum : float, optional
        Bounds; exclusive if ``open_bounds``.
    allowed : tuple, optional
        The choices.
    """

    name: str
    type: str
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    open_bounds: bool = False
    allowed: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, name: str, entry: Mapping[str, Any]) -> Parameter:
        """Read one entry of ``parameters`` in study.yaml."""
        keys = {"type", "default", "help", "minimum", "maximum", "open_bounds", "allowed"}
        if not isinstance(entry, Mapping) or set(entry) - keys or {"type", "default", "help"} - set(entry):
            raise InputError(f"study.yaml: parameter {name!r} needs type, default and help; allowed: {sorted(keys)}")
        if entry["type"] not in _TYPES:
            raise InputError(f"study.yaml: parameter {name!r} has type {entry['type']!r}; allowed: {', '.join(_TYPES)}")
        return cls(name=name, **{**entry, "allowed": tuple(entry.get("allowed", ()))})

    def check(self, value: Any) -> Any:
        """Return the value if it is possible, in its own type.

        Raises
        ------
        ParameterError
            It is not.
        NotFoundError
            It names a folder that does not exist.
        """
        if value is None and self.default is not None:
            raise ParameterError(f"{self.name} is None; it must be {self._wanted()}")
        if self.type in ("int", "float"):
            return self._number(value)
        if self.type == "numbers":
            values = value if isinstance(value, list | tuple) and value else self._refuse(value)
            return [self._number(v) for v in values]
        if self.type == "bool":
            return value if isinstance(value, bool) else self._refuse(value)
        if self.type == "choices":
            if not isinstance(value, list | tuple) or not value or any(v not in self.allowed for v in value):
                self._refuse(value)
            return list(value)
        if not isinstance(value, str | Path):
            self._refuse(value)
        value = str(value)
        if self.type == "choice" and value not in self.allowed:
            near = difflib.get_close_matches(value, self.allowed, 1)
            self._refuse(value, f" Did you mean {near[0]!r}?" if near else "")
        if self.type == "folder" and value and not Path(value).is_dir():
            raise NotFoundError(f"{self.name} = {value!r}: there is no such folder; give an existing one")
        return value

    def _number(self, value: Any) -> float | int:
        kinds = int if self.type == "int" else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value):
            self._refuse(value)
        low, high = self.minimum, self.maximum
        if low is not None and (value < low or (self.open_bounds and value == low)):
            self._refuse(value)
        if high is not None and (value > high or (self.open_bounds and value == high)):
            self._refuse(value)
        return int(value) if self.type == "int" else float(value)

    def _wanted(self) -> str:
        if self.type in ("choice", "choices"):
            return f"{'one' if self.type == 'choice' else 'a list'} of {', '.join(self.allowed)}"
        edges = ("above", "below") if self.open_bounds else ("at least", "at most")
        bounds = [
            f"{word} {limit:g}"
            for word, limit in zip(edges, (self.minimum, self.maximum), strict=True)
            if limit is not None
        ]
        names = {
            "int": "a whole number",
            "float": "a number",
            "numbers": "a list of numbers, each",
            "bool": "true or false",
            "folder": "a folder",
        }
        return " ".join([names.get(self.type, "text"), " and ".join(bounds)]).strip()

    def _refuse(self, value: Any, hint: str = "") -> Any:
        raise ParameterError(f"{self.name} = {value!r} is not possible; it must be {self._wanted()}.{hint}")


def checked(parameters: Mapping[str, Parameter], given: Mapping[str, Any], *, study: str) -> dict[str, Any]:
    """Return every parameter with a possible value, see ``Study.check_parameters``."""
    if unknown := [name for name in given if name not in parameters]:
        near = difflib.get_close_matches(unknown[0], parameters, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        known = ", ".join(parameters)
        raise ParameterError(f"study {study!r} has no parameter {unknown[0]!r}; its parameters: {known}.{hint}")
    return {name: p.check(given.get(name, p.default)) for name, p in parameters.items()}


def from_text(parameter: Parameter, text: str) -> Any:
    """Read a value typed on a command line."""
    try:
        if parameter.type == "int":
            return int(text)
        if parameter.type == "float":
            return float(text)
        if parameter.type == "numbers":
            return [float(part) for part in text.split(",")]
    except ValueError:
        return text  # refused by check, with the parameter's own sentence
    if parameter.type == "bool":
        return {"true": True, "false": False}.get(text.lower(), text)
    return [part.strip() for part in text.split(",")] if parameter.type == "choices" else text
