"""Drift without an edit: a monitor over completed sessions, and compliance by position and across compactions."""

from plumbline.decide.drift.alerts import Alert, Alerts
from plumbline.decide.drift.monitor import DriftMonitor, read_monitor
from plumbline.decide.drift.positions import CompliancePositions, compliance_by_position
from plumbline.decide.drift.ruling import DriftRules
from plumbline.decide.drift.sessions import Session, sessions_of

__all__ = [
    "Alert",
    "Alerts",
    "CompliancePositions",
    "DriftMonitor",
    "DriftRules",
    "Session",
    "compliance_by_position",
    "read_monitor",
    "sessions_of",
]
