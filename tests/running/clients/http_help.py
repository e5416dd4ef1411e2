"""What the tests against the loopback server share: a request, a plain answer, and the key that must not leak."""

from __future__ import annotations

import json

from plumbline.running.clients import ModelRequest
from tests.running.clients.loopback import chat_body, messages_body

KEY = "sk-test-0123456789abcdef"
DIALECTS = ("messages", "chat")
TOOL = {
    "name": "pay",
    "description": "Pay.",
    "parameters": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
}


def ask(**changed) -> ModelRequest:
    given = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}], "settings": {"max_tokens": 50}}
    return ModelRequest(**({"trial_id": "t/0", "system": "Be brief.", **given} | changed))


def plain(dialect: str) -> str:
    return json.dumps(messages_body() if dialect == "messages" else chat_body())
