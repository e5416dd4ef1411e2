"""How a call to a model fails without an answer: classified, with its evidence, apart from what agents do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from plumbline.base.errors import ParameterError
from plumbline.running.stops import NoResponseError

__all__ = ["FAILURES", "ModelFailureError", "failure_of_status", "hide", "retry_after", "scrub"]

FAILURES: Mapping[str, str] = {
    "rate_limited": "the provider asked to slow down (429)",
    "server_error": "the provider failed (5xx)",
    "connection": "no connection, or it broke before the answer was whole",
    "timeout": "no answer within the time allowed",
    "bad_response": "an answer came that cannot be read",
    "rejected": "the provider refused the request as such (other 4xx): no credit, no such model, a setting it rejects",
}
"""Classes of failure. All but ``rejected`` are worth another attempt."""

_SECRET_SHAPES = re.compile(
    r"sk-[A-Za-z0-9_-]{12,}"
    r"|(?i:(authorization|x-api-key|api[-_]key)(?P<sep>[\"']?\s*[:=]\s*[\"']?)(bearer\s+)?)(?!\[redacted\])[^\s\"',}]{6,}"
    r"|(?i:bearer)\s+[A-Za-z0-9._~+/=-]{12,}"
)
_LONGEST_EVIDENCE = 4000
SHORTEST_KEY = 12
"""Local servers take any word as a key; one of fewer characters is no secret and could occur in any text."""


class ModelFailureError(NoResponseError):
    """A call to a model gave no usable answer.

    Parameters
    ----------
    kind : str
        One of ``FAILURES``.
    message : str
        What happened, in words.
    http_status : int, optional
        Status of the HTTP answer, if there was one.
    retry_after_s : float, optional
        Seconds the server asked to wait.
    evidence : str
        What came back, as text, at most 4,000 characters; keys are scrubbed.
    may_be_billed : bool
        Whether the provider may have done the work all the same. The ledger then counts the call at its estimate.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        http_status: int | None = None,
        retry_after_s: float | None = None,
        evidence: str = "",
        may_be_billed: bool = False,
    ) -> None:
        if kind not in FAILURES:
            raise ParameterError(f"a failure is one of {', '.join(FAILURES)}; found {kind!r}")
        self.kind = kind
        self.http_status = http_status
        self.retry_after_s = retry_after_s
        self.evidence = scrub(evidence)[:_LONGEST_EVIDENCE]
        self.may_be_billed = may_be_billed
        super().__init__(f"{kind}: {scrub(message)}")

    @property
    def may_be_repeated(self) -> bool:
        """Whether another attempt can help."""
        return self.kind != "rejected"


def hide(text: str, secrets: tuple[str, ...]) -> str:
    """Replace known keys in a text, and nothing else; a text shorter than 12 characters is no key.

    Examples
    --------
    >>> hide("you sent abcdef-123456", ("abcdef-123456", "key"))
    'you sent [redacted]'
    """
    for secret in secrets:
        if len(secret) >= SHORTEST_KEY:
            text = text.replace(secret, "[redacted]")
    return text


def scrub(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Replace keys in a text: the secrets given, and whatever has the shape of a key or an authorisation header.

    Examples
    --------
    >>> scrub("x-api-key: abcdef123456, invalid")
    'x-api-key: [redacted], invalid'
    """
    return _SECRET_SHAPES.sub(_redact, hide(text, secrets))


def _redact(found: re.Match[str]) -> str:
    label = found.group(1)
    return f"{label}{found.group('sep')}[redacted]" if label else "[redacted]"


def failure_of_status(status: int) -> str:
    """Return the class of an HTTP error status.

    Examples
    --------
    >>> [failure_of_status(s) for s in (400, 408, 429, 500, 529)]
    ['rejected', 'timeout', 'rate_limited', 'server_error', 'server_error']
    """
    if status == 429:
        return "rate_limited"
    if status == 408:
        return "timeout"
    return "server_error" if status >= 500 else "rejected"


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read the server's hint how long to wait.

    Parameters
    ----------
    headers : mapping
        Headers of the answer, names in lower case.
    now : datetime, optional
        The time against which an HTTP date counts, with its zone; by default the present.

    Returns
    -------
    float or None
        Seconds, at least 0; None without a hint or with one that cannot be read.

    Examples
    --------
    >>> retry_after({"retry-after": "7"}), retry_after({"retry-after": "soon"})
    (7.0, None)
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _until(value, now)
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _until(date: str, now: datetime | None) -> float:
    try:
        there = parsedate_to_datetime(date)
    except ValueError:
        return float("inf")
    if there.tzinfo is None:
        there = there.replace(tzinfo=UTC)
    return max(0.0, (there - (now or datetime.now(UTC))).total_seconds())
