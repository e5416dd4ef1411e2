"""The accounts-payable study asks another model where one is named, and resumes what it began."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

import plumbline as plumb
from plumbline.base.errors import ParameterError
from tests.running.clients.loopback import Act, Provider, chat_body

SAID = {"role": "assistant", "content": '{"invoice_id": "INV-8201"}'}


@pytest.fixture
def provider():
    provider = Provider()
    yield provider
    provider.stop()


def test_a_named_model_is_asked_and_what_stands_is_not_asked_again(provider, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    provider.will(Act(json.dumps(chat_body(SAID))))
    study = plumb.load_study("accounts_payable")
    given = {
        "model": "m-1",
        "base_url": f"{provider.url}/v1",
        "price": "in=0,out=0",
        "documents": 2,
        "out_live": str(tmp_path),
    }
    settings = study.check_parameters(given)
    assert not study.is_default(settings)
    for _ in range(2):
        with ExitStack() as held:
            runs = study.module.live(plumb.load_domain("accounts_payable"), settings, held)
    assert len(provider.asked) == 2 * 2 * 6 + 2
    assert {name: run.counts().completed for name, run in runs.items()} == {"local_planned": 24, "local_free": 2}
    assert runs["local_planned"].notes["study"]["model"] == "m-1"


def test_impossible_settings_are_refused_before_anything_is_asked():
    study = plumb.load_study("accounts_payable")
    with pytest.raises(ParameterError, match="documents = 32 is not possible"):
        study.check_parameters({"documents": 32})
    with pytest.raises(ParameterError, match="api = 'soap' is not possible"):
        study.check_parameters({"api": "soap"})
