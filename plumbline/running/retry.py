"""Which errors are worth a second try, and the second try."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from plumbline.base.errors import ParameterError, ToolError
from plumbline.running.toolbox import Toolbox

__all__ = ["call_with_retries", "is_transient"]

_MARKERS = re.compile(
    r"(?<![\w-])(?:429|502|503|504)(?!\w)"
    r"|\b(?:timeout|timed out|unavailable|temporarily unavailable|connection reset|rate limit)",
    re.IGNORECASE,
)


def is_transient(error: str) -> bool:
    """Tell from its text whether an error may pass by itself.

    The markers are those of the published executor: 429, 502, 503, 504, timeout, timed out, unavailable, temporarily
    unavailable, connection reset, rate limit. A number inside an identifier (``INV-503``) is not a marker.

    Parameters
    ----------
    error : str
        What the tool said.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_transient("HTTP 503: try later"), is_transient("no invoice INV-503")
    (True, False)
    """
    return _MARKERS.search(error) is not None


def call_with_retries(
    toolbox: Toolbox, name: str, arguments: Mapping[str, Any], *, max_retries: int, never_after: Collection[str] = ()
) -> Any:
    """Call a tool, and call it again after a transient error, at once and with equal arguments.

    Each try is a step of its own, so a recovered call shows as a failed step followed by a good one.

    Parameters
    ----------
    toolbox : Toolbox
        The trial's toolbox.
    name : str
        Tool to call.
    arguments : mapping
        Its arguments.
    max_retries : int
        Tries beyond the first, 0 or more.
    never_after : collection of str
        Error types after which the call is not repeated; ``timeout`` for a call that must not happen twice, since what
        got no answer may have been carried out.

    Returns
    -------
    object
        The tool's result.

    Raises
    ------
    ToolError
        The last error, if no try succeeded; at once if the error is not transient.
    ParameterError
        ``max_retries`` is not a whole number of at least 0.
    """
    if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
        raise ParameterError(f"max_retries must be a whole number of at least 0; found {max_retries!r}")
    for _ in range(max_retries):
        try:
            return toolbox.call(name, arguments)
        except ToolError as error:
            if error.error_type in never_after or not is_transient(str(error)):
                raise
    return toolbox.call(name, arguments)
