"""Keys stay out of every record: a request that carries one is refused, an answer or an error that does is scrubbed."""

from __future__ import annotations

from plumbline.base.errors import ParameterError
from plumbline.running.clients.failures import SHORTEST_KEY, hide, scrub
from plumbline.running.clients.protocol import ModelRequest

__all__ = ["Secrets"]

_NEVER_RECORDED = frozenset({"authorization", "api_key", "x_api_key", "headers", "extra_headers", "default_headers"})


class Secrets:
    """The keys of this process's clients.

    A text shorter than 12 characters is no key (local servers take any word) and is ignored.
    """

    def __init__(self) -> None:
        self._known: tuple[str, ...] = ()

    def add(self, *secrets: str) -> None:
        """Name keys that must not be recorded."""
        self._known = tuple({*self._known, *(s for s in secrets if len(s) >= SHORTEST_KEY)})

    def refuse(self, request: ModelRequest, text: str) -> None:
        """Refuse a request that carries a key.

        Parameters
        ----------
        request : ModelRequest
            What is to be asked.
        text : str
            The same as text.

        Raises
        ------
        ParameterError
            A known key occurs in it, or its settings hold headers or a key.
        """
        if odd := [n for n in request.settings if str(n).lower().replace("-", "_") in _NEVER_RECORDED]:
            raise ParameterError(f"settings are recorded, so {odd} must not stand there; give keys to the client")
        if any(secret in text for secret in self._known):
            raise ParameterError(
                f"trial {request.trial_id}, turn {request.turn}: the request holds the text of an API key; it was "
                f"neither sent nor recorded. Take the key out of the prompt, the tools or the settings"
            )

    def strip(self, text: str) -> str:
        """Replace known keys in an answer; nothing else of it is touched."""
        return hide(text, self._known)

    def strip_error(self, text: str) -> str:
        """Replace in an error's words known keys and whatever has the shape of one."""
        return scrub(text, self._known)
