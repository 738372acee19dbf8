"""Step one of the guard: where the server may listen.

Without authentication only loopback will do. An address is taken in its canonical spelling alone, because the system's
resolver also reads `0`, `127.1` or `0x7f.1`, and what such text means differs between libraries. The result is the list
of addresses to bind, so that a name is resolved once and cannot mean something else a moment later.
"""

import re
import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

from codexmem.kernel.model.errors import InvalidArgument

Resolve = Callable[[str], Sequence[str]]

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?")
_USE_LOOPBACK = "use 127.0.0.1, ::1 or localhost, or switch authentication on (CODEXMEM_AUTH=token)"
_WRITE_OUT = "write the address in full, for example 127.0.0.1 or ::1"


def system_addresses(name: str) -> list[str]:
    """Every address the system knows for the name, in its order, once each."""
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def require_safe_bind(host: str, authentication_on: bool, *, resolve: Resolve = system_addresses) -> tuple[str, ...]:
    """The addresses to listen on, or InvalidArgument that says what to do instead."""
    address = _canonical(host)
    if address is not None:
        _require_loopback(host, [address], authentication_on)
        return (str(address),)
    if not host:
        raise InvalidArgument("an empty bind address would mean every interface", hint=_USE_LOOPBACK)
    if not host.isascii() or not _NAME.fullmatch(host):
        raise InvalidArgument(f"{host[:80]!r} is neither an IP address nor a host name", hint=_WRITE_OUT)
    if _is_odd_number(host):
        raise InvalidArgument(f"{host[:80]!r} is an ambiguous spelling of an IP address", hint=_WRITE_OUT)
    try:
        resolved = [ip_address(text) for text in resolve(host)]
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"the bind address {host[:80]!r} cannot be resolved", hint=_WRITE_OUT) from error
    if not resolved:
        raise InvalidArgument(f"the bind address {host[:80]!r} has no address", hint=_WRITE_OUT)
    _require_loopback(host, resolved, authentication_on)
    return tuple(str(address) for address in resolved)


def _canonical(host: str) -> IPv4Address | IPv6Address | None:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") and ":" in host else host
    try:
        return ip_address(bare)
    except ValueError:
        return None


def _is_odd_number(host: str) -> bool:
    """Whether the C library would read the text as an IPv4 address although it is not written as one."""
    try:
        socket.inet_aton(host)
    except OSError:
        # A last label that is a number cannot be a name either (0x7f.0.0.0.1, 256.256.256.256, 1.2.3.4.5).
        return re.fullmatch(r"0[xX][0-9A-Fa-f]*|[0-9]+", host.rpartition(".")[2]) is not None
    return True


def _require_loopback(host: str, addresses: Sequence[IPv4Address | IPv6Address], authentication_on: bool) -> None:
    if authentication_on:
        return
    for address in addresses:
        # A mapped or scoped address is not the plain loopback it may resemble.
        scoped = isinstance(address, IPv6Address) and (address.scope_id is not None or address.ipv4_mapped is not None)
        if scoped or not address.is_loopback:
            means = "" if str(address) == host else f" ({address})"
            raise InvalidArgument(
                f"refusing to listen on {host[:80]}{means} without authentication: "
                "others on the network could read and change every memory",
                hint=_USE_LOOPBACK,
            )
