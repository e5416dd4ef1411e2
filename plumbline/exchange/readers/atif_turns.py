"""ATIF trajectories (Harbor's Agent Trajectory Interchange Format, 1.0 to 1.8), turned into a trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.exchange.drafts import NOT_RECORDED
from plumbline.exchange.reader import Column
from plumbline.exchange.readers.conversations import Find, find_in
from plumbline.exchange.readers.texts import content_of, listed, recorded, shown, whole_number
from plumbline.exchange.readers.turns import Conversation, FailureRule, error_field

__all__ = ["ATIF_COLUMNS", "atif_turns", "spent"]

ATIF_COLUMNS = (
    Column("name", ("function_name",), doc="of a call"),
    Column("arguments", ("arguments",), doc="of a call, an object"),
    Column("call_id", ("tool_call_id",), doc="of a call"),
    Column("reply_to", ("source_call_id",), doc="which call a result is for"),
    Column("result", ("content",), doc="of an observation"),
    Column("failed", ("is_error", "extra.is_error"), doc="whether the call failed; outside the standard"),
)
_FIND = find_in(ATIF_COLUMNS)
_DEEPEST = 20
Inner = Mapping[str, Mapping[str, Any]]
"""Trajectories of sub-agents that stand in the same file, by id."""
_SPEAKERS = {"agent": "assistant", "user": "user", "system": "system"}
_PLACED = {
    "step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content", "tool_calls",
    "observation", "metrics", "extra", "is_copied_context", "llm_call_count",
}  # fmt: skip


def atif_turns(
    trajectory: Mapping[str, Any], *, failure: FailureRule | None = error_field, find: Find = _FIND
) -> Conversation:
    """Turn a trajectory into a conversation.

    Parameters
    ----------
    trajectory : mapping
        With ``steps``. Steps marked ``is_copied_context`` were told by an earlier trajectory: they are kept as unread
        and not counted again. Trajectories of sub-agents that stand in the same file follow the call that began them.
    failure : FailureRule, optional
        Says which results report a failure, where a result has no ``is_error``.
    find : callable, optional
        Look-up of the fields in ``ATIF_COLUMNS``.

    Examples
    --------
    >>> asked = [{"tool_call_id": "c", "function_name": "price", "arguments": {"ticker": "AB"}}]
    >>> told = {"results": [{"source_call_id": "c", "content": "12.50"}]}
    >>> turns = atif_turns({"steps": [{"source": "agent", "message": "", "tool_calls": asked, "observation": told}]})
    >>> [(s.name, s.arguments, s.result, s.status) for s in turns.steps]
    [('price', {'ticker': 'AB'}, '12.50', 'ok')]
    """
    talk = Conversation(failure=failure)
    _Teller(find).tell(talk, trajectory, _inner(trajectory), depth=0)
    return talk


def _inner(trajectory: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = [t for t in listed(trajectory.get("subagent_trajectories")) if isinstance(t, Mapping)]
    return {t["trajectory_id"]: t for t in found if isinstance(t.get("trajectory_id"), str)}


def _referred(trajectory: Mapping[str, Any]) -> set[str]:
    """Return the ids of every sub-agent trajectory that a result refers to, however deep."""
    found: set[str] = set()
    for step in listed(trajectory.get("steps")):
        for result in _results(step) if isinstance(step, Mapping) else ():
            found |= {ref["trajectory_id"] for ref in _refs(result) if isinstance(ref.get("trajectory_id"), str)}
    inner = _inner(trajectory)
    for name in list(found):
        if name in inner:
            found |= _referred({**inner[name], "subagent_trajectories": []})
    return found


def _results(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    observation = step.get("observation")
    results = listed(observation.get("results")) if isinstance(observation, Mapping) else []
    return [result for result in results if isinstance(result, Mapping)]


def _refs(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [ref for ref in listed(result.get("subagent_trajectory_ref")) if isinstance(ref, Mapping)]


class _Teller:
    """Tells a trajectory and, behind the calls that began them, those of its sub-agents."""

    def __init__(self, find: Find) -> None:
        self._find = find

    def tell(self, talk: Conversation, trajectory: Mapping[str, Any], inner: Inner, *, depth: int) -> None:
        copied = 0
        for position, step in enumerate(listed(trajectory.get("steps"))):
            if not isinstance(step, Mapping) or not isinstance(step.get("source"), str):
                talk.unread.append(f"step {position}: {shown(step)}")
            elif step.get("is_copied_context") is True:
                talk.unread.append(f"step {position}, copied context: {shown(step)}")
                copied += 1
            else:
                self._step(talk, position, step, inner, depth)
        if copied:
            talk.said.append(f"{copied} steps are copied from an earlier trajectory and are not counted again")
        if depth == 0:
            for name in sorted(inner.keys() - _referred(trajectory)):
                talk.unread.append(f"sub-agent trajectory {name!r}, which no result refers to: {shown(inner[name])}")

    def _step(self, talk: Conversation, position: int, step: Mapping[str, Any], inner: Inner, depth: int) -> None:
        at = step.get("timestamp") if isinstance(step.get("timestamp"), str) else None
        who = _SPEAKERS.get(step["source"], step["source"])
        talk.say(who, step.get("reasoning_content"), kind="thought", at=at)
        talk.say(who, step.get("message"), at=at)
        asked: list[tuple[Any, Any, Any]] = []
        for call in listed(step.get("tool_calls")):
            if isinstance(call, Mapping):
                name, call_id = recorded(self._find("name", call)), recorded(self._find("call_id", call))
                asked.append((name, self._find("arguments", call), call_id))
            else:
                talk.unread.append(f"step {position}, tool call: {shown(call)}")
        talk.calls(asked, at=at)
        results = _results(step)
        if len(results) != len(_all_results(step.get("observation"))):
            talk.unread.append(f"step {position}, observation: {shown(step['observation'])}")
        for result in results:
            self._result(talk, position, result, inner, depth)
        for key in sorted(step.keys() - _PLACED):
            if step[key] not in (None, [], {}, ""):
                talk.unread.append(f"step {position}, {key}: {shown(step[key])}")

    def _result(self, talk: Conversation, position: int, result: Mapping[str, Any], inner: Inner, depth: int) -> None:
        call_id, found = recorded(self._find("reply_to", result)), self._find("result", result)
        content = found if found is NOT_RECORDED else content_of(found)
        if call_id is None:  # what an action without a tool call gave back, or a word from the harness
            talk.say("environment", recorded(content))
        else:
            flag = self._find("failed", result)
            talk.reply(call_id, content, failed=flag if isinstance(flag, bool) else None)
        for ref in _refs(result):
            name = ref.get("trajectory_id")
            child = inner.get(name) if isinstance(name, str) else None
            if child is None or depth >= _DEEPEST:
                talk.unread.append(f"step {position}, trajectory of a sub-agent that is not in this file: {shown(ref)}")
            else:
                self._follow(talk, child, inner, call_id if isinstance(call_id, str) else None, depth + 1)

    def _follow(
        self, talk: Conversation, child: Mapping[str, Any], inner: Inner, parent: str | None, depth: int
    ) -> None:
        """Put the steps of a sub-agent behind the call that began it."""
        about = child.get("agent")
        name = about.get("name") if isinstance(about, Mapping) else None
        sub = Conversation(failure=talk.failure, agent=name if isinstance(name, str) else "sub-agent", parent=parent)
        known = {**inner, **_inner(child)}
        remaining = {key: value for key, value in known.items() if value is not child}  # no file leads us in circles
        self.tell(sub, child, remaining, depth=depth)
        talk.take(sub, after=parent)
        talk.said.append(f"the steps of sub-agent {sub.agent!r} follow the call that began it")


def _all_results(observation: Any) -> list[Any]:
    if observation is None:
        return []
    return listed(observation.get("results")) if isinstance(observation, Mapping) else [observation]


def spent(trajectory: Mapping[str, Any]) -> dict[str, Any]:
    """Return tokens and cost of a trajectory: its own totals, else the sums over its steps."""
    totals = trajectory.get("final_metrics")
    totals = totals if isinstance(totals, Mapping) else {}
    metrics = [s.get("metrics") for s in listed(trajectory.get("steps")) if isinstance(s, Mapping)]
    told = [m for m in metrics if isinstance(m, Mapping)]
    found: dict[str, Any] = {}
    for name, total, each in (
        ("tokens_in", "total_prompt_tokens", "prompt_tokens"),
        ("tokens_out", "total_completion_tokens", "completion_tokens"),
    ):
        counts = [c for m in told if (c := whole_number(m.get(each))) is not None]
        count = whole_number(totals.get(total))
        found[name] = count if count is not None else sum(counts) if counts else None
    costs = [_money(m.get("cost_usd")) for m in told]
    known = [c for c in costs if c is not None]
    total_cost = _money(totals.get("total_cost_usd"))
    found["cost_usd"] = total_cost if total_cost is not None else sum(known) if known else None
    return found


def _money(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
