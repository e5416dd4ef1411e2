"""Prices: dated, exact, with an upper bound before the call; an unknown model is an error, never free."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.running.clients import ModelRequest, Price, Prices, Usage, parse_price
from plumbline.running.clients.prices import TABLE


def ask(model: str = "claude-haiku-4-5", **settings) -> ModelRequest:
    return ModelRequest(
        model, [{"role": "user", "content": "é" * 1000}], settings={"max_tokens": 100} | settings, trial_id="t"
    )


def test_an_unknown_price_is_an_error_that_says_how_to_give_one():
    for model in ("gpt-next", "claude-haiku-4-5-preview", "claude-haiku", "claude-haiku-4-5-20251001-x"):
        with pytest.raises(ParameterError, match=r"--price in=\.\.\.,out=\.\.\."):
            Prices().of(model)


def test_a_dated_name_has_the_price_of_its_model_and_ones_own_goes_first():
    assert Prices().of("claude-haiku-4-5-20251001") is TABLE["claude-haiku-4-5"]
    own = parse_price("in=9,out=9", as_of="2026-11-30")
    assert Prices({"claude-haiku-4-5": own}).of("claude-haiku-4-5") is own
    assert own.source == "set by the user"


def test_every_entry_is_dated_and_has_a_source():
    for name, price in TABLE.items():
        assert len(price.as_of) == 10, name
        assert "pricing" in price.source, name
        assert price.cache_read < price.tokens_in < price.cache_write < price.tokens_out, name


def test_a_call_is_priced_by_kind_of_token():
    usage = Usage(tokens_in=1000, tokens_out=200, cache_read=5000, cache_write=400)
    assert Prices().cost("claude-haiku-4-5", usage) == Decimal("0.003000")  # 1000 + 200·5 + 5000·0.1 + 400·1.25


def test_a_long_prompt_costs_more_for_all_its_tokens_and_cached_ones_count():
    price = Prices()
    assert price.cost("claude-haiku-5-5", Usage(100_000, 1000)) == Decimal("0.0105")
    assert price.cost("claude-haiku-5-5", Usage(100_001, 0)) == Decimal("0.0500005")
    assert price.cost("claude-haiku-5-5", Usage(1, 0, cache_read=100_000)) == Decimal("0.0050005")


def test_unknown_tokens_have_no_cost_unless_all_is_free():
    assert Prices().cost("claude-haiku-4-5", Usage(None, 5)) is None
    assert Prices({"local": parse_price("in=0,out=0", as_of="2026-11-30")}).cost("local", Usage()) == 0


@settings(deadline=None, max_examples=60)
@given(
    model=st.sampled_from(sorted(TABLE)),
    tokens=st.tuples(*[st.integers(0, 1500)] * 3),
    out=st.integers(0, 100),
)
def test_the_estimate_bounds_what_a_call_can_cost(model, tokens, out):
    """Two bytes a letter: no tokenizer makes more tokens than bytes, however they are cached."""
    plain, read, write = tokens
    request = ask(model)
    if plain + read + write <= 2000:
        assert Prices().cost(model, Usage(plain, out, read, write)) <= Prices().estimate(request)


def test_an_estimate_needs_a_bound_and_a_standard_rate():
    bare = ModelRequest("claude-haiku-4-5", [], trial_id="t")
    for odd in ({}, {"max_tokens": -1}, {"max_tokens": True}, {"max_tokens": 1.5}):
        with pytest.raises(ParameterError, match="max_tokens"):
            Prices().estimate(ModelRequest(bare.model, [], settings=odd, trial_id="t"))
    with pytest.raises(ParameterError, match="standard rates"):
        Prices().estimate(ask(speed="fast"))
    own = Prices({"claude-haiku-4-5": parse_price("in=6,out=30", as_of="2026-11-30")})
    assert own.estimate(ask(speed="fast")) > 0
    assert Prices({"local": parse_price("in=0,out=0", as_of="2026-11-30")}).estimate(ask("local")) == 0


@pytest.mark.parametrize(
    "text", ["", "in=1", "out=1", "in=-1,out=1", "in=nan,out=1", "in=1,out=1,in=2", "in=a,out=1", "x=1"]
)
def test_a_price_that_cannot_be_read_is_refused(text):
    with pytest.raises(ParameterError, match="price"):
        parse_price(text, as_of="2026-11-30")


def test_weakness_16_a_price_that_is_no_number_is_refused():
    with pytest.raises(ParameterError, match="cache_read"):
        Price(Decimal(1), Decimal(1), Decimal("NaN"), Decimal(1), "2026-11-30")


def test_the_version_changes_with_the_figures():
    one, other = (parse_price(f"in={n},out=5", as_of="2026-11-30").version for n in (1, 2))
    assert one != other
    assert one == parse_price("in=1,out=5", as_of="2026-11-30").version
    assert one.startswith("2026-11-30:")
