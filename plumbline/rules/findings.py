"""What a guard finds, what it concludes, and every code it may give."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from plumbline.base.errors import ParameterError

__all__ = ["ABSTAINED", "ACCEPTED", "CODES", "REJECTED", "Finding", "GuardResult"]

ACCEPTED, REJECTED, ABSTAINED = "accepted", "rejected", "abstained"

CODES: Mapping[str, str] = MappingProxyType(
    {
        "empty": "the rewrite is empty",
        "unchanged": "the rewrite is the original",
        "hidden_text": "characters that a reader does not see or takes for others",
        "meta_text": "the rewrite speaks of itself",
        "length": "the rewrite is much longer or shorter",
        "unrelated": "the rewrite shares no content word with the original",
        "lost_identifier": "an identifier is gone", "new_identifier": "an identifier is new",
        "lost_amount": "a number or quantity is gone", "new_amount": "a number or quantity is new",
        "lost_ordinal": "an ordinal is gone", "new_ordinal": "an ordinal is new",
        "lost_date": "a date is gone", "new_date": "a date is new",
        "lost_time": "a time of day is gone", "new_time": "a time of day is new",
        "lost_name": "a name is gone", "new_name": "a name is new",
        "lost_quote": "a quotation is gone", "new_quote": "a quotation is new",
        "negation_changed": "words of negation differ",
        "negation_moved": "something else is negated",
        "modality_changed": "words of obligation, advice or permission differ",
        "urgency_changed": "words of urgency differ",
        "scope_changed": "words of scope or limit differ",
        "order_changed": "words of order, condition or alternative differ",
        "action_changed": "something else is to be done",
        "quantity_moved": "a number belongs to another thing",
        "roles_swapped": "a fact stands where another stood",
        "original_gone": "the original wording is not there word for word",
        "remark_touches_task": "a remark speaks of the task",
        "remark_instructs": "a remark tells the agent what to do or how",
        "no_remark": "nothing was added",
        "wording_changed": "words differ where only spelling may",
        "value_changed": "structured data holds another value",
        "unknown_tool": "a tool that is not on offer is named",
        "tool_shadowed": "a decoy has the name of a real tool",
        "order_incomplete": "the order of tools leaves one out or adds one",
        "schema_changed": "a tool no longer accepts the same calls",
        "schema_unsatisfiable": "no call can satisfy a tool's schema",
        "equals_default": "the sampling settings are those of the baseline or the provider's default",
        "fault_malformed": "the fault plan lacks its tool or its error",
        "undeclared_change": "something changed that the perturbation does not declare",
        "invalidated": "an invalidation check of the perturbation's own struck",
        "repeated": "an earlier candidate of the cell is the same input",
        "no_prompt": "the wording is not on record, so nothing can be said",
        "judge_different": "the judge holds the meanings to be different",
        "judge_abstained": "the judge did not decide",
        "judge_unreadable": "the judge's answer cannot be read",
    }
)  # fmt: skip
"""Code to what it means."""


@dataclass(frozen=True)
class Finding:
    """One thing that a guard found.

    Parameters
    ----------
    code : str
        One of ``CODES``.
    found : str
        What was found, in words.
    """

    code: str
    found: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ParameterError(f"no guard code {self.code!r}; there are {', '.join(CODES)}")

    def __str__(self) -> str:
        return f"{self.code}: {self.found}"


@dataclass(frozen=True)
class GuardResult:
    """What a guard concludes about one variant.

    Parameters
    ----------
    verdict : {'accepted', 'rejected', 'abstained'}
        ``abstained``: it cannot be told. Only what is accepted may be run.
    findings : tuple of Finding
        Why; empty for what is accepted.
    judge : str or None
        Model that was asked after the deterministic checks; None if none was.
    same_model : bool
        Whether that model also wrote the variant, so that its agreement says little.

    Examples
    --------
    >>> GuardResult("rejected", (Finding("empty", "the rewrite is empty"),)).codes
    ('empty',)
    """

    verdict: str
    findings: tuple[Finding, ...] = ()
    judge: str | None = None
    same_model: bool = False

    def __post_init__(self) -> None:
        if self.verdict not in (ACCEPTED, REJECTED, ABSTAINED):
            raise ParameterError(f"a guard's verdict is accepted, rejected or abstained; found {self.verdict!r}")
        if (self.verdict == ACCEPTED) == bool(self.findings):
            raise ParameterError(f"{self.verdict} with {len(self.findings)} findings: only what is accepted has none")

    @property
    def accepted(self) -> bool:
        """Whether the variant may be run."""
        return self.verdict == ACCEPTED

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, each once, in their order."""
        return tuple(dict.fromkeys(finding.code for finding in self.findings))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "verdict": self.verdict, "findings": [{"code": f.code, "found": f.found} for f in self.findings],
            "judge": self.judge, "same_model": self.same_model,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> GuardResult:
        """Read a result from what ``to_dict`` gives."""
        findings = tuple(Finding(each["code"], each["found"]) for each in values["findings"])
        return cls(values["verdict"], findings, values["judge"], values["same_model"])

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each finding: ``code``, ``found``."""
        return pd.DataFrame([(f.code, f.found) for f in self.findings], columns=["code", "found"], dtype=object)

    def __str__(self) -> str:
        judge = f" (judge {self.judge}{', which also wrote it' if self.same_model else ''})" if self.judge else ""
        return "\n".join([self.verdict + judge, *(f"  {finding}" for finding in self.findings)])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
