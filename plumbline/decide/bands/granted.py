"""Which tools a fixture may call, and which fixtures are refused on pull requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plumbline.decide.bands.file import BandFile
from plumbline.decide.bands.rows import Row
from plumbline.decide.bands.trials import Trial

__all__ = ["grant_rows", "refused_fixtures"]


def refused_fixtures(bands: BandFile, fixtures: Sequence[str]) -> dict[str, str]:
    """Return the fixtures that are refused on pull requests, each with the reason.

    A fixture that may call a tool declared ``delete`` is refused unless ``grants.pull_requests`` names it. Ask before
    a run: what is refused is not to be executed at all.

    Examples
    --------
    >>> from plumbline.decide.bands import sample_bands
    >>> refused_fixtures(sample_bands(), ["F-1"])
    {}
    """
    grants = bands.grants
    if grants is None:
        return {}
    found = {}
    for fixture in fixtures:
        may = {*grants.every_fixture, *grants.fixtures.get(fixture, ())}
        deleting = sorted(name for name in may if name in bands.tools and bands.tools[name].effect == "delete")
        if deleting and fixture not in grants.pull_requests:
            found[fixture] = f"may call {', '.join(deleting)}; add it to grants.pull_requests to allow it by name"
    return found


def grant_rows(bands: BandFile, fixtures: Mapping[str, Sequence[Trial]], *, event: str | None) -> list[Row]:
    """Return a row for every fixture that called what it was not granted, or that is refused on pull requests."""
    grants = bands.grants
    if grants is None:
        return []
    refused = refused_fixtures(bands, list(fixtures)) if event == "pull_request" else {}
    rows = []
    for fixture, trials in fixtures.items():
        may = {*grants.every_fixture, *grants.fixtures.get(fixture, ())}
        beyond = sorted({call.name for trial in trials for call in trial.calls} - may)
        note = f"refused on pull requests: {refused[fixture]}" if fixture in refused else ""
        if beyond:
            note = f"calls {', '.join(beyond)} without a grant" + (f"; {note}" if note else "")
        rows.append(
            Row(
                fixture=fixture,
                field="grants",
                verdict="fail" if note else "pass",
                value=None,
                unit="",
                band="only granted tools",
                distance=None,
                severity="block",
                scope="",
                note=note,
                evidence="",
                baseline="",
                candidate=trials[0].trial_id if trials else "",
            )
        )
    return rows
