"""Every error plumbline raises on purpose.

::

    PlumblineError
    ├── InputError                 something the caller gave is wrong (exit 2)
    │   ├── ParameterError         an argument or a study parameter is unknown or impossible
    │   ├── NotFoundError          a run, study, domain, task or data folder does not exist
    │   ├── TraceFormatError       a trace file is cut off, malformed or of no known format (``.byte``, ``.line``)
    │   ├── RunError               a run cannot be trusted
    │   │   ├── SchemaError        rows do not fit the schema (``.failures`` lists each row)
    │   │   │   ├── DuplicateTrialError
    │   │   │   ├── OrphanStepError
    │   │   │   └── ArgumentsError     a call's arguments are not JSON
    │   │   ├── SchemaVersionError     written by another version of the format
    │   │   └── DigestError            the rows are not the rows that were saved
    │   ├── PolicyError            a rule or a policy cannot be used as written
    │   ├── RelationError          a metamorphic relation, contract or seed cannot be used as it stands
    │   ├── BandError              a band file cannot be used as written (``.problems``, each with its line)
    │   └── ApprovalError          an approval or a waiver does not count (``.refusal`` names why)
    ├── PinError                   a recomputed figure differs from its pin (exit 1)
    ├── CannotTellError            the evidence does not answer the question (exit 3)
    ├── HarnessError               what ended a trial without being behaviour (plumbline.running.stops)
    │   ├── NoResponseError            whoever decides gave no answer
    │   │   └── ModelFailureError          a model's server failed, with kind and evidence (plumbline.running.clients)
    │   └── BudgetStopError            the spending cap was reached
    ├── StudyFailedError           a study's notebook stopped with an error of its own (plumbline.study.runner)
    └── ToolError                  a tool of a domain refused or failed (recorded, not raised to the user)

A message says what was found, where, what is allowed, and the next thing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "ApprovalError",
    "ArgumentsError",
    "BandError",
    "CannotTellError",
    "DigestError",
    "DuplicateTrialError",
    "Failure",
    "InputError",
    "NotFoundError",
    "OrphanStepError",
    "ParameterError",
    "PinError",
    "PlumblineError",
    "PolicyError",
    "RelationError",
    "RunError",
    "SchemaError",
    "SchemaVersionError",
    "ToolError",
    "TraceFormatError",
]


class PlumblineError(Exception):
    """Base of every error that plumbline raises on purpose."""

    exit_code = 2


class InputError(PlumblineError):
    """Something the caller gave is wrong."""


class ParameterError(InputError, ValueError):
    """An argument or a study parameter is unknown or impossible."""


class NotFoundError(InputError, LookupError):
    """A run, study, domain, task or data folder does not exist."""

    def __str__(self) -> str:  # LookupError must not add quotes
        return str(self.args[0]) if self.args else ""


class TraceFormatError(InputError, ValueError):
    """A trace file is cut off, malformed, or of no format that is known.

    Parameters
    ----------
    what : str
        What was found.
    source : str
        Name of the file, or what the caller gave.
    byte : int, optional
        Where, counted from 0 in the decompressed file.
    line : int, optional
        Where, counted from 1.
    mend : str
        What is allowed, and what to do.
    """

    def __init__(
        self, what: str, *, source: str, byte: int | None = None, line: int | None = None, mend: str = ""
    ) -> None:
        self.source, self.byte, self.line = source, byte, line
        place = [source]
        if byte is not None:
            place.append(f"byte {byte}")
        if line is not None:
            place.append(f"line {line}")
        super().__init__(f"{', '.join(place)}: {what}." + (f" {mend}" if mend else ""))


class RunError(InputError):
    """A recorded run cannot be trusted as it stands."""


@dataclass(frozen=True)
class Failure:
    """One row that does not fit: where it is, what was found, how to mend it."""

    table: str
    row: int
    trial_id: str | None
    column: str
    found: str
    mend: str

    def __str__(self) -> str:
        trial = f", trial {self.trial_id}" if self.trial_id else ""
        return f"{self.table} row {self.row}{trial}, column {self.column!r}: found {self.found}. {self.mend}"


class SchemaError(RunError):
    """Rows do not fit the schema; ``failures`` holds one entry per row."""

    def __init__(self, summary: str, failures: Sequence[Failure] = ()) -> None:
        self.summary = summary
        self.failures = tuple(failures)
        shown = [f"  {failure}" for failure in self.failures[:5]]
        if len(self.failures) > 5:
            shown.append(f"  … and {len(self.failures) - 5} more (see .failures)")
        super().__init__("\n".join([summary, *shown]))


class DuplicateTrialError(SchemaError):
    """The same trial id stands on more than one row."""


class OrphanStepError(SchemaError):
    """Steps name a trial that the trials table does not hold."""


class ArgumentsError(SchemaError):
    """A call's arguments or result are not JSON text."""


class SchemaVersionError(RunError):
    """The run was written in a format this version does not read."""


class DigestError(RunError):
    """The rows read are not the rows that were saved."""


class PolicyError(InputError, ValueError):
    """A rule or a policy cannot be used as written."""


class RelationError(InputError, ValueError):
    """A metamorphic relation, its contract or a seed cannot be used as it stands."""


class BandError(InputError, ValueError):
    """A band file cannot be used as written; ``problems`` holds one sentence for each thing that is wrong."""

    def __init__(self, summary: str, problems: Sequence[str] = ()) -> None:
        self.problems = tuple(problems)
        shown = [f"  {problem}" for problem in self.problems[:8]]
        if len(self.problems) > 8:
            shown.append(f"  … and {len(self.problems) - 8} more (see .problems)")
        super().__init__("\n".join([summary, *shown]))


class ApprovalError(InputError, ValueError):
    """An approval or a waiver does not count; ``refusal`` names why in one word.

    Parameters
    ----------
    refusal : str
        ``self_approved``, ``expired``, ``stale``, ``over_broad``, ``reused`` and so on.
    what : str
        What was found, and where.
    mend : str
        What to do next.
    """

    def __init__(self, refusal: str, what: str, mend: str) -> None:
        self.refusal = refusal
        super().__init__(f"{refusal.replace('_', ' ')}: {what}; {mend}")


class PinError(PlumblineError):
    """A recomputed figure differs from its pin."""

    exit_code = 1


class CannotTellError(PlumblineError):
    """The evidence does not answer the question."""

    exit_code = 3


class ToolError(PlumblineError):
    """A tool refused its arguments or failed; the toolbox records it as a failed step.

    Parameters
    ----------
    message : str
        What the agent is told.
    error_type : str
        Class of the failure: ``not_found``, ``bad_arguments``, ``no_such_tool``, ``transient``, ``refused``;
        the toolbox itself records ``tool_bug`` and ``harness``.
    """

    def __init__(self, message: str, error_type: str = "refused") -> None:
        super().__init__(message)
        self.error_type = error_type
