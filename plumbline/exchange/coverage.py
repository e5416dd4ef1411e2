"""What traces cannot support, said before anything is computed from them."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from plumbline.exchange.coverage_analyses import analysis_frame
from plumbline.exchange.coverage_counts import attribute_frame, call_states, label_frame, tool_frame
from plumbline.traces import Recording

__all__ = ["Coverage", "coverage"]


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """What a recording holds, and which analyses it therefore supports, as ``coverage`` returns it.

    Parameters
    ----------
    run_id : str
        Name of the run.
    trials, calls : int
        How many there are.
    tools : DataFrame
        One row a tool: ``tool, calls``; of the arguments ``structured, unreadable, not_recorded, empty`` (a part of
        structured); ``results, results_unreadable, results_not_recorded``; ``ok, failed, no_result, blocked``;
        ``call_ids``.
    attributes : DataFrame
        One row a tool and attribute: in how many calls it is ``structured`` (there, with a value), ``null``, ``absent``
        from arguments that could be read, or unknown: ``unreadable``, ``not_recorded``; and the ``types`` seen.
    labels : DataFrame
        One row a label: ``label, values, origin``.
    order : mapping of str to int
        What the order of calls rests on, and in how many trials.
    analyses : DataFrame
        One row an analysis: ``analysis, verdict`` (``possible``, ``partly``, ``impossible``), ``have, of, unit, needs,
        missing_example``.
    said : tuple of str
        What the reader did: duplicates merged, history dropped, clocks that disagree, what was left out.
    unread : tuple of str
        What could not be placed, a few examples, each with its place.
    unread_count : int
        How many such notes there are.
    """

    run_id: str
    trials: int
    calls: int
    tools: pd.DataFrame
    attributes: pd.DataFrame
    labels: pd.DataFrame
    order: Mapping[str, int]
    analyses: pd.DataFrame
    said: tuple[str, ...]
    unread: tuple[str, ...]
    unread_count: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row a tool and attribute, see `attributes`."""
        return self.attributes.copy()

    def supports(self, analysis: str) -> str:
        """Return whether an analysis is possible, partly possible or impossible.

        Parameters
        ----------
        analysis : str
            As in `analyses`, or a part of it that only one has.

        Raises
        ------
        KeyError
            No analysis, or several, of that name.
        """
        found = self.analyses[self.analyses["analysis"].str.contains(analysis, regex=False)]
        if len(found) != 1:
            raise KeyError(f"{analysis!r} names {len(found)} analyses; choose one of {list(self.analyses['analysis'])}")
        return str(found["verdict"].iloc[0])

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [_table(frame, caption) for frame, caption in self._frames() if len(frame)]
        notes = "".join(f"<li>{html.escape(line)}</li>" for line in self._notes())
        return f"<p>{html.escape(self._title())}</p>{''.join(parts)}" + (f"<ul>{notes}</ul>" if notes else "")

    def _title(self) -> str:
        trials = "1 trial" if self.trials == 1 else f"{self.trials:,} trials"
        calls = "1 tool call" if self.calls == 1 else f"{self.calls:,} tool calls"
        return f"coverage of run {self.run_id!r}: {trials}, {calls}"

    def _frames(self) -> tuple[tuple[pd.DataFrame, str], ...]:
        return (
            (self.analyses.fillna({"missing_example": ""}), "What these traces support"),
            (self.tools, "Calls of each tool: arguments, results, status"),
            (self.attributes, "Attributes of each tool's arguments"),
            (self.labels, "Labels and where they come from"),
        )

    def _notes(self) -> list[str]:
        notes = ["order of calls: " + ", ".join(f"{name} in {n} trials" for name, n in self.order.items())]
        notes += self.said
        if self.unread_count:
            notes.append(f"{self.unread_count} notes of what could not be read or placed, for example:")
            notes += [f"  {line}" for line in self.unread]
        return notes

    def _lines(self) -> list[str]:
        lines = [self._title(), ""]
        for row in self.analyses.itertuples(index=False):
            lines.append(f"{row.verdict:<10}  {row.analysis}: {row.have} of {row.of} {row.unit}")
            if row.verdict != "possible":
                example = f"; missing in {row.missing_example}" if isinstance(row.missing_example, str) else ""
                lines.append(f"{'':<12}needs {row.needs}{example}")
        for frame, caption in self._frames()[1:]:
            if len(frame):
                lines += ["", caption, frame.to_string(index=False)]
        return [*lines, "", *(f"note: {note}" for note in self._notes())]


def coverage(recording: Recording) -> Coverage:
    """Say what a recording holds of each tool's calls, and what can therefore be computed from it.

    Parameters
    ----------
    recording : Recording
        A run, imported or recorded.

    Returns
    -------
    Coverage

    Raises
    ------
    TypeError
        Something else than a recording.

    Examples
    --------
    >>> trials = pd.DataFrame({"arm": ["a"], "task_id": ["t"]})
    >>> steps = pd.DataFrame({"trial_id": ["a/t/baseline/0/0"] * 2, "kind": "tool_call", "name": ["pay", "pay"],
    ...     "arguments": ['{"amount": 12}', None]})
    >>> found = coverage(Recording(trials, steps, run_id="r"))
    >>> found.to_frame()[["tool", "attribute", "structured", "absent", "not_recorded"]].values.tolist()
    [['pay', 'amount', 1, 0, 1]]
    >>> found.supports("rules on arguments"), found.supports("rules on results")
    ('partly', 'impossible')
    """
    if not isinstance(recording, Recording):
        raise TypeError(f"coverage takes a run; found {type(recording).__name__}")
    calls = call_states(recording)
    imported: Mapping[str, Any] = recording.notes.get("import") or {}
    notes = _unread(recording, imported)
    order = imported.get("order") or {"recorded as it happened": len(recording.trials)}
    return Coverage(
        run_id=recording.run_id, trials=len(recording.trials), calls=len(calls), tools=tool_frame(calls),
        attributes=attribute_frame(calls), labels=label_frame(recording), order=dict(order),
        analyses=analysis_frame(recording, calls),
        said=tuple(map(str, [*(imported.get("left_out") or ()), *(imported.get("said") or ())])),
        unread=tuple(notes[:5]), unread_count=len(notes),
    )  # fmt: skip


def _unread(recording: Recording, imported: Mapping[str, Any]) -> list[str]:
    steps = recording.steps[recording.steps["unread"].notna()]
    found = [
        f"{trial} step {step}: {_short(text)}"
        for trial, step, text in zip(steps["trial_id"], steps["step"], steps["unread"], strict=True)
    ]
    for trial, lines in (imported.get("unread") or {}).items():
        found += [f"{trial}: {_short(line)}" for line in lines]
    return found


def _short(text: str) -> str:
    flat = " ".join(str(text).split())
    return flat if len(flat) <= 120 else f"{flat[:120]}… ({len(flat) - 120:,} more characters)"


def _table(frame: pd.DataFrame, caption: str) -> str:
    head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in frame.columns)
    body = ""
    for row in frame.itertuples(index=False):
        cells = "".join(f"<td>{html.escape(str(value))}</td>" for value in row[1:])
        body += f'<tr><th scope="row">{html.escape(str(row[0]))}</th>{cells}</tr>'
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
