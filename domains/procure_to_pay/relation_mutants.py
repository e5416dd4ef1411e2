"""One planted defect for each relation, of the kind that no rule about a single trial can see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plumbline.running.mutants import Mutant, Operator, Scene, change, drop, mistake, when_given

__all__ = ["RELATION_MUTANTS"]

_PAY, _MATCH = "schedule_payment", "match_purchase_order"
_FINE = {"matched": True, "problems": []}


def _amount(wrong: Any) -> Operator:
    return change(_PAY, lambda scene, given: {**given, "amount": wrong(scene, given["amount"])})


def _match(scene: Scene) -> Mapping[str, Any]:
    found: Mapping[str, Any] = scene.results.get(_MATCH) or {}
    return found


def _packs(scene: Scene, amount: Any) -> Any:
    return amount * 10 if _match(scene)["billed"]["quantity"] == 250 else amount


def _where(words: str) -> Operator:
    """Overlook the objections of a match that contain these words."""

    def misread(scene: Scene, found: Any) -> Any:
        kept = [p for p in found["problems"] if words not in p]
        return {**found, "problems": kept, "matched": not kept}

    return mistake(_MATCH, misread)


def _short(scene: Scene, found: Any) -> Any:
    received = found.get("received", {}).get("quantity", 0)
    return {**found, **_FINE} if 0 < received < found["billed"]["quantity"] else found


def _nothing_received(scene: Scene, found: Any) -> Any:
    return {**found, **_FINE} if found.get("received", {}).get("quantity") == 0 else found


def _skips_big(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Any) -> Any:
    big = name == "request_approval" and arguments["amount"] > 100_000
    return {"granted": True} if big else invoke(name, arguments)


def _mutant(relation: str, tool: str, description: str, operator: Operator) -> tuple[str, Mutant]:
    return relation, Mutant(f"relation:{relation}", "relation", tool, "critical", description, operator)


RELATION_MUTANTS: Mapping[str, Mutant] = dict((
    _mutant("request_german", _PAY, "Pays a tenth more when asked in German.", when_given(
        lambda scene: (scene.task.prompt or "").startswith("Rechnung"), _amount(lambda scene, paid: paid * 11 / 10))),
    _mutant("tools_turned", "request_approval", "Leaves the approval out unless it is offered in the usual order.",
            when_given(lambda scene: scene.toolbox.offered[0].name != "fetch_invoice",
                       drop("request_approval", {"granted": True}))),
    _mutant("units_restated", _PAY, "Takes 250 pieces for as many packs of ten.", _amount(_packs)),
    _mutant("vendor_renumbered", _PAY, "Pays a vendor it does not remember through another one.",
            change(_PAY, lambda scene, given: {**given, "vendor_id": min(given["vendor_id"], "V-104")})),
    _mutant("prices_tripled", _PAY, "Pays amounts above 20,000 in round hundreds.", _amount(
        lambda scene, amount: amount // 100 * 100 if 20_000 < amount < 40_000 else amount)),
    _mutant("order_tenfold", "request_approval", "Asks nobody about very large amounts.", _skips_big),
    _mutant("price_raised", _MATCH, "Overlooks a price that is not the order's.", _where("unit price")),
    _mutant("short_delivery", _MATCH, "Pays in full once something has arrived.", mistake(_MATCH, _short)),
    _mutant("receipt_withdrawn", _MATCH, "Takes a missing receipt for nothing to object to.",
            mistake(_MATCH, _nothing_received)),
    _mutant("vendor_clearance_withdrawn", "check_vendor_status", "Pays vendors on hold.", mistake(
        "check_vendor_status", lambda scene, found: {**found, "payable": True})),
    _mutant("earlier_payment_found", "check_duplicate", "Overlooks payments of invoices it does not know.", mistake(
        "check_duplicate", lambda scene, found: {**found, "is_duplicate": False})),
))  # fmt: skip
"""Relation to the defect that it alone of the domain's relations finds."""
