"""What a person sees: tables, figures, reports. ``report`` is imported by its own name, since it loads nbconvert."""

from plumbline.show.checks import check_offline
from plumbline.show.estimates import format_estimate
from plumbline.show.figures import figure
from plumbline.show.markup import Html

XX
from plumbline.show.render import chart_svg, enable
from plumbline.show.run_card import run_card
from plumbline.show.tables import callout, estimate_table, table_html
from plumbline.show.theme import arm_styles
from plumbline.show.tracepair import trace_pair

__all__ = [
    "Html",
    "arm_styles",
    "callout",
    "chart_svg",
    "check_offline",
    "conditions",
    "conditions_data",
    "effect",
    "effect_data",
    "enable",
    "estimate_table",
    "exposure",
    "exposure_data",
    "figure",
    "format_estimate",
    "run_card",
    "table_html",
    "trace_pair",
]
