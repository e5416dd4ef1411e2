"""The violation explorer: filters, groups with their denominators, trials, and the diff of one."""

from plumbline.show.explore.explorer import Explorer, explore
from plumbline.show.explore.state import FIELDS, Filters, choices, groups, selection, selection_code

__all__ = ["FIELDS", "Explorer", "Filters", "choices", "explore", "groups", "selection", "selection_code"]
