"""Deterministic checks of what may change beside the wording: remarks, spelling of values, tools, settings, faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.rules.findings import Finding
from plumbline.rules.guard_text import PRESERVED, compare_texts, hidden_characters
from plumbline.rules.layouts import find_blocks
from plumbline.rules.lexicon import actions_in, classes_in, content_words, words
from plumbline.rules.readings import masked, read
from plumbline.rules.schemas import same_calls, schema_problems
from plumbline.rules.task_view import TaskView
from plumbline.rules.variants import Variant

__all__ = ["PART_CHECKS", "formats_changed", "layout_changed", "remark_findings", "remarks_changed"]

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_PROCESS = frozenset(
    words(
        "you your yours yourself please remember note beware reminder instruction instructions rule rules policy "
        "policies prompt message messages task tasks agent assistant model tool tools step steps process procedure "
        "check checks deadline overdue late slow slower priority wait attention important careful sure ensure always"
    )
)


def remark_findings(remark: str, task: TaskView) -> list[Finding]:
    """Return why a remark may not stand beside a task: it touches the task, or tells the agent what to do.

    Parameters
    ----------
    remark : str
        One or more sentences.
    task : TaskView
        The task; the words of its prompt and of its tools are the task's words.

    Returns
    -------
    list of Finding
        Empty if the remark is beside the point, as it should be.

    Examples
    --------
    >>> task = TaskView(id="T", prompt="Pay invoice INV-1.")
    >>> [f.code for f in remark_findings("The invoice can be left for later.", task)]
    ['remark_touches_task', 'remark_instructs']
    """
    found = []
    readings = read(remark)
    if facts := [reading.text for reading in readings.found if not reading.soft]:
        found.append(Finding("remark_touches_task", f"{remark!r} states {facts[0]!r}, which could be taken for a fact"))
    elif shared := sorted(content_words(remark) & _task_words(task)):
        found.append(Finding("remark_touches_task", f"{remark!r} shares {shared[0]!r} with the task or its tools"))
    plain = masked(readings)
    told = set(classes_in(plain)) & {"must", "should", "urgent", "unhurried", "skip", "instead", "only", "unless"}
    told |= actions_in(plain) | (set(re.findall(r"\w+", plain)) & _PROCESS)
    if told:
        found.append(Finding("remark_instructs", f"{remark!r} speaks of how to act ({sorted(told)[0]!r})"))
    if hidden := hidden_characters(remark):
        found.append(Finding("hidden_text", f"the remark holds {sorted(hidden)[0]}"))
    return found


def _task_words(task: TaskView) -> frozenset[str]:
    told = [task.prompt or "", *task.facts.all]
    for tool in (*task.tools, *task.decoys):
        told += [tool.name.replace("_", " "), tool.description]
        for name, schema in tool.parameters.get("properties", {}).items():
            told += [name.replace("_", " "), schema.get("description", "") if isinstance(schema, Mapping) else ""]
    return content_words(" ".join(told))


def remarks_changed(original: str, prompt: str, task: TaskView) -> Iterator[Finding]:
    """Yield what is wrong with a prompt that should be the original with remarks around it."""
    if prompt.count(original) != 1:
        yield Finding("original_gone", "the prompt does not hold the original word for word, once")
        return
    before, _, after = prompt.partition(original)
    remarks = [match[0].strip() for part in (before, after) for match in _SENTENCE.finditer(part) if match[0].strip()]
    if not remarks:
        yield Finding("no_remark", "nothing but white space was added")
    for remark in remarks:
        yield from remark_findings(remark, task)


def formats_changed(original: str, prompt: str, task: TaskView) -> Iterator[Finding]:
    """Yield what differs once every amount, date and time is replaced by its exact value."""
    if _exact(original) != _exact(prompt):
        yield from (f for f in compare_texts(original, prompt, facts=task.facts) if f.code != "unchanged")
        yield Finding("wording_changed", "more differs than the spelling of amounts, dates and times")


def _exact(text: str) -> str:
    readings = read(text)
    parts, place = [], 0
    for reading in readings.found:
        if reading.kind in ("quantity", "date", "time"):
            parts += [text[place : reading.start], f"<{reading.kind} {reading.key}>"]
            place = reading.end
    return " ".join("".join([*parts, text[place:]]).split())


def layout_changed(original: str, prompt: str, task: TaskView) -> Iterator[Finding]:
    """Yield what differs once the structured data in a prompt is written in one layout."""
    first, second = ([canonical_json(b.value) for b in find_blocks(text)] for text in (original, prompt))
    if first != second:
        yield Finding("value_changed", f"structured data read {first} and now reads {second}")
    elif _around(original) != _around(prompt):
        yield Finding("wording_changed", "the text around the structured data differs")


def _around(text: str) -> str:
    for block in reversed(find_blocks(text)):
        text = text[: block.start] + "\0" + text[block.end :]
    return " ".join(text.split())


def _decoys(original: Variant, variant: Variant, task: TaskView, _: Mapping[str, Any]) -> Iterator[Finding]:
    real, known = {tool.name for tool in task.tools}, {tool.name for tool in task.decoys}
    for name in variant.decoys:
        if name in real:
            yield Finding("tool_shadowed", f"decoy {name!r} is a real tool")
        elif name not in known:
            yield Finding("unknown_tool", f"decoy {name!r} is not one of the domain's: {sorted(known)}")
    yield from _satisfiable(tool.parameters for tool in task.decoys if tool.name in variant.decoys)


def _order(original: Variant, variant: Variant, task: TaskView, _: Mapping[str, Any]) -> Iterator[Finding]:
    real = {tool.name for tool in task.tools}
    if variant.tool_order and set(variant.tool_order) not in (real, real | set(variant.decoys)):
        yield Finding("order_incomplete", f"the order {list(variant.tool_order)} is not one of {sorted(real)}")


def _descriptions(original: Variant, variant: Variant, task: TaskView, _: Mapping[str, Any]) -> Iterator[Finding]:
    told = {tool.name: tool.description for tool in (*task.tools, *task.decoys)} | dict(original.tool_descriptions)
    for name, text in variant.tool_descriptions.items():
        if name not in told:
            yield Finding("unknown_tool", f"{name!r} has a description and is not on offer")
        elif text != told[name]:
            for finding in compare_texts(told[name], text, preserve=PRESERVED):
                yield Finding(finding.code, f"description of {name!r}: {finding.found}")


def _schemas(original: Variant, variant: Variant, task: TaskView, _: Mapping[str, Any]) -> Iterator[Finding]:
    own = {tool.name: tool.parameters for tool in (*task.tools, *task.decoys)}
    for name, schema in variant.tool_parameters.items():
        if name not in own:
            yield Finding("unknown_tool", f"{name!r} has a schema and is not on offer")
        elif not same_calls(own[name], schema):
            yield Finding("schema_changed", f"{name!r} would accept other calls than before")
    yield from _satisfiable(variant.tool_parameters.values())


def _satisfiable(schemas: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    for schema in schemas:
        yield from (Finding("schema_unsatisfiable", problem) for problem in schema_problems(schema))


def _sampling(original: Variant, variant: Variant, _: TaskView, default: Mapping[str, Any]) -> Iterator[Finding]:
    """Settings must be shown to differ from what is sent without them, else the variant is the baseline once more."""
    unknown = [name for name in variant.sampling if name not in default]
    if unknown:
        yield Finding(
            "equals_default", f"the provider's default of {unknown} is not stated, so a difference cannot be shown"
        )
    elif dict(default) | dict(original.sampling) == dict(default) | dict(variant.sampling):
        yield Finding("equals_default", f"{dict(variant.sampling)} is what is sampled with anyway ({dict(default)})")


def _fault(original: Variant, variant: Variant, task: TaskView, _: Mapping[str, Any]) -> Iterator[Finding]:
    if variant.fault is None:
        return
    for name in ("tool", "error"):
        if not isinstance(variant.fault.get(name), str) or not variant.fault[name]:
            yield Finding("fault_malformed", f"the fault {dict(variant.fault)} does not name its {name}")
            return
    if variant.fault["tool"] not in {tool.name for tool in task.tools}:
        yield Finding(
            "unknown_tool", f"the fault is to strike {variant.fault['tool']!r}, which is not a tool of the task"
        )


PartCheck = Callable[[Variant, Variant, TaskView, Mapping[str, Any]], Iterator[Finding]]
PART_CHECKS: Mapping[str, PartCheck] = {
    "decoys": _decoys, "tool_order": _order, "tool_descriptions": _descriptions, "tool_parameters": _schemas,
    "sampling": _sampling, "fault": _fault,
}  # fmt: skip
"""Field of a variant to the check of its change."""
