from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import ParameterError
from plumbline.domains.procure_to_pay.world import OPENING, World, image, new_world, to_cents, to_money


@given(st.integers(-(10**16), 10**16))
def test_cents_and_money_are_one_amount(cents):
    assert to_cents(to_money(cents)) == cents
    assert to_money(cents).as_tuple().exponent == -2


@pytest.mark.parametrize(
    "amount",
    [
        "0.001",
        "4500.0000000000000000000000000000000000000001",
        "NaN",
        "Infinity",
        "1e16",
        "ten",
        Decimal("-0.005"),
        "1e-999",
    ],
)
def test_an_amount_that_cents_cannot_hold_is_refused(amount):
    with pytest.raises(ParameterError):
        to_cents(amount)


def test_every_world_starts_afresh_and_opens_with_the_published_tables():
    first, second = new_world(), new_world()
    first.add("exceptions", {"exception_id": "EXC-0001", "invoice_id": "INV-7002", "reason": "x"})
    assert (first.count("exceptions"), second.count("exceptions")) == (1, 0)
    for table, rows in OPENING.items():
        assert second.count(table) == len(rows)
    total = second.one("SELECT total FROM invoices WHERE invoice_id = 'INV-7005'")
    assert total == {"total": Decimal("9600.00")}
    for invoice in second.all("SELECT * FROM invoices"):
        assert invoice["unit_price"] * invoice["quantity"] == invoice["total"]
    assert second.one("SELECT * FROM invoices WHERE invoice_id = 'inv-7002'") is None
    first.close()
    second.close()


def test_no_table_stores_a_binary_float():
    world = new_world()
    for table in [*OPENING, "exceptions", "approvals", "audit_log"]:
        for row in world.all(f"SELECT * FROM {table}"):
            assert not any(isinstance(value, float) for value in row.values())
    world.close()


def test_a_table_that_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="does not fit"):
        image({"approvals": (("A", "B"),)})
    with pytest.raises(ParameterError, match="does not fit"):
        image({"vendors": (("V-1", "name", "active"),)})
    world = World(image({}))
    assert world.all("SELECT * FROM vendors") == []
    world.close()
