"""Who is at the other end of a connection: what Linux and macOS say, and what is believed where they say nothing."""

from __future__ import annotations

import os
import socket
import struct
import sys
from pathlib import Path

import pytest

from codexmem.http import peer
from codexmem.http.peer import NOBODY, Peer

CLIENT, SERVER = ("127.0.0.1", 40_000), ("127.0.0.1", 37_877)
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def line(local: str, foreign: str, uid: int, inode: int, state: str = "01") -> str:
    idle = "00000000:00000000 00:00000000 00000000"
    return f"   0: {local} {foreign} {state} {idle} {uid:5} 0 {inode} 1 0000 20 4 1 10 -1\n"


V4 = ("0100007F:9C40", "0100007F:93F5")
LISTENS = line(V4[1], "00000000:0000", 0, 7, "0A")
MAPPED = (f"0000000000000000FFFF0000{V4[0]}", f"0000000000000000FFFF0000{V4[1]}")
V6 = ("00000000000000000000000001000000:9C40", "00000000000000000000000001000000:93F5")


@pytest.mark.parametrize("tables, expected", [
    ({"tcp": line(V4[1], V4[0], 0, 7) + line(*V4, 65_534, 8), "tcp6": ""}, 65_534),
    ({"tcp": "", "tcp6": line(*MAPPED, 1000, 8)}, 1000),
    ({"tcp": line(*V4, 0, 0, "06"), "tcp6": ""}, NOBODY),
    ({"tcp": LISTENS, "tcp6": ""}, NOBODY),
    ({"tcp": "", "tcp6": ""}, None),
    ({}, None),
    ({"tcp": " ".join(("0:", *V4, "torn"))}, None),
])  # fmt: skip
def test_linux_names_the_user_who_holds_the_socket(
    tmp_path: Path, tables: dict[str, str], expected: int | None
) -> None:
    for name, text in tables.items():
        (tmp_path / name).write_text(HEAD + text)
    assert peer._owner_in_table(CLIENT, SERVER, tmp_path) == expected


def test_linux_names_it_for_ipv6(tmp_path: Path) -> None:
    (tmp_path / "tcp6").write_text(HEAD + line(*V6, 1000, 8) + LISTENS)
    assert peer._owner_in_table(("::1", 40_000), ("::1", 37_877), tmp_path) == 1000
    assert peer._owner_in_table(("::1", 40_001), ("::1", 37_877), tmp_path) == NOBODY


def record(kind: int, body: bytes, length: int) -> bytes:
    whole = struct.pack("=II", length, kind) + body
    return whole.ljust((length + 7) & ~7, b"\0")


def sockets(*ends: tuple[tuple[str, int], tuple[str, int], int]) -> bytes:
    """The kernel's list on macOS: a head, the records of each socket, and a tail."""
    listed = struct.pack("=IIQQ", 24, len(ends), 1, 1)
    for local, foreign, uid in ends:
        v4 = ":" not in local[0]
        packed = [socket.inet_pton(socket.AF_INET if v4 else socket.AF_INET6, each[0]).rjust(16, b"\0")
                  for each in (foreign, local)]  # fmt: skip
        pcb = struct.pack("=Q", 1) + struct.pack(">HH", foreign[1], local[1]) + bytes(24)
        pcb += struct.pack("=BBBx", 1 if v4 else 2, 64, 6) + b"".join(packed)
        listed += record(0x10, pcb, 104)
        listed += record(0x01, bytes(56) + struct.pack("=III", uid, 4711, 4711), 76)
        listed += record(0x02, bytes(24), 32) + record(0x20, bytes(200), 208)
    return listed + struct.pack("=IIQQ", 24, len(ends), 1, 1)


@pytest.mark.parametrize("ends, expected", [
    (((SERVER, CLIENT, 501), (CLIENT, SERVER, 502)), 502),
    (((CLIENT, SERVER, 501), (SERVER, CLIENT, 501)), 501),
    (((SERVER, ("0.0.0.0", 0), 501),), NOBODY),
    (((SERVER, CLIENT, 501),), None),
    (((("127.0.0.1", 1), ("127.0.0.1", 2), 501),), None),
])  # fmt: skip
def test_macos_names_it_in_its_list_of_sockets(
    monkeypatch: pytest.MonkeyPatch,
    ends: tuple[tuple[tuple[str, int], tuple[str, int], int], ...],
    expected: int | None,
) -> None:
    monkeypatch.setattr(peer, "_macos_sockets", lambda: sockets(*ends))
    assert peer._macos_owner(CLIENT, SERVER) == expected


def test_macos_names_it_for_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    client, server = ("::1", 40_000), ("::1", 37_877)
    monkeypatch.setattr(peer, "_macos_sockets", lambda: sockets((server, client, 0), (client, server, 503)))
    assert peer._macos_owner(client, server) == 503


@pytest.mark.parametrize("torn", [b"", bytes(3), sockets((CLIENT, SERVER, 501))[:60], b"\0" * 400, b"\xff" * 400])
def test_a_list_that_cannot_be_read_says_nothing(monkeypatch: pytest.MonkeyPatch, torn: bytes) -> None:
    monkeypatch.setattr(peer, "_macos_sockets", lambda: torn)
    assert peer._macos_owner(CLIENT, SERVER) is None


@pytest.mark.parametrize(
    "uid, served", [(os.geteuid(), True), (os.geteuid() + 1, False), (NOBODY, False), (None, True)]
)
def test_the_owner_alone_is_served_as_far_as_the_system_says(
    monkeypatch: pytest.MonkeyPatch, uid: int | None, served: bool
) -> None:
    asked: list[object] = []

    def owner(*ends: object) -> int | None:
        asked.append(ends)
        return uid

    monkeypatch.setattr(peer, "_linux_owner", owner)
    monkeypatch.setattr(peer, "_macos_owner", owner)
    end = Peer(CLIENT, SERVER)
    assert [end.is_owner, end.is_owner] == [served, served]
    assert len(asked) == 1  # once for each connection


def test_a_connection_without_both_ends_is_nobodys() -> None:
    assert [Peer(None, SERVER).is_owner, Peer(CLIENT, None).is_owner] == [False, False]


@pytest.mark.process
@pytest.mark.parametrize("table", [False, True])
def test_a_real_connection_is_known_and_one_that_is_closed_is_nobodys(
    monkeypatch: pytest.MonkeyPatch, table: bool
) -> None:
    if table and sys.platform == "linux":
        monkeypatch.setattr(peer, "_SOCK_DIAG", 31)  # which no kernel has
    for here, dialled in (("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("127.0.0.1", "::ffff:127.0.0.1")):
        if ":" in dialled and not socket.has_dualstack_ipv6():
            continue
        with socket.create_server((here, 0), family=socket.AF_INET6 if ":" in here else socket.AF_INET) as listening:
            place = listening.getsockname()[:2]
            client = socket.create_connection((dialled, place[1]))
            accepted, where = listening.accept()
            with accepted:
                assert Peer(where[:2], place).is_owner
                client.close()
                assert not Peer(where[:2], place).is_owner
