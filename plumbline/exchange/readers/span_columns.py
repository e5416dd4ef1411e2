"""Attribute names by which stacks tell what a span is: data, one list, to which a user can add.

Names of OpenTelemetry GenAI (new, old and before), OpenInference, OpenLLMetry, the Vercel AI SDK, Strands, Google ADK,
pydantic-ai, MLflow and Langfuse stand side by side; which one counts is decided span by span, since one trace may hold
several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.exchange.drafts import NOT_RECORDED
from plumbline.exchange.reader import Column, Reader

__all__ = ["SPAN_COLUMNS", "Lookup", "Shape"]

_MOST_SHAPES = 256


def _entity_input(attributes: Mapping[str, Any]) -> Any:
    """Arguments of a tool as OpenLLMetry writes them: inside the recorded call of the Python function."""
    text = attributes.get("traceloop.entity.input", NOT_RECORDED)
    if not isinstance(text, str):
        return text
    try:
        found = parse_json(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(found, dict) and set(found) == {"args", "kwargs"} and not found["args"]:
        return found["kwargs"]
    if isinstance(found, dict) and "input_str" in found:
        return found["inputs"] if isinstance(found.get("inputs"), dict) else found["input_str"]
    return text


def _tool_parameters(attributes: Mapping[str, Any]) -> Any:
    """``tool.parameters`` unless it is the schema of the parameters, as some write there."""
    found = attributes.get("tool.parameters", NOT_RECORDED)
    schema = found
    if isinstance(found, str) and '"properties"' in found:
        try:
            schema = parse_json(found)
        except (ValueError, RecursionError):
            return found
    if isinstance(schema, dict) and schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        return NOT_RECORDED
    return found


_NEEDS: dict[Any, str] = {_entity_input: "traceloop.entity.input", _tool_parameters: "tool.parameters"}
"""Without this attribute the function finds nothing and need not be asked."""

SPAN_COLUMNS = (
    Column("operation", (
        "gen_ai.operation.name", "openinference.span.kind", "ai.operationId", "traceloop.span.kind", "mlflow.spanType",
        "langfuse.observation.type", "langsmith.span.kind", "llm.request.type", "mcp.method.name",
    ), doc="what a span does; the first word that is known counts"),
    Column("tool_name", (
        "gen_ai.tool.name", "tool.name", "ai.toolCall.name", "gen_ai.tool.call.name", "tool_call.function.name",
        "mcp.tool.name",
    ), doc="name of the tool"),
    Column("arguments", (
        "gen_ai.tool.call.arguments", "tool_arguments", "gen_ai.tool.arguments", "ai.toolCall.args",
        "ai.toolCall.input", "gcp.vertex.agent.tool_call_args", "tool_call.function.arguments", _tool_parameters,
        "gen_ai.tool.input", "gen_ai.tool.call.input", "input.value", _entity_input, "langfuse.observation.input",
        "mlflow.spanInputs",
    ), doc="arguments of a call"),
    Column("result", (
        "gen_ai.tool.call.result", "tool_response", "gen_ai.tool.result", "ai.toolCall.result", "ai.toolCall.output",
        "gcp.vertex.agent.tool_response", "gen_ai.tool.output", "gen_ai.tool.call.output", "gen_ai.tool.message",
        "tool.result", "output.value", "traceloop.entity.output", "langfuse.observation.output", "mlflow.spanOutputs",
    ), doc="what a call gave back"),
    Column("call_id", (
        "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id", "tool.id", "tool_call_id", "gen_ai.tool.call_id",
    ), doc="the caller's id of a call"),
    Column("tool_status", ("gen_ai.tool.status", "tool.status"), doc="what the tool said of itself"),
    Column("error_type", ("error.type",), doc="class of a failure"),
    Column("error", ("error.message", "gen_ai.tool.error"), doc="failure in words"),
    Column("agent", (
        "gen_ai.agent.name", "agent.name", "agent_name", "gcp.vertex.agent.name", "graph.node.id",
        "ai.telemetry.functionId",
    ), doc="name of an agent"),
    Column("entity", ("traceloop.entity.name",), doc="name of a tool or agent where nothing else names it"),
    Column("model", (
        "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.response.model", "ai.model.id",
        "llm.request.model", "langfuse.observation.model.name", "model_name",
    ), doc="model that answered"),
    Column("tokens_in", (
        "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.inputTokens",
        "ai.usage.promptTokens", "llm.usage.prompt_tokens",
    ), doc="input tokens of one model call"),
    Column("tokens_out", (
        "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
        "ai.usage.outputTokens", "ai.usage.completionTokens", "llm.usage.completion_tokens",
    ), doc="output tokens of one model call"),
    Column("cost", ("gen_ai.usage.cost", "llm.cost.total", "operation.cost"), doc="cost of one model call"),
    Column("input", (
        "gen_ai.prompt", "input.value", "ai.prompt", "traceloop.entity.input", "langfuse.observation.input",
        "langfuse.trace.input", "mlflow.spanInputs", "prompt",
    ), doc="what an agent was given"),
    Column("output", (
        "final_result", "gen_ai.completion", "output.value", "ai.response.text", "traceloop.entity.output",
        "langfuse.observation.output", "langfuse.trace.output", "mlflow.spanOutputs",
    ), doc="what an agent gave back"),
    Column("arm", ("plumbline.arm",), doc="arm, as plumbline writes it"),
    Column("task", ("plumbline.task",), doc="task, as plumbline writes it"),
    Column("family", ("plumbline.family",), doc="family, as plumbline writes it"),
    Column("perturbation", ("plumbline.perturbation",), doc="perturbation, as plumbline writes it"),
    Column("variant", ("plumbline.variant",), doc="variant, as plumbline writes it"),
    Column("repetition", ("plumbline.repetition",), doc="repetition, as plumbline writes it"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """What attributes of some names mean, whatever their values.

    Parameters
    ----------
    fields : list of (str, str)
        Each field that is there, and the first of its names.
    ranks : dict
        Of each field, which of its names that is.
    words : list of str
        Names of what every dialect calls the span, in the order of the column ``operation``.
    others : list of str
        Names that no column knows.
    """

    fields: list[tuple[str, str]]
    ranks: dict[str, int]
    words: list[str]
    others: list[str]


class Lookup:
    """Finds every field of one span in one pass over its attributes.

    Examples
    --------
    >>> reader = Reader("r", "R", SPAN_COLUMNS, lambda s: None, lambda s, r: [])
    >>> sorted(Lookup(reader).fields({"tool_arguments": "{}", "gen_ai.tool.name": "pay", "x": 1}).items())
    [('arguments', '{}'), ('tool_name', 'pay')]
    """

    def __init__(self, reader: Reader) -> None:
        self._rank: dict[str, list[tuple[str, int]]] = {}
        self._callables: list[tuple[str, int, str | None, Any]] = []
        self._shapes: dict[tuple[str, ...], Shape] = {}
        for column in reader.columns:
            for rank, path in enumerate(column.paths):
                if isinstance(path, str):
                    self._rank.setdefault(path, []).append((column.field, rank))
                else:
                    self._callables.append((column.field, rank, _NEEDS.get(path), path))

    def fields(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that are there, each from the first of its names."""
        return self.fields_and_words(attributes)[0]

    def fields_and_words(self, attributes: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        """Return the fields, and what every dialect calls the span, in the order of the column ``operation``."""
        shape = self.shape(attributes)
        found = {field: attributes[name] for field, name in shape.fields}
        ranks = shape.ranks
        for field, rank, needs, function in self._callables:
            if (needs is None or needs in attributes) and rank < ranks.get(field, 1_000):
                value = function(attributes)
                if value is not NOT_RECORDED:
                    found[field], ranks = value, {**ranks, field: rank}
        return found, [attributes[name] for name in shape.words]

    def shape(self, attributes: Mapping[str, Any]) -> Shape:
        """Return what the names of attributes mean; spans of one kind share it."""
        names = tuple(attributes)
        shape = self._shapes.get(names)
        if shape is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[names] = self._shape(names)
        return shape

    def _shape(self, names: tuple[str, ...]) -> Shape:
        chosen: dict[str, tuple[int, str]] = {}
        words: list[tuple[int, str]] = []
        for name in names:
            for field, rank in self._rank.get(name, ()):
                if field == "operation":
                    words.append((rank, name))
                if rank < chosen.get(field, (1_000, ""))[0]:
                    chosen[field] = rank, name
        return Shape(
            [(field, name) for field, (_, name) in chosen.items()],
            {field: rank for field, (rank, _) in chosen.items()},
            [name for _, name in sorted(words)],
            [name for name in names if name not in self._rank],
        )
