"""Reading the files of an audit log line by line, forwards and backwards, without holding more than a block of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codexmem.audit import chain as audit

BLOCK = 1 << 16  # bytes


def first_of(path: Path) -> int:
    """The number of a file's first row; a file that was put aside is named after it."""
    digits = path.stem.removeprefix("audit-")
    if digits.isdigit():
        return int(digits)
    return int(next(rows(path), {"seq": 0})["seq"])


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """What the lines of a file say, as far as they are rows."""
    return (row for line in lines(path) if (row := numbered(line)) is not None)


def numbered(line: bytes) -> dict[str, Any] | None:
    """What a line says, if it has a number."""
    row = audit.row_of(line)
    return row if row is not None and isinstance(row.get("seq"), int) else None


def lines(path: Path, *, whole: bool = True) -> Iterator[bytes]:
    """The lines of a file; with `whole` only those that have an end, without it. None if it was just put aside."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            if not whole:
                yield line
            elif line.endswith(b"\n"):
                yield line[:-1]


def lines_backwards(path: Path) -> Iterator[bytes]:
    """Whole lines, the last first, in blocks."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        place = file.seek(0, os.SEEK_END)
        rest, whole = b"", False  # what follows the last line's end is no line
        while place > 0:
            size = min(BLOCK, place)
            place -= size
            file.seek(place)
            pieces = (file.read(size) + rest).split(b"\n")
            rest = pieces.pop(0)
            for piece in reversed(pieces):
                if whole:
                    yield piece
                whole = True
        if whole and rest:
            yield rest


def ends_well(path: Path, size: int) -> bool:
    """Whether the last line has an end."""
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == b"\n"
