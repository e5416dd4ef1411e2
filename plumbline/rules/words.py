"""The words of a verdict: five verdicts, four severities, and why a rule could not be decided or did not apply."""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "HELD",
    "NOT_APPLICABLE",
    "SEVERITIES",
    "UNOBSERVABLE",
    "VACUOUS",
    "VERDICTS",
    "VIOLATED",
    "Reason",
]

HELD, VIOLATED, VACUOUS, NOT_APPLICABLE, UNOBSERVABLE = range(5)
"""Codes of the verdicts in compact arrays, positions in ``VERDICTS``."""

VERDICTS = ("held", "violated", "vacuous", "not_applicable", "unobservable")
"""``vacuous``: nothing activated the rule, so it was not upheld either. ``unobservable``: the record cannot tell."""

SEVERITIES = ("critical", "high", "medium", "low")
"""From worst to mildest."""


class Reason(IntEnum):
    """Why a rule was not decided, or did not apply, on a trial; ``text`` says it in words."""

    NONE = 0
    NEVER_ACTIVATED = 1
    CONDITION_FALSE = 2
    NO_CONTEXT_VALUE = 3
    NO_CONDITION_KEY = 4
    NO_RESULT = 5
    UNREAD_ARGUMENTS = 6
    INCOMPLETE = 7
    NO_MESSAGES = 8
    NO_GROUPS = 9
    UNREAD_RESULTS = 10

    @property
    def text(self) -> str:
        """The reason in words; empty for a verdict that needs none.

        Examples
        --------
        >>> Reason.INCOMPLETE.text
        'the trial did not complete'
        """
        return _TEXTS[self]


_TEXTS = {
    Reason.NONE: "",
    Reason.NEVER_ACTIVATED: "nothing activated the rule",
    Reason.CONDITION_FALSE: "the condition is false for this task",
    Reason.NO_CONTEXT_VALUE: "the context holds no value to compare with",
    Reason.NO_CONDITION_KEY: "context lacks key of the condition",
    Reason.NO_RESULT: "a call without a result may have happened",
    Reason.UNREAD_ARGUMENTS: "the arguments of a call could not be read",
    Reason.INCOMPLETE: "the trial did not complete",
    Reason.NO_MESSAGES: "nobody's words are on record",
    Reason.NO_GROUPS: "the record does not say which calls were made together",
    Reason.UNREAD_RESULTS: "a result is not on record, from which the value may come",
}
