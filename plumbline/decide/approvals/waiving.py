"""Writing a waiver into its file: comments kept, nothing half written, refused where it could never hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plumbline.base.errors import ApprovalError, BandError
from plumbline.decide.approvals.clock import moment
from plumbline.decide.approvals.people import People
from plumbline.decide.approvals.waivers import Waiver, accepted, free_day, read_waivers
from plumbline.decide.bands.reading import parse_yaml, write_yaml
from plumbline.traces import write_text

__all__ = ["waive"]

_HEAD = "# Failures that are known and let through, each for a while and for one change. They still show as failures.\n"


def waive(
    path: str | Path, people: People, *, values: Mapping[str, Any], wanted: date, now: datetime | date,
    exact: bool = False, key: Any = None,
) -> Waiver:  # fmt: skip
    """Write a waiver into a file.

    Parameters
    ----------
    path : path
        The file of waivers; made where there is none.
    people : People
        Who may approve.
    values : mapping
        Everything of ``Waiver`` but ``expires`` and ``signature``.
    wanted : date
        The last day; an earlier one is taken where too many waivers expire on it.
    now : datetime or date
    exact : bool
        Refuse instead of taking an earlier day.
    key : Ed25519PrivateKey, optional
        The approver's.

    Returns
    -------
    Waiver

    Raises
    ------
    ApprovalError
        ``duplicate``, ``crowded``, ``over_broad``, ``self_approved`` and the others of ``accepted``.
    BandError
        A value that cannot be.
    """
    path, today = Path(path), moment(now).date()
    there = read_waivers(path, today=today)
    day = free_day(wanted, there, given=today)
    if exact and day != wanted:
        raise ApprovalError("crowded", f"enough waivers expire on {wanted}", f"take another day: --expires {day}")
    try:
        made = Waiver.model_validate({**values, "expires": day})
    except ValidationError as error:
        said = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
        raise BandError("the waiver cannot be written", said) from None
    if key is not None:
        made = made.signed(key)
    if twin := next((one for one in there if one.key == made.key), None):
        what = f"{made.fixture} {made.field} is waived in {made.scope} until {twin.expires}"
        raise ApprovalError("duplicate", what, f"delete that one from {path.name} first, if it no longer holds")
    accepted(
        made, people, now=now, bands=made.bands, case=made.case, measured=made.measured, worse="higher",
        link=made.link, scope=made.scope, others=there,
    )  # fmt: skip
    text = path.read_text(encoding="utf-8") if path.exists() else f"{_HEAD}schema: plumbline.waivers/1\nwaivers: []\n"
    tree, _ = parse_yaml(text, str(path))
    entry = made.model_dump(mode="json")
    entry |= {"given": made.given, "expires": made.expires}
    if not tree.get("waivers"):
        tree["waivers"] = []
    tree["waivers"].append(entry)
    write_text(path, write_yaml(tree))
    return made
