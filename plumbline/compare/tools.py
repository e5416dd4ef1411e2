"""What a tool does to the world, as far as order and repetition are concerned, and when two calls may change places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from plumbline.base.errors import ParameterError
from plumbline.compare.quantities import is_number
from plumbline.compare.verdicts import check_word

__all__ = ["ToolTraits", "may_swap", "tool_traits", "traits_from_mcp"]

_KEYS = ("read_only", "idempotent", "depends_on", "source")
_TELLING_TEXT, _TELLING_NUMBER = 3, 100


@dataclass(frozen=True)
class ToolTraits:
    """Marks of one tool.

    Parameters
    ----------
    read_only : bool
        A call changes nothing.
    idempotent : bool
        A second call with the same arguments changes nothing more.
    depends_on : tuple of str or None
        Tools whose results the arguments of this one may come from; None to look in the recorded results.
    source : {'declared', 'hint'}
        ``declared`` by the domain; ``hint`` is the word of the tool's own server, which nobody has checked.

    Examples
    --------
    >>> ToolTraits(read_only=True).harmless_again
    True
    """

    read_only: bool = False
    idempotent: bool = False
    depends_on: tuple[str, ...] | None = None
    source: Literal["declared", "hint"] = "declared"

    def __post_init__(self) -> None:
        for name in ("read_only", "idempotent"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} is {getattr(self, name)!r}; give True or False.")
        check_word(self.source, ("declared", "hint"), "source")
        if self.depends_on is not None and (
            not isinstance(self.depends_on, tuple) or not all(isinstance(tool, str) for tool in self.depends_on)
        ):
            raise ParameterError(f"depends_on is {self.depends_on!r}; give a tuple of tool names, or None.")

    @property
    def harmless_again(self) -> bool:
        """Whether repeating a call with the same arguments changes nothing more."""
        return self.read_only or self.idempotent


def tool_traits(tools: Mapping[str, ToolTraits | Mapping[str, Any]] | None) -> dict[str, ToolTraits]:
    """Return the marks of tools from a mapping of plain values.

    Parameters
    ----------
    tools : mapping of tool to ToolTraits or mapping, optional
        ``{"fetch_invoice": {"read_only": True}, "pay": {"idempotent": False}}``; further keys: ``depends_on``,
        ``source``. A tool that is not named has no marks: its calls may neither change places nor be repeated freely.

    Returns
    -------
    dict of tool to ToolTraits

    Raises
    ------
    ParameterError
        An unknown key, or a value that is no boolean.

    Examples
    --------
    >>> tool_traits({"fetch": {"read_only": True}})["fetch"].read_only
    True
    """
    found = {}
    for tool, marks in (tools or {}).items():
        if isinstance(marks, ToolTraits):
            found[tool] = marks
            continue
        unknown = [key for key in marks if key not in _KEYS] if isinstance(marks, Mapping) else [repr(marks)]
        if unknown:
            raise ParameterError(f"the marks of {tool!r} hold {unknown[0]}; allowed are {', '.join(_KEYS)}.")
        given = dict(marks)
        if isinstance(given.get("depends_on"), list | set):
            given["depends_on"] = tuple(given["depends_on"])
        found[tool] = ToolTraits(**given)
    return found


def traits_from_mcp(tools: Sequence[Mapping[str, Any]]) -> dict[str, ToolTraits]:
    """Read marks from the tool list of an MCP server, as advice: ``source`` is ``hint``.

    Parameters
    ----------
    tools : sequence of mapping
        Tool definitions with ``name`` and, if the server gives them, ``annotations`` (``readOnlyHint``,
        ``idempotentHint``). What the domain declares should take their place: ``{**hints, **declared}``.

    Returns
    -------
    dict of tool to ToolTraits
        Hints that are absent or no booleans count as false.

    Examples
    --------
    >>> traits_from_mcp([{"name": "fetch", "annotations": {"readOnlyHint": True}}])["fetch"].source
    'hint'

    References
    ----------
    Model Context Protocol, tool annotations: clients must consider them untrusted unless the server is trusted.
    """
    found = {}
    for position, tool in enumerate(tools):
        if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
            raise ParameterError(f"tool {position} is {tool!r}; give the tool list of an MCP server, names included.")
        hints = tool.get("annotations") or {}
        read_only, idempotent = (hints.get(key) is True for key in ("readOnlyHint", "idempotentHint"))
        found[tool["name"]] = ToolTraits(read_only, idempotent, source="hint")
    return found


class CallFacts(NamedTuple):
    """What is known of one call when its place is judged: tool, arguments and result (None if not recorded)."""

    tool: str | None
    arguments: Mapping[str, Any] | None
    result: Any
    result_recorded: bool


def may_swap(first: CallFacts, second: CallFacts, traits: Mapping[str, ToolTraits]) -> str | None:
    """Return why two calls may stand in either order, or None if they may not.

    Both must only read, and the second must not use what the first returned: a text of three characters or a number
    of three digits that stands in the first one's result and in the second one's arguments, but was not already
    given to the first. Where the result was not recorded, a domain's declaration is believed and a hint is not.

    Parameters
    ----------
    first, second : CallFacts
        Two calls, in the order in which one of the runs made them.
    traits : mapping of tool to ToolTraits

    Returns
    -------
    str or None
    """
    marks = [traits.get(call.tool) if call.tool is not None else None for call in (first, second)]
    if marks[0] is None or marks[1] is None or not (marks[0].read_only and marks[1].read_only):
        return None
    hinted = "hint" in (marks[0].source, marks[1].source)
    said = "both only read, by the server's own hint" if hinted else "both only read"
    if marks[1].depends_on is not None:
        return None if first.tool in marks[1].depends_on else f"{said}, and no dependence is declared"
    if not first.result_recorded:
        return None if hinted else f"{said}; the result of {first.tool} was not recorded"
    given = set(_leaves(first.arguments))
    used = (set(_leaves(first.result)) - given) & set(_leaves(second.arguments))
    return None if used else f"{said}, and neither uses the other's result"


def _leaves(value: Any) -> Iterator[str | Decimal]:
    """The texts and numbers of a value that are long enough to say where they came from."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str) and len(value) >= _TELLING_TEXT:
        yield value
    elif is_number(value) and abs(value) >= _TELLING_NUMBER:
        yield Decimal(value)
