"""Reading and replacing a person's files: whole or not at all, with their mode, through links instead of over them.

Several programs may want to change one file. Ours take turns by a lock; against others there is only a last look right
before the new file takes the old one's place.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

_NEW_MODE = 0o600


class StaleFile(Exception):
    """Somebody else has changed the file since it was read."""


def read(path: Path) -> bytes | None:
    """What the file holds; None if there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def text_of(content: bytes | None) -> str:
    """As text; a UnicodeDecodeError says that it is none. The mark at its beginning that some editors write stays."""
    return (content or b"").decode("utf-8")


def replace(path: Path, seen: bytes | None, new: bytes, *, new_mode: int = _NEW_MODE) -> list[Path]:
    """Put the new content there if it still holds what was seen; returns the folders that had to be made."""
    target = Path(os.path.realpath(path))
    made = _folders(target.parent)
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = new_mode
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        if read(target) != seen:
            raise StaleFile(path)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync(target.parent)
    return made


def remove(path: Path, seen: bytes) -> None:
    """Take the file away if it still holds what was seen."""
    target = Path(os.path.realpath(path))
    if read(target) != seen:
        raise StaleFile(path)
    target.unlink()
    _sync(target.parent)


def remove_empty(folders: list[Path]) -> None:
    """Take away folders that we made, the inner ones first, as far as nothing is in them."""
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _folders(folder: Path) -> list[Path]:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    return missing


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
