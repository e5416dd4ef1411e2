"""What is defensible: certificates, their verification, and gates."""

from plumbline.decide.cells import Cell
from plumbline.decide.certificate import Certificate, certify
from plumbline.decide.certificate_file import read_certificate
from plumbline.decide.checks import Check
from plumbline.decide.counting import RULES, published_grade
from plumbline.decide.gate import Decision, gate
from plumbline.decide.gate_plan import GatePlan, read_gate_plan
from plumbline.decide.ladder import ladder, ladder_text
from plumbline.decide.measures import Grade
from plumbline.decide.verification import Difference, VerifyReport, verify

__all__ = [
    "RULES",
    "Cell",
    "Certificate",
    "Check",
    "Decision",
    "Difference",
    "GatePlan",
    "Grade",
    "VerifyReport",
    "certify",
    "gate",
    "ladder",
    "ladder_text",
    "published_grade",
    "read_certificate",
    "read_gate_plan",
    "verify",
]
