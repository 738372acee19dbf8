"""The prompt that comes by standard input: looked at before the agent is started, and then given to it."""

from __future__ import annotations

import os
import select
from dataclasses import dataclass

from codexmem.codecli import surroundings

FIRST_S, MORE_S = 0.1, 0.02  # for the first byte, and after each piece
_MOST = 64 << 10


@dataclass(frozen=True, slots=True)
class Peeked:
    """What was there. `taken` must still be given to the agent; a file was put back to where it stood."""

    seen: bytes = b""
    taken: bytes = b""
    whole: bool = False  # nothing follows


def peek(descriptor: int = 0, first_s: float = FIRST_S) -> Peeked:
    """What can be read at once, up to the first 64 KiB; a program that speaks only later is not waited for."""
    try:
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        read = os.pread(descriptor, _MOST, start)
        return Peeked(read, whole=len(read) < _MOST)
    except OSError:
        pass  # a pipe or a socket
    got, whole = b"", False
    until = surroundings.monotonic() + first_s
    while len(got) < _MOST:
        left = max(0.0, until - surroundings.monotonic())
        try:
            if not select.select([descriptor], [], [], left)[0]:
                break
            piece = os.read(descriptor, _MOST - len(got))
        except (OSError, ValueError):
            break
        if not piece:
            whole = True
            break
        got += piece
        until = surroundings.monotonic() + MORE_S
    return Peeked(got, got, whole)
