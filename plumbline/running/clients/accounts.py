"""Reading a ledger: one answer, the spend, a trial's tokens and cost, every attempt, every answer in order."""

from __future__ import annotations

from sqlite3 import Connection
from typing import TYPE_CHECKING

from plumbline.running.clients.protocol import ModelReply
from plumbline.running.clients.records import Recorded, Spend, TrialUsage, decode_reply, from_pico

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_answer", "read_calls", "read_replies", "read_spend", "read_trial"]

_PAGE = 1000


def read_answer(db: Connection, digest: str) -> ModelReply | None:
    """Return the recorded answer to a request, None if there is none."""
    found = db.execute("SELECT response FROM calls WHERE digest = ? AND status = 'answered'", (digest,)).fetchone()
    return None if found is None else decode_reply(found[0])


def read_spend(db: Connection, *, cap: int | None) -> Spend:
    """Return what is spent, assumed and reserved, and how many calls ended how."""
    settled, assumed, reserved = db.execute("SELECT settled, assumed, reserved FROM totals").fetchone()
    ended = dict(db.execute("SELECT status, count(*) FROM calls GROUP BY status").fetchall())
    return Spend(
        settled_usd=from_pico(settled),
        assumed_usd=from_pico(assumed),
        reserved_usd=from_pico(reserved),
        total_usd=from_pico(settled + assumed),
        committed_usd=from_pico(settled + assumed + reserved),
        cap_usd=None if cap is None else from_pico(cap),
        remaining_usd=None if cap is None else from_pico(max(0, cap - settled - assumed - reserved)),
        answered=ended.get("answered", 0),
        failed=ended.get("failed", 0),
        lost=ended.get("lost", 0),
    )


def read_trial(db: Connection, trial_id: str) -> TrialUsage:
    """Return calls, tokens and cost of one trial's answers; None where a provider did not say for each of them."""
    calls, known_in, given, known_out, out, priced, cost = db.execute(
        "SELECT count(*), count(tokens_in), sum(tokens_in + ifnull(cache_read, 0) + ifnull(cache_write, 0)),"
        " count(tokens_out), sum(tokens_out), count(cost), sum(cost)"
        " FROM calls WHERE trial_id = ? AND status = 'answered'",
        (trial_id,),
    ).fetchone()
    if calls == 0:
        return TrialUsage(trial_id, 0, 0, 0, 0.0)
    return TrialUsage(
        trial_id,
        calls,
        given if known_in == calls else None,
        out if known_out == calls else None,
        from_pico(cost) if priced == calls else None,
    )


def read_calls(db: Connection) -> pd.DataFrame:
    """Return every attempt, one row each, in order of reservation; amounts in US dollars."""
    import pandas as pd

    found = db.execute("SELECT * FROM calls ORDER BY id")
    frame = pd.DataFrame(found.fetchall(), columns=[column[0] for column in found.description])
    frame = frame.astype(dict.fromkeys(["tokens_in", "tokens_out", "cache_read", "cache_write"], "Int64"))
    for name in ("estimate", "cost", "assumed"):
        amounts = [float("nan") if pd.isna(pico) else from_pico(int(pico)) for pico in frame.pop(name)]
        frame[f"{name}_usd"] = pd.Series(amounts, index=frame.index, dtype="float64")
    return frame


def read_replies(db: Connection, *, after: tuple[str, int, int]) -> tuple[list[Recorded], tuple[str, int, int]]:
    """Return the next recorded answers after a place in the order of trial and turn, and the place reached."""
    rows = db.execute(
        "SELECT trial_id, turn, id, digest, response FROM calls WHERE status = 'answered'"
        " AND (trial_id, turn, id) > (?, ?, ?) ORDER BY trial_id, turn, id LIMIT ?",
        (*after, _PAGE),
    ).fetchall()
    page = [Recorded(trial, turn, digest, decode_reply(text)) for trial, turn, _, digest, text in rows]
    return page, (rows[-1][:3] if rows else after)
