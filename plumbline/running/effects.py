"""Whether the system of record and the steps tell one story: effects without a step, and steps without an effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.base.errors import ParameterError

__all__ = ["EFFECT_FINDINGS", "EffectLedger"]

EFFECT_FINDINGS: Mapping[str, str] = {
    "effect_without_step": "the system of record changed although no call was under way",
    "read_with_effect": "a tool that is declared to change nothing changed something",
    "failed_with_effect": "a call that failed, and so did not happen for any rule, changed something",
    "no_result_with_effect": "a call whose answer never came did happen",
    "step_without_effect": "a call that is declared to change something and said it worked changed nothing",
}
"""What can be found, and what it means."""


class EffectLedger:
    """Reads the row counts of a world around every call and keeps what does not fit the steps.

    Parameters
    ----------
    world : object
        A world with a method ``effects()`` that returns ``{table: rows}``; any other is not watched.

    Attributes
    ----------
    watched : bool
        Whether the world can be watched at all; without it an empty list of findings means nothing.
    findings : list of dict
        ``finding`` (a name of ``EFFECT_FINDINGS``), ``step`` (None at the end of a trial), ``changed`` (table to rows).
    """

    def __init__(self, world: Any) -> None:
        self._read = getattr(world, "effects", None)
        self.watched = callable(self._read)
        self.findings: list[dict[str, Any]] = []
        self._last: dict[str, int] = self._counts()

    def _counts(self) -> dict[str, int]:
        if not self.watched or self._read is None:
            return {}
        found = self._read()
        if not isinstance(found, Mapping):
            raise ParameterError(f"effects() of a world returns {{table: rows}}; found {found!r}")
        return dict(found)

    def before(self, step: int | None) -> None:
        """Note what changed since the last call ended; ``step`` is the call that comes next."""
        changed = self._changed()
        if changed:
            self._keep("effect_without_step", step, changed)

    def after(self, step: int, status: str, *, mutating: bool) -> None:
        """Compare what a call changed with what its step says."""
        if not self.watched:
            return
        changed = self._changed()
        if changed and status == "no_result":
            self._keep("no_result_with_effect", step, changed)
        elif changed and status != "ok":
            self._keep("failed_with_effect", step, changed)
        elif changed and not mutating:
            self._keep("read_with_effect", step, changed)
        elif not changed and mutating and status == "ok":
            self._keep("step_without_effect", step, {})

    def _changed(self) -> dict[str, int]:
        now = self._counts()
        if now == self._last:
            return {}
        changed = {t: now.get(t, 0) - self._last.get(t, 0) for t in sorted({*now, *self._last})}
        self._last = now
        return {table: rows for table, rows in changed.items() if rows}

    def _keep(self, finding: str, step: int | None, changed: dict[str, int]) -> None:
        self.findings.append({"finding": finding, "step": step, "changed": changed})
