"""A client that answers from a script: deterministic, free, for tests and for agents without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from plumbline.base.errors import ParameterError
from plumbline.running.clients.protocol import ModelReply, ModelRequest
from plumbline.running.stops import NoResponseError

__all__ = ["ScriptedClient"]


class ScriptedClient:
    """Answer by a function of the request, or by a list with one answer for each turn.

    Parameters
    ----------
    script : callable or sequence
        ``function(request)`` that returns a reply or its text, or the replies (or texts) of turns 0, 1, …, given to
        every trial alike.

    Examples
    --------
    >>> client = ScriptedClient(["first", "second"])
    >>> client.complete(ModelRequest("m", [], trial_id="t", turn=1)).text
    'second'
    """

    def __init__(self, script: Callable[[ModelRequest], ModelReply | str] | Sequence[ModelReply | str]) -> None:
        if isinstance(script, str) or not (callable(script) or isinstance(script, Sequence)):
            raise ParameterError(f"a script is a function or a list of replies; found {type(script).__name__}")
        self._script = script

    def complete(self, request: ModelRequest) -> ModelReply:
        """Return the scripted answer.

        Raises
        ------
        NoResponseError
            The list has no answer for this turn.
        """
        if callable(self._script):
            said = self._script(request)
        elif 0 <= request.turn < len(self._script):
            said = self._script[request.turn]
        else:
            raise NoResponseError(
                f"trial {request.trial_id}, turn {request.turn}: the script ends after {len(self._script)} answers"
            )
        if isinstance(said, str):
            return ModelReply(said, stop="end_turn", model=request.model)
        if not isinstance(said, ModelReply):
            raise ParameterError(f"a script gives ModelReply or text; found {type(said).__name__}")
        json.dumps(dict(said.raw))  # evidence that could not be recorded is an error of the script, at once
        return said
