"""Conversations as Claude Code keeps them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BEGAN = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


def kept(home: Path, session: str, *prompts: str, project: str = "shop", month: int = 5) -> Path:
    """A conversation as Claude Code keeps it."""
    folder = home.parent / "work" / project
    folder.mkdir(parents=True, exist_ok=True)
    path = home / ".claude" / "projects" / str(folder).replace("/", "-") / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records: list[dict[str, Any]] = []

    def add(role: str, content: Any) -> None:
        at = BEGAN.replace(month=month, minute=len(records) % 60).isoformat().replace("+00:00", "Z")
        records.append({
            "type": role, "uuid": f"{session}-{len(records)}", "parentUuid": records[-1]["uuid"] if records else None,
            "sessionId": session, "cwd": str(folder), "version": "2.1.197", "isSidechain": False, "timestamp": at,
            "message": {"role": role, "content": content},
        })  # fmt: skip

    for prompt in prompts:
        add("user", prompt)
        add("assistant", [{"type": "text", "text": f"Done: {prompt}"}])
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
