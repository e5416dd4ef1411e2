"""What a certificate is asked for, and the checks of single values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.stats.clusters import DECLARED_RHO

__all__ = ["Settings", "share"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a certificate is asked for, see ``certify``; all of it enters the digest of its parameters."""

    measure: str = "critical"
    rule: str = "planned_minimum"
    scope: str = "suite"
    confidence: float = 0.95
    sidedness: str | None = None
    ignorable: Mapping[str, str] | Collection[str] = ()
    rho: float = DECLARED_RHO
    threshold: float | None = None
    faults: Collection[str] = ()


def share(value: Any, name: str) -> float:
    """Return a share in (0, 1); 95 raises and says to write 0.95.

    Examples
    --------
    >>> share(0.95, "threshold")
    0.95
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and 1 < value < 100:
        raise ParameterError(f"{name} is {value!r}; write it as a share: {value / 100:g}")
    if not number or not 0 < value < 1:
        raise ParameterError(f"{name} is {value!r}; give a share between 0 and 1, both excluded, such as 0.95")
    return float(value)
