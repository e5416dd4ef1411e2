"""Counts with their denominators, arms against themselves and each other, and who met what."""

from plumbline.analysis.agreement import PassTable, SelfAgreement
from plumbline.analysis.consistency import Consistency, Reference, consistency
from plumbline.analysis.equivalence import Equivalence, equivalence
from plumbline.analysis.exposure import as_treated, exposure
from plumbline.analysis.interpreted import interpreted
from plumbline.analysis.pairing import PairedOutcomes, paired_outcomes
from plumbline.analysis.planted import PlantedFault, catches, planted_faults, redundant_rules, survivors
from plumbline.analysis.relations import UNITS, relation_rates
from plumbline.analysis.retirement import PublishedRetirement, published_band
from plumbline.analysis.tallies import BEHAVIOUR, Grade, estimate, graded, one_trial, share, tally
from plumbline.analysis.tampered import OPERATORS, Tampered, TraceFault, tampered_traces
from plumbline.analysis.walks import Definition, Rules

__all__ = [
    "BEHAVIOUR",
    "OPERATORS",
    "UNITS",
    "Consistency",
    "Definition",
    "Equivalence",
    "Grade",
    "PairedOutcomes",
    "PassTable",
    "PlantedFault",
    "PublishedRetirement",
    "Reference",
    "Rules",
    "SelfAgreement",
    "Tampered",
    "TraceFault",
    "as_treated",
    "catches",
    "consistency",
    "equivalence",
    "estimate",
    "exposure",
    "graded",
    "interpreted",
    "one_trial",
    "paired_outcomes",
    "planted_faults",
    "published_band",
    "redundant_rules",
    "relation_rates",
    "share",
    "survivors",
    "tally",
    "tampered_traces",
]
