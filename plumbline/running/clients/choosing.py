"""Which client speaks to a provider, from what a person says of it."""

from __future__ import annotations

from plumbline.base.errors import ParameterError
from plumbline.running.clients.anthropic_client import AnthropicClient
from plumbline.running.clients.openai_client import OpenAICompatibleClient

__all__ = ["APIS", "model_client"]

APIS = ("anthropic", "openai")


def model_client(*, api: str = "", base_url: str = "") -> AnthropicClient | OpenAICompatibleClient:
    """Return a client for a provider; the key comes from the environment.

    Parameters
    ----------
    api : {'', 'anthropic', 'openai'}
        What the server speaks; if empty, anthropic, or openai with a ``base_url``.
    base_url : str
        Server to ask instead of the provider's.

    Raises
    ------
    ParameterError
        The API is not known.
    """
    if api not in ("", *APIS):
        raise ParameterError(f"api must be one of {', '.join(APIS)}; found {api!r}")
    spoken = api or ("openai" if base_url else "anthropic")
    if spoken == "openai":
        return OpenAICompatibleClient(base_url=base_url or None)
    return AnthropicClient(base_url=base_url or None)
