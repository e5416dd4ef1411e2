"""A file cut at any byte, read with strict=False: what is kept is whole; nothing is made of what is half there."""

from __future__ import annotations

import json
import random

import pytest

from plumbline.base.errors import PlumblineError, TraceFormatError
from plumbline.exchange import read_traces
from plumbline.exchange.salvage import salvaged
from tests.exchange.otlp_made import envelope, tool
from tests.exchange.test_platform_exports import FORMS

TOLD = ["name", "arguments", "result", "status"]


def two_traces():
    """Two traces of two payments each; the failed one says so only after its arguments."""
    spans = []
    for number, trace in enumerate(("7c1e0000000000000000000000000001", "7c1e0000000000000000000000000002")):
        spans += [
            tool(10 * number + 1, "pay", {"invoice": "INV-1", "amount": 12.5}, call_id="c1", result={"paid": 1},
                 trace=trace),
            tool(10 * number + 2, "pay", {"invoice": "INV-2", "amount": 120}, call_id="c2", trace=trace,
                 status={"code": 2, "message": "no funds"}),
        ]  # fmt: skip
    return spans


SHAPES = {
    "an envelope": envelope(*two_traces()),
    "an envelope whose resource comes last": {
        "resourceSpans": [{"scopeSpans": [{"spans": two_traces(), "scope": {"name": "s"}}], "resource": {}}]
    },
    "a list of spans": two_traces(),
    "a list of envelopes": [envelope(one) for one in two_traces()],
    **{name: [FORMS[name](), FORMS[name]()] for name in ("langfuse", "mlflow")},
    "langsmith": FORMS["langsmith"](),
    "langfuse under a key": {"data": [FORMS["langfuse"](), FORMS["langfuse"]()], "meta": {"page": 1}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_cut_makes_a_call_that_the_whole_file_does_not_have(shape):
    text = json.dumps(SHAPES[shape], ensure_ascii=False)
    whole = read_traces(text.encode()).steps
    known = {tuple(map(str, row)) for row in whole[TOLD].itertuples(index=False)}
    kept = 0
    for cut in [*random.Random(shape).sample(range(2, len(text)), 50), *range(len(text) - 4, len(text))]:
        try:
            steps = read_traces(text[:cut].encode(), strict=False).steps
        except PlumblineError:
            continue
        found = {tuple(map(str, row)) for row in steps[TOLD].itertuples(index=False)}
        assert found <= known, f"cut at byte {cut}: {sorted(found - known)}"
        assert len(steps) <= len(whole)
        kept += len(steps) > 0
    assert kept or "mlflow" in shape


@pytest.mark.parametrize(
    "rest", ['{"key": "gen_ai.tool.call.arguments", "value": {"stri', '{"key": "gen_ai.tool.call.a']
)
def test_a_payment_cut_inside_its_arguments_is_not_a_payment_without_arguments(rest):
    first, second, *_ = two_traces()
    text = json.dumps(envelope(first, second))
    at = text.rindex(rest.split('"value"')[0].rstrip(", "))
    kept = read_traces(text[: at + len(rest)].encode(), strict=False)
    assert [json.loads(one) for one in kept.steps["arguments"]] == [{"invoice": "INV-1", "amount": 12.5}]
    assert kept.notes["import"]["left_out"]


def test_what_holds_no_whole_record_is_refused_not_read_as_nothing():
    text = json.dumps(envelope(two_traces()[0]))
    with pytest.raises(TraceFormatError):
        read_traces(text[:-60].encode(), strict=False)


@pytest.mark.parametrize(
    ("text", "within", "wanted"),
    [
        ('{"spans": [{"a": 1}, {"a": 2}', ["spans"], {"spans": [{"a": 1}, {"a": 2}]}),
        ('{"spans": [{"a": 1, "b": [1, 2', ["spans"], {"spans": []}),
        ('{"spans": [{"a": 1}], "n": 12', ["spans"], {"spans": [{"a": 1}]}),
        ('{"name": "x", "arguments": {', ["spans"], None),
        ("[[1, 2], [3", (), [[1, 2], []]),
        ('[{"a": "x', (), []),
        ("[12", (), []),
        ("[" * 5000, None, None),
    ],
)
def test_what_is_whole_of_a_text(text, within, wanted):
    found = salvaged(text, within=within)[0]
    assert found == wanted or (wanted is None and not str(found).strip("[]"))
