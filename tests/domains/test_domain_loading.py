from __future__ import annotations

import sys
import types
from dataclasses import replace

import pytest

from plumbline.base.errors import NotFoundError, ParameterError
from plumbline.domain import Domain, known_domains, load_domain
from plumbline.running import TrialKey


def test_a_shipped_domain_is_found_by_its_name():
    domain = load_domain("procure_to_pay")
    assert domain is load_domain("plumbline.domains.procure_to_pay:DOMAIN")
    assert repr(domain) == "Domain('procure_to_pay': 8 tasks, 8 tools)"
    assert domain.task("INV-7002").family == "INV-7002"
    assert "procure_to_pay" in known_domains()


@pytest.mark.parametrize(
    "name",
    ["nothing", "procure-to-pay", "os", "no_such_module:DOMAIN", "plumbline.domains.nothing:DOMAIN",
     "plumbline.domains.procure_to_pay:OTHER"],
)  # fmt: skip
def test_an_unknown_domain_is_named_with_those_there_are(name):
    with pytest.raises(NotFoundError) as caught:
        load_domain(name)
    assert "procure_to_pay" in str(caught.value)


@pytest.mark.parametrize("name", ["", None, "os:path"])
def test_what_is_no_domain_is_refused(name):
    with pytest.raises(ParameterError):
        load_domain(name)


def test_a_broken_import_inside_a_domain_is_not_reported_as_an_unknown_domain(tmp_path, monkeypatch):
    (tmp_path / "broken_domain_for_test.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        load_domain("broken_domain_for_test:DOMAIN")


def test_a_domain_of_one_s_own(monkeypatch):
    own = replace(load_domain("procure_to_pay"), name="own")
    module = types.ModuleType("own_domain_for_test")
    module.domain = own
    monkeypatch.setitem(sys.modules, "own_domain_for_test", module)
    assert load_domain("own_domain_for_test:domain") is own


def test_a_domain_that_cannot_be_run_is_refused():
    domain = load_domain("procure_to_pay")
    with pytest.raises(ParameterError, match="at least one task"):
        replace(domain, tasks=())
    with pytest.raises(ParameterError, match="each name once"):
        replace(domain, tasks=(domain.tasks[0], domain.tasks[0]))
    with pytest.raises(ParameterError, match="at least one tool"):
        replace(domain, decoys=domain.tools[:1])
    with pytest.raises(NotFoundError, match="it has INV-7002"):
        domain.task("INV-1")


def test_a_domain_without_faults_or_variants_of_its_own_knows_the_baseline_alone():
    given = load_domain("procure_to_pay")
    plain = Domain(
        "plain", "Plain", tasks=given.tasks, new_world=given.new_world, tools=given.tools, outcome=given.outcome,
        truth=given.truth, grade=given.grade, policy=given.policy,
    )  # fmt: skip
    assert plain.fault(TrialKey("a", "INV-7002", "tool_fault")) is None
    assert plain.variant(plain.tasks[0], "baseline", "0").prompt == plain.tasks[0].prompt
    with pytest.raises(ParameterError, match="only 'baseline'"):
        plain.variant(plain.tasks[0], "tool_fault", "0")
