"""Sending the audit log to the server, which keeps a copy that this machine cannot rewrite.

How far the server is stands in a file beside the log, and it is only a hint: rows that are sent again change nothing.
Rows go in batches, in order, each within the client's time-out; what did not arrive is sent next time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from codexmem.audit import chain as audit

if TYPE_CHECKING:
    from codexmem.codecli.audit_log import AuditLog
    from codexmem.codecli.memory_client import MemoryClient

BATCH = 500  # rows; the server takes no more at once
PATH = "/v1/audit"


@dataclass(slots=True)
class Pushed:
    """What was sent, and what the server thinks of it."""

    sent: int = 0
    new: int = 0  # to the server
    broken: list[int] = field(default_factory=list)  # rows that do not follow the one before
    forked: list[int] = field(default_factory=list)  # rows that the server knows with another hash
    upto: int = 0  # the last row that the server has


def push(log: AuditLog, client: MemoryClient, *, most: int | None = None, anew: bool = False) -> Pushed:
    """Send what the server does not have, at most so many rows; raises what the server or the network says."""
    told = Pushed(upto=0 if anew else _upto(log))
    if not log.files():
        return told
    name = log_id(log)
    for rows in _batches(log.rows(told.upto), most):
        said = client.exchange("POST", PATH, {"log": name, "rows": rows})
        told.sent += len(rows)
        told.new += int(said.get("accepted", 0))
        told.broken += list(said.get("broken", ()))
        told.forked += list(said.get("forked", ()))
        told.upto = rows[-1]["seq"]
        _keep(log, told.upto)
    return told


def push_quietly(log: AuditLog, client: MemoryClient, note: Callable[[str], None]) -> None:
    """Send what the server does not have, all within one time-out; what goes wrong is told and does no harm."""
    try:
        told = push(log, client.together(), most=4 * BATCH)
    except Exception as error:
        note(f"the audit log was not sent: {getattr(error, 'message', None) or type(error).__name__}")
        return
    if told.broken or told.forked:
        note("the server knows another audit log of this machine than the one here; see: mem-codecli audit verify")


def log_id(log: AuditLog) -> str:
    """What the server knows the log by: of its key, and telling nothing about it."""
    return audit.seal(b"log", log.key())[:32]


def _batches(rows: Iterator[dict[str, Any]], most: int | None) -> Iterator[list[dict[str, Any]]]:
    rows = islice(rows, most)
    while batch := list(islice(rows, BATCH)):
        yield batch


def _upto(log: AuditLog) -> int:
    try:
        said = json.loads((log.folder / "pushed.json").read_bytes())
        seq = said["seq"] if said["log"] == log_id(log) else 0
        return seq if isinstance(seq, int) and seq >= 0 else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _keep(log: AuditLog, seq: int) -> None:
    fresh = log.folder / "pushed.new"
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(file, json.dumps({"log": log_id(log), "seq": seq}).encode())
    finally:
        os.close(file)
    fresh.replace(log.folder / "pushed.json")
