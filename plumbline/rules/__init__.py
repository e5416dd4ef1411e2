"""Invariants and policies, checked on columns."""
