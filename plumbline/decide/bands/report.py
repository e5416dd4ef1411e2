"""The answer: verdicts of every fixture and field, what moved, a decision by field and over all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plumbline.base.errors import ParameterError
from plumbline.decide.bands.file import BandFile
from plumbline.decide.bands.noise import NoiseFound
from plumbline.decide.bands.rows import COLUMNS, VERDICTS, Row
from plumbline.traces import Recording

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BandReport", "FieldDecision"]

_CODES = {"ship": 0, "hold": 1, "escalate": 3}


@dataclass(frozen=True, kw_only=True)
class FieldDecision:
    """What the rows of one field come to.

    Parameters
    ----------
    field : str
    decision : {'pass', 'note', 'warn', 'fail', 'cannot_tell', 'unusable'}
        ``note``: everything passes and something moved within the band.
    severity : {'block', 'warning'}
        The gravest among the rows that did not pass, else of the rule.
    counts : mapping of str to int
        Rows by verdict.
    moved : int
        Rows that a reviewer is shown.
    noise : str
        What the incumbent's re-runs say of the band.
    """

    field: str
    decision: str
    severity: str
    counts: Mapping[str, int]
    moved: int
    noise: str


@dataclass(frozen=True, kw_only=True)
class BandReport:
    """Bands applied to a baseline and a candidate, as ``apply_bands`` returns it.

    ``to_frame()`` is every verdict, ``moved()`` what a reviewer is shown, ``by_field()`` a decision a field,
    ``decision`` the answer: ``ship``, ``hold`` (a blocking field fails) or ``escalate`` (a reviewer must look, the
    record does not tell, or the band is unusable).
    """

    bands: BandFile
    baseline: Recording
    baseline_arm: str
    candidate: Recording
    candidate_arm: str
    scorer: tuple[str, str]
    rows: tuple[Row, ...]
    noise: tuple[NoiseFound, ...]
    only_baseline: tuple[str, ...] = ()
    only_candidate: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row a fixture and field.

        Returns
        -------
        DataFrame
            ``fixture, field, verdict, value, unit, band, distance, severity, scope, note, evidence, baseline,
            candidate``, as in ``Row``.
        """
        return _frame(self.rows)

    def moved(self) -> pd.DataFrame:
        """Return what a reviewer is shown: every row that did not pass, or passed and has a note; worst first."""
        return _frame(self._moved)

    @cached_property
    def _moved(self) -> tuple[Row, ...]:
        order = {field: at for at, field in enumerate((*self.bands.fields, "grants"))}
        rank = {"fail": 0, "unusable": 1, "cannot_tell": 2, "waived": 3, "warn": 4, "pass": 5}
        kept = [found for found in self.rows if found.moved]
        return tuple(sorted(kept, key=lambda r: (rank[r.verdict], order[r.field], r.distance or 0.0, r.fixture)))

    @cached_property
    def decisions(self) -> tuple[FieldDecision, ...]:
        """One decision a field, in the order of the file."""
        by_field: dict[str, list[Row]] = {}
        for found in self.rows:
            by_field.setdefault(found.field, []).append(found)
        return tuple(self._of_field(field, rows) for field, rows in by_field.items())

    def _of_field(self, field: str, rows: list[Row]) -> FieldDecision:
        counts = Counter(found.verdict for found in rows)
        order = ("fail", "unusable", "cannot_tell", "warn", "waived")
        word = next((verdict for verdict in order if counts[verdict]), "pass")
        moved = sum(found.moved for found in rows)
        wrong = [found.severity for found in rows if found.verdict != "pass"] or [found.severity for found in rows]
        noise = "; ".join(found.said for found in self.noise if found.field == field and found.said)
        return FieldDecision(
            field=field,
            decision="note" if word == "pass" and moved else word,
            severity="block" if "block" in wrong else "warning",
            counts={verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]},
            moved=moved,
            noise=noise,
        )

    def by_field(self) -> pd.DataFrame:
        """Return one row a field: ``field, decision, severity``, a column a verdict, ``moved``, ``noise``."""
        import pandas as pd

        rows = [
            {"field": d.field, "decision": d.decision, "severity": d.severity}
            | {verdict: d.counts.get(verdict, 0) for verdict in VERDICTS}
            | {"moved": d.moved, "noise": d.noise}
            for d in self.decisions
        ]
        return pd.DataFrame(rows)

    def noise_frame(self) -> pd.DataFrame:
        """Return what the incumbent's re-runs say, one row a band."""
        import pandas as pd

        names = [field.name for field in fields(NoiseFound)]
        return pd.DataFrame([{name: getattr(found, name) for name in names} for found in self.noise], columns=names)

    @cached_property
    def decision(self) -> str:
        """``ship``, ``hold`` or ``escalate``, by the severity that each rule declares."""
        blocking = [found for found in self.rows if found.severity == "block"]
        if any(found.verdict == "fail" for found in blocking):
            return "hold"
        doubt = any(found.verdict in ("warn", "cannot_tell", "unusable") for found in blocking)
        return "escalate" if doubt or self.only_candidate else "ship"

    @property
    def exit_code(self) -> int:
        """0 ship, 1 hold, 3 escalate."""
        return _CODES[self.decision]

    @property
    def fixtures(self) -> int:
        """Number of fixtures that were judged."""
        return len({found.fixture for found in self.rows if not found.fixture.startswith("(")})

    def waive(self, waived: Mapping[tuple[str, str], str]) -> BandReport:
        """Return the report with failures waived: they hold nothing any more and never show as a pass.

        Parameters
        ----------
        waived : mapping of (fixture, field) to str
            What the waiver says. Only rows that fail can be waived.

        Raises
        ------
        ParameterError
            A waiver of something that does not fail.
        """
        failed = {(found.fixture, found.field) for found in self.rows if found.verdict == "fail"}
        if strange := [key for key in waived if key not in failed]:
            place = ", ".join(strange[0])
            raise ParameterError(f"{len(strange)} waivers match no failure, the first: {place}; waive what fails")
        rows = [
            replace(found, verdict="waived", note=f"waived: {waived[found.fixture, found.field]}; {found.note}")
            if found.verdict == "fail" and (found.fixture, found.field) in waived
            else found
            for found in self.rows
        ]
        return replace(self, rows=tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return decision, digests, fields and every row that moved as JSON values."""
        return {
            "decision": self.decision,
            "bands": {"version": self.bands.version, "digest": self.bands.digest, "file": self.bands.source},
            "baseline": {"run": self.baseline.run_id, "arm": self.baseline_arm, "digest": self.baseline.digest},
            "candidate": {"run": self.candidate.run_id, "arm": self.candidate_arm, "digest": self.candidate.digest},
            "scorer": {"name": self.scorer[0], "version": self.scorer[1]},
            "fixtures": self.fixtures,
            "fields": [vars(found) for found in self.decisions],
            "noise": [vars(found) for found in self.noise],
            "moved": [asdict(found) for found in self._moved],
            "only_baseline": list(self.only_baseline),
            "only_candidate": list(self.only_candidate),
        }

    def junit(self) -> str:
        """Return JUnit XML: one test case a fixture and field that moved or failed, and one for the rest of a field."""
        from plumbline.decide.bands.written import junit_xml

        return junit_xml(self)

    def markdown(self) -> str:
        """Return a Markdown summary: the decision, a table of fields, and what moved."""
        from plumbline.decide.bands.written import markdown_summary

        return markdown_summary(self)

    def __str__(self) -> str:
        from plumbline.decide.bands.written import report_text

        return report_text(self)

    def __repr__(self) -> str:
        return f"BandReport({self.decision!r}, {self.fixtures} fixtures, {len(self._moved)} rows moved)"

    def _repr_html_(self) -> str:
        from plumbline.decide.bands.written import report_html

        return report_html(self)


def _frame(rows: tuple[Row, ...]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame({name: [getattr(found, name) for found in rows] for name in COLUMNS}, columns=list(COLUMNS))
    return frame.astype({"value": "float64", "distance": "float64"})
