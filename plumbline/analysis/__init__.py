"""Counts with their denominators: k of n, by what, with exposure and missing runs."""
