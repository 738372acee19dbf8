"""What a folder of documents holds. Links are passed over, so that a folder cannot lead us out of itself or in circles;
what is no plain file is never opened."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from codexmem.lab.service.documents.document import MAX_DEPTH, MAX_DOCUMENTS, MAX_ENTRIES, Check, Unread
from codexmem.lab.service.documents.lightrag import CHUNKS

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: a pipe in the place of a file would hold us until somebody writes to it.
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FORMS = {
    ".md": "markdown", ".markdown": "markdown", ".mdown": "markdown", ".txt": "text", ".text": "text", ".pdf": "pdf",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WalkedDocument:
    """A document, or a directory of LightRAG, that was met."""

    path: tuple[str, ...]
    form: str  # markdown, text, pdf or lightrag
    size: int = 0
    stamp: tuple[int, ...] = ()  # changes with the file

    @property
    def name(self) -> str:
        """Its path as text."""
        return "/".join(self.path)


@dataclass(frozen=True, slots=True)
class WalkIncomplete:
    """The walk was not finished: what it did not meet may be there all the same."""

    reason: str


def walk(home: int, check: Check) -> Iterator[WalkedDocument | Unread | WalkIncomplete]:
    """Everything below an open folder, in the order of names; hidden files are passed over in silence."""
    waiting: list[tuple[str, ...]] = [()]
    entries = documents = 0
    while waiting:
        path = waiting.pop()
        check()
        try:
            handle = opened(home, path, _FOLDER)
        except OSError as error:
            yield Unread("/".join(path), f"it cannot be opened: {error.strerror}")
            continue
        try:
            met, more = _inside(handle, MAX_ENTRIES - entries)
        finally:
            os.close(handle)
        entries += len(met)
        names = {name for name, facts in met if stat.S_ISREG(facts.st_mode)}
        if CHUNKS in names:
            met = []
            yield WalkedDocument(path, "lightrag")
        inner: list[tuple[str, ...]] = []
        for name, facts in met:
            found = _entry((*path, name), facts)
            if isinstance(found, tuple):
                inner.append(found)
            elif found is not None:
                documents += isinstance(found, WalkedDocument)
                if documents > MAX_DOCUMENTS:
                    yield WalkIncomplete(f"it holds more than {MAX_DOCUMENTS:,} documents; the others were left")
                    return
                yield found
        if more:
            yield WalkIncomplete(f"it holds more than {MAX_ENTRIES:,} files; the others were left")
            return
        waiting.extend(reversed(inner))


def _inside(handle: int, limit: int) -> tuple[list[tuple[str, os.stat_result]], bool]:
    met: list[tuple[str, os.stat_result]] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            if len(met) >= limit:
                return sorted(met, key=lambda each: each[0]), True
            try:
                met.append((entry.name, entry.stat(follow_symlinks=False)))
            except OSError:
                continue  # it went since
    return sorted(met, key=lambda each: each[0]), False


def _entry(path: tuple[str, ...], facts: os.stat_result) -> WalkedDocument | Unread | tuple[str, ...] | None:
    name = path[-1]
    if name.startswith("."):
        return None
    if stat.S_ISLNK(facts.st_mode):
        return Unread("/".join(path), "it is a link, and links are not followed")
    if stat.S_ISDIR(facts.st_mode):
        return path if len(path) < MAX_DEPTH else Unread("/".join(path), f"it lies more than {MAX_DEPTH} folders deep")
    if not stat.S_ISREG(facts.st_mode):
        return Unread("/".join(path), "it is not a plain file")
    form = FORMS.get(os.path.splitext(name)[1].lower())  # noqa: PTH122  (a name, not a place)
    if form is None:
        return Unread("/".join(path), "it is not Markdown, text or PDF")
    return WalkedDocument(
        path, form, facts.st_size, (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
    )


def opened(home: int, path: tuple[str, ...], flags: int = _PLAIN) -> int:
    """What stands at a path below an open folder, reached without following a link."""
    handle = os.dup(home)
    try:
        for part in path[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        return os.open(path[-1], flags, dir_fd=handle) if path else os.dup(handle)
    finally:
        os.close(handle)


def plain_file(home: int, path: tuple[str, ...]) -> IO[bytes]:
    """A plain file, open for reading; OSError for anything else."""
    handle = opened(home, path)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "it is not a plain file")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise
