"""Trace files of other stacks: read into runs, written from them."""
