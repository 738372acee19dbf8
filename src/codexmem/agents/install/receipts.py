"""What was in the person's files before us, kept in the data directory: readable by its owner only, for `uninstall`.

A receipt is written before the files it tells of are changed. One that tells of a change that never happened does no
harm: the file still holds what the receipt would restore.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codexmem.client import files

_FOLDER = "agents"


@dataclass(slots=True)
class FileReceipt:
    """One file: what was there before us (None: no file), and what we wrote."""

    path: Path
    before: bytes | None
    written: bytes


@dataclass(slots=True)
class InstallReceipt:
    """All that we changed for one agent."""

    agent: str
    files: list[FileReceipt] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)  # that we made

    def of(self, path: Path) -> FileReceipt | None:
        """What we know of this file."""
        return next((kept for kept in self.files if kept.path == path), None)

    def note(self, kept: FileReceipt) -> None:
        """In the place of what was known of this file."""
        self.files = [each for each in self.files if each.path != kept.path] + [kept]


class InstallReceipts:
    """The receipts of one data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / _FOLDER

    def get(self, agent: str) -> InstallReceipt | None:
        """The receipt; None if there is none, or it cannot be read."""
        content = files.read(self._path(agent))
        if content is None:
            return None
        try:
            said = json.loads(content)
            kept = [
                FileReceipt(Path(each["path"]), _bytes(each["before"]), _bytes(each["written"]) or b"")
                for each in said["files"]
            ]
            return InstallReceipt(agent, kept, [Path(each) for each in said["folders"]])
        except (ValueError, KeyError, TypeError):
            return None

    def keep(self, receipt: InstallReceipt) -> None:
        """Write it down, before the files themselves."""
        said = {
            "agent": receipt.agent,
            "files": [
                {"path": str(kept.path), "before": _text(kept.before), "written": _text(kept.written)}
                for kept in receipt.files
            ],
            "folders": list(map(str, receipt.folders)),
        }
        path = self._path(receipt.agent)
        files.replace(path, files.read(path), json.dumps(said, indent=1).encode())

    def drop(self, agent: str) -> None:
        """It has been made good."""
        self._path(agent).unlink(missing_ok=True)

    def backup(self, agent: str) -> Path:
        """Where the receipt is, which holds the backup."""
        return self._path(agent)

    def agents(self) -> list[str]:
        """Of whom there are receipts."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def _path(self, agent: str) -> Path:
        return self.folder / f"{agent}.json"


def _text(content: bytes | None) -> str | None:
    # Bytes as they are: a file need not be text in any encoding to be given back.
    return None if content is None else base64.b64encode(content).decode("ascii")


def _bytes(text: Any) -> bytes | None:
    return None if text is None else base64.b64decode(text)
