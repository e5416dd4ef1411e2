"""Domains shipped with plumbline; each is loaded by name, never imported by the library."""
