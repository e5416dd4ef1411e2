"""The order rule: which reorderings of calls change nothing, from data flow and declared state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from plumbline.decide.bands.parts import Tool
from plumbline.decide.bands.trials import Call

__all__ = ["OrderFound", "calls_matched", "depends", "judge_order", "scalars"]


@dataclass(frozen=True)
class OrderFound:
    """What the order rule says of two sequences of calls.

    Parameters
    ----------
    verdict : {'pass', 'fail', 'cannot_tell'}
    moved : int
        Calls that take part in a reordering.
    said : str
        Why, with the steps of the candidate; empty where both made the same calls in the same order.
    """

    verdict: str
    moved: int
    said: str


def calls_matched(old: Sequence[Call], new: Sequence[Call]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Match calls: equal ones first, then by tool in order.

    Returns
    -------
    (pairs, only_old, only_new)
        Positions.
    """
    pairs: list[tuple[int, int]] = []
    rest_old, rest_new = list(range(len(old))), list(range(len(new)))
    for key in (lambda call: (call.name, call.arguments_text), lambda call: call.name):
        waiting: dict[Any, list[int]] = {}
        for j in rest_new:
            waiting.setdefault(key(new[j]), []).append(j)
        left = []
        for i in rest_old:
            there = waiting.get(key(old[i]))
            if there:
                pairs.append((i, there.pop(0)))
            else:
                left.append(i)
        taken = {j for _, j in pairs}
        rest_old, rest_new = left, [j for j in rest_new if j not in taken]
    return sorted(pairs), rest_old, rest_new


def scalars(value: Any) -> Iterator[str]:
    """Yield every scalar of a JSON value as text, numbers by their value; truth values and null tell nothing."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from scalars(member)
    elif isinstance(value, list):
        for member in value:
            yield from scalars(member)
    elif isinstance(value, bool) or value is None or value == "":
        return
    elif isinstance(value, int | Decimal):
        yield format(Decimal(value).normalize(), "f")
    else:
        yield str(value)


def depends(calls: Sequence[Call], first: int, later: int, *, prompt: str | None) -> str | None:
    """Say by which value a later call rests on the result of an earlier one.

    A value counts if the earlier call's result holds it and nothing before did: not the prompt, not an argument or
    result of a call before, not the earlier call's own arguments. Values are compared whole.

    Returns
    -------
    str or None
        The value; None where no value came from there.

    Examples
    --------
    >>> look, pay = Call(0, "look", '{"id":"A"}', '{"total":12.50}'), Call(1, "pay", '{"id":"A","sum":12.50}', "1")
    >>> depends([look, pay], 0, 1, prompt="Pay A.")
    '12.5'
    """
    wanted = set(scalars(calls[later].arguments)) & set(scalars(calls[first].result))
    if not wanted:
        return None
    wanted -= set(scalars(calls[first].arguments))
    for call in calls[:first]:
        wanted -= set(scalars(call.arguments)) | set(scalars(call.result))
    if prompt is not None:
        wanted = {v for v in wanted if not re.search(rf"(?<!\w){re.escape(v)}(?!\w)", prompt)}
    return min(wanted) if wanted else None


def judge_order(
    word: str,
    old: Sequence[Call],
    new: Sequence[Call],
    tools: Mapping[str, Tool],
    *,
    prompts: tuple[str | None, str | None] = (None, None),
) -> OrderFound:
    """Compare the order of two sequences of calls.

    Parameters
    ----------
    word : {'same', 'same_unless_idempotent', 'any'}
        What passes. ``same_unless_idempotent`` lets two calls change places only where both tools are declared
        repeatable, neither call rests on the other's result in either trial, and neither writes declared state that the
        other reads or writes; and lets an equal call of a repeatable tool be made once more.
    old, new : sequence of Call
        Calls of the baseline and of the candidate. Calls of one group were made together and have no order.
    tools : mapping of str to Tool
        What is declared. Of a tool that is not, nothing is assumed.
    prompts : tuple of str
        Prompt of each trial: a value that stands there came from no call.

    Returns
    -------
    OrderFound

    Examples
    --------
    >>> a, b = Call(0, "a", "{}", "1"), Call(1, "b", "{}", "2")
    >>> reads = {name: Tool(effect="read", repeatable=True) for name in "ab"}
    >>> judge_order("same_unless_idempotent", [a, b], [b, a], reads).verdict
    'pass'
    """
    if word == "any":
        return OrderFound("pass", 0, "")
    pairs, only_old, only_new = calls_matched(old, new)
    turned = _turned(pairs, old, new)
    if not turned and not only_old and not only_new:
        return OrderFound("pass", 0, "")
    moved = {call for pair in turned for call in pair}
    if word == "same":
        return OrderFound("fail", len(moved), _difference(turned, only_old, only_new, old, new))
    failed = _not_repeats(only_old, only_new, old, new, tools)
    untold = ""
    for one, two in turned:
        reason, known = _bound(one, two, old, new, tools, prompts)
        if reason and known:
            failed.append(reason)
        elif reason:
            untold = untold or reason
    if failed:
        return OrderFound("fail", len(moved), "; ".join(failed[:3]))
    if untold:
        return OrderFound("cannot_tell", len(moved), untold)
    return OrderFound("pass", len(moved), _difference(turned, only_old, only_new, old, new) + "; nothing rests on it")


_Pair = tuple[int, int]


def _before(calls: Sequence[Call], i: int, j: int) -> bool:
    together = calls[i].group is not None and calls[i].group == calls[j].group
    return i < j and not together


def _turned(pairs: Sequence[_Pair], old: Sequence[Call], new: Sequence[Call]) -> list[tuple[_Pair, _Pair]]:
    """Pairs of matched calls that had an order in the baseline and have lost it; the earlier one first."""
    places = [j for _, j in pairs]
    if all(a < b for a, b in pairwise(places)) and not any(c.group is not None for c in new):
        return []
    return [
        (one, two)
        for at, one in enumerate(pairs)
        for two in pairs[at + 1 :]
        if _before(old, one[0], two[0]) and not _before(new, one[1], two[1])
    ]


def _difference(
    turned: Sequence[tuple[_Pair, _Pair]],
    only_old: Sequence[int],
    only_new: Sequence[int],
    old: Sequence[Call],
    new: Sequence[Call],
) -> str:
    said = []
    for (i, j), (_, k) in turned[:2]:
        said.append(f"{new[k].name} (step {new[k].step}) now comes no later than {old[i].name} (step {new[j].step})")
    said += [f"{old[i].name} (baseline step {old[i].step}) is not called" for i in only_old[:2]]
    said += [f"{new[j].name} (step {new[j].step}) is called besides" for j in only_new[:2]]
    return "; ".join(said)


def _not_repeats(
    only_old: Sequence[int],
    only_new: Sequence[int],
    old: Sequence[Call],
    new: Sequence[Call],
    tools: Mapping[str, Tool],
) -> list[str]:
    """Calls that one side lacks, except one more of a call that is safe to repeat."""
    failed = []
    for own, other, only, said in ((old, new, only_old, "is not called"), (new, old, only_new, "is called besides")):
        for at in only:
            call, tool = own[at], tools.get(own[at].name)
            twin = any(c.name == call.name and c.arguments_text == call.arguments_text for c in other)
            if not (tool and tool.repeatable and twin):
                failed.append(f"{call.name} ({'baseline ' if own is old else ''}step {call.step}) {said}")
    return failed


def _bound(
    one: _Pair,
    two: _Pair,
    old: Sequence[Call],
    new: Sequence[Call],
    tools: Mapping[str, Tool],
    prompts: tuple[str | None, str | None],
) -> tuple[str, bool]:
    """Say what forbids that two calls change places, and whether that is known; empty if nothing does."""
    first, second = old[one[0]], old[two[0]]
    step, other = new[two[1]].step, new[one[1]].step
    place = f"{second.name} (step {step}) now comes no later than {first.name} (step {other})"
    for name in (first.name, second.name):
        tool = tools.get(name)
        if tool is None:
            return f"{place}: {name} is not declared, so nothing is assumed of it", True
    flow = depends(old, one[0], two[0], prompt=prompts[0])
    if flow is not None:
        return f"{place}, and uses its result {flow!r}", True
    if new[two[1]].step < new[one[1]].step:
        back = depends(new, two[1], one[1], prompt=prompts[1])
        if back is not None:
            return f"{place}, and {first.name} now uses its result {back!r}", True
    shared = _state(tools[first.name], tools[second.name])
    if shared is not None:
        return f"{place}: {shared}", True
    for name in (first.name, second.name):
        if not tools[name].repeatable:
            return f"{place}: {name} is not safe to repeat", True
    if any(call.result_text is None for call in (first, new[two[1]])):
        return f"{place}, and what it answered is not on record", False
    return "", True


def _state(one: Tool, two: Tool) -> str | None:
    """Say which declared state two tools share so that their order matters."""
    if one.effect == two.effect == "read":
        return None
    if any(tool.effect != "read" and not tool.writes for tool in (one, two)):
        return "what one of them writes is not declared"
    if any(tool.effect == "read" and not tool.reads for tool in (one, two)):
        return "what one of them reads is not declared"
    both = (set(one.writes) & {*two.reads, *two.writes}) | (set(two.writes) & {*one.reads, *one.writes})
    return f"both touch {min(both)}" if both else None
