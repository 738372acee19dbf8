"""Which user of this machine is at the other end of a loopback connection.

Linux is asked about this one socket (sock_diag) or, where it may not be, read in `/proc/net/tcp`, which takes
milliseconds; macOS has a list of all TCP sockets. One that nobody holds any more is nobody's: who closes at once is not
believed to be the owner. Where a system says nothing, every user is served.
"""

import ctypes
import logging
import os
import socket
import struct
import sys
from functools import cache, cached_property
from pathlib import Path

log = logging.getLogger(__name__)

OWNER = os.geteuid()
NOBODY = -1
_MAPPED = "0000000000000000FFFF0000"  # before an IPv4 address in the table of IPv6 sockets
_NETLINK, _SOCK_DIAG, _BY_FAMILY, _REQUEST, _ERROR = 16, 4, 20, 1, 2
_ANY_STATE, _NO_COOKIE, _ABSENT = 0xFFFFFFFF, b"\xff" * 8, -2  # ENOENT, as the kernel says it
_INPCB, _SOCKET, _IPV4 = 0x10, 0x01, 0x01  # kinds of records of a socket, and a flag of one

Place = tuple[str, int]  # address and port


class Peer:
    """The other end of one connection, looked up once, by the first request that asks."""

    def __init__(self, client: Place | None, server: tuple[str, int | None] | None) -> None:
        """Without both ends there is no connection any more."""
        self._client = client
        self._server = server

    @cached_property
    def is_owner(self) -> bool:
        """Whether the user who started this server is there, as far as the system says."""
        if self._client is None or self._server is None or self._server[1] is None:
            return False
        owner = _linux_owner if sys.platform != "darwin" else _macos_owner
        uid = owner(self._client, (self._server[0], self._server[1]))
        if uid is None:
            _warn_once()
        return uid is None or uid == OWNER


@cache
def _warn_once() -> None:
    log.warning("this system does not say whose connections these are: every user of the machine is served")


def _linux_owner(client: Place, server: Place) -> int | None:
    source, target = _packed(client[0]), _packed(server[0])
    ports = struct.pack(">HH", client[1], server[1])
    family = socket.AF_INET6 if len(source) == 16 else socket.AF_INET
    wanted = struct.pack("=BBxxI", family, socket.IPPROTO_TCP, _ANY_STATE) + ports
    wanted += source.ljust(16, b"\0") + target.ljust(16, b"\0") + bytes(4) + _NO_COOKIE
    try:
        with socket.socket(_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
            kernel.settimeout(1.0)
            kernel.send(struct.pack("=IHHII", 16 + len(wanted), _BY_FAMILY, _REQUEST, 1, 0) + wanted)
            answer = kernel.recv(8192)
        if struct.unpack_from("=H", answer, 4)[0] != _ERROR:
            uid, inode = struct.unpack_from("=II", answer, 16 + 64)
            return int(uid) if inode and answer[20:24] == ports else NOBODY
        if struct.unpack_from("=i", answer, 16)[0] == _ABSENT:
            return NOBODY
    except (OSError, struct.error):
        pass
    return _owner_in_table(client, server)


def _owner_in_table(client: Place, server: Place, folder: Path = Path("/proc/net")) -> int | None:
    """Read the tables; None where they do not even hold the socket that we listen on."""
    tables, listens = ("tcp6",) if ":" in client[0] else ("tcp", "tcp6"), False
    try:
        for table in tables:
            mapped = _MAPPED if table == "tcp6" and ":" not in client[0] else ""
            wanted = f" {mapped}{_spelled(client)} {mapped}{_spelled(server)} "
            text = (folder / table).read_text("ascii") if (folder / table).exists() else ""
            _, found, rest = text.partition(wanted)
            if found:
                # State, queues, timers, retransmissions, user, timeouts, inode.
                _, _, _, _, uid, _, inode, *_ = rest.split(None, 7)
                return int(uid) if inode != "0" else NOBODY
            listens |= " 0A " in text
        return NOBODY if listens else None
    except (OSError, ValueError):
        return None


def _spelled(place: Place) -> str:
    """An address as the kernel prints it: words of four bytes in the machine's order."""
    packed = _packed(place[0])
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{place[1]:04X}"


def _packed(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address.partition("%")[0])


def _macos_owner(client: Place, server: Place) -> int | None:
    """Read the list of sockets; None where it does not even hold the one that we listen on, read as we do."""
    try:
        listed = _macos_sockets()
        listens, wanted, is_client = False, (_end(client), _end(server)), False
        at = struct.unpack_from("=I", listed)[0]
        while at + 24 < len(listed):
            length, kind = struct.unpack_from("=II", listed, at)
            if kind == _INPCB:
                foreign, local = struct.unpack_from(">HH", listed, at + 16)
                skipped = 12 if listed[at + 44] & _IPV4 else 0
                ends = (listed[at + 64 + skipped : at + 80], local), (listed[at + 48 + skipped : at + 64], foreign)
                is_client, listens = ends == wanted, listens or (local, foreign) == (server[1], 0)
            elif kind == _SOCKET and is_client:
                return int(struct.unpack_from("=I", listed, at + 64)[0])
            at += max(8, (length + 7) & ~7)
    except (OSError, ValueError, AttributeError, IndexError, struct.error):
        return None
    return NOBODY if listens else None


def _end(place: Place) -> tuple[bytes, int]:
    return _packed(place[0]), place[1]


def _macos_sockets() -> bytes:
    system, name = ctypes.CDLL(None, use_errno=True), b"net.inet.tcp.pcblist_n"
    size = ctypes.c_size_t(0)
    if system.sysctlbyname(name, None, ctypes.byref(size), None, 0):
        raise OSError(ctypes.get_errno(), "sysctl")
    size = ctypes.c_size_t(size.value * 2 + 4096)  # more may come meanwhile
    listed = ctypes.create_string_buffer(size.value)
    if system.sysctlbyname(name, listed, ctypes.byref(size), None, 0):
        raise OSError(ctypes.get_errno(), "sysctl")
    return listed.raw[: size.value]
