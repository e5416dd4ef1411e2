"""Tolerance bands: the agent-equivalence rule as one versioned file, applied to two runs of the same fixtures."""

from plumbline.decide.bands.applying import apply_bands
from plumbline.decide.bands.calibration import AtThreshold, Calibration, calibrate
from plumbline.decide.bands.changes import BandChange, BandChanges, compare_bands
from plumbline.decide.bands.example import example_runs
from plumbline.decide.bands.file import SCHEMA, BandFile, bands_schema, load_bands, parse_bands, sample_bands
from plumbline.decide.bands.granted import refused_fixtures
from plumbline.decide.bands.judged import JudgedPair, example_pairs, read_pairs
from plumbline.decide.bands.noise import NoiseFound
from plumbline.decide.bands.order import judge_order
from plumbline.decide.bands.parts import FIELDS, GROUPS
from plumbline.decide.bands.report import BandReport, FieldDecision
from plumbline.decide.bands.rows import SUITE, VERDICTS, Row
from plumbline.decide.bands.scorers import SCORERS, CachedScorer, EmbeddingScorer, LexicalScorer, Scorer, scorer_named
from plumbline.decide.bands.settings import Setting, compare_setting

__all__ = [
    "FIELDS",
    "GROUPS",
    "SCHEMA",
    "SCORERS",
    "SUITE",
    "VERDICTS",
    "AtThreshold",
    "BandChange",
    "BandChanges",
    "BandFile",
    "BandReport",
    "CachedScorer",
    "Calibration",
    "EmbeddingScorer",
    "FieldDecision",
    "JudgedPair",
    "LexicalScorer",
    "NoiseFound",
    "Row",
    "Scorer",
    "Setting",
    "apply_bands",
    "bands_schema",
    "calibrate",
    "compare_bands",
    "compare_setting",
    "example_pairs",
    "example_runs",
    "judge_order",
    "load_bands",
    "parse_bands",
    "read_pairs",
    "refused_fixtures",
    "sample_bands",
    "scorer_named",
]
