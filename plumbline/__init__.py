"""Metamorphic conformance testing of LLM agents."""
