"""Whom a request says it is talking to: parsing of Host and Origin, and the list of names that are ours.

Names are parsed and compared whole, never by prefix or suffix: `127.evil.test` and `localhost.evil.test` beat a prefix
check. Nothing here resolves a name, because resolution is exactly what a rebinding attacker controls.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Self

from codexmem.kernel.model.errors import InvalidArgument

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Authority:
    """A host and, where it was written, its port."""

    host: str  # lower case; IPv6 compressed and without brackets
    port: int | None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The authority that the text spells, or None: no user name, trailing dot, zone, empty or padded port."""
        if len(text) > 300 or not text.isascii():
            return None
        if text.startswith("["):
            inner, bracket, rest = text[1:].partition("]")
            if not bracket or "%" in inner:
                return None
            try:
                host = IPv6Address(inner).compressed
            except AddressValueError:
                return None
        else:
            host, colon, tail = text.lower().partition(":")
            rest = colon + tail
            if len(host) > 253 or not _NAME.fullmatch(host):
                return None
        if not rest:
            return cls(host, None)
        if not rest.startswith(":") or not _PORT.fullmatch(rest[1:]) or int(rest[1:]) > 65535:
            return None
        return cls(host, int(rest[1:]))

    def at(self, scheme: str) -> tuple[str, int | None]:
        """Host and effective port, so that `name` and `name:443` compare equal under https."""
        return self.host, self.port if self.port is not None else _DEFAULT_PORTS.get(scheme)


@dataclass(frozen=True, slots=True)
class OurNames:
    """The authorities under which this server may be addressed, besides loopback at the bound port."""

    configured: tuple[Authority, ...] = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Read configured names: `name` (no port, or the bound one), `name:port` (that port), `[v6]:port`."""
        found = []
        for name in names:
            authority = Authority.parse(name)
            if authority is None:
                raise InvalidArgument(
                    f"{name[:80]!r} is not a host name",
                    hint="write name, name:port or [IPv6]:port, without scheme, path or trailing dot",
                )
            found.append(authority)
        return cls(tuple(found))

    def own(self, asked: Authority, bound_port: int | None) -> bool:
        """Whether a request may name us so on a socket bound to that port."""
        if asked.host in LOOPBACK_NAMES and bound_port is not None and asked.at("http")[1] == bound_port:
            return True
        return self._configured(asked, bound_port)

    def same_origin(self, origin: str, asked: Authority, bound_port: int | None) -> bool:
        """Whether the Origin header names exactly the place that the request went to.

        https is believed only for configured names: we never speak it ourselves, a proxy before us may.
        """
        scheme, separator, rest = origin.partition("://")
        if not separator or scheme not in _DEFAULT_PORTS or origin != origin.lower():
            return False
        claimed = Authority.parse(rest)
        if claimed is None or claimed.at(scheme) != asked.at(scheme):
            return False
        return scheme == "http" or self._configured(asked, bound_port)

    def _configured(self, asked: Authority, bound_port: int | None) -> bool:
        for name in self.configured:
            if name.host != asked.host:
                continue
            if name.port is None and asked.port in {None, bound_port}:
                return True
            if name.port is not None and (asked.port == name.port or (asked.port is None and name.port in {80, 443})):
                return True
        return False
