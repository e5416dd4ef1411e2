"""Estimates from plain arrays: this floor sees counts and cluster labels, nothing else."""
