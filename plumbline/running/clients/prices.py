"""What a call costs: a dated table, an upper bound before the call, the cost after it. Money is exact decimals.

A model that is not in the table is an error, never free. Prices change: every entry says as of when and from where, the
ledger stores that version with each call, and a price of one's own goes before the table's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError
from plumbline.running.clients.protocol import ModelRequest, Usage
from plumbline.running.clients.records import stable_json

__all__ = ["TABLE", "Price", "Prices", "parse_price"]

_MILLION = Decimal(1_000_000)
_OWN = "set by the user"
_READ = "platform.claude.com/docs/en/about-claude/pricing, standard rate, 5-minute cache writes"
_SNAPSHOT = re.compile(r"-20\d{6}$")
_OTHER_RATES = ("speed", "inference_geo", "service_tier")
_OVERHEAD_TOKENS = 1000
"""Tokens a provider adds of its own around system, tools and schema, taken generously."""


@dataclass(frozen=True)
class Price:
    """Price of one model in US dollars per million tokens.

    Parameters
    ----------
    tokens_in, tokens_out, cache_read, cache_write : Decimal
        Input that no cache serves, output, input read from the prompt cache and input written to it; at least 0.
    as_of : str
        Date on which the price was known to hold, ISO 8601.
    source : str
        Where it is from; ``set by the user`` for one's own.
    above : int, optional
        Prompts of more tokens than this, cached ones included, cost ``then`` for all their tokens.
    then : Price, optional
        The price above it.
    """

    tokens_in: Decimal
    tokens_out: Decimal
    cache_read: Decimal
    cache_write: Decimal
    as_of: str
    source: str = _OWN
    above: int | None = None
    then: Price | None = None

    def __post_init__(self) -> None:
        for name in ("tokens_in", "tokens_out", "cache_read", "cache_write"):
            value = getattr(self, name)
            if not isinstance(value, Decimal) or not value.is_finite() or value < 0:
                raise ParameterError(f"price.{name} must be a Decimal of at least 0; found {value!r}")
        if (self.above is None) != (self.then is None):
            raise ParameterError("a price with a step needs both 'above' and 'then'")

    @cached_property
    def version(self) -> str:
        """Date and digest of the figures, stored with every call."""
        figures = [str(v) for v in (self.tokens_in, self.tokens_out, self.cache_read, self.cache_write, self.above)]
        text = canonical_json([*figures, self.then.version if self.then else "", self.source])
        return f"{self.as_of}:{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def dearest_in(self) -> Decimal:
        """The dearest that one token of input can be."""
        own = max(self.tokens_in, self.cache_read, self.cache_write)
        return own if self.then is None else max(own, self.then.dearest_in)

    @property
    def dearest_out(self) -> Decimal:
        """The dearest that one token of output can be."""
        return self.tokens_out if self.then is None else max(self.tokens_out, self.then.dearest_out)

    @property
    def free(self) -> bool:
        """Whether nothing is ever charged."""
        return self.dearest_in == 0 and self.dearest_out == 0

    def cost(self, usage: Usage) -> Decimal | None:
        """Return the cost of one answer in dollars; None if the provider did not say how many tokens it took."""
        if self.free:
            return Decimal(0)
        if usage.tokens_in is None or usage.tokens_out is None:
            return None
        read, write = usage.cache_read or 0, usage.cache_write or 0
        if self.then is not None and self.above is not None and usage.tokens_in + read + write > self.above:
            return self.then.cost(usage)
        total = (
            usage.tokens_in * self.tokens_in
            + usage.tokens_out * self.tokens_out
            + read * self.cache_read
            + write * self.cache_write
        )
        return total / _MILLION


def _claude(given: str, out: str, read: str, write: str, as_of: str = "2026-10-24") -> Price:
    return Price(Decimal(given), Decimal(out), Decimal(read), Decimal(write), as_of, _READ)


_OPUS = _claude("5", "25", "0.50", "6.25")
_SONNET_4 = _claude("3", "15", "0.30", "3.75")
_HAIKU_5_5 = _claude("0.10", "0.50", "0.01", "0.125")
TABLE: Mapping[str, Price] = {
    "claude-fable-5-1": _claude("10", "50", "0.25", "12.50"),
    "claude-fable-5": _claude("10", "50", "1", "12.50"),
    "claude-opus-5-5": _claude("4", "20", "0.20", "5"),
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-sonnet-5-5": _claude("2", "10", "0.10", "2.50"),
    "claude-sonnet-5": _claude("2", "10", "0.20", "2.50"),
    "claude-sonnet-4-6": _SONNET_4,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-haiku-5-5": Price(
        Decimal("0.10"), Decimal("0.50"), Decimal("0.01"), Decimal("0.125"), "2026-10-24", _READ,
        above=100_000, then=_claude("0.50", "2.50", "0.05", "0.625"),
    ),
    "claude-haiku-4-5": _claude("1", "5", "0.10", "1.25"),
}  # fmt: skip
"""Prices of Anthropic's models. A name with a date of issue (``…-20251001``) has the price of the name without it."""


class Prices:
    """Prices by model: one's own first, then the dated table.

    Parameters
    ----------
    own : mapping of str to Price, optional
        Prices that go before the table's, by exact model name.

    Examples
    --------
    >>> prices = Prices({"local": parse_price("in=0,out=0", as_of="2026-11-30")})
    >>> prices.cost("claude-haiku-4-5", Usage(tokens_in=1_000_000, tokens_out=200_000))
    Decimal('2.00')
    >>> prices.of("local").free
    True
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = dict(own or {})

    def of(self, model: str) -> Price:
        """Return the price of a model.

        Raises
        ------
        ParameterError
            The model is neither in one's own prices nor in the table.
        """
        for known, name in ((self._own, model), (TABLE, model), (TABLE, _SNAPSHOT.sub("", model))):
            if name in known:
                return known[name]
        raise ParameterError(
            f"the price of model {model!r} is not known; known: {', '.join(sorted({*self._own, *TABLE}))}. Give it in "
            f"dollars per million tokens with --price in=...,out=... (in=0,out=0 for a local model), or in Python "
            f'Prices({{{model!r}: parse_price("in=...,out=...", as_of="YYYY-MM-DD")}})'
        )

    def cost(self, model: str, usage: Usage) -> Decimal | None:
        """Return the cost of one answer in dollars, None if its tokens are not known."""
        return self.of(model).cost(usage)

    def estimate(self, request: ModelRequest) -> Decimal:
        """Return an upper bound of what a request can cost, in dollars.

        A token of text is at least one byte, so the bytes of the request bound its tokens; the answer is bounded by
        ``max_tokens``.

        Raises
        ------
        ParameterError
            The price is not known; the request sets no ``max_tokens``; or it asks for a rate the table does not hold.
        """
        price = self.of(request.model)
        if price.free:
            return Decimal(0)
        if price.source != _OWN and (odd := [name for name in _OTHER_RATES if name in request.settings]):
            raise ParameterError(
                f"the table holds standard rates only, and the settings name {', '.join(odd)}; give the price with "
                f"--price in=...,out=..."
            )
        most = request.settings.get("max_tokens", request.settings.get("max_completion_tokens"))
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ParameterError(
                f"settings need max_tokens, a whole number of at least 0, or the cost of a call to {request.model} has "
                f"no upper bound; found {most!r}"
            )
        asked = {"system": request.system, "messages": request.messages, "tools": request.tools}
        text = stable_json({**asked, "schema": request.schema, "settings": request.settings})
        given = len(text.encode()) + _OVERHEAD_TOKENS
        return (given * price.dearest_in + most * price.dearest_out) / _MILLION


def parse_price(text: str, *, as_of: str) -> Price:
    """Read a price as the command line takes it.

    Parameters
    ----------
    text : str
        ``in=…,out=…`` in dollars per million tokens; optionally ``cache_read=…`` and ``cache_write=…``. Without them a
        token read from the cache costs as much as any input, and one written a quarter more.
    as_of : str
        Date on which it holds.

    Returns
    -------
    Price
        With source ``set by the user``.

    Raises
    ------
    ParameterError
        A part is unknown, given twice, missing, negative or no number.

    Examples
    --------
    >>> parse_price("in=1,out=5,cache_read=0.1", as_of="2026-11-30").cache_write
    Decimal('1.25')
    """
    known = ("in", "out", "cache_read", "cache_write")
    found: dict[str, Decimal] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        name = name.strip()
        try:
            number = Decimal(value.strip())
        except InvalidOperation:
            number = Decimal("NaN")
        if name not in known or name in found or not number.is_finite() or number < 0:
            raise ParameterError(
                f"a price reads in=1.00,out=5.00 with optional cache_read=, cache_write= (dollars per million tokens, "
                f"each once, at least 0); found {part!r} in {text!r}"
            )
        found[name] = number
    if "in" not in found or "out" not in found:
        raise ParameterError(f"a price needs both in= and out=; found {text!r}")
    read = found.get("cache_read", found["in"])
    return Price(found["in"], found["out"], read, found.get("cache_write", found["in"] * Decimal("1.25")), as_of)
