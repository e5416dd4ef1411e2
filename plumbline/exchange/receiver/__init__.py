"""Traces taken in live: OTLP over HTTP into a spool that survives a kill, and from the spool a run."""

from plumbline.exchange.receiver.app import Limits, receiver_app
from plumbline.exchange.receiver.spool import SPOOL_FILE, Spool, SpoolFullError

__all__ = ["SPOOL_FILE", "Limits", "Spool", "SpoolFullError", "receiver_app"]
