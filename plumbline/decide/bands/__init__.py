"""Tolerance bands: the agent-equivalence rule as one versioned file, applied to two runs of the same fixtures."""

from plumbline.decide.bands.file import SCHEMA, BandFile, bands_schema, load_bands, parse_bands, sample_bands
from plumbline.decide.bands.parts import FIELDS, GROUPS
from plumbline.decide.bands.settings import Setting, compare_setting

__all__ = [
    "FIELDS",
    "GROUPS",
    "SCHEMA",
    "BandFile",
    "Setting",
    "bands_schema",
    "compare_setting",
    "load_bands",
    "parse_bands",
    "sample_bands",
]
