"""Conversations: who said what, which calls were asked for together, and which reply belongs to which call.

Every message format comes through here. A call keeps the place at which it was asked for; its reply is joined by id,
never by position, and a reply that belongs to no open call is kept as unread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from plumbline.exchange.arguments import read_arguments, read_result, read_text
from plumbline.exchange.drafts import Labels, StepDraft, TrialDraft, Unreadable
from plumbline.exchange.readers.texts import shown, words_of

__all__ = ["UNNAMED", "Conversation", "Failed", "FailureRule", "error_field", "storable"]

UNNAMED = "(unnamed)"
"""Name of a call whose tool the trace does not name; the step says so in ``unread`` too."""


class Failed(NamedTuple):
    """How a reply says that its call failed."""

    error_type: str | None
    error: str


FailureRule = Callable[[Any], Failed | None]
"""Reads a result and says whether it is the report of a failure; for formats whose replies carry no flag."""


def error_field(result: Any) -> Failed | None:
    """Take an object with a filled ``error`` field, or ``isError`` set, for the report of a failure.

    Examples
    --------
    >>> error_field({"error": {"type": "not_found", "message": "no such order"}})
    Failed(error_type='not_found', error='no such order')
    >>> error_field({"error": None, "total": 3}) is None
    True
    """
    if not isinstance(result, Mapping):
        return None
    found = result.get("error")
    if isinstance(found, str) and found.strip():
        return Failed(None, found)
    if isinstance(found, Mapping) and found:
        kind, words = found.get("type"), found.get("message")
        return Failed(kind if isinstance(kind, str) else None, words if isinstance(words, str) else shown(found))
    if found is True or result.get("isError") is True or result.get("is_error") is True:
        return Failed(None, words_of(result.get("content", result.get("message"))) or shown(result))
    return None


def storable(values: Mapping[str, Any], what: str, unread: list[str]) -> dict[str, Any]:
    """Return the fields of an object that a run can store; the others go to `unread`, with their reason.

    Examples
    --------
    >>> lost: list[str] = []
    >>> storable({"reward": 1, "note": float("nan")}, "outcome", lost), lost
    ({'reward': 1}, ['outcome.note: NaN: NaN'])
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = read_text(key) if isinstance(key, str) else Unreadable(shown(key), "a key that is not text")
        read = read_text(value) if isinstance(value, str) else read_result(value)
        if isinstance(name, str) and not isinstance(read, Unreadable):
            found[name] = read
        else:
            fault = name if isinstance(name, Unreadable) else read
            unread.append(f"{what}.{key}: {getattr(fault, 'reason', 'not text')}: {getattr(fault, 'text', fault)}")
    return found


class Conversation:
    """Steps of one trajectory, told in message order.

    Parameters
    ----------
    failure : FailureRule, optional
        Applied to replies that do not say themselves whether the call failed.
    agent : str, optional
        Who makes the calls, for a sub-agent.
    parent : str, optional
        Id of the call within which all this happens.

    Examples
    --------
    >>> talk = Conversation()
    >>> talk.say("user", "Two quotes, please")
    >>> talk.calls([("quote", {"sym": "AB"}, "a"), ("quote", {"sym": "CD"}, "b")])
    >>> talk.reply("b", "7.00"), talk.reply("a", "12.50")
    (None, None)
    >>> [(s.call_id, s.result, s.group) for s in talk.steps if s.kind == "tool_call"]
    [('a', '12.50', 0), ('b', '7.00', 0)]
    """

    def __init__(
        self, *, failure: FailureRule | None = None, agent: str | None = None, parent: str | None = None
    ) -> None:
        self.steps: list[StepDraft] = []
        self.unread: list[str] = []
        self.said: list[str] = []
        self.prompt: str | None = None
        self.final: str | None = None
        self.failure, self.agent, self._parent = failure, agent, parent
        self._open: list[StepDraft] = []
        self._groups = 0
        self._by_rule = 0

    def say(
        self, who: str, content: Any, *, kind: str = "message", name: str | None = None, at: str | None = None
    ) -> None:
        """Record what somebody said, one step for each block of it; nothing for no words.

        Parameters
        ----------
        who : str
            ``user``, ``assistant``, ``system`` or another role.
        content : object
            Text, a block, a list of blocks, or None.
        kind : str
            ``message`` or ``thought``.
        name : str, optional
            A name to use in place of the role, for one of several agents.
        at : str, optional
            When, ISO 8601.
        """
        blocks = content if isinstance(content, list) else [content]
        name = name or (self.agent if who == "assistant" else None)
        texts = []
        for block in blocks:
            text = words_of(block)
            value = text if text is not None else block
            if value is None or value == "" or value == []:
                continue
            if text is not None:
                texts.append(text)
            spoken = read_text(value) if isinstance(value, str) else read_result(value)
            self.steps.append(
                StepDraft(kind=kind, result=spoken, agent=name or who, parent_call_id=self._parent, started_at=at)
            )
        if texts and kind == "message":
            if who == "user" and self.prompt is None:
                self.prompt = "\n".join(texts)
            elif who == "assistant":
                self.final = "\n".join(texts)

    def calls(self, asked: Sequence[tuple[Any, Any, Any]], *, at: str | None = None, agent: str | None = None) -> None:
        """Record calls asked for together: name, arguments as found, and id of each."""
        if asked:
            group = self.turn()
            for name, arguments, call_id in asked:
                self.call(name, arguments, call_id, group=group, at=at, agent=agent)

    def turn(self) -> int:
        """Return the number of a new group of calls."""
        self._groups += 1
        return self._groups - 1

    def call(
        self,
        name: Any,
        arguments: Any,
        call_id: Any,
        *,
        group: int | None = None,
        at: str | None = None,
        agent: str | None = None,
    ) -> StepDraft:
        """Record one call, not answered so far."""
        step = StepDraft(
            kind="tool_call", name=name if isinstance(name, str) and name else UNNAMED,
            arguments=read_arguments(arguments), status="no_result", group=group, call_id=_text(call_id),
            parent_call_id=self._parent, agent=agent or self.agent, started_at=at,
        )  # fmt: skip
        if step.name != name:
            step.unread.append(f"name: {'absent' if name is None else shown(name)}")
        self.steps.append(step)
        self._open.append(step)
        return step

    def reply(
        self,
        call_id: Any,
        found: Any,
        *,
        name: str | None = None,
        failed: bool | None = None,
        error_type: str | None = None,
        error: str | None = None,
        at: str | None = None,
    ) -> None:
        """Join a reply to its call.

        Parameters
        ----------
        call_id : str or None
            Of the call; None if the format gives none, then the tool's name or being the only open call decides.
        found : object
            The result as it stands.
        name : str, optional
            Of the tool.
        failed : bool, optional
            What the reply itself says; None if it has no word for it, then the rule for failures is asked.
        error_type, error : str, optional
            What the reply itself says of the failure.
        at : str, optional
            When, ISO 8601.
        """
        step = self._asked(_text(call_id), name)
        if step is None:
            self.unread.append(f"reply to call {call_id!r}, which is not open: {shown(found)}")
            return
        self._open.remove(step)
        step.result, step.ended_at = read_result(found), at
        if name is not None and name != step.name:
            step.unread.append(f"reply names the tool {name!r}")
        report = Failed(error_type, error or words_of(found) or shown(found)) if failed else None
        if failed is None and self.failure is not None:
            report = self.failure(step.result)
            self._by_rule += report is not None
        step.status = "failed" if report else "ok"
        if report:
            step.error_type, step.error = report

    def _asked(self, call_id: str | None, name: str | None) -> StepDraft | None:
        """Return the open call a reply is for: the first of that id in the latest turn that holds one."""
        if call_id is not None:
            fitting = [step for step in self._open if step.call_id == call_id]
        else:
            fitting = [step for step in self._open if name is None or step.name == name]
            if name is None and len(fitting) > 1:
                return None
        if not fitting:
            return None
        latest = fitting[-1].group
        return next(step for step in fitting if step.group == latest)

    def take(self, inner: Conversation, *, after: str | None) -> None:
        """Put a sub-agent's steps behind the call with the id ``after`` and what was put there before, else at the end.

        Its groups get numbers of their own; what it said is not what this conversation's user or agent said.
        """
        for step in inner.steps:
            step.group = None if step.group is None else step.group + self._groups
        self._groups += inner._groups
        at = len(self.steps)
        if after is not None:
            mine = [i for i, step in enumerate(self.steps) if after in (step.call_id, step.parent_call_id)]
            at = mine[-1] + 1 if mine else at
        self.steps[at:at] = inner.steps
        self._open += inner._open
        self.unread += inner.unread
        self.said += inner.said
        self._by_rule += inner._by_rule

    def put(self, inner: Conversation, *, after: str | None) -> None:
        """Put steps behind the call with the id ``after``, at the front if it is None, at the end if it is lost."""
        at = 0 if after is None else len(self.steps)
        if after is not None:
            at = next((i + 1 for i in reversed(range(len(self.steps))) if self.steps[i].call_id == after), at)
        self.steps[at:at] = inner.steps

    def trial(self, source: str, *, labels: Labels | None = None, **more: Any) -> TrialDraft:
        """Return the trial: its prompt is the first thing a user said, its final output the last an assistant said."""
        said = [*self.said, *more.pop("said", ())]
        if self._by_rule:
            said.append(
                f"{self._by_rule} calls are failed because their result reports an error; the format has no flag"
            )
        more.setdefault("prompt", self.prompt)
        more.setdefault("final_output", self.final)
        unread = [*self.unread, *more.pop("unread", ())]
        for what in ("outcome", "context"):
            if more.get(what) is not None:
                more[what] = storable(more[what], what, unread)
        return TrialDraft(
            source=source, labels=labels or Labels(), steps=self.steps, said=said,
            unread=unread, **more,
        )  # fmt: skip


def _text(call_id: Any) -> str | None:
    return call_id if call_id is None or isinstance(call_id, str) else shown(call_id)
