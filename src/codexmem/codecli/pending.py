"""The last answer that kept every rule and lacked only a strong signal, until a person says that it is right.

One small file per project and folder, for its owner alone; what is in it was masked before. Nothing here fails a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RECENT_MS = 2 * 60 * 60 * 1000  # what is older is not what a person speaks of without naming it


@dataclass(frozen=True, slots=True)
class PendingCandidate:
    """A candidate that nobody has confirmed."""

    at_ms: int
    run_id: str
    agent: str
    question: str
    answer: str
    summary: str | None
    tags: tuple[str, ...]


class Pending:
    """What waits in one project and folder."""

    def __init__(self, state_dir: str, project: str, cwd: str) -> None:
        name = hashlib.sha256(f"{project}\0{cwd}".encode("utf-8", "replace")).hexdigest()[:32]
        self._path = Path(state_dir) / "pending" / f"{name}.json"

    def keep(self, waiting: PendingCandidate) -> None:
        """Keep this one, in place of the last."""
        text = json.dumps(asdict(waiting), ensure_ascii=False).encode("utf-8", "replace")
        fresh = self._path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, text)
            finally:
                os.close(file)
            fresh.replace(self._path)

    def waiting(self) -> PendingCandidate | None:
        """What waits."""
        try:
            told: dict[str, Any] = json.loads(self._path.read_bytes())
            told["tags"] = tuple(map(str, told["tags"]))
            return PendingCandidate(**told)
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def done(self) -> None:
        """It waits no more."""
        with contextlib.suppress(OSError):
            self._path.unlink()
