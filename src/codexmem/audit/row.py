"""What the audit log records of a request: the contract's fields, its arguments without secrets and cut to a size.

Everything an agent wrote is redacted before it is cut, or half of a secret would be left standing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from codexmem.audit.chain import RowKind, seal
from codexmem.kernel.model import redaction
from codexmem.kernel.model.tool_access import Risk, ToolDecision, ToolRequest

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
                   redact: Redact = redaction.redact_value) -> dict[str, Any]:  # fmt: skip
    """What is recorded of a request: names, the redacted summary of its arguments, and what was decided."""
    known = risk.name.lower() if risk is not None else None
    fields: dict[str, Any] = {
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


def result_fields(call_id: str, tool: str, ok: bool, took_ms: int | None) -> dict[str, Any]:
    """What is recorded when a tool has come to its end."""
    return {
        "kind": RowKind.RESULT.value, "call_id": _clipped(call_id, _LONGEST_NAME),
        "tool": _clipped(tool, _LONGEST_NAME), "result": "success" if ok else "failure", "duration_ms": took_ms,
    }  # fmt: skip


def stamped(fields: Mapping[str, Any], at_ms: int, run_id: str, project_id: str) -> dict[str, Any]:
    """The fields with when, in which run and for which project."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"timestamp": moment, "at_ms": at_ms, "run_id": _clipped(run_id, _LONGEST_NAME),
            "project_id": _clipped(project_id, _LONGEST_NAME), **fields}  # fmt: skip


def summary(request: ToolRequest, redact: Redact = redaction.redact_value) -> dict[str, Any]:
    """The arguments without secrets and not longer than can be read."""
    given: dict[str, Any] = {"command": request.command, "paths": list(request.paths), "urls": list(request.urls)}
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
