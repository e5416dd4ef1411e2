"""Choosing seeds from a run: one of a family, quotas by slice, and places kept for severe failures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plumbline.base.canonical import parse_json
from plumbline.base.errors import ParameterError, RelationError
from plumbline.rules.metamorphic.frames import PURPOSES
from plumbline.rules.metamorphic.seed import Seed
from plumbline.traces import Recording

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SeedSet", "seeds"]

_BEHAVED = ("completed", "agent_error")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class SeedSet:
    """Chosen seeds, each family once, and what could not be filled.

    Parameters
    ----------
    seeds : tuple of Seed
        Severe ones first.
    slices : tuple of str
        The slice of each seed.
    shortfall : mapping
        Slice to the places for which there was no family left; ``severe`` for the protected ones.
    left_out : int
        Families that were candidates and were not chosen.
    """

    seeds: tuple[Seed, ...]
    slices: tuple[str, ...]
    shortfall: Mapping[str, int]
    left_out: int

    def __len__(self) -> int:
        return len(self.seeds)

    def __iter__(self) -> Any:
        return iter(self.seeds)

    def __getitem__(self, place: int) -> Seed:
        return self.seeds[place]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per seed, with its slice."""
        import pandas as pd

        names = ("seed_id", "family_id", "task_id", "source", "origin", "at", "surface", "privacy", "purpose", "locale")
        rows = [
            {**{name: getattr(seed, name) for name in names}, "slice": part}
            for seed, part in zip(self.seeds, self.slices, strict=True)
        ]
        return pd.DataFrame(rows, columns=[*names, "slice"])

    def __str__(self) -> str:
        counts = {p: sum(s.purpose == p for s in self.seeds) for p in PURPOSES}
        said = ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "none"
        short = "".join(f"; {n} short of {name}" for name, n in self.shortfall.items())
        return f"{len(self.seeds)} seeds of as many families ({said}); {self.left_out} families left out{short}"

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>{self.to_frame().to_html(index=False, border=0)}"


def seeds(
    run: Recording,
    *,
    privacy: str,
    quotas: Mapping[str, int] | None = None,
    by: str | Callable[[Row], str] = "arm",
    purposes: Mapping[str, str] | None = None,
    severe: Collection[str] = (),
    protected: int = 0,
    source: str = "trace",
    surface: str = "",
    locale: str = "en",
    seed: int = 7,
) -> SeedSet:
    """Choose seeds from a run, one of each family.

    Parameters
    ----------
    run : Recording
        Its trials of the first perturbation are candidates, those of infrastructure excepted.
    privacy : str
        How personal parts of these records were treated; there is no default for it.
    quotas : mapping, optional
        Slice to the number of seeds wanted of it; by default every family of every slice.
    by : str or callable
        The slice of a trial: a column of ``trials``, or ``by(row)``.
    purposes : mapping, optional
        Slice to purpose (``common``, ``boundary``, ``weak_slice``); ``common`` by default.
    severe : collection of str
        Ids of trials with a severe failure, such as ``verdicts.violations()["trial_id"]`` of critical rules. Their
        families are chosen first and have the purpose ``severe``.
    protected : int
        Places kept for severe families beside the quotas.
    source, surface, locale : str
        Of every seed, see ``Seed``.
    seed : int
        Of the draw; another family in the run moves none of the others.

    Returns
    -------
    SeedSet
        ``shortfall`` says what could not be filled; nothing is filled twice.

    Raises
    ------
    ParameterError
        A quota names a slice that the run does not have or is negative, or ``severe`` names no trial of the run.

    Examples
    --------
    >>> import plumbline as plumb
    >>> domain = plumb.load_domain("procure_to_pay")
    >>> run = plumb.run_study(domain, arms=["plan_execute"], variants=1, repetitions=1)
    >>> print(plumb.seeds(run, privacy="synthetic", quotas={"plan_execute": 3}))
    3 seeds of as many families (3 common); 5 families left out
    """
    rows: list[Any] = run.trials.astype(object).to_dict("records")
    known = {row["trial_id"]: row["family_id"] for row in rows}
    if lost := sorted(set(severe) - set(known)):
        raise ParameterError(f"severe names {len(lost)} trials that are not in run {run.run_id!r}, first {lost[0]!r}")
    base = run.perturbations[0] if run.perturbations else "baseline"
    candidates = [row for row in rows if row["perturbation"] == base and row["status"] in _BEHAVED]
    if not candidates:
        raise RelationError(f"run {run.run_id!r} has no trial of {base!r} with behaviour to start from")
    of: Callable[[Row], str] = (lambda row: str(row[by])) if isinstance(by, str) else by
    if isinstance(by, str) and by not in run.trials.columns:
        raise ParameterError(f"by is a column of trials or a function; found {by!r}")
    parts = {row["trial_id"]: of(row) for row in candidates}
    wanted = dict(quotas) if quotas is not None else dict.fromkeys(sorted(set(parts.values())), len(candidates))
    _possible(wanted, set(parts.values()), protected, purposes or {})
    candidates.sort(key=lambda row: _draw(seed, row))
    made = _Choice(parts, source, surface, privacy, locale)
    bad = {known[name] for name in severe}
    made.take([r for r in candidates if r["family_id"] in bad], protected, "severe", "severe")
    for part, number in wanted.items():
        mine = [r for r in candidates if parts[r["trial_id"]] == part]
        made.take(mine, number, (purposes or {}).get(part, "common"), part, bad=bad)
    if quotas is None:
        made.shortfall = {name: n for name, n in made.shortfall.items() if name == "severe"}
    families = {row["family_id"] for row in candidates}
    return SeedSet(tuple(made.seeds), tuple(made.slices), made.shortfall, len(families) - len(made.seeds))


def _draw(seed: int, row: Row) -> tuple[str, str]:
    text = hashlib.sha256(f"{seed}/{row['family_id']}".encode()).hexdigest()
    return text, row["trial_id"]


def _possible(wanted: Mapping[str, int], parts: set[str], protected: int, purposes: Mapping[str, str]) -> None:
    if lost := sorted(set(wanted) - parts):
        raise ParameterError(f"quotas name the slices {lost}; the run has {', '.join(sorted(parts))}")
    for name, number in {**wanted, "protected": protected}.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ParameterError(f"the quota of {name!r} is a whole number of at least 0; found {number!r}")
    if odd := sorted(set(purposes.values()) - set(PURPOSES)):
        raise ParameterError(f"a purpose is one of {', '.join(PURPOSES)}; found {odd}")


class _Choice:
    """Seeds so far; a family is taken once, whatever slice asks for it."""

    def __init__(self, parts: Mapping[str, str], source: str, surface: str, privacy: str, locale: str) -> None:
        self._parts = parts
        self._of: dict[str, Any] = {"source": source, "surface": surface, "privacy": privacy, "locale": locale}
        self.seeds: list[Seed] = []
        self.slices: list[str] = []
        self.shortfall: dict[str, int] = {}
        self._taken: set[str] = set()

    def take(self, rows: list[Row], number: int, purpose: str, name: str, *, bad: Collection[str] = ()) -> None:
        left = number
        for row in rows:
            family = row["family_id"]
            if not left or family in self._taken:
                continue
            labels = {"status": row["status"], "arm": row["arm"], "run_id": row["run_id"]}
            if isinstance(row["outcome"], str):
                labels["outcome"] = parse_json(row["outcome"])
            at = row["started_at"] if isinstance(row["started_at"], str) else ""
            self.seeds.append(
                Seed(
                    family, row["task_id"], family, origin=row["trial_id"], at=at, labels=labels,
                    purpose="severe" if family in bad else purpose, **self._of,
                )
            )  # fmt: skip
            self.slices.append(self._parts[row["trial_id"]])
            self._taken.add(family)
            left -= 1
        if left:
            self.shortfall[name] = left
