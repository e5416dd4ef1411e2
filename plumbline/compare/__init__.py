"""Typed arguments and alignment of traces."""
