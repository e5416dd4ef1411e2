"""Model clients: several transports of one shape."""

from plumbline.running.clients.anthropic_client import AnthropicClient
from plumbline.running.clients.backoff import Backoff, RetryingClient
from plumbline.running.clients.choosing import APIS, model_client
from plumbline.running.clients.failures import FAILURES, ModelFailureError
from plumbline.running.clients.faulty import CLIENT_FAULTS, ClientFault, FaultyClient
from plumbline.running.clients.ledger import Ledger
from plumbline.running.clients.ledgered import LedgeredClient, ReplayClient
from plumbline.running.clients.local import LOCAL_MODEL, LocalModel, local_prices
from plumbline.running.clients.messages import assistant_message, tool_message
from plumbline.running.clients.openai_client import OpenAICompatibleClient
from plumbline.running.clients.prices import Price, Prices, parse_price
from plumbline.running.clients.protocol import ModelCall, ModelClient, ModelReply, ModelRequest, Usage
from plumbline.running.clients.records import Recorded, Spend, TrialUsage
from plumbline.running.clients.scripted import ScriptedClient

__all__ = [
    "APIS",
    "CLIENT_FAULTS",
    "FAILURES",
    "LOCAL_MODEL",
    "AnthropicClient",
    "Backoff",
    "ClientFault",
    "FaultyClient",
    "Ledger",
    "LedgeredClient",
    "LocalModel",
    "ModelCall",
    "ModelClient",
    "ModelFailureError",
    "ModelReply",
    "ModelRequest",
    "OpenAICompatibleClient",
    "Price",
    "Prices",
    "Recorded",
    "ReplayClient",
    "RetryingClient",
    "ScriptedClient",
    "Spend",
    "TrialUsage",
    "Usage",
    "assistant_message",
    "local_prices",
    "model_client",
    "parse_price",
    "tool_message",
]
