"""Agents written for other frameworks, recorded without rewriting them."""

from plumbline.running.adapters.functions import function_agent, tool_from_function
from plumbline.running.adapters.langgraph import langgraph_agent
from plumbline.running.adapters.pydantic_ai import pydantic_ai_agent

__all__ = ["function_agent", "langgraph_agent", "pydantic_ai_agent", "tool_from_function"]
