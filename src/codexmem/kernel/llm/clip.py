"""Texts of any length in bounded room: cut visibly, and without what no store or screen should see."""

import json
import re
from collections.abc import Sequence
from typing import Any

_HEAD, _TAIL = 0.6, 0.3
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clip(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning, a mark that says how much is missing, and the end."""
    if len(text) <= limit:
        return text
    head, tail = int(limit * _HEAD), int(limit * _TAIL)
    mark = f"\n[… {len(text) - head - tail:,} characters left out …]\n"
    if head + tail + len(mark) > limit:
        return text[: max(0, limit - 1)] + "…" if limit > 0 else ""
    return f"{text[:head]}{mark}{text[len(text) - tail :]}"


def clean(text: str, limit: int) -> str:
    """Without what no store or screen should see, and not too long."""
    kept = _CONTROL.sub("", text).strip()
    return kept if len(kept) <= limit else kept[: limit - 1].rstrip() + "…"


def line(text: str, limit: int) -> str:
    """On one line, cut at its end."""
    flat = " ".join(text[: limit * 4 + 40].split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def shares(lengths: Sequence[int], total: int, each: int) -> list[int]:
    """How much of each text fits: short ones whole, the rest of the room in equal parts, none more than `each`."""
    given = [0] * len(lengths)
    left = total
    waiting = sorted(range(len(lengths)), key=lambda number: min(lengths[number], each))
    for position, number in enumerate(waiting):
        given[number] = min(lengths[number], each, left // (len(waiting) - position))
        left -= given[number]
    return given


def rendered(value: Any) -> str:
    """A tool's input or response as a model reads it: text as it is, anything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str)
