"""`--trace-json`: what a run did and how long each part took, as JSON lines for programs (contract 001 §6.2).

A line is written when a span has ended: `run_id`, `span`, `parent`, `name`, `start_ms`, `end_ms`, `duration_ms`,
`status` and `attributes`. Secrets are masked. A file is appended to, so that several runs may share one; a place that
cannot be written is told once and the run goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from codexmem.codecli import surroundings

STANDARD_ERROR = "-"
_LONGEST = 2_000  # characters of one text

Write = Callable[[bytes], None]


class TraceSpan:
    """One part of a run, while it lasts."""

    def __init__(self, number: int, attributes: dict[str, object]) -> None:
        self.number = number
        self.attributes = attributes

    def tell(self, **attributes: Any) -> None:
        """Add what is known only now."""
        self.attributes |= attributes


class RunTracer:
    """Writes the spans of one run; any thread may."""

    def __init__(self, run_id: str, write: Write | None, redact: Callable[[Any], Any] = lambda value: value) -> None:
        self._run_id = run_id
        self._write = write
        self._redact = redact
        self._lock = threading.Lock()
        self._count = 0
        self._open: list[int] = []

    @property
    def is_on(self) -> bool:
        """Whether anybody reads it."""
        return self._write is not None

    @contextlib.contextmanager
    def span(self, name: str, **attributes: Any) -> Iterator[TraceSpan]:
        """A part of the run, which is within those that have begun and not ended."""
        with self._lock:
            self._count += 1
            span, parent = TraceSpan(self._count, attributes), (self._open[-1] if self._open else None)
            self._open.append(span.number)
        start_ms, start = surroundings.now_ms(), surroundings.monotonic()
        status = "ok"
        try:
            yield span
        except BaseException as error:
            status = "error"
            span.tell(error=f"{type(error).__name__}: {error}")
            raise
        finally:
            with self._lock:
                self._open.remove(span.number)
            self._tell(span, parent, name, start_ms, (surroundings.monotonic() - start) * 1000, status)

    def event(self, name: str, **attributes: Any) -> None:
        """Something that takes no time."""
        if self.is_on:
            with self.span(name, **attributes):
                pass

    def _tell(self, span: TraceSpan, parent: int | None, name: str, start_ms: int, took: float, status: str) -> None:
        if self._write is None:
            return
        line = {
            "run_id": self._run_id, "span": span.number, "parent": parent, "name": name, "start_ms": start_ms,
            "end_ms": start_ms + round(took), "duration_ms": round(took, 3), "status": status,
            "attributes": self._redact(_short(span.attributes)),
        }  # fmt: skip
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str)
        with self._lock, contextlib.suppress(OSError):
            self._write(text.encode("utf-8", "replace") + b"\n")


def opened(target: str, note: Callable[[str], None], to_error: Write) -> Write | None:
    """Where lines go: a file, `-` for standard error, or nowhere if there is no target or it cannot be written."""
    if not target:
        return None
    if target == STANDARD_ERROR:
        return to_error
    try:
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except (OSError, ValueError) as error:
        note(f"the trace {target} cannot be written: {error}")
        return None
    # One write per line: several runs that share a file do not write into each other's lines.
    return lambda text: _whole(file, text)


def _whole(file: int, text: bytes) -> None:
    os.write(file, text)


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {str(name): _short(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value[:100]]
    return value
