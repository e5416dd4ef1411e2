"""The steps of one trace: what was said, which calls were asked for, which spans carried them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from plumbline.exchange.arguments import read_arguments, read_result, read_text
from plumbline.exchange.drafts import NOT_RECORDED, StepDraft, Unreadable
from plumbline.exchange.readers.message_shapes import Message, Part
from plumbline.exchange.readers.span import iso_time
from plumbline.exchange.readers.span_calls import failure_of, same_arguments, step_of
from plumbline.exchange.readers.span_columns import Lookup
from plumbline.exchange.readers.span_kinds import AGENT, MODEL, TOOL, tool_name_of
from plumbline.exchange.readers.span_tree import Node
from plumbline.exchange.readers.span_where import Where
from plumbline.exchange.readers.texts import shown, words_of
from plumbline.exchange.readers.turns import UNNAMED, error_field

__all__ = ["Story"]


class Story:
    """Steps told by nodes in order.

    Parameters
    ----------
    nodes : sequence of Node
        In order; merged ones are left out.
    lookup : Lookup
        Which attributes mean what.
    where : Where
        Which agent and which call each node is inside.
    """

    def __init__(self, nodes: Sequence[Node], lookup: Lookup, where: Where) -> None:
        self.steps: list[StepDraft] = []
        self.unread: list[str] = []
        self.prompt: str | None = None
        self.final: str | None = None
        self.repeated = self.earlier = self.by_rule = self.again = self.lost = 0
        self._lookup, self._where = lookup, where
        self._tools = [node for node in nodes if node.kind == TOOL]
        self._claimed: set[int] = set()
        self._by_id: dict[str, StepDraft] = {}
        self._open: list[StepDraft] = []
        self._known: dict[int, list[tuple[Any, ...]]] = {}
        self._heard: set[tuple[Any, ...]] = set()
        self._turns = 0
        self._last: tuple[Node, int] | None = None
        for node in nodes:
            if node.kind == TOOL:
                self._tool(node)
            elif node.kind == AGENT and where.is_called(node):
                self._agent(node)
            if node.talk:
                self._talk(node)

    def said(self) -> list[str]:
        """Return what a reader of the run must know."""
        lines = (
            (self.repeated, "messages that later model calls were given again were dropped"),
            (self.earlier, "messages given as history to the first model call are no steps: nothing here made them"),
            (self.lost, "calls are known only from later history; the model call that made them is not in the trace"),
            (self.again, "calls were carried out again under an id that was carried out before: a retry"),
            (self.by_rule, "calls are failed because the reply given to the model reports an error"),
        )
        return [f"{count} {words}" for count, words in lines if count]

    def _tool(self, node: Node) -> None:
        if id(node) in self._claimed:
            return
        step = self._placed(step_of(node, self._lookup), node)
        if node.call_id is not None:
            self.again += node.call_id in self._by_id
            self._by_id.setdefault(node.call_id, step)
        step.group = self._beside(node)
        self.steps.append(step)

    def _beside(self, node: Node) -> int:
        """Return the turn of a call that no model is seen asking for: calls that overlap under one span share it."""
        if self._last is not None:
            last, group = self._last
            ends = (last.span.end, node.span.start)
            if last.over is node.over and None not in ends and ends[1] < ends[0]:  # type: ignore[operator]
                longer = last if (last.span.end or 0) >= (node.span.end or 0) else node
                self._last = (longer, group)
                return group
        self._last = (node, self._turn())
        return self._last[1]

    def _turn(self) -> int:
        self._turns += 1
        return self._turns - 1

    def _agent(self, node: Node) -> None:
        failure = failure_of(node)
        step = StepDraft(
            kind="agent_call", name=self._where.agent(node), call_id=self._where.call_id(node),
            started_at=iso_time(node.span.start), ended_at=iso_time(node.span.end),
        )  # fmt: skip
        if failure is not None:
            step.status, step.error_type, step.error = "failed", *failure
        self.steps.append(self._placed(step, node, agent=self._where.caller(node)))

    def _placed(self, step: StepDraft, node: Node, *, agent: str | None = None) -> StepDraft:
        step.parent_call_id = self._where.parent(node)
        step.agent = agent or self._where.agent(node)
        return step

    def _talk(self, node: Node) -> None:
        talk = node.talk
        if talk is None:
            return
        self.unread += talk.unread
        place = self._where.place(node)
        first = place not in self._known
        known = self._known.setdefault(place, [])
        fresh = self._fresh(talk.given, known)
        if first and node.kind == MODEL:
            fresh = self._after_history(fresh)
        for message in fresh:
            self._message(message, node, given=True)
        inner = any(above.kind == MODEL for above in node.above())
        said = self._fresh(talk.said, known[-len(talk.said) :] if inner and talk.said else [])
        for message in said:
            known.append(_key(message))
            self._message(message, node, given=False)

    def _fresh(self, given: Iterable[Message], known: list[tuple[Any, ...]]) -> list[Message]:
        """Return the messages that were not told before, in order, and remember them."""
        fresh: list[Message] = []
        at = 0
        told = list(known)
        for message in given:
            key = _key(message)
            try:
                at = told.index(key, at) + 1
                self.repeated += 1
            except ValueError:
                fresh.append(message)
        known += [_key(message) for message in fresh]
        return fresh

    def _after_history(self, fresh: list[Message]) -> list[Message]:
        """Leave out what was said before the trace: everything up to the last answer that no span here gave."""
        ends = [at for at, message in enumerate(fresh) if message.role in ("assistant", "tool") or _replies(message)]
        kept = [message for message in fresh if _key(message) not in self._heard]
        if not ends:
            return kept
        self.earlier += sum(_key(message) not in self._heard for message in fresh[: ends[-1] + 1])
        return [message for message in fresh[ends[-1] + 1 :] if _key(message) not in self._heard]

    def _message(self, message: Message, node: Node, *, given: bool) -> None:
        self._heard.add(_key(message))
        calls = [part for part in message.parts if part.kind == "call"]
        self.lost += sum(given and (part.call_id is None or part.call_id not in self._by_id) for part in calls)
        for part in message.parts:
            if part.kind in ("text", "thought", "other"):
                self._words(part, message.role, node)
            elif part.kind == "reply":
                self._reply(part)
        self._calls(calls, node)
        words = message.words()
        if words and self._where.parent(node) is None:
            if message.role == "user" and self.prompt is None:
                self.prompt = words
            elif message.role == "assistant":
                self.final = words

    def _words(self, part: Part, role: str, node: Node) -> None:
        value = read_text(part.value) if isinstance(part.value, str) else read_result(part.value)
        if value in ("", None):
            return
        step = StepDraft(
            kind="thought" if part.kind == "thought" else "message", result=value, agent=role,
            parent_call_id=self._where.parent(node),
            started_at=iso_time(node.span.end if role == "assistant" else node.span.start),
        )  # fmt: skip
        self.steps.append(step)

    def _calls(self, parts: list[Part], node: Node) -> None:
        group: int | None = None
        for part in parts:
            if part.call_id is not None and part.call_id in self._by_id:
                continue
            group = self._turn() if group is None else group
            step = self._asked(part, node)
            step.group = group
            self.steps.append(step)
            if part.call_id is not None:
                self._by_id[part.call_id] = step
            if step.result is NOT_RECORDED:
                self._open.append(step)

    def _asked(self, part: Part, node: Node) -> StepDraft:
        """Return the step of a call a model asked for, as the span that carried it out tells it, if there is one."""
        arguments = read_arguments(part.value)
        tool = self._carried_out(part, arguments, node)
        if tool is None:
            step = StepDraft(
                kind="tool_call", name=part.name or UNNAMED, arguments=arguments, status="no_result",
                call_id=part.call_id, started_at=iso_time(node.span.end),
            )  # fmt: skip
            if part.name is None:
                step.unread.append("name: absent")
            return self._placed(step, node)
        self._claimed.add(id(tool))
        step = self._placed(step_of(tool, self._lookup), tool)
        step.call_id = step.call_id or part.call_id
        if step.arguments is NOT_RECORDED or isinstance(step.arguments, Unreadable):
            if isinstance(step.arguments, Unreadable):
                step.unread.append(f"arguments, as the tool's span tells them: {step.arguments.text}")
            step.arguments = arguments
        elif not same_arguments(step.arguments, arguments):
            asked = arguments.text if isinstance(arguments, Unreadable) else shown(arguments)
            step.unread.append(f"arguments, as the model asked for them: {asked}")
        return step

    def _carried_out(self, part: Part, arguments: Any, node: Node) -> Node | None:
        free = [tool for tool in self._tools if id(tool) not in self._claimed]
        if part.call_id is not None:
            for tool in free:
                if tool.call_id == part.call_id:
                    return tool
        for tool in free:
            if tool.call_id is not None and part.call_id is not None:
                continue
            same = tool_name_of(tool.span, tool.fields) == part.name and same_arguments(tool.arguments, arguments)
            if same and self._where.place(tool) == self._where.place(node):
                return tool
        return None

    def _reply(self, part: Part) -> None:
        step = self._by_id.get(part.call_id) if part.call_id is not None else None
        if step is None:
            fitting = [s for s in self._open if part.name in (None, s.name) and None in (part.call_id, s.call_id)]
            step = fitting[0] if fitting and (part.name is not None or len(fitting) == 1) else None
        if step is None:
            if part.call_id is None or part.call_id not in {tool.call_id for tool in self._tools}:
                self.unread.append(f"reply to call {part.call_id!r}, which nothing asked for: {shown(part.value)}")
            return
        if step in self._open:
            self._open.remove(step)
        result = read_result(part.value)
        if step.result is NOT_RECORDED:
            step.result = result
        report = error_field(result) if part.failed is None and step.status == "no_result" else None
        if part.failed and step.status != "failed":
            step.status, step.error = "failed", words_of(part.value) or shown(part.value)
        elif report is not None:
            step.status, step.error_type, step.error = "failed", *report
            self.by_rule += 1
        elif step.status == "no_result":
            step.status = "ok"


def _replies(message: Message) -> bool:
    return any(part.kind in ("reply", "call") for part in message.parts)


def _key(message: Message) -> tuple[Any, ...]:
    """Return what history keeps of a message: who spoke, the words, and the ids of calls and replies."""
    parts = []
    for part in message.parts:
        if part.kind in ("call", "reply"):
            parts.append((part.kind, part.call_id) if part.call_id else part.key())
        elif part.kind != "thought":
            parts.append(part.key())
    words = message.words().strip()
    return (message.role, words, *(part for part in parts if part[0] != "text"))
