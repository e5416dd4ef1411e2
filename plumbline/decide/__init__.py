"""Certificates and gates."""
