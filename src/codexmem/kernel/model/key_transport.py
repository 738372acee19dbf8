"""Where an API key may be sent: encrypted to anybody, in plain HTTP to this machine alone.

The hook uses this too, so it loads nothing. An address counts as loopback only in a spelling that no library and no
resolver reads as another machine: what looks like loopback and is not written that way is refused.
"""

from __future__ import annotations

WHY_NOT = "the API key would travel to {host} unencrypted"
WHAT_TO_DO = "give an address that begins with https://, or unset the key if that server needs none"


def may_carry_key(url: str) -> bool:
    """Whether nobody between us and the server at this address can read a key that is sent there."""
    scheme = url.partition("://")[0].lower()
    return scheme == "https" or (scheme == "http" and is_loopback(url))


def is_loopback(url: str) -> bool:
    """Whether what is sent to this address cannot leave the machine."""
    place = url.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0].lower()
    if place.startswith("[::1]"):
        host, port = "[::1]", place.removeprefix("[::1]")
    else:
        host, colon, number = place.partition(":")
        port = colon + number
    if port and not (port[0] == ":" and port[1:].isascii() and (port[1:].isdigit() or port == ":")):
        return False
    return host in {"localhost", "[::1]"} or _is_127(host)


def refusal(url: str) -> tuple[str, str]:
    """What a person is told where a key is not sent: what would happen, and what to do instead."""
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2][:100]
    return WHY_NOT.format(host=host), WHAT_TO_DO


def _is_127(host: str) -> bool:
    parts = host.split(".")
    return (
        len(parts) == 4
        and parts[0] == "127"
        # "0177" is another number to some resolvers, and "999" a name.
        and all(part.isascii() and part.isdigit() and str(int(part)) == part and int(part) < 256 for part in parts)
    )
