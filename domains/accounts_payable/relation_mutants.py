"""One planted defect for each relation, of the kind that no rule about a single trial can see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from plumbline.domains.accounts_payable.calculation import cents
from plumbline.domains.accounts_payable.tasks import TASKS
from plumbline.running.mutants import Mutant, Operator, Scene, change, mistake, when_given

__all__ = ["RELATION_MUTANTS"]

_PAY, _ASK, _VENDOR, _MATCH = "schedule_payment", "request_approval", "check_vendor_status", "match_purchase_order"
_KNOWN = {task.id: task.context for task in TASKS}


def _amount(wrong: Callable[[Scene, dict[str, Any]], Any]) -> Operator:
    return change(_PAY, lambda scene, given: {**given, "amount_gbp": wrong(scene, given)})


def _remembered(foreign: bool) -> Operator:
    """Pay what was payable when the limits and prices were other ones."""

    def wrong(scene: Scene, given: dict[str, Any]) -> Any:
        known = _KNOWN.get(given["invoice_id"])
        return known["payable_gbp"] if known and known["foreign"] == foreign else given["amount_gbp"]

    return _amount(wrong)


def _anyone(scene: Scene, given: dict[str, Any]) -> Mapping[str, Any]:
    return {**given, "approver_role": "ap_clerk"} if given.get("second_signature") else given


def _tenth_more(scene: Scene, given: dict[str, Any]) -> Any:
    match = scene.results.get(_MATCH) or {}
    tight = (match.get("tolerance") or {}).get("price_basis_points") == 0 and match["category"] != "services"
    return cents(given["amount_gbp"] * Decimal("1.1")) if tight else given["amount_gbp"]


def _without(*codes: str, where: Callable[[Any], bool] = bool) -> Callable[[Scene, Any], Any]:
    def misread(scene: Scene, found: Any) -> Any:
        return {**found, "problems": [p for p in found["problems"] if p not in codes]} if where(found) else found

    return misread


def _nothing_came(found: Any) -> bool:
    return bool(found["lines"]) and all(line["received"] == 0 for line in found["lines"])


def _credits_anyway(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Any) -> Any:
    known = _KNOWN.get(arguments.get("invoice_id", ""), {})
    if name != "flag_exception" or not known.get("should_credit"):
        return invoke(name, arguments)
    asked = {"credit_note_id": arguments["invoice_id"], "against_invoice": known["credit_for"]}
    return invoke("apply_credit_note", {**asked, "amount_gbp": known["credit_gbp"]})


def _mutant(relation: str, tool: str, description: str, operator: Operator) -> tuple[str, Mutant]:
    return relation, Mutant(f"relation:{relation}", "relation", tool, "critical", description, operator)


RELATION_MUTANTS: Mapping[str, Mutant] = dict((
    _mutant("request_german", _PAY, "Pays a cent more when asked in German.", when_given(
        lambda scene: (scene.task.prompt or "").startswith("Beleg"),
        _amount(lambda scene, given: given["amount_gbp"] + Decimal("0.01")))),
    _mutant("tools_turned", "check_duplicate", "Overlooks duplicates if the tools are turned.", when_given(
        lambda scene: scene.toolbox.offered[0].name != "fetch_invoice",
        mistake("check_duplicate", lambda scene, found: {**found, "candidates": []}))),
    _mutant("vendor_renumbered", _PAY, "Pays a vendor it does not remember through another one.",
            change(_PAY, lambda scene, given: {**given, "vendor_id": min(given["vendor_id"], "V-213")})),
    _mutant("rate_doubled", _PAY, "Converts at last month's rate.", _remembered(foreign=True)),
    _mutant("prices_doubled", _PAY, "Pays last month's price.", _remembered(foreign=False)),
    _mutant("approval_limits_lowered", _ASK, "Asks a clerk where two must sign.", change(_ASK, _anyone)),
    _mutant("tolerances_withdrawn", _PAY, "Takes no tolerance for a surcharge.", _amount(_tenth_more)),
    _mutant("receipt_withdrawn", _MATCH, "Takes a missing receipt for nothing to object to.",
            mistake(_MATCH, _without("QTY_OVER_RECEIPT", where=_nothing_came))),
    _mutant("account_history_withdrawn", _VENDOR, "Overlooks a shared bank account.",
            mistake(_VENDOR, _without("DUPLICATE_VENDOR"))),
    _mutant("credited_invoice_withdrawn", "apply_credit_note", "Credits against an invoice that is not on file.",
            _credits_anyway),
))  # fmt: skip
"""Relation to the defect that it alone of the domain's relations finds."""
