"""Captured events as agents report them, in short."""

from __future__ import annotations

from typing import Any

from codexmem.kernel.llm.material import Material
from codexmem.kernel.model.capture import Capture, CapturedEvent

CWD = "/home/ana/shop"


def nothing() -> None:
    """A check that never stops anybody."""


def tool(seq: int, name: str, given: Any = None, response: Any = "", *, cwd: str = CWD) -> CapturedEvent:
    """One tool call."""
    return CapturedEvent(seq, 1, 1, Capture.TOOL, 1_000 + seq, name, given, response, cwd)


def bash(seq: int, command: str, output: str = "", code: int | None = 0) -> CapturedEvent:
    """One shell command with its exit code; without one as Codex tells it to hooks."""
    response: dict[str, Any] = {"stdout": output, "stderr": "", "interrupted": False, "exit_code": code}
    return tool(seq, "Bash", {"command": command}, output if code is None else response)


def edit(seq: int, path: str, old: str, new: str) -> CapturedEvent:
    """One edit."""
    given = {"file_path": f"{CWD}/{path}", "old_string": old, "new_string": new}
    return tool(seq, "Edit", given, {"filePath": f"{CWD}/{path}"})


def read(seq: int, path: str, content: str = "") -> CapturedEvent:
    """One file that was read."""
    shown = {"type": "text", "file": {"filePath": f"{CWD}/{path}", "content": content}}
    return tool(seq, "Read", {"file_path": f"{CWD}/{path}"}, shown)


def material(*events: CapturedEvent, prompt: str = "Make tokens last two hours") -> Material:
    """What a distiller gets."""
    return Material("shop", prompt, events)
