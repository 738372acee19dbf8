"""Structured logs on the standard library's logging.

Each event is one line, whatever its fields hold: control and direction characters are escaped, long values cut. Request
lines carry method, route template, status, time and tenant; never a path, a query, a header or a body.
"""

import copy
import json as json_module
import logging
import re
import sys
from typing import Any, TextIO

from pythonjsonlogger.json import JsonFormatter

REQUESTS = logging.getLogger("codexmem.requests")

_TEXT_CAP = 2_000
_TRACEBACK_CAP = 16_000
# C0, DEL, C1, line and paragraph separators, bidirectional controls, lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """The text with every control character spelled out."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _capped(text: str, cap: int) -> str:
    return text if len(text) <= cap else f"{text[:cap]}… ({len(text)} characters)"


class JsonLines(JsonFormatter):
    """One JSON object a line."""

    def __init__(self) -> None:
        super().__init__(
            "%(levelname)s %(name)s %(message)s",
            rename_fields={"levelname": "level", "name": "logger", "exc_info": "traceback"},
            timestamp="at",
            json_serializer=_dump,
        )

    def process_log_record(self, log_data: dict[str, object]) -> dict[str, object]:
        """Cut long texts; a traceback keeps more, and its end."""
        cut: dict[str, object] = {}
        for key, value in log_data.items():
            if key == "traceback" and isinstance(value, str):
                cut[key] = value[-_TRACEBACK_CAP:]
            elif key != "color_message":
                cut[key] = _capped(value, _TEXT_CAP) if isinstance(value, str) else value
        return cut


def _dump(data: Any, **options: Any) -> str:
    # ASCII output escapes every control character but DEL.
    return json_module.dumps(data, **(options | {"ensure_ascii": True})).replace("\x7f", "\\u007f")


class TextLines(logging.Formatter):
    """A line for people; a traceback follows, indented, so that it cannot pass for another event."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The event and its traceback, whatever another handler has already rendered."""
        fresh = copy.copy(record)
        fresh.exc_text = None
        return super().format(fresh)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (the name is the library's)
        """The event on one line."""
        return _capped(escaped(super().formatMessage(record)), _TEXT_CAP)

    def formatException(self, ei: Any) -> str:  # noqa: N802  (the name is the library's)
        """The traceback, each line escaped and indented."""
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802  (the name is the library's)
        """The stack, likewise."""
        return _indented(stack_info)


def _indented(text: str) -> str:
    return "\n".join(f"    | {escaped(line)}" for line in text[-_TRACEBACK_CAP:].splitlines())


def configure(level: str, json: bool, stream: TextIO | None = None) -> None:
    """Send every log of the process to the stream (standard error) in one format; calling again replaces it."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if json else TextLines())
    root = logging.getLogger()
    for old in list(root.handlers):
        if getattr(old, "codexmem", False):
            root.removeHandler(old)
    handler.codexmem = True  # type: ignore[attr-defined]  # marks ours among handlers that others have set
    root.addHandler(handler)
    root.setLevel(level.upper())
    # The server's own start and stop lines are ours to tell; its warnings and failures are not.
    logging.getLogger("uvicorn.error").setLevel(max(logging.WARNING, root.level))


def log_request(*, method: str, route: str, status: int, ms: float, tenant: str | None, refused: str | None) -> None:
    """The one line about a request."""
    fields: dict[str, object] = {"method": method, "route": route, "status": status, "ms": ms, "tenant": tenant}
    if refused:
        fields["refused"] = refused
    REQUESTS.info("%s %s %d %.1f ms", method, refused or route, status, ms, extra=fields)
