"""Policies from YAML and JSON files, with the line of what is wrong where the format tells it."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.base.errors import NotFoundError, PolicyError
from plumbline.rules.policy import Policy, policy_from, spell_path

__all__ = ["line_of", "read_policy", "yaml_with_lines"]

_PathOf = tuple[str | int, ...]
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")


def read_policy(path: str | Path) -> Policy:
    """Read a policy from a file.

    Plain YAML words mean what they mean in JSON: ``true``, ``false``, ``null`` and numbers; everything else is text, so
    ``no``, ``on`` and ``2026-07-01`` stay as they are written. Numbers with a point keep their digits.

    Parameters
    ----------
    path : str or Path
        A ``.yaml``, ``.yml`` or ``.json`` file; see ``Policy.from_dict`` for its content.

    Returns
    -------
    Policy

    Raises
    ------
    NotFoundError
        There is no such file.
    PolicyError
        The file cannot be read as a policy; the message names the file and, for YAML, the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "p.yaml")
    ...     _ = path.write_text("name: p\\nrules:\\n- {rule: must_call, tool: check}\\n")
    ...     read_policy(path).ids
    ('must_call:check',)
    """
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no policy file {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: not UTF-8 text ({error})") from None
    if path.suffix == ".json":
        try:
            values = parse_json(text)
        except ValueError as error:
            raise PolicyError(f"{path}: not JSON: {error}") from None
        return policy_from(values, lambda where: f"{path}{_spell(where)}")
    if path.suffix in (".yaml", ".yml"):
        values, lines = yaml_with_lines(text, path)
        return policy_from(values, lambda where: f"{path}, line {line_of(lines, where)}{_spell(where)}")
    raise PolicyError(f"{path}: a policy file ends in .yaml, .yml or .json")


def _spell(where: _PathOf) -> str:
    return f", {spell_path(where)}" if where else ""


def line_of(lines: dict[_PathOf, int], where: _PathOf) -> int:
    """Return the line of a value, or of the nearest one around it that has a line."""
    while where not in lines:
        where = where[:-1]
    return lines[where]


def yaml_with_lines(text: str, path: Path) -> tuple[Any, dict[_PathOf, int]]:
    """Read YAML in which only JSON's words are words, with the line of every value.

    Raises
    ------
    PolicyError
        It is not YAML, is empty, or names a key twice.
    """
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise PolicyError(f"{path}: not YAML: {error}") from None
    if node is None:
        raise PolicyError(f"{path}: the file is empty")
    lines: dict[_PathOf, int] = {}
    return _value(node, (), lines, path, ()), lines


def _value(node: Any, where: _PathOf, lines: dict[_PathOf, int], path: Path, above: tuple[int, ...]) -> Any:
    line = node.start_mark.line + 1
    lines[where] = line
    if id(node) in above:
        raise PolicyError(f"{path}, line {line}: a value contains itself")
    above = (*above, id(node))
    if node.id == "scalar":
        return _scalar(node)
    if node.id == "sequence":
        return [_value(child, (*where, i), lines, path, above) for i, child in enumerate(node.value)]
    out: dict[str, Any] = {}
    for key_node, child in node.value:
        key, at = key_node.value, key_node.start_mark.line + 1
        if not isinstance(key, str):
            raise PolicyError(f"{path}, line {at}: a key must be a word; found a {key_node.id}")
        if key in out:
            raise PolicyError(f"{path}, line {at}: the key {key!r} stands twice in one mapping")
        out[key] = _value(child, (*where, key), lines, path, above)
        lines[(*where, key)] = at
    return out


def _scalar(node: Any) -> Any:
    text = node.value
    if node.style is not None:  # quoted or block text
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return Decimal(text) if _DECIMAL.fullmatch(text) else text
