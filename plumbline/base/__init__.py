"""Errors, canonical JSON and the row schema: the floor everything stands on."""
