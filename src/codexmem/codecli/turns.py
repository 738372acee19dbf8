"""The last turns of a project under this wrapper, so that "try that again" can be looked up by what "that" was.

One small file of JSON lines per project and folder, redacted before it is written and for its owner alone. Appending is
one write; a file that has grown is cut to its last turns. Nothing here fails a run.

The last answer that kept every rule and lacked only a strong signal, until a person says that it is right.

One small file per project and folder, for its owner alone; what is in it was masked before. Nothing here fails a run.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codexmem.kernel.model.clipping import clip

KEPT = 20  # turns
_RECENT_MS = 2 * 60 * 60 * 1000  # what is older belongs to other work
_MOST_BYTES = 256 << 10
_TEXT = 1_500  # characters of what was asked, and of what was said


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """What was asked and said."""

    at_ms: int
    run_id: str
    asked: str
    said: str = ""


class RecentTurns:
    """The turns of one project in one folder."""

    def __init__(self, state_dir: str, project: str, cwd: str, redact: Callable[[str], str]) -> None:
        name = hashlib.sha256(f"{project}\0{cwd}".encode("utf-8", "replace")).hexdigest()[:32]
        self._path = Path(state_dir) / "turns" / f"{name}.jsonl"
        self._redact = redact

    def recent(self, now_ms: int, most: int = 2) -> list[RecentTurn]:
        """The last ones, newest first."""
        found: list[RecentTurn] = []
        for line in reversed(self._lines()):
            turn = _read(line)
            if turn is None:
                continue
            if now_ms - turn.at_ms > _RECENT_MS or len(found) >= most:
                break
            found.append(turn)
        return found

    def kept(self) -> list[RecentTurn]:
        """All that there are, newest first."""
        return [turn for line in reversed(self._lines()) if (turn := _read(line)) is not None]

    def add(self, turn: RecentTurn) -> None:
        """Keep one, without what is secret in it."""
        # Masked before it is cut to size: half a secret is not recognised.
        told = {"at_ms": turn.at_ms, "run_id": turn.run_id, "asked": self._redact(clip(turn.asked))[:_TEXT],
                "said": self._redact(clip(turn.said))[-_TEXT:]}  # fmt: skip
        line = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.write(file, line)
                if os.fstat(file).st_size > _MOST_BYTES:
                    kept = self._lines()[-KEPT:]
                    os.ftruncate(file, 0)
                    os.write(file, b"\n".join(kept) + b"\n")
            finally:
                os.close(file)

    def _lines(self) -> list[bytes]:
        try:
            with self._path.open("rb") as file:
                return file.read(2 * _MOST_BYTES).splitlines()
        except OSError:
            return []


def _read(line: bytes) -> RecentTurn | None:
    try:
        told = json.loads(line)
        return RecentTurn(int(told["at_ms"]), str(told["run_id"]), str(told["asked"]), str(told["said"]))
    except (ValueError, KeyError, TypeError):
        return None


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
