"""Recorded runs: frames, validation, Arrow run folders."""
