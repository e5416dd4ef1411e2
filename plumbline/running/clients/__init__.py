"""Model clients: several transports of one shape."""

from plumbline.running.clients.protocol import ModelCall, ModelClient, ModelReply, ModelRequest, Usage

__all__ = ["ModelCall", "ModelClient", "ModelReply", "ModelRequest", "Usage"]
