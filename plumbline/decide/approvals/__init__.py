"""Governance of bands: who may change what, what was approved, waived and decided, and which rule held when."""

from plumbline.decide.approvals.applying import WaivedReport, case_digest, lay_waivers, measured_of
from plumbline.decide.approvals.book import Book, Record
from plumbline.decide.approvals.changes import Change, ChangesToApprove, changes_to_approve
from plumbline.decide.approvals.history import (
    Moment,
    artifact_digests,
    artifact_notes,
    at_moment,
    book_log,
    keep_artifact,
    record_decision,
    unknown_artifacts,
)
from plumbline.decide.approvals.people import ROLES, People, Person, read_people
from plumbline.decide.approvals.records import Approval, approve, checked, rebaseline
from plumbline.decide.approvals.reviews import Due, Review, done, review
from plumbline.decide.approvals.signing import read_key, sign, verify_signature
from plumbline.decide.approvals.waivers import (
    Waiver,
    accepted,
    expiring,
    free_day,
    read_waivers,
    recurring,
)

__all__ = [
    "ROLES",
    "Approval",
    "Book",
    "Change",
    "ChangesToApprove",
    "Due",
    "Moment",
    "People",
    "Person",
    "Record",
    "Review",
    "WaivedReport",
    "Waiver",
    "accepted",
    "approve",
    "artifact_digests",
    "artifact_notes",
    "at_moment",
    "book_log",
    "case_digest",
    "changes_to_approve",
    "checked",
    "done",
    "expiring",
    "free_day",
    "keep_artifact",
    "lay_waivers",
    "measured_of",
    "read_key",
    "read_people",
    "read_waivers",
    "rebaseline",
    "record_decision",
    "recurring",
    "review",
    "sign",
    "unknown_artifacts",
    "verify_signature",
]
