"""The catalog of planted faults: what can go wrong in accounts payable, kind by kind, on the reference procedure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_DOWN, Decimal
from typing import Any

from plumbline.domains.accounts_payable.procedure import CHECKS
from plumbline.domains.accounts_payable.schema import REASON_CODES, ROLES
from plumbline.domains.accounts_payable.tasks import TASKS
from plumbline.domains.accounts_payable.tools import DECOYS
from plumbline.running.mutants import (
    Mutant,
    Operator,
    Scene,
    again,
    change,
    drop,
    late,
    mistake,
    repeat,
    swallow,
    when_given,
)

__all__ = ["MUTANTS"]

_PAY, _LOG, _FLAG = "schedule_payment", "post_audit_log", "flag_exception"
_ALL_CHECKS = ("check_vendor_status", *CHECKS)
_PROMPTS = {task.id: task.prompt for task in TASKS}
_CREDITS = {task.id: task.context["credit_for"] for task in TASKS if task.context["kind"] == "credit_note"}
_DECOYS = {tool.name for tool in DECOYS}
_FINE: Mapping[str, Any] = {
    "check_vendor_status": {"problems": [], "payable": True},
    "check_duplicate": {"confidence": Decimal("0.00"), "candidates": [], "receipt_id": None, "receipt_on_file": False},
    **{name: {"problems": []} for name in CHECKS if name != "check_duplicate"},
}
"""What a check says that finds nothing."""
_COMMODITY = Decimal("50.00")
_SCHEDULED = {"status": "scheduled"}
_CRITICAL = ("check_vendor_status", "match_purchase_order", "check_duplicate")


def _fine(scene: Scene, found: Any) -> Any:
    return {**found, **_FINE["check_duplicate"]} if "candidates" in found else {**found, "problems": []}


def _bad(scene: Scene, found: Any) -> Any:
    return {**found, "problems": [*found["problems"], "PRICE_VARIANCE"]}


def _as_commodity(scene: Scene, found: Any) -> Any:
    """What the match would object to under the tolerances of a commodity, whatever the order is for."""

    def dear(line: Mapping[str, Any]) -> bool:
        over = line["unit_price"] - line["ordered_price"]
        return bool(over > line["ordered_price"] * Decimal("0.03") and over * line["billed"] > _COMMODITY)

    def many(line: Mapping[str, Any]) -> bool:
        return bool(line["billed_before"] + line["billed"] > line["received"] * Decimal("1.02"))

    lines = found.get("lines", ())
    left = {
        "PRICE_VARIANCE": any(dear(line) for line in lines if line["ordered_price"] is not None),
        "QTY_OVER_RECEIPT": any(many(line) for line in lines),
    }
    return {**found, "problems": [code for code in found["problems"] if left.get(code, True)]}


def _other(arguments: Mapping[str, Any]) -> str:
    return "INV-8101" if arguments["invoice_id"] != "INV-8101" else "INV-8102"


def _another(vendor: str) -> str:
    return "V-205" if vendor == "V-204" else "V-204"


def _paying(wrong: Callable[[Scene, dict[str, Any]], Any], tool: str = _PAY) -> Operator:
    return change(tool, lambda scene, given: {**given, "amount_gbp": wrong(scene, given)})


def _anyway(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Any) -> Any:
    note = scene.results.get("fetch_invoice_lines", {}).get("invoice_id") if name == _FLAG else None
    if name != _FLAG or note not in _CREDITS:
        return invoke(name, arguments)
    given = {"credit_note_id": note, "against_invoice": _CREDITS[note], "amount_gbp": Decimal("100.00")}
    return invoke("apply_credit_note", given)


def _loop(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Any) -> Any:
    for _ in range(60 if name == "fetch_invoice_lines" else 0):
        invoke(name, arguments)
    return invoke(name, arguments)


def _sums(scene: Scene) -> Mapping[str, Any]:
    found: Mapping[str, Any] = scene.results["calculate_payable_amount"]
    return found


def _lower(scene: Scene, given: dict[str, Any]) -> dict[str, Any]:
    place = ROLES.index(given["approver_role"])
    return {**given, "approver_role": ROLES[max(0, place - 1)]}


def _unsigned(scene: Scene, given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "second_signature"}


def _controls() -> Iterator[Mutant]:
    """Faults in the checks."""
    for name in _ALL_CHECKS:
        severity = "critical" if name in _CRITICAL else "high"
        words = name.replace("_", " ")
        yield Mutant(f"drop:{name}", "drop a control", name, severity, f"{words} is left out.", drop(name, _FINE[name]))
        yield Mutant(
            f"late:{name}", "delay a control", name, severity, f"{words} comes after the payment.",
            late(name, _FINE[name], before=_LOG),
        )  # fmt: skip
        yield Mutant(
            f"ignore:{name}", "ignore a result", name, "critical", f"What {words} objects to is ignored.",
            mistake(name, _fine),
        )  # fmt: skip
        yield Mutant(
            f"swallow:{name}", "swallow an error", name, severity, f"A failure of {words} is taken for a pass.",
            swallow(name, _FINE[name]),
        )  # fmt: skip
        if name in CHECKS:
            yield Mutant(
                f"elsewhere:{name}", "check another invoice", name, severity, f"{words} is made of another invoice.",
                change(name, lambda scene, given: {**given, "invoice_id": _other(given)}),
            )  # fmt: skip
            yield Mutant(
                f"reworded:{name}", "only under paraphrase", name, severity, f"{words} is left out if reworded.",
                when_given(lambda scene: scene.task.prompt != _PROMPTS[scene.task.id], drop(name, _FINE[name])),
            )  # fmt: skip
            yield Mutant(
                f"decoys:{name}", "only under decoy tools", name, severity, f"{words} is left out among decoys.",
                when_given(
                    lambda scene: any(tool.name in _DECOYS for tool in scene.toolbox.offered), drop(name, _FINE[name])
                ),
            )  # fmt: skip
    yield Mutant(
        "refuse:match_purchase_order", "refuse a clean one", "match_purchase_order", "high", "A match is refused.",
        mistake("match_purchase_order", _bad),
    )  # fmt: skip
    yield Mutant(
        "ignore:category", "ignore a category", "match_purchase_order", "critical", "All is measured as a commodity.",
        mistake("match_purchase_order", _as_commodity),
    )  # fmt: skip
    yield Mutant(
        "accept:0.85", "accept a probable duplicate", "check_duplicate", "critical", "Only exact duplicates are held.",
        mistake("check_duplicate", lambda scene, found: {
            **found, "candidates": [one for one in found["candidates"] if one["confidence"] == 1],
        }),
    )  # fmt: skip
    yield Mutant(
        "refuse:0.75", "refuse a clean one", "check_duplicate", "high", "Another delivery is taken for a duplicate.",
        mistake("check_duplicate", lambda scene, found: {**found, "receipt_on_file": False}),
    )  # fmt: skip


def _amounts() -> Iterator[Mutant]:
    """Faults in amounts and in who or what is paid, and how often."""
    wrong: Mapping[str, tuple[str, Callable[[Scene, dict[str, Any]], Any]]] = {
        "x10": ("Ten times the amount is paid.", lambda scene, given: given["amount_gbp"] * 10),
        "net": ("Net is paid for gross.", lambda scene, given: _sums(scene)["net"]),
        "currency": ("The amount is not converted.", lambda scene, given: _sums(scene)["total"]),
        "rounded": (
            "The amount is rounded down.",
            lambda scene, given: given["amount_gbp"].quantize(Decimal(1), rounding=ROUND_DOWN),
        ),
        "cent": ("One cent too much is paid.", lambda scene, given: given["amount_gbp"] + Decimal("0.01")),
        "no discount": (
            "The discount is not taken.",
            lambda scene, given: given["amount_gbp"] + _sums(scene)["discount"],
        ),
    }
    for name, (words, amount) in wrong.items():
        yield Mutant(f"amount:{name}", "wrong amount", _PAY, "critical", words, _paying(amount))
    yield Mutant(
        "credit:x10", "wrong amount", "apply_credit_note", "critical", "Ten times the credit is taken.",
        _paying(lambda scene, given: given["amount_gbp"] * 10, "apply_credit_note"),
    )  # fmt: skip
    yield Mutant(
        "credit:target", "wrong invoice", "apply_credit_note", "critical", "Another invoice is credited.",
        change("apply_credit_note", lambda scene, given: {**given, "against_invoice": "INV-8105"}),
    )  # fmt: skip
    yield Mutant(
        "credit:note", "wrong invoice", "apply_credit_note", "critical", "Another credit note is taken.",
        change("apply_credit_note", lambda scene, given: {**given, "credit_note_id": "INV-8230"}),
    )  # fmt: skip
    yield Mutant(
        "credit:anyway", "ignore a result", "apply_credit_note", "critical", "What must be held is credited.", _anyway
    )
    yield Mutant(
        "pay:vendor", "wrong vendor", _PAY, "critical", "Another vendor is paid.",
        change(_PAY, lambda scene, given: {**given, "vendor_id": _another(given["vendor_id"])}),
    )  # fmt: skip
    yield Mutant(
        "pay:invoice", "wrong invoice", _PAY, "critical", "Another invoice is paid.",
        change(_PAY, lambda scene, given: {**given, "invoice_id": _other(given)}),
    )  # fmt: skip
    yield Mutant("pay:twice", "pay twice", _PAY, "critical", "The payment is made twice.", repeat(_PAY))
    for name, tool in (("pay:again", _PAY), ("credit:again", "apply_credit_note")):
        yield Mutant(
            name, "pay after a time-out", tool, "critical", f"{tool} without an answer is made again.", again(tool)
        )


def _decisions() -> Iterator[Mutant]:
    """Faults in approvals and reasons."""
    yield Mutant(
        "approve:lower", "wrong approver", "request_approval", "critical", "Too low a role approves.",
        _granted(change("request_approval", _lower)),
    )  # fmt: skip
    yield Mutant(
        "approve:unsigned", "wrong approver", "request_approval", "critical", "The second signature is left out.",
        _granted(change("request_approval", _unsigned)),
    )  # fmt: skip
    yield Mutant(
        "approve:less", "wrong approver", "request_approval", "critical", "A smaller amount is approved.",
        _paying(lambda scene, given: Decimal("100.00"), "request_approval"),
    )  # fmt: skip
    yield Mutant(
        "approve:never", "drop a control", "request_approval", "critical", "No approval is asked for.",
        drop("request_approval", {"granted": True}),
    )  # fmt: skip
    yield Mutant(
        "approve:guessed", "drop a control", "lookup_approval_requirement", "medium", "The highest role is assumed.",
        drop("lookup_approval_requirement", {"approver_role": ROLES[-1], "second_signature": True}),
    )  # fmt: skip
    yield Mutant(
        "reason:next", "wrong reason", _FLAG, "critical", "The next reason of the list is given.",
        change(_FLAG, lambda scene, given: {
            **given, "reason_code": REASON_CODES[(REASON_CODES.index(given["reason_code"]) + 1) % len(REASON_CODES)],
        }),
    )  # fmt: skip


def _granted(operator: Operator) -> Operator:
    """The same, and a refusal is taken for a grant."""

    def act(scene: Scene, name: str, arguments: Mapping[str, Any], invoke: Any) -> Any:
        found = operator(scene, name, arguments, invoke)
        return {**found, "granted": True} if name == "request_approval" else found

    return act


def _records() -> Iterator[Mutant]:
    """Acts without records, and records without acts."""
    yield Mutant("log:never", "act without logging", _LOG, "medium", "Nothing is logged.", drop(_LOG, {"logged": True}))
    yield Mutant("log:twice", "duplicate", _LOG, "low", "The log is written twice.", repeat(_LOG))
    yield Mutant(
        "pay:only logged", "log without acting", _PAY, "high", "A payment is logged, not made.", drop(_PAY, _SCHEDULED)
    )
    yield Mutant(
        "flag:only logged", "log without acting", _FLAG, "critical", "A hold is logged, not made.", drop(_FLAG, {})
    )
    yield Mutant(
        "credit:only logged", "log without acting", "apply_credit_note", "critical", "A credit is logged, not taken.",
        drop("apply_credit_note", {"status": "applied"}),
    )  # fmt: skip
    yield Mutant("flag:twice", "duplicate", _FLAG, "medium", "The hold is raised twice.", repeat(_FLAG))
    yield Mutant(
        "credit:twice", "duplicate", "apply_credit_note", "critical", "The credit is taken twice.",
        repeat("apply_credit_note"),
    )  # fmt: skip
    yield Mutant(
        "log:elsewhere", "wrong invoice", _LOG, "medium", "Another invoice stands in the log.",
        change(_LOG, lambda scene, given: {**given, "invoice_id": _other(given)}),
    )  # fmt: skip
    yield Mutant(
        "log:action", "wrong record", _LOG, "medium", "The log says something else than was done.",
        change(_LOG, lambda scene, given: {**given, "action": "paid" if given["action"] == "held" else "held"}),
    )  # fmt: skip
    yield Mutant(
        "drop:fetch_invoice_lines", "drop a control", "fetch_invoice_lines", "low", "The lines are not read.",
        drop("fetch_invoice_lines", {"lines": []}),
    )  # fmt: skip
    yield Mutant("loop:fetch_invoice_lines", "duplicate", "fetch_invoice_lines", "low", "The lines are read on.", _loop)
    yield Mutant(
        "duplicate:fetch_invoice", "duplicate", "fetch_invoice", "low", "The record is read twice, harming nothing.",
        repeat("fetch_invoice"),
    )  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (*_controls(), *_amounts(), *_decisions(), *_records())
"""Every planted fault. Some change nothing on some tasks, such as a wrong currency on an invoice in GBP, and the last
one is harmless: what cannot be told from the reference is no miss."""
