"""The audit log as a chain of rows.

A row is one line of JSON. It begins with its number and the hash of the row before it and ends with a hash of its own,
a keyed one (HMAC-SHA256) over the very bytes in front of it: without the key no row can be changed, left out, put
elsewhere or added, and `Checker` names the first place where that was tried. What a row says is `audit_row`'s business;
whatever it says, nothing in it can break a line or act upon a terminal.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

GENESIS = "0" * 64  # what the first row has in the place of the hash before it
_HEAD = re.compile(rb'\{"seq":([0-9]{1,18}),"prev":"([0-9a-f]{64})",')
_TAIL = re.compile(rb',"hash":"([0-9a-f]{64})"\}\Z')
_TAIL_BYTES = len(',"hash":""}') + 64


class RowKind(StrEnum):
    """What a row tells."""

    REQUEST = "request"  # an agent asked for a tool, and this was decided
    STARTED = "started"  # an agent used a tool without asking
    RESULT = "result"  # how a request ended
    RECOVERED = "recovered"  # what was found amiss when the log was opened again


@dataclass(frozen=True, slots=True)
class Bad:
    """Where the chain is broken first."""

    file: str
    line: int  # of that file, from 1
    seq: int | None  # of the row that should be there
    problem: str  # altered, torn, missing, misplaced, cut, headless, forged, no head, no key


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """What looking at the whole log showed."""

    rows: int
    bad: Bad | None = None
    notes: tuple[str, ...] = ()  # such as a last line that a crash left unfinished

    @property
    def ok(self) -> bool:
        """Whether every row is as it was written."""
        return self.bad is None


def sealed(fields: Mapping[str, Any], seq: int, prev: str, key: bytes) -> tuple[bytes, str]:
    """A row's line, and its hash."""
    body = json.dumps({"seq": seq, "prev": prev, **fields}, ensure_ascii=True, separators=(",", ":"))
    text = body[:-1].encode("ascii")
    mac = seal(text, key)
    return text + f',"hash":"{mac}"}}\n'.encode("ascii"), mac


def seal(text: bytes, key: bytes) -> str:
    """The keyed hash of these bytes."""
    return hmac.digest(key, text, "sha256").hex()


def opened(line: bytes, key: bytes) -> tuple[int, str, str] | None:
    """Number, hash before and own hash of a line that is as it was written; None of any other."""
    head, tail = _HEAD.match(line), _TAIL.search(line, max(0, len(line) - _TAIL_BYTES))
    if head is None or tail is None:
        return None
    mac = tail.group(1).decode("ascii")
    if not hmac.compare_digest(mac, seal(line[: tail.start()], key)):
        return None
    return int(head.group(1)), head.group(2).decode("ascii"), mac


def row_of(line: bytes) -> dict[str, Any] | None:
    """What a line says, whether or not it is as it was written."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


@dataclass(slots=True)
class Checker:
    """Goes through the lines of a log in order and stops at the first that is not as it was written."""

    key: bytes
    seq: int = 0  # of the last good row
    hash: str = GENESIS
    rows: int = 0
    bad: Bad | None = None
    _torn: tuple[Bad, int, str] | None = field(default=None)  # a damaged line that the next row may account for

    def feed(self, line: bytes, file: str, number: int) -> bool:
        """Look at one whole line, without its end; False if it breaks the chain."""
        seen = opened(line, self.key)
        wanted = self.seq + 1
        if seen is None:
            if self._torn is not None:
                return self._stop(self._torn[0])
            problem = "altered" if row_of(line) is not None else "torn"
            self._torn = (Bad(file, number, wanted, problem), len(line), hashlib.sha256(line).hexdigest())
            return True
        seq, prev, mac = seen
        if self._torn is not None or b'"kind":"recovered"' in line:
            if not self._accounted(line):
                return self._stop(self._torn[0] if self._torn is not None else Bad(file, number, seq, "headless"))
            self._torn = None
        if seq != wanted or prev != self.hash:
            return self._stop(Bad(file, number, wanted, "missing" if seq > wanted else "misplaced"))
        self.seq, self.hash, self.rows = seq, mac, self.rows + 1
        return True

    def end(self, head_seq: int, head_hash: str, file: str, number: int, *, unfinished: bool) -> ChainCheck:
        """What it comes to, given the last row that the second file knows of, and whether a line has no end."""
        if self.bad is None and self._torn is not None:
            self._stop(self._torn[0])
        if self.bad is None and self.seq < head_seq:
            self._stop(Bad(file, number, self.seq + 1, "cut"))
        if self.bad is None and self.seq == head_seq and self.hash != head_hash:
            self._stop(Bad(file, number, self.seq, "forged"))
        return ChainCheck(self.rows, self.bad, ("unfinished",) if unfinished and self.bad is None else ())

    def _accounted(self, line: bytes) -> bool:
        """Whether this row tells exactly of the damaged line before it, if there is one."""
        row = row_of(line) or {}
        if row.get("kind") != RowKind.RECOVERED or row.get("problem") == "headless":
            return False
        torn = row.get("torn")
        if self._torn is None:
            return torn is None
        return isinstance(torn, dict) and (torn.get("bytes"), torn.get("sha256")) == self._torn[1:]

    def _stop(self, bad: Bad) -> bool:
        self.bad = bad
        return False
