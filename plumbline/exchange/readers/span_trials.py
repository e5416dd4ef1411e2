"""One trial of the spans of one trace."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from plumbline.exchange.drafts import Labels, TrialDraft
from plumbline.exchange.readers.span import Span, iso_time
from plumbline.exchange.readers.span_calls import failure_of, merge_calls, read_call
from plumbline.exchange.readers.span_columns import Lookup
from plumbline.exchange.readers.span_kinds import AGENT, MODEL, OTHER, TOOL
from plumbline.exchange.readers.span_messages import talk_of
from plumbline.exchange.readers.span_order import ordered
from plumbline.exchange.readers.span_story import Story
from plumbline.exchange.readers.span_tree import Node, Tree, tree_of
from plumbline.exchange.readers.span_where import Where
from plumbline.exchange.readers.texts import whole_number

__all__ = ["by_trace", "is_trajectory", "trial_of"]


_LABELS = frozenset(("arm", "task", "family", "perturbation", "variant", "repetition"))


def by_trace(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return spans by trace id, in order of appearance."""
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    return traces


def trial_of(trace_id: str, spans: Sequence[Span], lookup: Lookup, *, source: str) -> tuple[TrialDraft, bool]:
    """Return the trial that the spans of one trace tell, and whether the trace is whole.

    Parameters
    ----------
    trace_id : str
    spans : sequence of Span
        All of this trace.
    lookup : Lookup
        Which attributes mean what.
    source : str
        Name of the file.

    Returns
    -------
    tuple of TrialDraft and bool
        Whole means that a root is there and the parent of every span.
    """
    tree = tree_of(spans, lookup)
    for node in tree.nodes:
        if node.kind == TOOL:
            read_call(node)
    tree.said += merge_calls(tree.nodes)
    _listen(tree.nodes)
    nodes = [node for node in tree.nodes if node.kind != OTHER and node.merged is None]
    where = Where(tree.nodes)
    in_order, evidence, said = ordered(nodes)
    story = Story(in_order, lookup, where)
    trial = TrialDraft(
        source=f"{source}: trace {trace_id}", steps=story.steps,
        order_evidence=evidence if sum(step.kind == "tool_call" for step in story.steps) > 1 else "causal",
        prompt=story.prompt, final_output=story.final, unread=[*tree.unread, *story.unread],
        said=[*tree.said, *said, *story.said()],
    )  # fmt: skip
    _describe(trial, trace_id, tree, where, lookup)
    return trial, tree.whole


def is_trajectory(trial: TrialDraft) -> bool:
    """Say whether a trace holds anything that an agent did or was asked."""
    return bool(trial.steps or trial.prompt or trial.final_output or trial.model)


def _listen(nodes: Sequence[Node]) -> None:
    """Read messages where models spoke; of agents only where no model's messages are recorded."""
    heard = False
    for node in nodes:
        if node.kind == MODEL:
            node.talk = talk_of(node.span)
            heard = heard or bool(node.talk)
    if heard:
        return
    for node in nodes:
        if node.kind in (AGENT, OTHER) and not any(above.talk for above in node.above()):
            talk = talk_of(node.span)
            if node.kind == AGENT and talk:
                node.talk = talk


def _describe(trial: TrialDraft, trace_id: str, tree: Tree, where: Where, lookup: Lookup) -> None:
    nodes = tree.nodes
    roots = [node for node in nodes if node.over is None] or list(nodes[:1])
    trial.labels = _labels(roots, nodes, where, lookup)
    there = set().union(*(node.fields for node in nodes))
    models = _models(nodes) if "model" in there else Counter()
    if models:
        trial.model = models.most_common(1)[0][0]
        if len(models) > 1:
            listed = ", ".join(f"{name} ×{count}" for name, count in models.most_common())
            trial.said.append(f"several models answered; the trial names the most frequent: {listed}")
    trial.tokens_in, trial.tokens_out, trial.cost_usd = (
        _sum(nodes, field) if field in there else None for field in ("tokens_in", "tokens_out", "cost")
    )
    starts = [node.span.start for node in nodes if node.span.start is not None]
    ends = [node.span.end for node in nodes if node.span.end is not None]
    if starts:
        trial.started_at = iso_time(min(starts))
        if ends and max(ends) >= min(starts):
            trial.latency_ms = (max(ends) - min(starts)) / 1e6
    _frame(trial, roots)
    shared = {id(node.span.resource): node.span.resource for node in nodes}
    trial.attributes = ChainMap(
        {"trace_id": trace_id}, *(node.span.attributes for node in roots), *shared.values(),
        *(node.span.attributes for node in nodes),
    )  # fmt: skip


def _models(nodes: Sequence[Node]) -> Counter[str]:
    """Return how often each model answered: as the calls of models say it, else as any span does."""
    told = Counter(n.fields["model"] for n in nodes if n.kind == MODEL and isinstance(n.fields.get("model"), str))
    return told or Counter(n.fields["model"] for n in nodes if isinstance(n.fields.get("model"), str))


def _frame(trial: TrialDraft, roots: Sequence[Node]) -> None:
    """Fill in what the outermost spans say of the whole: input and output where no message told them, and failure."""
    for node in roots:
        if node.kind == TOOL:
            continue
        for field, name in (("input", "prompt"), ("output", "final_output")):
            found = node.fields.get(field)
            if getattr(trial, name) is None and isinstance(found, str) and found:
                setattr(trial, name, found)
        failure = failure_of(node)
        if failure is not None:
            trial.status = "agent_error"
            trial.error = ": ".join(filter(None, failure)) or "the outermost span failed"


def _labels(roots: Sequence[Node], nodes: Sequence[Node], where: Where, lookup: Lookup) -> Labels:
    found: dict[str, Any] = {}
    told = [node.fields for node in roots]
    told += [lookup.fields(found) for found in {id(n.span.resource): n.span.resource for n in roots}.values() if found]
    for fields in told:
        if fields:
            for name in _LABELS & fields.keys():
                found.setdefault(name, fields[name])
    agent = next((where.agent(node) for node in nodes if node.kind == AGENT), None)
    texts = {name: found[name] if isinstance(found.get(name), str) and found[name] else None
             for name in ("arm", "task", "family", "perturbation", "variant")}  # fmt: skip
    texts["arm"] = texts["arm"] or agent
    return Labels(**texts, repetition=whole_number(found.get("repetition")))


def _sum(nodes: Sequence[Node], field: str) -> Any:
    """Add up over model calls, each once: a model call inside another that counted is the same call told twice."""
    counted = [node for node in nodes if node.kind == MODEL and _number(node, field) is not None]
    own = {id(node) for node in counted}
    outer = [node for node in counted if not any(id(above) in own for above in node.above())]
    if not outer:
        outer = [node for node in nodes if node.kind == AGENT and _number(node, field) is not None][:1]
    values = [_number(node, field) for node in outer]
    return sum(value for value in values if value is not None) if values else None


def _number(node: Node, field: str) -> Any:
    value = node.fields.get(field)
    if field == "cost":
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return None
        cost = float(value)
        return cost if abs(cost) < 1e9 else None
    return whole_number(value)
