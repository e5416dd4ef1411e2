"""The catalog of the procure-to-pay domain: every template, remark and description passes the guard for every task."""

from __future__ import annotations

import pytest

from plumbline.domains.procure_to_pay.perturbations import (
    DESCRIPTIONS,
    REMARKS,
    TEMPLATES,
    perturbations,
    task_view,
)
from plumbline.domains.procure_to_pay.tasks import TASKS
from plumbline.domains.procure_to_pay.tools import TOOLS
from plumbline.rules import (
    compare_texts,
    compose,
    guard,
    guard_counts,
    make_variants,
    paraphrase,
    read,
    remark_findings,
)
from plumbline.rules.lexicon import content_words

VIEWS = [task_view(task) for task in TASKS]
CATALOG = perturbations()


@pytest.mark.parametrize("view", VIEWS, ids=lambda v: v.id)
@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_keeps_every_task(template, view):
    made = paraphrase([template]).apply(view, seed=7)
    result = guard(view.prompt, made.prompt, task=view, perturbation=CATALOG["paraphrase"])
    assert result.accepted, str(result)


@pytest.mark.parametrize("view", VIEWS, ids=lambda v: v.id)
def test_no_remark_touches_a_fact_or_tells_anybody_what_to_do(view):
    """Two of the six remarks of the founding studies did: slow approvals, and an earlier message to be ignored."""
    assert len(set(REMARKS)) == len(REMARKS) >= 8
    for remark in REMARKS:
        assert remark_findings(remark, view) == [], remark
        assert read(remark).found == ()
        words = content_words(remark)
        assert not words & content_words(
            "invoice vendor payment approval purchase order policy message ignore hurry urgent"
        )
        assert not words & content_words(view.prompt)


@pytest.mark.parametrize(
    "remark", ["Approvals have been slow this week.", "Ignore my earlier message about this.", "Please hurry up."]
)
def test_the_check_of_remarks_would_find_those_of_the_founding_studies(remark):
    assert remark_findings(remark, VIEWS[0])


def test_every_description_keeps_what_the_tool_says():
    own = {tool.name: tool.description for tool in TOOLS}
    for name, texts in DESCRIPTIONS.items():
        for text in texts:
            assert [str(f) for f in compare_texts(own[name], text)] == [], (name, text)


def test_the_view_of_a_task_holds_no_ground_truth():
    for view, task in zip(VIEWS, TASKS, strict=True):
        text = repr(view)
        assert str(task.context["expected_amount"]) not in text
        assert "should_pay" not in text
        assert "expected_amount" not in text
        assert view.prompt == task.prompt


def test_a_whole_study_has_all_its_variants_and_nothing_is_rejected():
    sets = [make_variants(view, entry, 4, seed=7, study="parity") for view in VIEWS for entry in CATALOG.values()]
    counts = guard_counts(sets).set_index("perturbation")
    assert counts["shortfall"].sum() == counts["rejected"].sum() == counts["abstained"].sum() == 0
    assert counts.loc["baseline", "distinct"] == 8
    assert (counts.drop(index="baseline")["distinct"] == 32).all()


def test_compositions_of_the_catalog_work_on_every_task():
    whole = compose(
        *(CATALOG[name] for name in ("paraphrase", "distractor", "decoy_tools", "tool_order", "tool_fault"))
    )
    for view in VIEWS:
        made = make_variants(view, whole, 3, seed=7)
        assert made.distinct == 3


def test_faults_are_those_that_the_runner_knows():
    from plumbline.running import Fault

    entry = CATALOG["tool_fault"]
    planned = [entry.apply(VIEWS[0], seed=7, candidate=n).fault for n in range(9)]
    assert len({Fault(**fault).to_json() for fault in planned}) == 9


def test_the_default_temperature_is_left_out_of_the_settings():
    cold = perturbations(default_temperature=0.3)["sampling"]
    assert {"temperature": 0.3} not in [cold.apply(VIEWS[0], seed=7, candidate=n).sampling for n in range(3)]
    assert cold.size_for(VIEWS[0]) == 3


def test_the_runner_takes_the_variants_as_they_are():
    """Stored, read back and given to trials: the agent meets its variant's prompt, tools in order, layout and fault."""
    from plumbline.base.canonical import canonical_json, parse_json
    from plumbline.base.errors import ToolError
    from plumbline.domain import load_domain
    from plumbline.rules import VariantTable
    from plumbline.running import Fault, run_trial

    domain = load_domain("procure_to_pay")
    whole = compose(
        *(CATALOG[name] for name in ("paraphrase", "decoy_tools", "tool_order", "field_order", "tool_fault"))
    )
    sets = tuple(make_variants(view, whole, 2, seed=7) for view in VIEWS[:2])
    table = VariantTable.from_dict(parse_json(canonical_json(VariantTable(sets).to_dict())))
    met = []

    def agent(task, toolbox):
        met.append((task.prompt, tuple(tool.name for tool in toolbox.offered)))
        failed = 0
        for name in ("match_purchase_order", "check_duplicate", "check_vendor_status"):
            try:
                toolbox.call(name, {"vendor_id": "V-101"} if "vendor" in name else {"invoice_id": task.id})
            except ToolError:
                failed += 1
        return f"{failed} failed; {toolbox.write({'b': 1, 'a': 2})}"

    for one in sets:
        for index in ("0", "1"):
            task, given = domain.task(one.task_id), table(domain.task(one.task_id), whole.name, index)
            record = run_trial(
                agent, task, domain, arm="a", perturbation=whole.name, variant=index, given=given,
                fault=Fault(**given.fault),
            )  # fmt: skip
            assert met[-1] == (given.prompt, given.offered([tool.name for tool in TOOLS]))
            assert record.trial["exposure"] == "delivered"
            assert record.trial["final_output"] == f"1 failed; {given.layout.write({'b': 1, 'a': 2})}"
