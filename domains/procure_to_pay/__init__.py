"""Procure-to-pay: eight invoices, eight tools, fourteen rules."""
