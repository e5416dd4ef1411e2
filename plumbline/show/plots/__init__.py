"""Figures, each in two parts: ``*_data`` is a frame to test, the verb beside it only draws that frame.

Every figure carries a description that says its numbers in words, marks what it tells apart by shape, place or text as
well as by colour, prints n, and shows what cannot be told as a hollow mark with words, never as zero.
"""

from plumbline.show.plots.arguments import argument_agreement, argument_agreement_data
from plumbline.show.plots.certificates import (
    bound_growth,
    bound_growth_data,
    certificate_ladder,
    certificate_ladder_data,
)
from plumbline.show.plots.conditions import conditions, conditions_data, effect, effect_data
from plumbline.show.plots.conformance import conformance, conformance_data, missing_ends, missing_ends_data
from plumbline.show.plots.divergence import DIVERGENCES, divergence_onset, divergence_onset_data
from plumbline.show.plots.drops import drop, drop_data
from plumbline.show.plots.exposures import EXPOSURE_STATES, exposure, exposure_data
from plumbline.show.plots.pairs import discordance, discordance_data
from plumbline.show.plots.positions import compliance_positions, compliance_positions_data
from plumbline.show.plots.verdicts import VERDICT_MARKS, verdict_matrix, verdict_matrix_data

__all__ = [
    "DIVERGENCES",
    "EXPOSURE_STATES",
    "VERDICT_MARKS",
    "argument_agreement",
    "argument_agreement_data",
    "bound_growth",
    "bound_growth_data",
    "certificate_ladder",
    "certificate_ladder_data",
    "compliance_positions",
    "compliance_positions_data",
    "conditions",
    "conditions_data",
    "conformance",
    "conformance_data",
    "discordance",
    "discordance_data",
    "divergence_onset",
    "divergence_onset_data",
    "drop",
    "drop_data",
    "effect",
    "effect_data",
    "exposure",
    "exposure_data",
    "missing_ends",
    "missing_ends_data",
    "verdict_matrix",
    "verdict_matrix_data",
]
