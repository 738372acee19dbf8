"""Where the server may listen: 50 and more host strings, and none of them opens an endpoint by accident."""

import socket

import pytest

from codexmem.http.bind import require_safe_bind, system_addresses
from codexmem.kernel.model.errors import InvalidArgument

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "LOCALHOST": ["127.0.0.1", "::1"],
    "my-laptop": ["127.0.1.1"],
    "lan.example": ["192.168.1.5"],
    "mixed.example": ["127.0.0.1", "192.168.1.5"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "empty.example": [],
    "odd.example": ["not an address"],
}


def resolve(name: str) -> list[str]:
    if name not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return NAMES[name]


LOOPBACK = [
    ("127.0.0.1", ("127.0.0.1",)),
    ("127.0.0.2", ("127.0.0.2",)),
    ("127.255.255.254", ("127.255.255.254",)),
    ("::1", ("::1",)),
    ("[::1]", ("::1",)),
    ("0:0:0:0:0:0:0:1", ("::1",)),
    ("localhost", ("127.0.0.1", "::1")),
    ("LOCALHOST", ("127.0.0.1", "::1")),
    ("my-laptop", ("127.0.1.1",)),
]

# Meaningful only with authentication on.
OPEN = [
    "0.0.0.0", "::", "[::]", "0:0:0:0:0:0:0:0", "192.168.1.5", "10.0.0.1",
    "169.254.1.1", "8.8.8.8", "255.255.255.255",
    "224.0.0.1", "126.255.255.255", "128.0.0.1", "fe80::1", "fe80::1%eth0",
    "::1%lo", "2001:db8::1", "::2", "::ffff:127.0.0.1",
    "::ffff:0.0.0.0", "::127.0.0.1", "64:ff9b::7f00:1", "lan.example", "mixed.example", "mapped.example",
]  # fmt: skip

# Never meaningful.
ODD = [
    "", "*", "0", "00", "1", "127", "127.1", "127.0.1", "0x7f.1", "0x7f000001",
    "0X7F.0.0.1", "2130706433", "017700000001",
    "0177.0.0.1", "127.0.0.01", "127.000.000.001", "0x7f.0x0.0x0.0x1", "0.0",
    "0x0", "127.0.0.1.", "127.0.0.1.5", "256.0.0.1",
    "127.0.0.1:80", "http://127.0.0.1", "127.0.0.1/8", " 127.0.0.1",
    "127.0.0.1 ", "127.0.0.1\n", "127.0.0.1\0", "１２７.0.0.1",
    "127。0。0。1", "lоcalhost", "[127.0.0.1]", "[::1", "::1]", ":::1",
    "localhost,evil", "-localhost", "unknown.example",
    "empty.example", "odd.example", "a" * 300, "user@localhost", "..", ".",
]  # fmt: skip


def test_there_are_enough_strings() -> None:
    assert len({*(host for host, _ in LOOPBACK), *OPEN, *ODD}) >= 50


@pytest.mark.parametrize("authentication_on", [False, True])
@pytest.mark.parametrize("host, addresses", LOOPBACK)
def test_loopback_is_safe(host: str, addresses: tuple[str, ...], authentication_on: bool) -> None:
    assert require_safe_bind(host, authentication_on, resolve=resolve) == addresses


@pytest.mark.parametrize("host", OPEN)
def test_an_open_bind_needs_authentication(host: str) -> None:
    with pytest.raises(InvalidArgument, match="without authentication") as refused:
        require_safe_bind(host, False, resolve=resolve)
    assert refused.value.hint is not None
    assert "authentication on" in refused.value.hint
    assert require_safe_bind(host, True, resolve=resolve)


@pytest.mark.parametrize("authentication_on", [False, True])
@pytest.mark.parametrize("host", ODD)
def test_an_odd_spelling_is_refused_always(host: str, authentication_on: bool) -> None:
    with pytest.raises(InvalidArgument) as refused:
        require_safe_bind(host, authentication_on, resolve=resolve)
    assert refused.value.hint


@pytest.mark.parametrize("host", [host for host in [*OPEN, *ODD] if "example" not in host])
def test_the_system_resolver_changes_nothing(host: str) -> None:
    with pytest.raises(InvalidArgument):
        require_safe_bind(host, False)


def test_the_system_knows_localhost() -> None:
    assert "127.0.0.1" in system_addresses("localhost")
    assert "127.0.0.1" in require_safe_bind("localhost", False)
