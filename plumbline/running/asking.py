"""One trial's conversation with a model: every question knows its trial and turn, every answer is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.running.clients.messages import assistant_message, tool_message
from plumbline.running.clients.protocol import ModelClient, ModelReply, ModelRequest
from plumbline.running.money import cost_of
from plumbline.running.stops import HarnessError
from plumbline.running.toolbox import Toolbox

__all__ = ["Conversation"]


class Conversation:
    """What was said so far between an agent and its model.

    Parameters
    ----------
    client : ModelClient
        Who answers.
    toolbox : Toolbox
        The trial's toolbox; tokens and cost are added to it, and its variant's settings go with every question.
    model : str
        Model to ask.
    trial_id : str
        The trial that asks.
    system : str
        Standing instructions.
    tools : sequence of mapping
        What the model may call.
    settings : mapping
        Sampling settings; those of the trial's variant go before them.
    """

    def __init__(
        self, client: ModelClient, toolbox: Toolbox, *, model: str, trial_id: str, system: str = "",
        tools: Sequence[Mapping[str, Any]] = (), settings: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._client, self._toolbox, self._model, self._trial = client, toolbox, model, trial_id
        self._system, self._tools = system, tuple(tools)
        self._settings = {**(settings or {}), **toolbox.settings}
        self._messages: list[Mapping[str, Any]] = []
        self._turn = 0

    def say(self, text: str) -> None:
        """Put the next words of the user."""
        self._messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def results(self, results: Sequence[tuple[str, str, bool]]) -> None:
        """Put the results of one turn's calls: id, content, whether it is an error."""
        self._messages.append(tool_message(results))

    def ask(self, *, schema: Mapping[str, Any] | None = None) -> ModelReply:
        """Ask, and keep the answer as part of the conversation.

        Raises
        ------
        HarnessError
            No answer came; whatever broke, it is not the agent's behaviour.
        """
        request = ModelRequest(
            self._model, tuple(self._messages), system=self._system, tools=self._tools, settings=self._settings,
            schema=schema, trial_id=self._trial, turn=self._turn,
        )  # fmt: skip
        try:
            reply = self._client.complete(request)
        except HarnessError:
            raise
        except Exception as problem:
            raise HarnessError(
                f"the model client broke at turn {self._turn} ({type(problem).__name__}: {problem})"
            ) from problem
        usage = reply.usage
        self._toolbox.used(
            tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, cost_usd=cost_of(self._client, self._model, usage)
        )
        self._messages.append(assistant_message(reply))
        self._turn += 1
        return reply
