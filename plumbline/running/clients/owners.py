"""Who holds an open reservation, and whether that process still lives.

A process is named by host, boot, process namespace, id and start time, so neither a reused id nor a reboot is mistaken
for the owner. Of another host or namespace nothing can be told; such a reservation is given up by age alone.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

__all__ = ["is_alive", "this_process"]

_names: dict[int, str] = {}


def this_process() -> str:
    """Return the name of this process, the same for as long as it lives."""
    pid = os.getpid()
    if pid not in _names:
        _names[pid] = f"{_place()}|{pid}|{_started(pid)}"
    return _names[pid]


def is_alive(owner: str) -> bool | None:
    """Say whether a process lives; None if it cannot be told from here.

    Examples
    --------
    >>> is_alive(this_process()), is_alive("another-host|boot|space|1|2")
    (True, None)
    """
    place, _, rest = owner.rpartition("|")
    place, _, pid = place.rpartition("|")
    if not pid.isdigit():
        return None
    here, there = _place().split("|"), place.split("|")
    if here[0] != there[0]:
        return None
    if here[1] != there[1]:
        return False  # the machine was started anew since
    if here != there:
        return None
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _started(int(pid)) == rest


def _place() -> str:
    boot = _text(Path("/proc/sys/kernel/random/boot_id"))
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = "?"
    return f"{socket.gethostname().replace('|', '_')}|{boot}|{space}"


def _started(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot; a finished but unreaped one has none."""
    text = _text(Path(f"/proc/{pid}/stat"))
    if ")" not in text:
        return "?"
    parts = text.rsplit(")", 1)[1].split()
    return "ended" if parts[0] in "ZX" else parts[19]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "?"
