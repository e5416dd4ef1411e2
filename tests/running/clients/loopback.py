"""A provider on the loopback interface that speaks both dialects and misbehaves on demand."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Act:
    """What the server does with one request."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    close: bool = False
    promised: int | None = None  # content length, if it shall not be true


class Provider:
    """The server, the acts it will play in order (the last one again and again), and what it was asked."""

    def __init__(self) -> None:
        self.acts: deque[Act] = deque()
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def will(self, *acts: Act) -> None:
        self.acts = deque(acts)

    def stop(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with provider._lock:
                    provider.asked.append({"path": self.path, **sent})
                    provider.headers.append({k.lower(): v for k, v in self.headers.items()})
                    act = provider.acts.popleft() if len(provider.acts) > 1 else provider.acts[0]
                provider._over.wait(act.wait_s)
                if act.close:
                    self.close_connection = True
                    return
                body = act.body.encode("utf-8", "surrogatepass")
                self.send_response(act.status)
                for name, value in {"content-type": "application/json", **act.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body) if act.promised is None else act.promised))
                self.end_headers()
                with contextlib.suppress(OSError):  # the client has given up
                    self.wfile.write(body)
                if act.promised is not None:
                    self.close_connection = True

        return Handler


def messages_body(
    content: Any = ({"type": "text", "text": "hello"},), stop: str = "end_turn", **more: Any
) -> dict[str, Any]:
    """An answer in the shape of Anthropic's Messages."""
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": content, "stop_reason": stop,
        "stop_sequence": None, "usage": {"input_tokens": 12, "output_tokens": 3}, **more,
    }  # fmt: skip


def chat_body(message: Any = None, stop: str = "stop", **more: Any) -> dict[str, Any]:
    """An answer in the shape of OpenAI's chat completions."""
    said = {"role": "assistant", "content": "hello"} if message is None else message
    return {
        "id": "c_1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "message": said, "finish_reason": stop}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}, **more,
    }  # fmt: skip
