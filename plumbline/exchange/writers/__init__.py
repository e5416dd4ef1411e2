"""Runs written in the formats of other stacks."""
