"""The audit log as a chain of rows.

A row is one line of JSON. It begins with its number and the hash of the row before it and ends with a hash of its own,
a keyed one (HMAC-SHA256) over the very bytes in front of it: without the key no row can be changed, left out, put
elsewhere or added, and `Checker` names the first place where that was tried. What a row says is `audit_row`'s business;
whatever it says, nothing in it can break a line or act upon a terminal.

What the audit log records of a request: the contract's fields, its arguments without secrets and cut to a size.

Everything an agent wrote is redacted before it is cut, or half of a secret would be left standing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from codexmem.kernel.model import redaction
from codexmem.kernel.model.tool_access import Risk, ToolDecision, ToolRequest

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


def sealed(fields: Mapping[str, object], seq: int, prev: str, key: bytes) -> tuple[bytes, str]:
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


def row_of(line: bytes) -> dict[str, object] | None:
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


_LONGEST_TEXT = 240  # characters of one text in the summary of arguments
_READ_TEXT = 65_536  # characters of one text that are looked at for secrets; far more than is kept
_MOST_ITEMS = 24
_DEEPEST = 5
_LONGEST_SUMMARY = 6_000
_LONGEST_NAME = 256
_LARGEST = 2**53  # beyond it readers of JSON disagree about a number
_LONGEST_REASON = 1_000

Redact = Callable[[Any], Any]


def request_fields(request: ToolRequest, decision: ToolDecision | None, risk: Risk | None, key: bytes,
                   redact: Redact = redaction.redact_value) -> dict[str, object]:  # fmt: skip
    """What is recorded of a request: names, the redacted summary of its arguments, and what was decided."""
    known = risk.name.lower() if risk is not None else None
    fields: dict[str, object] = {
        "kind": (RowKind.REQUEST if decision is not None else RowKind.STARTED).value,
        "agent": _clipped(request.agent, _LONGEST_NAME), "call_id": _clipped(request.call_id, _LONGEST_NAME),
        "tool": _clipped(str(redact(request.tool)), _LONGEST_NAME),
        "server": _clipped(str(redact(request.server)), _LONGEST_NAME),
        "risk": known, "arguments": summary(request, redact),
        # Keyed, because what a short secret hashes to can be found out by trying.
        "arguments_hash": seal((decision.argument_hash if decision else "").encode(), key)[:32],
        "from_text": request.from_text,
    }  # fmt: skip
    if decision is not None:
        fields |= {
            "decision": decision.verdict.value, "reason": _clipped(str(redact(decision.reason)), _LONGEST_REASON),
            "by": decision.by, "rule": _clipped(decision.rule, _LONGEST_NAME),
            "cause": decision.cause.value if decision.cause is not None else None,
        }  # fmt: skip
    return fields


def result_fields(call_id: str, tool: str, ok: bool, took_ms: int | None) -> dict[str, object]:
    """What is recorded when a tool has come to its end."""
    return {
        "kind": RowKind.RESULT.value, "call_id": _clipped(call_id, _LONGEST_NAME),
        "tool": _clipped(tool, _LONGEST_NAME), "result": "success" if ok else "failure", "duration_ms": took_ms,
    }  # fmt: skip


def stamped(fields: Mapping[str, object], at_ms: int, run_id: str, project_id: str) -> dict[str, object]:
    """The fields with when, in which run and for which project."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"timestamp": moment, "at_ms": at_ms, "run_id": _clipped(run_id, _LONGEST_NAME),
            "project_id": _clipped(project_id, _LONGEST_NAME), **fields}  # fmt: skip


def summary(request: ToolRequest, redact: Redact = redaction.redact_value) -> dict[str, object]:
    """The arguments without secrets and not longer than can be read."""
    given: dict[str, object] = {"command": request.command, "paths": list(request.paths), "urls": list(request.urls)}
    said = {name: value for name, value in given.items() if value}
    if request.arguments is not None:
        said["arguments"] = request.arguments
    small = _cut(redact(_cut(said, _READ_TEXT, 0)), _LONGEST_TEXT, 0)
    text = json.dumps(small, ensure_ascii=True)
    if len(text) <= _LONGEST_SUMMARY:
        return dict(small)
    return {name: _cut(value, 60, _DEEPEST - 2) for name, value in list(small.items())[:4]} | {"cut": len(text)}


def _cut(value: Any, longest: int, depth: int) -> Any:
    if isinstance(value, str):
        return _clipped(value, longest)
    if isinstance(value, Mapping | list | tuple) and depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        kept = [(_clipped(str(name), longest), _cut(each, longest, depth + 1))
                for name, each in list(value.items())[:_MOST_ITEMS]]  # fmt: skip
        return dict(kept) | ({"…": len(value) - _MOST_ITEMS} if len(value) > _MOST_ITEMS else {})
    if isinstance(value, list | tuple):
        more = [f"… {len(value) - _MOST_ITEMS} more"] if len(value) > _MOST_ITEMS else []
        return [*(_cut(each, longest, depth + 1) for each in value[:_MOST_ITEMS]), *more]
    if value is None or isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, int) and abs(value) < _LARGEST:
        return value
    return _clipped(repr(value), longest)


def _clipped(text: str, longest: int) -> str:
    # Every reader of JSON must be able to take it in: no half characters, no NUL.
    fit = text[:longest].encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    return fit if len(text) <= longest else f"{fit}… ({len(text) - longest} more)"
