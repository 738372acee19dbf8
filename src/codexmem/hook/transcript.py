"""An agent's last words, read from the end of its transcript, for agents that do not say them to the hook.

Transcripts are files of JSON lines in as many shapes as there are agents. A line counts if it says somewhere that the
assistant spoke and holds text; only the end of the file is read.
"""

from __future__ import annotations

import os

from codexmem.agents import text_in
from codexmem.kernel.model import quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 512 << 10
_SPEAKERS = frozenset(("assistant", "assistant.message", "model", "agent"))
_INSIDE = ("message", "payload", "data")  # what holds the message itself; Kimi Code has two of them


def last_message(path: str) -> str:
    """The last thing the assistant said; empty if the file does not tell."""
    for line in reversed(_end(path)):
        if '"assistant' not in line and '"model"' not in line and '"agent"' not in line:
            continue
        try:
            text = _spoken(quick_json.loads(line))
        except ValueError:
            continue
        if text.strip():
            return text
    return ""


def _end(path: str) -> list[str]:
    """The last lines of a file; the first of them may be half a line."""
    try:
        file = os.open(os.path.expanduser(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return []
    try:
        size = os.fstat(file).st_size
        os.lseek(file, max(0, size - _MOST), os.SEEK_SET)
        pieces = []
        while got := os.read(file, 1 << 18):
            pieces.append(got)
            if sum(map(len, pieces)) > 2 * _MOST:
                break
        return b"".join(pieces).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    finally:
        os.close(file)


def _spoken(line: Any) -> str:
    """What the assistant says in this line, if it does."""
    if not isinstance(line, dict):
        return ""
    inner = line
    for _ in range(2):
        inner = next((inner[name] for name in _INSIDE if isinstance(inner.get(name), dict)), inner)
    roles = {str(part.get(name)) for part in (line, inner) for name in ("role", "type")}
    if not roles & _SPEAKERS:
        return ""
    content = inner.get("content", inner.get("parts", inner.get("text", "")))
    if isinstance(content, list):
        kept = [each for each in content if not isinstance(each, dict) or not _is_thought(each)]
        return text_in(kept)
    return text_in(content)


def _is_thought(part: dict[str, object]) -> bool:
    """Thoughts and tool calls are not what the assistant said."""
    return bool(part.get("thought")) or part.get("type") in {"thinking", "reasoning", "tool_use", "tool_result"}
