"""The incumbent's own noise: how often it falls outside a band that its replacement is to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plumbline.decide.bands.file import BandFile
from plumbline.decide.bands.rows import Row
from plumbline.stats import clopper_pearson

__all__ = ["NoiseFound", "noise_of"]


@dataclass(frozen=True, kw_only=True)
class NoiseFound:
    """What the incumbent's re-runs say of one band.

    Parameters
    ----------
    field, scope : str
        The band.
    state : {'usable', 'unusable', 'cannot_tell', 'not_measured'}
        ``unusable``: more re-runs fall outside than the file allows, beyond chance.
    n, outside : int
        Re-runs that could be judged, and those outside the band.
    low, high : float or None
        Exact interval of the share outside, two-sided.
    edge : float or None
        The value that all but the allowed share of re-runs reach (scores) or stay within (distance to the edge of
        ratios): the tightest edge this incumbent could keep.
    said : str
        One sentence.
    """

    field: str
    scope: str
    state: str
    n: int
    outside: int
    low: float | None
    high: float | None
    edge: float | None
    said: str

    @property
    def key(self) -> tuple[str, str]:
        """Field and scope of the band."""
        return self.field, self.scope


def noise_of(bands: BandFile, again: Sequence[tuple[str, Row]]) -> list[NoiseFound]:
    """Judge each band by the incumbent's re-runs.

    Parameters
    ----------
    bands : BandFile
        Says which share may fall outside.
    again : sequence of (field, Row)
        Verdicts of the incumbent against itself.

    Returns
    -------
    list of NoiseFound
        One a field and scope, in the order of the file.
    """
    by_band: dict[tuple[str, str], list[Row]] = {}
    for _, found in again:
        by_band.setdefault((found.field, found.scope), []).append(found)
    wanted = dict.fromkeys([*((field, "") for field in bands.fields), *by_band])
    return [_of_band(bands, field, scope, by_band.get((field, scope), [])) for field, scope in wanted]


def _of_band(bands: BandFile, field: str, scope: str, rows: Sequence[Row]) -> NoiseFound:
    told = [found for found in rows if found.verdict not in ("cannot_tell", "unusable")]
    n, outside = len(told), sum(found.verdict != "pass" for found in told)
    if not n:
        said = "the incumbent was not run twice, so its own noise is not known; add a repetition or --rerun RUN"
        return NoiseFound(
            field=field, scope=scope, state="not_measured", n=0, outside=0, low=None, high=None, edge=None, said=said
        )
    most = bands.noise.at_most
    if told[0].fixture.startswith("("):  # one ratio over the suite, or one a slice
        state = "unusable" if outside else "usable"
        said = f"{told[0].value:.3g}x between two runs of the incumbent" if told[0].value is not None else ""
        return NoiseFound(
            field=field, scope=scope, state=state, n=n, outside=outside, low=None, high=None, edge=None, said=said
        )
    found = clopper_pearson(outside, n, confidence=bands.noise.confidence, sidedness="two-sided")
    low, high = found.low or 0.0, 1.0 if found.high is None else found.high
    state = "unusable" if low > most else "usable" if high <= most else "cannot_tell"
    values = sorted(each.value for each in told if each.value is not None and each.unit == "score")
    edge = values[int(most * len(values))] if values else None
    said = f"{outside} of {n} re-runs outside, {low:.1%} to {high:.1%}; {most:.1%} are allowed"
    if state == "unusable" and edge is not None:
        said += f"; {edge:.3f} is the edge it would keep"
    return NoiseFound(
        field=field, scope=scope, state=state, n=n, outside=outside, low=low, high=high, edge=edge, said=said
    )
