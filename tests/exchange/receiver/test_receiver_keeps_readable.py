"""Whatever the receiver acknowledges can be read again: one bad span never takes the spool with it."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plumbline.exchange import read_traces
from plumbline.exchange.receiver.requests import BadRequestError, read_request, sort_spans, unpack
from plumbline.exchange.receiver.spool import Spool
from tests.exchange.receiver.receiver_help import body, span

CALL = {"gen_ai.tool.call.id": "c2", "gen_ai.tool.call.arguments": '{"id": 1}'}
BAD = {
    "an attribute that is text": ({"attributes": ["x"]}, "must have a text as key, and a value"),
    "a key that is a number": ({"attributes": [{"key": 3, "value": {"stringValue": "x"}}]}, "must have a text as key"),
    "a key inside that is a number": (
        {"attributes": [{"key": "a", "value": {"kvlistValue": {"values": [{"key": 3, "value": {}}]}}}]},
        "must have a text as key",
    ),
    "a whole number in words": ({"attributes": [{"key": "a", "value": {"intValue": "x"}}]}, "intValue"),
    "events that are a number": ({"events": 3}, "events must be a list"),
    "not a number": ({"attributes": [{"key": "a", "value": {"doubleValue": float("nan")}}]}, "no JSON can hold"),
    "half a surrogate pair": ({"name": "a\ud800b"}, "no JSON can hold"),
}


def spool_of(folder, *requests):
    spool = Spool(folder)
    for one in requests:
        spool.add(one).result(timeout=10)
    spool.close()
    return spool.path


@pytest.mark.parametrize("name", list(BAD))
def test_a_span_that_could_not_be_read_again_is_rejected_with_its_reason(name, tmp_path):
    change, reason = BAD[name]
    found = sort_spans(read_request(body(span(1), span(2) | change), protobuf=False))
    assert (found.spans, found.rejected) == (1, 1)
    assert reason in "; ".join(found.reasons)
    assert len(read_traces(spool_of(tmp_path, found.request), format="otlp").steps) == 1


def test_a_resource_that_cannot_be_read_takes_its_own_spans_only(tmp_path):
    request = json.loads(body(span(1)))
    request["resourceSpans"].append({"resource": {"attributes": 3}, "scopeSpans": [{"spans": [span(2), span(3)]}]})
    found = sort_spans(request)
    assert (found.spans, found.rejected) == (1, 2)
    assert len(read_traces(spool_of(tmp_path, found.request), format="otlp").steps) == 1


@pytest.mark.parametrize("depth", [50, 150, 300, 450, 600, 750, 900, 1500, 5000])
def test_nesting_of_any_depth_is_kept_readable_or_refused(depth, tmp_path):
    deep = b'{"x":' * depth + b"1" + b"}" * depth
    text = body(span(1), span(2) | {"attributes": [{"key": "a", "value": "DEEP"}]}).replace(b'"DEEP"', deep)
    try:
        found = sort_spans(read_request(text, protobuf=False))
    except BadRequestError:
        assert depth > 100
        return
    assert (found.spans, found.rejected) in ((2, 0), (1, 1))
    assert len(read_traces(spool_of(tmp_path, found.request), format="otlp").steps) >= 1


def test_null_is_what_is_absent():
    request = json.loads(body(span(1) | {"attributes": None, "events": None, "links": None}))
    request["resourceSpans"].append({"resource": None, "scopeSpans": None})
    found = sort_spans(read_request(json.dumps(request).encode(), protobuf=False))
    assert (found.spans, found.rejected) == (1, 0)
    assert read_request(b'{"resourceSpans": null}', protobuf=False) == {"resourceSpans": []}


def test_what_follows_a_gzip_body_is_never_dropped_in_silence():
    with pytest.raises(BadRequestError, match="follow the end of the gzip body"):
        unpack(body(span(1), packed=True) + gzip.compress(body(span(2))), "gzip", most=10**6)


def places(value, at=()):
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inner:
        yield from places(held, (*at, key))


ODD = st.sampled_from([
    None, 3, -1, 2.5, True, "", "x", "\ud800", [], {}, [3], ["x"], {"x": 1}, {"key": 3}, [{"key": 3, "value": {}}],
    float("nan"), float("inf"), 10**400, {"stringValue": 3}, {"doubleValue": "x"},
    {"arrayValue": {"values": [3, None]}}, {"kvlistValue": {"values": [{"key": None}]}}, [[[[]]]],
])  # fmt: skip


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_with_any_part_of_a_request_replaced_what_is_kept_is_readable(data, tmp_path_factory):
    event = {"name": "e", "timeUnixNano": "1", "attributes": [{"key": "k", "value": {"intValue": "3"}}]}
    whole = json.loads(body(span(2, trace=2, **CALL) | {"events": [event], "links": [{"traceId": "1" * 32}]}))
    at = data.draw(st.sampled_from([place for place in places(whole) if place]))
    holder = whole
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = data.draw(ODD)
    requests = [json.loads(body(span(1, **{"gen_ai.tool.call.id": "c1"})))]
    try:
        found = sort_spans(read_request(json.dumps(whole).encode(), protobuf=False))
    except BadRequestError:
        pass
    else:
        requests += [found.request] if found.spans else []
    recording = read_traces(spool_of(tmp_path_factory.mktemp("spool"), *requests), format="otlp")
    assert "c1" in set(recording.steps["call_id"])
