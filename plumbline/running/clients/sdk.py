"""What both SDKs share: their errors put into one classification, with the evidence."""

from __future__ import annotations

from typing import Any

from plumbline.running.clients.failures import ModelFailureError, failure_of_status, retry_after
from plumbline.running.clients.protocol import ModelRequest

__all__ = ["bad_response", "failure_from"]

_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "ProxyError"})


def failure_from(error: Any, request: ModelRequest) -> ModelFailureError:
    """Classify an SDK's error: by its HTTP status if an answer came, else by what broke below it.

    Parameters
    ----------
    error : anthropic.APIError or openai.APIError
        What the SDK raised; both libraries shape it alike.
    request : ModelRequest
        What was asked, for the message.
    """
    where = f"trial {request.trial_id}, turn {request.turn}, model {request.model}"
    response = getattr(error, "response", None)
    if response is not None:
        status = int(response.status_code)
        if status < 400:
            return bad_response(response.text, error, request)
        kind = failure_of_status(status)
        return ModelFailureError(
            kind,
            f"{where}: HTTP {status}, {error}",
            http_status=status,
            retry_after_s=retry_after({k.lower(): v for k, v in response.headers.items()}),
            evidence=response.text,
            may_be_billed=kind == "timeout",
        )
    below = error.__cause__
    name = type(below).__name__ if below is not None else type(error).__name__
    kind = "timeout" if type(error).__name__ == "APITimeoutError" else "connection"
    words = f"{where}: {error} ({name}: {below})" if below is not None else f"{where}: {error}"
    return ModelFailureError(kind, words, evidence=words, may_be_billed=name not in _NEVER_SENT)


def bad_response(body: str, error: BaseException, request: ModelRequest) -> ModelFailureError:
    """Make the failure of an answer that came but cannot be read; its text is kept."""
    what = f"{type(error).__name__}: {error}"
    return ModelFailureError(
        "bad_response",
        f"trial {request.trial_id}, turn {request.turn}, model {request.model}: the answer cannot be read ({what})",
        evidence=body,
        may_be_billed=True,
    )
