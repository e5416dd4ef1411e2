"""What a span is: a tool call, a call of a model, an agent, or something that is no step."""

from __future__ import annotations

from typing import Any

from plumbline.exchange.readers.span import Span

__all__ = ["AGENT", "MODEL", "OTHER", "TOOL", "kind_of", "tool_name_of"]

TOOL, MODEL, AGENT, OTHER = "tool", "model", "agent", "other"

_WORDS = {
    **dict.fromkeys((
        "execute_tool", "execute_tool_call", "tool", "function", "tool_call", "ai.toolcall", "tools/call",
    ), TOOL),
    **dict.fromkeys((
        "chat", "text_completion", "generate_content", "completion", "llm", "generation", "chat_model", "call_llm",
        "ai.generatetext.dogenerate", "ai.streamtext.dostream", "ai.generateobject.dogenerate",
        "ai.streamobject.dostream", "responses", "model", "chat.completions",
    ), MODEL),
    **dict.fromkeys((
        "invoke_agent", "agent", "ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject",
        "invoke_swarm", "invoke_graph",
    ), AGENT),
    **dict.fromkeys((
        "create_agent", "embeddings", "embedding", "retrieval", "retriever", "reranker", "chain", "workflow", "task",
        "invoke_workflow", "guardrail", "evaluator", "parser", "memory", "span", "event", "unknown", "execute_node",
        "initialize", "tools/list", "prompt", "plan",
    ), OTHER),
}  # fmt: skip
_MERGED = "(merged tools)"
_MERGED_SPAN = f"execute_tool {_MERGED}"
"""Google ADK writes one more span over the calls it made in parallel."""


def kind_of(span: Span, fields: dict[str, Any], operations: list[Any]) -> str:
    """Return the kind of a span from the first word that is known, else from what it holds.

    Parameters
    ----------
    span : Span
    fields : dict
        As ``Lookup.fields_and_words`` returns them.
    operations : list
        As ``Lookup.fields_and_words`` returns them.
    """
    if fields.get("tool_name") == _MERGED or span.name == _MERGED_SPAN:
        return OTHER
    weak = None
    for word in operations:
        known = (_WORDS.get(word) or _WORDS.get(word.strip('"').lower())) if isinstance(word, str) else None
        if known is not None and (known != OTHER or weak is None):
            if known != OTHER:
                return known
            weak = known
    if weak is not None and "tool_name" not in fields:
        return weak
    if "tool_name" in fields and span.name != "chat":
        return TOOL
    if span.name.startswith(("execute_tool ", "tools/call ")):
        return TOOL
    if span.name == "call_llm" or ("tokens_in" in fields and "model" in fields):
        return AGENT if _is_agent(span, fields) and not span.name.startswith(("chat", "call_llm")) else MODEL
    return AGENT if _is_agent(span, fields) else OTHER


def tool_name_of(span: Span, fields: dict[str, Any]) -> str:
    """Return the name of a tool: what names it, else what stands after the verb in the span's name, else that name."""
    for field in ("tool_name", "entity"):
        if isinstance(fields.get(field), str) and fields[field]:
            return str(fields[field])
    for start in ("execute_tool ", "tools/call ", "running tool: "):
        if span.name.startswith(start) and len(span.name) > len(start):
            return span.name[len(start) :]
    return span.name or "(unnamed)"


def _is_agent(span: Span, fields: dict[str, Any]) -> bool:
    return "agent" in fields and span.name.startswith(("agent", "invoke_agent", "agent_run"))
