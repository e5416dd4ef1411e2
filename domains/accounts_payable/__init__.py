"""Accounts payable: sixteen tools, thirteen kinds of exception, and cases that are almost one. All data is made up."""

from plumbline.domains.accounts_payable.definition import DOMAIN

__all__ = ["DOMAIN"]
