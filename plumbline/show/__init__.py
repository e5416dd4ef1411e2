"""What a person sees: tables, figures, reports. ``report`` is imported by its own name, since it loads nbconvert."""

from plumbline.show.checks import check_offline
from plumbline.show.estimates import format_estimate
from plumbline.show.figures import figure
from plumbline.show.markup import Html
from plumbline.show.plots import (
    argument_agreement,
    argument_agreement_data,
    bound_growth,
    bound_growth_data,
    certificate_ladder,
    certificate_ladder_data,
    conditions,
    conditions_data,
    conformance,
    conformance_data,
    discordance,
    discordance_data,
    divergence_onset,
    divergence_onset_data,
    drop,
    drop_data,
    effect,
    effect_data,
    exposure,
    exposure_data,
    missing_ends,
    missing_ends_data,
    verdict_matrix,
    verdict_matrix_data,
)
from plumbline.show.render import chart_svg, enable
from plumbline.show.run_card import run_card
from plumbline.show.tables import callout, estimate_table, table_html
from plumbline.show.theme import arm_styles
from plumbline.show.tracepair import trace_pair

__all__ = [
    "Html",
    "argument_agreement",
    "argument_agreement_data",
    "arm_styles",
    "bound_growth",
    "bound_growth_data",
    "callout",
    "certificate_ladder",
    "certificate_ladder_data",
    "chart_svg",
    "check_offline",
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
    "enable",
    "estimate_table",
    "exposure",
    "exposure_data",
    "figure",
    "format_estimate",
    "missing_ends",
    "missing_ends_data",
    "run_card",
    "table_html",
    "trace_pair",
    "verdict_matrix",
    "verdict_matrix_data",
]
