"""The folder of a checkout that holds memories as files: read and written without following a link anywhere.

Every step is taken from the folder above it by its open descriptor, so that a name swapped for a link in between leads
nowhere. A file is replaced as a whole, and only while it still says what was read: what somebody wrote since stays.
"""

import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.sync.document import ENDING, MAX_FILE, MAX_PATH

_MOST_FILES = 20_000
_MOST_BYTES = 4 * MAX_FILE
_MOST_IN_ALL = 64 * 1024 * 1024  # bytes: a checkout of anybody's is held in memory while it is compared
_DEEPEST = 12
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class FileRead:
    """One file as it lies there; `problem` says why its text cannot be had."""

    path: str  # in the folder, composed (NFC), with forward slashes
    place: str  # the same as the file system spells it
    content: bytes
    text: str
    problem: str = ""  # link, large, encoding, long, full


class MemoryFolder:
    """The folder `name` below `root`."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts:
            raise InvalidArgument(f"{name!r} is not a folder of the checkout", hint="name it from the checkout's root")
        self.parts = tuple(parts)
        self._left = _MOST_IN_ALL

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.root.joinpath(*self.parts)

    def exists(self) -> bool:
        """Whether it is there, and no link."""
        with suppress(OSError), self._opened(self.parts):
            return True
        return False

    def make(self) -> None:
        """Make it; a link in its place is an error."""
        with self._opened(self.parts, make=True):
            pass

    def files(self) -> list[FileRead]:
        """Every Markdown file, in order; links, and what goes beyond 64 MB, are named and not read."""
        found: list[FileRead] = []
        self._left = _MOST_IN_ALL
        with self._opened(self.parts) as folder:
            self._walk(folder, "", found)
        return sorted(found, key=lambda each: each.path)

    def stamp(self) -> int:
        """Another number when a file has been written, added, moved or removed."""
        seen: list[tuple[str, int, int]] = []
        for folder, _, names in os.walk(self.path, followlinks=False):
            for name in names:
                with suppress(OSError):
                    about = os.lstat(os.path.join(folder, name))  # noqa: PTH118
                    seen.append((f"{folder}/{name}", about.st_mtime_ns, about.st_size))
        return hash(tuple(sorted(seen)))

    def write(self, place: str, text: str, expected: bytes | None) -> bool:
        """Replace a file that still says what is expected, None for nothing; False if it does not."""
        *folders, name = place.split("/")
        with self._opened((*self.parts, *folders), make=True) as folder:
            if _content(folder, name) != expected:
                return False
            partial = f".{ids.prefixed('sync')}.tmp"
            file = os.open(
                partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=folder
            )
            try:
                with os.fdopen(file, "wb") as out:
                    os.fchmod(out.fileno(), _mode(folder, name))  # a file of the repository, not one of ours
                    out.write(text.encode())
                    out.flush()
                    os.fsync(out.fileno())
                if _content(folder, name) != expected:
                    return False
                os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
                return True
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(partial, dir_fd=folder)

    def remove(self, place: str, expected: bytes) -> bool:
        """Remove a file that still says what is expected, and folders that are empty then."""
        *folders, name = place.split("/")
        with self._opened((*self.parts, *folders)) as folder:
            if _content(folder, name) != expected:
                return False
            os.unlink(name, dir_fd=folder)
        while folders:
            with suppress(OSError), self._opened((*self.parts, *folders[:-1])) as above:
                os.rmdir(folders[-1], dir_fd=above)
            folders.pop()
        return True

    def occupied(self, place: str) -> bool:
        """Whether something lies there already, whatever the file system thinks of case."""
        *folders, name = place.split("/")
        with suppress(OSError), self._opened((*self.parts, *folders)) as folder:
            return _plain(name) in {_plain(each) for each in os.listdir(folder)}  # noqa: PTH208
        return False

    def _walk(self, folder: int, above: str, found: list[FileRead], depth: int = 0) -> None:
        for name in sorted(os.listdir(folder)):
            if name.startswith(".") or len(found) >= _MOST_FILES:
                continue
            place = f"{above}{name}"
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode) and depth < _DEEPEST:
                with _entered(folder, name) as below:
                    self._walk(below, f"{place}/", found, depth + 1)
            elif name.endswith(ENDING):
                found.append(_read(folder, name, place, about, self._left))
                self._left -= len(found[-1].content)

    @contextmanager
    def _opened(self, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        at = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o755, dir_fd=at)
                        os.chmod(part, 0o755, dir_fd=at)  # noqa: S103
                below = _folder(part, at)
                os.close(at)
                at = below
            yield at
        finally:
            os.close(at)


@contextmanager
def _entered(folder: int, name: str) -> Iterator[int]:
    below = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield below
    finally:
        os.close(below)


def _folder(name: str, above: int) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except NotADirectoryError as error:
        raise InvalidArgument(
            f"{name[:100]} is a link or a file, not a folder: nothing below it is read or written",
            hint="put a folder in its place, or name another with --folder",
        ) from error


def _read(folder: int, name: str, place: str, about: os.stat_result, left: int) -> FileRead:
    path = unicodedata.normalize("NFC", place.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    problem = ""
    if not stat.S_ISREG(about.st_mode):
        problem = "link"
    elif about.st_size > _MOST_BYTES:
        problem = "large"
    elif len(path) > MAX_PATH:
        problem = "long"
    elif about.st_size > left:
        problem = "full"
    content = b"" if problem else _content(folder, name) or b""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text, problem = "", "encoding"
    return FileRead(path, place, content, text, problem)


def _content(folder: int, name: str) -> bytes | None:
    """What a regular file holds, None if there is none."""
    try:
        file = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise InvalidArgument(f"{name[:100]} is no regular file", hint="remove it")
        with open(file, "rb", closefd=False) as opened:
            return opened.read(_MOST_BYTES + 1)
    finally:
        os.close(file)


def _mode(folder: int, name: str) -> int:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return 0o644


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
