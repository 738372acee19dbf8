"""Which machine an address names, in one spelling, so that a rule by domain means what it says.

Programs disagree about odd addresses: what stands before an `@`, backslashes, numbers with a leading zero, letters of
another width. An address has a `host` only where all of them agree; where they may not, it has none and is never
granted anything, and `hosts` holds every machine that one of them could mean, for the rules that deny or ask.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from codexmem.codecli.policy.names import skeleton

LONGEST = 4_096  # characters of an address that are read
_NEAR = 1_024  # a host in brackets stands among the first so many
_MOST_PIECES = 64
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:", re.IGNORECASE)
_PORT = re.compile(r":[0-9]{0,5}\Z")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_\-]{0,61}[a-z0-9_])?\Z")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\Z")
_PIECES = re.compile(r"[@\\/?#\s,;\"'<>(){}|\[\]]+")
_BRACKETED = re.compile(r"\[([0-9a-fA-F:.]+)")
_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
# Letters that the two editions of IDNA read differently, and joiners that nobody sees.
_DISPUTED = frozenset("\u00df\u1e9e\u03c2\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Host:
    """A machine or a domain: the name on the wire, and what it looks like."""

    wire: str
    looks: str

    @property
    def is_number(self) -> bool:
        """Whether it is an address in numbers, which has no domains below it."""
        return ":" in self.wire or _plain4(self.wire)


@dataclass(frozen=True, slots=True)
class Address:
    """What an address names."""

    host: Host | None  # where every program agrees
    hosts: tuple[Host, ...]  # all that some program may take it for
    path: str = ""  # of a file on this machine


def read(text: str) -> Address:
    """What this address names."""
    tidy = text.strip(" ")
    if tidy[:5].lower() == "file:":
        rest = tidy[5:].partition("#")[0].partition("?")[0]
        host, path = ("", rest) if not rest.startswith("//") else _split_file(rest[2:])
        return Address(None, _suspects(host) if host.lower() not in {"", "localhost"} else (), unquote(path) or "/")
    found = _agreed(tidy) if len(tidy) <= LONGEST else None
    return Address(found, (found, *_mapped(found)) if found is not None else _suspects(tidy[:LONGEST]))


def host_of(text: str) -> Host | None:
    """A host that every program reads alike: a name with its labels in order, or an address in numbers."""
    lowered = text.lower()
    if lowered.startswith("[") and lowered.endswith("]"):
        lowered = lowered[1:-1]
    if ":" in lowered:
        return _version6(lowered)
    name = lowered.removesuffix(".")
    if not name or len(name) > 253 or name != unicodedata.normalize("NFKC", name) or _DISPUTED & set(name):
        return None
    wire = _on_the_wire(name)
    if wire is None:
        return None
    if _ends_in_number(wire):
        return Host(wire, wire) if _plain4(wire) else None
    return Host(wire, _looks(wire))


def below(domain: Host, host: Host) -> bool:
    """Whether the host is the domain or lies below it."""
    return _below(domain.wire, host.wire, domain.is_number)


def looks_below(domain: Host, host: Host) -> bool:
    """The same, also where it only looks so."""
    return below(domain, host) or _below(domain.looks, host.looks, domain.is_number)


def _below(domain: str, host: str, exactly: bool) -> bool:
    return host == domain or (not exactly and host.endswith(f".{domain}"))


def _agreed(text: str) -> Host | None:
    """The host of an address written as everybody writes it."""
    if any(each.isspace() or not each.isprintable() or each == "\\" for each in text):
        return None
    scheme = _SCHEME.match(text)
    if text.startswith("//"):
        rest = text[2:]
    elif scheme and text[scheme.end() :].startswith("//"):
        rest = text[scheme.end() + 2 :]
    elif scheme and not text[scheme.end() :].partition("/")[0].isdigit():
        return None  # mailto:, javascript:, http:/one-slash
    else:
        rest = text  # host, host/path, host:8080
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    # Some programs look for the host behind a sign of the query, up to the first slash.
    if not authority or "@" in rest.partition("/")[0] or "%" in authority:
        return None
    return host_of(_PORT.sub("", authority) if not authority.endswith("]") else authority)


def _suspects(text: str) -> tuple[Host, ...]:
    """Every machine that may be meant, by any reading."""
    found: dict[str, Host] = {}
    seen = "".join(each for each in text if each.isprintable() and not each.isspace())
    for spelling in {text, seen, unquote(text), unquote(seen), text.replace("\\", "/")}:
        for bracketed in dict.fromkeys(_BRACKETED.findall(spelling[:_NEAR])):
            if (inside := _version6(bracketed)) is not None:
                found |= {each.wire: each for each in (inside, *_mapped(inside))}
        # The beginning names the host, wherever it is thought to end; what follows a slash is its path.
        for piece in dict.fromkeys(_PIECES.split(_head(spelling), maxsplit=_MOST_PIECES)):
            for host in _readings(_PORT.sub("", piece).strip(".")):
                found[host.wire] = host
                for other in _mapped(host):
                    found[other.wire] = other
    return tuple(found.values())


def _head(text: str) -> str:
    """An address without its scheme and slashes, up to where its path surely begins."""
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme and not text[scheme.end() :][:1].isdigit() else text
    rest = rest.lstrip("/\\ \t\r\n")
    # A user's part may hold slashes for some and not for others.
    end = rest.rfind("@") if "@" in rest else 0
    stop = re.search(r"[/?#]", rest[end:])
    return rest[: end + stop.start()] if stop else rest


def _readings(piece: str) -> list[Host]:
    if not piece:
        return []
    name = unicodedata.normalize("NFKC", piece).translate(_DOTS).lower()
    parts = {name, name.partition(":")[0]} if name.count(":") == 1 else {name}
    hosts = [host_of(each) for each in parts] + [
        Host(each, each) for part in parts for each in _four_numbers(part.split("."))
    ]
    loose = skeleton(name).strip(".")
    if _LABEL.match(loose.rpartition(".")[2]):
        hosts.append(Host(name, loose))
    return [each for each in hosts if each is not None]


def _on_the_wire(name: str) -> str | None:
    labels = name.split(".")
    try:
        wired = [each if each.isascii() else each.encode("idna").decode("ascii") for each in labels]
    except UnicodeError:
        return None
    return ".".join(wired) if all(_LABEL.match(each) for each in wired) else None


def _looks(wire: str) -> str:
    def shown(label: str) -> str:
        try:
            return label.encode("ascii").decode("idna") if label.startswith("xn--") else label
        except UnicodeError:
            return label

    return ".".join(skeleton(shown(each)) for each in wire.split("."))


def _version6(text: str) -> Host | None:
    try:
        found = ipaddress.IPv6Address(text)
    except ValueError:
        return None
    if found.scope_id is not None:
        return None
    return Host(found.compressed, found.compressed)


def _mapped(host: Host) -> tuple[Host, ...]:
    """The address of version 4 inside one of version 6."""
    try:
        inner = ipaddress.IPv6Address(host.wire)
    except ValueError:
        return ()
    embedded = [inner.ipv4_mapped, inner.sixtofour]
    if int(inner) >> 32 == 0 and int(inner) > 1:
        embedded.append(ipaddress.IPv4Address(int(inner) & 0xFFFFFFFF))
    return tuple(Host(str(each), str(each)) for each in embedded if each is not None)


def _ends_in_number(wire: str) -> bool:
    return _NUMBER.match(wire.rpartition(".")[2]) is not None


def _plain4(wire: str) -> bool:
    try:
        return str(ipaddress.IPv4Address(wire)) == wire
    except ValueError:
        return False


def _four_numbers(parts: list[str]) -> list[str]:
    """An address of version 4 in any of its odd forms: fewer numbers, octal, hexadecimal; all readings of it."""
    if not 1 <= len(parts) <= 4 or not all(_NUMBER.match(each) and len(each) <= 20 for each in parts):
        return []
    found = set()
    for octal in (True, False):
        numbers = [_value(each, octal) for each in parts]
        last = 256 ** (5 - len(numbers))
        if all(each < 256 for each in numbers[:-1]) and numbers[-1] < last:
            whole = numbers[-1] + sum(each << (24 - 8 * place) for place, each in enumerate(numbers[:-1]))
            found.add(str(ipaddress.IPv4Address(whole)))
    return sorted(found)


def _value(text: str, octal: bool) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    if octal and len(text) > 1 and text[0] == "0" and all(each in "01234567" for each in text):
        return int(text, 8)
    return int(text)


def _split_file(rest: str) -> tuple[str, str]:
    host, slash, path = rest.partition("/")
    return host, slash + path
