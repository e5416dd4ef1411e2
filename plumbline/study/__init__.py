"""Studies: parameterised notebooks with pinned figures."""

from plumbline.study.figures import Figures
from plumbline.study.pins import Pin, PinReport, check_pins, read_pins
from plumbline.study.runner import StudyRun, check_study, run_study
from plumbline.study.spec import Study, list_studies, load_study

__all__ = [
    "Figures",
    "Pin",
    "PinReport",
    "Study",
    "StudyRun",
    "check_pins",
    "check_study",
    "list_studies",
    "load_study",
    "read_pins",
    "run_study",
]
