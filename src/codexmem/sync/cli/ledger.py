"""What a checkout was last in step with, file by file; kept in the data directory, not in the repository.

In the repository it would change with every edit and so collide in every merge. Lost, it costs nothing but certainty:
the history of the memory and of git then say what file and memory had in common.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Unavailable
from codexmem.sync.model import GONE, SyncBase

_FORMAT = 1
_MOST_GONE = 5_000
_WAIT_S = 60


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One file: what it was called, whose it is, and what it last said in step with the memory."""

    path: str
    id: str
    memory: str
    version: int
    digest: str
    uri: str = ""
    absent: bool = False  # not on the branch that is checked out
    replaced: bool = False  # written over the text of an old checkout
    # Where both were edited in one place: what the file said, and what it was shown against.
    mine: str = ""
    shown_version: int = 0
    shown_digest: str = ""
    shown_head: str = ""  # the commit that was checked out then

    @property
    def base(self) -> SyncBase:
        """What file and memory last had in common."""
        return SyncBase(self.digest, self.version)

    def settled(self) -> "LedgerEntry":
        """The same without a conflict."""
        return replace(self, mine="", shown_version=0, shown_digest="", shown_head="")


@dataclass
class Ledger:
    """All files of one checkout, and where it stood."""

    head: str = ""
    branch: str = ""
    moved: str = ""  # the last line of git's log of what was checked out
    entries: dict[str, LedgerEntry] = field(default_factory=dict)  # by the memory's id
    path: Path | None = None  # None: kept nowhere

    def put(self, entry: LedgerEntry) -> None:
        """Note what a file is in step with."""
        self.entries[entry.memory] = entry

    def save(self) -> None:
        """Keep it, whole or not at all."""
        if self.path is None:
            return
        gone = [key for key, each in self.entries.items() if each.digest == GONE]
        for key in gone[: max(0, len(gone) - _MOST_GONE)]:
            del self.entries[key]
        files = [asdict(each) for each in self.entries.values()]
        text = json.dumps(
            {"format": _FORMAT, "head": self.head, "branch": self.branch, "moved": self.moved, "files": files}
        )
        partial = self.path.with_name(f"{self.path.name}.{ids.bare()}.tmp")
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, self.path)  # noqa: PTH105


@contextmanager
def ledger_of(data_dir: Path, *names: str) -> Iterator[Ledger]:
    """The ledger that belongs to these names: the checkout, its folder and the store; nobody else has it meanwhile."""
    from filelock import FileLock, Timeout

    folder = data_dir / "sync"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32]}.json"
    try:
        with FileLock(f"{path}.lock", timeout=_WAIT_S):
            yield _loaded(path)
    except Timeout:
        raise Unavailable("another sync of this checkout is running", hint="wait for it to end") from None


def _loaded(path: Path) -> Ledger:
    try:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        entries = [LedgerEntry(**each) for each in raw["files"]] if raw["format"] == _FORMAT else []
        return Ledger(raw["head"], raw["branch"], raw["moved"], {each.memory: each for each in entries}, path)
    except (OSError, ValueError, KeyError, TypeError):
        return Ledger(path=path)
