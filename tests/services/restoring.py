"""A store with a few memories, the transfer of it, and programs that end themselves in the middle of things."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.backup import BackupTarget
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.listing import Lists
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.opening import open_database, sqlite_url
from codexmem.operations.transfer import Transfer
from tests._support import warm
from tests._support.services import indexer

ROOT = Path(__file__).parents[2]
OBSERVATIONS = frozenset({Kind.OBSERVATION})
STEPS = ("locked", "kept", "prepared", "settled", "switched", "released")


def transfer_of(data_dir: Path) -> Transfer:
    return Transfer(BackupTarget(sqlite_url(data_dir / "codexmem.db")), data_dir, SystemClock(), version="test")


def note(memories: Memories, text: str) -> int:
    """Remember a text; its number."""
    draft = MemoryDraft(
        Kind.OBSERVATION, State(content=text, attrs=ObservationAttrs(), project="p", title=text[:80]), Origin.AGENT
    )
    return memories.remember(draft, WriteContext("test")).seq


@contextmanager
def remembering(data_dir: Path) -> Iterator[Memories]:
    """The store of this folder, open."""
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    try:
        clock = SystemClock()
        log = Log(db, EventTable(db), LocalNotifier(), clock)
        yield Memories(db, MemoryTable(db), Lists(db), VersionTable(db), indexer(db, clock), log, clock)
    finally:
        db.close()


def fill(data_dir: Path, texts: Iterable[str]) -> None:
    """Remember the texts and close the store in order."""
    with remembering(data_dir) as memories:
        for text in texts:
            note(memories, text)


def fill_and_die(data_dir: Path, texts: Iterable[str]) -> None:
    """The same as a process leaves it that is killed: what it wrote last is in the write-ahead log only."""
    alive = data_dir / "alive"
    if (data_dir / "codexmem.db").exists():
        alive.mkdir()
        shutil.copyfile(data_dir / "codexmem.db", alive / "codexmem.db")
    with remembering(alive) as memories:
        for text in texts:
            note(memories, text)
        for name in ("codexmem.db", "codexmem.db-wal"):
            shutil.copyfile(alive / name, data_dir / name)
    shutil.rmtree(alive)


def texts_in(data_dir: Path) -> list[str]:
    """Every text in the store, sorted."""
    found: list[str] = []
    page = PageRequest(limit=500)
    with remembering(data_dir) as memories:
        while True:
            listing = memories.page(Filter(kinds=OBSERVATIONS), page)
            found += [memory.state.content for memory in listing.items]
            if listing.after is None:
                return sorted(found)
            page = PageRequest(limit=500, after=listing.after)


def restore_and_die(data_dir: Path, folder: Path, at: str) -> None:
    """Restore in a process that is killed right after the named step."""
    die(
        "from pathlib import Path; from tests.services import restoring as r;"
        f"r.transfer_of(Path({str(data_dir)!r})).restore(Path({str(folder)!r}), step=r.dying_at({at!r}))"
    )


def die(program: str) -> None:
    """Run a program that must end by killing itself."""
    with tempfile.TemporaryFile() as err:
        ended = warm.start([program], env=os.environ, out=err.fileno(), err=err.fileno(), program=__name__).wait(60)
        err.seek(0)
        assert ended == -signal.SIGKILL, err.read().decode()


def main() -> None:
    """What such a program begins with."""
    exec(sys.argv[1])


class dying_at:  # noqa: N801 - reads as a phrase where it is used
    """A step callback that kills its process at one step."""

    def __init__(self, at: str) -> None:
        self._at = at

    def __call__(self, step: str) -> None:
        if step == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
