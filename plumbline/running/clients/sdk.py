"""What both SDKs share: their errors put into one classification, with the evidence."""

from __future__ import annotations

from plumbline.running.clients.failures import ModelFailureError, failure_of_status, hide, retry_after
from plumbline.running.clients.protocol import ModelRequest
from plumbline.running.stops import HarnessError

__all__ = ["bad_response", "failure_from"]

_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "ProxyError"})


def failure_from(error: Exception, request: ModelRequest, secrets: tuple[str, ...]) -> HarnessError:
    """Classify an SDK's error: by its HTTP status if an answer came, else by what broke below it.

    Parameters
    ----------
    error : Exception
        What the SDK raised. Both libraries shape their ``APIError`` alike; anything else means that the client itself
        broke, which is never the agent's doing.
    request : ModelRequest
        What was asked, for the message.
    secrets : tuple of str
        Keys to keep out of words and evidence.
    """
    where = f"trial {request.trial_id}, turn {request.turn}, model {request.model}"
    if not hasattr(error, "request"):
        return HarnessError(hide(f"{where}: the client broke ({type(error).__name__}: {error})", secrets))
    response = getattr(error, "response", None)
    if response is not None:
        status = int(response.status_code)
        if status < 400:
            return bad_response(hide(response.text, secrets), error, request)
        kind = failure_of_status(status)
        return ModelFailureError(
            kind,
            hide(f"{where}: HTTP {status}, {error}", secrets),
            http_status=status,
            retry_after_s=retry_after({k.lower(): v for k, v in response.headers.items()}),
            evidence=hide(response.text, secrets),
            may_be_billed=kind == "timeout",
        )
    below = error.__cause__
    name = type(below).__name__ if below is not None else type(error).__name__
    kind = "timeout" if type(error).__name__ == "APITimeoutError" else "connection"
    words = f"{where}: {error} ({name}: {below})" if below is not None else f"{where}: {error}"
    words = hide(words, secrets)
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
