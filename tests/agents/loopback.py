"""A network in which nothing but this machine exists: what runs there proves that it needs, and reaches, nobody."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_SET_FLAGS = 0x8914  # SIOCSIFFLAGS
_UP = 0x1


@contextmanager
def loopback_only() -> Iterator[bool]:
    """Keep this thread, and all it starts, off every network but loopback; tells whether the system allows that.

    Threads that run already stay where they are. Needs Linux and, in most places, root.
    """
    if not sys.platform.startswith("linux"):
        yield False
        return
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open("rb") as outside:
        if libc.unshare(_NEW_NETWORK) != 0:
            yield False
            return
        try:
            _raise_loopback()
            yield True
        finally:
            if libc.setns(outside.fileno(), _NEW_NETWORK) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "cannot return to the network")


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
