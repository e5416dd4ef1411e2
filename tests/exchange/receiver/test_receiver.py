"""The receiver: durable before acknowledged, bounded, answered in the protocol's words, and alive after bad input."""

from __future__ import annotations

import gzip
import json
import os
import signal
import threading
import time

import pytest

import plumbline as plumb
from plumbline.base.errors import ParameterError, RunError
from plumbline.cli import main
from plumbline.exchange.receiver import SPOOL_FILE, Limits, Spool, SpoolFullError
from plumbline.exchange.receiver.serve import receive, run_of_spool
from tests.exchange.receiver.receiver_help import body, post, receiver, span

OTLP = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")


def protobuf(*numbers, **fields):
    request = OTLP.ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for number in numbers:
        one = spans.add(
            trace_id=bytes.fromhex(f"{1:032x}"), span_id=bytes.fromhex(f"{number:016x}"), name="pay", **fields
        )
        for key, value in (("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "pay")):
            one.attributes.add(key=key).value.string_value = value
    return request.SerializeToString()


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    out = tmp_path_factory.mktemp("received") / "run"
    with receiver(out, "--max-request", "20000") as made:
        yield made, out


def spooled(out):
    return (out / SPOOL_FILE).read_text(encoding="utf-8").splitlines()


def test_what_is_acknowledged_is_on_disk_in_every_encoding(live):
    made, out = live
    before = len(spooled(out))
    for data, headers in (
        (body(span(1)), {}),
        (body(span(2), packed=True), {"Content_Encoding": "gzip"}),
        (protobuf(3), {"Content_Type": "application/x-protobuf"}),
        (gzip.compress(protobuf(4)), {"Content_Type": "application/x-protobuf", "Content_Encoding": "gzip"}),
        (body(span(5)), {"Content_Type": "application/json; charset=utf-8"}),
    ):
        status, answer, told = post(made.url, data, **headers)
        assert status == 200
        assert answer == (b"" if "protobuf" in told["content-type"] else b"{}")
    lines = spooled(out)[before:]
    ids = [json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"] for line in lines]
    assert ids == [f"{n:016x}" for n in range(1, 6)], "ids are hexadecimal, whatever they came in"


BAD = {
    "half a JSON": (b'{"resourceSpans": [', {}, 400, "not a trace request"),
    "no object": (b"[1]", {}, 400, "object with the list resourceSpans"),
    "scopes of another kind": (b'{"resourceSpans": [{"scopeSpans": 3}]}', {}, 400, "scopeSpans must be a list"),
    "deep nesting": (b'{"resourceSpans": ' + b"[" * 9000, {}, 400, "not a trace request"),
    "no gzip": (b"plain", {"Content_Encoding": "gzip"}, 400, "not gzip"),
    "half a gzip": (body(span(1), packed=True)[:-9], {"Content_Encoding": "gzip"}, 400, "cut off"),
    "another encoding": (b"x", {"Content_Encoding": "br"}, 400, "gzip and identity"),
    "a large body": (b" " * 20_001, {}, 413, "larger than 20,000"),
    "a bomb": (gzip.compress(b" " * 10_000_000), {"Content_Encoding": "gzip"}, 413, "unpacks to more than"),
    "another content type": (b"x", {"Content_Type": "text/plain"}, 415, "application/x-protobuf"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_input_gets_the_protocols_error_and_the_server_lives_on(live, name):
    made, out = live
    data, headers, expected, message = BAD[name]
    before = spooled(out)
    status, answer, _ = post(made.url, data, **headers)
    told = json.loads(answer)
    assert (status, set(told)) == (expected, {"code", "message"})
    assert message in told["message"]
    assert spooled(out) == before
    assert post(made.url, body(span(9)))[0] == 200


def test_a_protobuf_sender_gets_its_error_in_protobuf(live):
    made, _ = live
    status, answer, told = post(made.url, b"\x0a\xff", Content_Type="application/x-protobuf")
    assert (status, told["content-type"]) == (400, "application/x-protobuf")
    assert answer[:2] == b"\x08\x03"
    assert b"not a trace request" in answer


def test_spans_that_no_trace_can_hold_are_rejected_and_the_others_are_kept(live):
    made, out = live
    wrong = [span(11) | {"traceId": "0" * 32}, span(12) | {"spanId": "xyz"}, "no span", span(13) | {"attributes": 3}]
    status, answer, _ = post(made.url, body(span(10), *wrong))
    partial = json.loads(answer)["partialSuccess"]
    assert (status, partial["rejectedSpans"]) == (200, "4")
    for reason in ("traceId", "spanId", "not an object", "attributes"):
        assert reason in partial["errorMessage"]
    kept = json.loads(spooled(out)[-1])["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [one["spanId"] for one in kept] == [f"{10:016x}"]
    request = OTLP.ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(name="no ids")
    lines = spooled(out)
    _, answer, _ = post(made.url, request.SerializeToString(), Content_Type="application/x-protobuf")
    response = OTLP.ExportTraceServiceResponse.FromString(answer)
    assert response.partial_success.rejected_spans == 1
    assert spooled(out) == lines, "a request without a usable span leaves nothing"


def test_killed_and_started_again_nothing_acknowledged_is_lost_and_what_was_sent_twice_counts_once(tmp_path):
    out = tmp_path / "run"
    with receiver(out) as made:
        for number in range(1, 6):
            assert post(made.url, body(span(number, **{"gen_ai.tool.call.id": f"c{number}"})))[0] == 200
        made.process.kill()
        made.process.communicate()
    with (out / SPOOL_FILE).open("ab") as file:
        file.write(b'{"resourceSpans": [{"half')  # what a kill in the middle of a write leaves
    with receiver(out) as made:
        assert "going on after 5 requests" in made.told
        assert "half-written line of 25 bytes" in made.told
        for number in (5, 6):
            assert post(made.url, body(span(number, **{"gen_ai.tool.call.id": f"c{number}"})))[0] == 200
        code, printed, _ = made.stop()
    assert code == 0
    assert "6 tool calls" in printed
    run = plumb.read_run(out)
    assert list(run.steps["call_id"]) == [f"c{n}" for n in range(1, 7)]
    assert any("exported more than once" in said for said in run.notes["import"]["said"])


def test_stopped_without_a_span_there_is_no_run_and_it_says_so(tmp_path):
    with receiver(tmp_path / "run") as made:
        code, printed, _ = made.stop(signal.SIGINT)
    assert code == 0
    assert "nothing was received" in printed
    assert not (tmp_path / "run" / "manifest.json").exists()
    assert run_of_spool(tmp_path / "run") is None


def test_a_token_is_asked_for_and_never_told(tmp_path):
    (tmp_path / "token").write_text("s3cret-token\n")
    with receiver(tmp_path / "run", "--token-file", str(tmp_path / "token")) as made:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic s3cret-token"}):
            status, answer, told = post(made.url, body(span(1)), **headers)
            assert (status, told["www-authenticate"]) == (401, "Bearer")
            assert b"s3cret" not in answer
        assert post(made.url, body(span(1)), Authorization="Bearer s3cret-token")[0] == 200
        _, out, err = made.stop()
    assert "s3cret" not in out + err + made.told


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"host": "0.0.0.0"}, "not loopback"),
        ({"host": "192.0.2.1"}, "not loopback"),
        ({"token": "  "}, "token is empty"),
        ({"port": 70_000}, "0 to 65535"),
        ({"waiting": 0}, "waiting must be"),
        ({"waiting_bytes": True}, "waiting_bytes must be"),
        ({"host": "192.0.2.1", "token": "t"}, "cannot listen on 192.0.2.1"),
    ],
)
def test_what_would_be_unsafe_or_impossible_is_refused_before_it_listens(tmp_path, more, message):
    with pytest.raises(ParameterError, match=message):
        receive(tmp_path / "run", **({"port": 0} | more))


def test_a_token_may_stand_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PLUMBLINE_RECEIVE_TOKEN", "s3cret-token")
    with receiver(tmp_path / "run") as made:
        assert post(made.url, body(span(1)))[0] == 401
        assert post(made.url, body(span(1)), Authorization="Bearer s3cret-token")[0] == 200
        _, out, err = made.stop()
    assert "s3cret" not in out + err + made.told


def test_a_missing_token_file_is_a_sentence(tmp_path, capsys):
    assert main(["receive", "--out", str(tmp_path / "r"), "--token-file", str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_two_receivers_cannot_share_a_folder(tmp_path):
    spool = Spool(tmp_path)
    try:
        with pytest.raises(RunError, match="another process receives"):
            Spool(tmp_path)
    finally:
        spool.close()


def test_a_full_queue_refuses_and_loses_nothing_it_took(tmp_path, monkeypatch):
    spool = Spool(tmp_path, waiting=2)
    gate, real = threading.Event(), os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (gate.wait(10), real(fd))[1])
    taken = []
    with pytest.raises(SpoolFullError, match="waiting to be written"):  # noqa: PT012
        for number in range(1000):
            taken.append(spool.add({"n": number}))
    assert not any(one.done() for one in taken), "nothing is acknowledged before it is durable"
    gate.set()
    for one in taken:
        one.result(timeout=10)
    spool.close()
    assert [json.loads(line)["n"] for line in spooled(tmp_path)] == list(range(len(taken)))
    with pytest.raises(SpoolFullError, match="stopping"):
        spool.add({})


def test_a_disk_that_refuses_is_said_and_leaves_no_half_line(tmp_path, monkeypatch):
    spool = Spool(tmp_path)
    spool.add({"n": 0}).result(timeout=10)
    monkeypatch.setattr(os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        spool.add({"n": 1}).result(timeout=10)
    monkeypatch.undo()
    spool.add({"n": 2}).result(timeout=10)
    spool.close()
    assert [json.loads(line)["n"] for line in spooled(tmp_path)] == [0, 2]


def test_a_disk_that_cannot_even_be_cut_back_refuses_until_it_can(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(5, "Input/output error")

    spool = Spool(tmp_path)
    spool.add({"n": 0}).result(timeout=10)
    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(os, "ftruncate", refuse)
    for number in (1, 2):  # the second finds the first one's bytes still there
        with pytest.raises(OSError, match="Input/output"):
            spool.add({"n": number}).result(timeout=10)
    monkeypatch.undo()
    spool.add({"n": 3}).result(timeout=10)
    spool.close()
    assert [json.loads(line)["n"] for line in spooled(tmp_path)] == [0, 3]


def test_bytes_that_wait_are_bounded_as_requests_are(tmp_path, monkeypatch):
    spool = Spool(tmp_path, waiting_bytes=1000)
    gate, real = threading.Event(), os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (gate.wait(10), real(fd))[1])
    taken = [spool.add({"text": "x" * 5000})]  # one alone always may
    with pytest.raises(SpoolFullError, match="bytes are waiting"):
        spool.add({"n": 1})
    gate.set()
    taken[0].result(timeout=10)
    deadline = time.monotonic() + 10
    while spool.waiting_bytes and time.monotonic() < deadline:
        time.sleep(0.01)
    spool.add({"n": 2}).result(timeout=10)
    spool.close()
    assert len(spooled(tmp_path)) == 2


@pytest.mark.parametrize("values", [{"body": 0}, {"unpacked": True}, {"retry_after_s": -1}])
def test_limits_are_whole_numbers(values):
    with pytest.raises(ParameterError, match="limits"):
        Limits(**values)
