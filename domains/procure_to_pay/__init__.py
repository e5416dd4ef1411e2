"""Procure-to-pay: eight invoices, eight tools, fourteen rules."""

from plumbline.domains.procure_to_pay.definition import DOMAIN

__all__ = ["DOMAIN"]
