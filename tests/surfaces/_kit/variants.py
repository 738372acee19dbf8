"""Requests that no route may ever see, and requests that every route must.

Each forbidden variant is a set of headers (Host included, so that it can be missing or doubled) with the status it
earns; `P` stands for the bound port.
"""

from dataclasses import dataclass

OURS = ("host", "127.0.0.1:P")


@dataclass(frozen=True)
class Variant:
    name: str
    headers: tuple[tuple[str, str], ...]
    status: int
    body: bytes | None = None  # None: whatever the route usually takes

    def at(self, port: int) -> list[tuple[str, str]]:
        return [(name, value.replace("P", str(port))) for name, value in self.headers]


def _host(value: str) -> tuple[tuple[str, str], ...]:
    return (("host", value),)


def _with(*headers: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return (OURS, *headers)


_DEEP = b"[" * 65 + b"]" * 65

FORBIDDEN = [
    Variant("rebound name", _host("evil.test:P"), 421),
    Variant("ours as prefix", _host("127.0.0.1.evil.test:P"), 421),
    Variant("localhost as prefix", _host("localhost.evil.test:P"), 421),
    Variant("ours as suffix", _host("evil-localhost:P"), 421),
    Variant("user name before ours", _host("evil.test@127.0.0.1:P"), 421),
    Variant("ours as user name", _host("127.0.0.1:P@evil.test"), 421),
    Variant("other port", _host("127.0.0.1:1"), 421),
    Variant("no port", _host("127.0.0.1"), 421),
    Variant("empty port", _host("127.0.0.1:"), 421),
    Variant("padded port", _host("127.0.0.1:0P"), 421),
    Variant("trailing dot", _host("localhost.:P"), 421),
    Variant("decimal address", _host("2130706433:P"), 421),
    Variant("short address", _host("127.1:P"), 421),
    Variant("hexadecimal address", _host("0x7f.0.0.1:P"), 421),
    Variant("unspecified address", _host("0.0.0.0:P"), 421),
    Variant("mapped address", _host("[::ffff:127.0.0.1]:P"), 421),
    Variant("address with zone", _host("[::1%25lo]:P"), 421),
    Variant("open bracket", _host("[::1:P"), 421),
    Variant("list of hosts", _host("127.0.0.1:P, evil.test"), 421),
    Variant("host with path", _host("127.0.0.1:P/evil"), 421),
    Variant("empty host", _host(""), 421),
    Variant(
        "forwarded host", (("host", "evil.test:P"), ("x-forwarded-host", "127.0.0.1:P"), ("x-forwarded-port", "P")), 421
    ),
    Variant("cross-site", _with(("sec-fetch-site", "cross-site")), 403),
    Variant("same-site", _with(("sec-fetch-site", "same-site")), 403),
    Variant("unknown site word", _with(("sec-fetch-site", "whatever")), 403),
    Variant("empty site word", _with(("sec-fetch-site", "")), 403),
    Variant("doubled site", _with(("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")), 403),
    Variant("foreign origin", _with(("origin", "http://evil.test")), 403),
    Variant("foreign origin, our port", _with(("origin", "http://evil.test:P")), 403),
    Variant("null origin", _with(("origin", "null")), 403),
    Variant("empty origin", _with(("origin", "")), 403),
    Variant("other scheme", _with(("origin", "https://127.0.0.1:P")), 403),
    Variant("other origin port", _with(("origin", "http://127.0.0.1:1")), 403),
    Variant("other loopback name", _with(("origin", "http://localhost:P")), 403),
    Variant("origin with slash", _with(("origin", "http://127.0.0.1:P/")), 403),
    Variant("origin with user", _with(("origin", "http://127.0.0.1:P@evil.test")), 403),
    Variant("doubled origin", _with(("origin", "http://127.0.0.1:P"), ("origin", "http://evil.test")), 403),
    Variant("extension origin", _with(("origin", "chrome-extension://abcdef")), 403),
    Variant("simple text body", _with(("content-type", "text/plain")), 415, b'{"a":1}'),
    Variant("form body", _with(("content-type", "application/x-www-form-urlencoded")), 415, b"a=1"),
    Variant("multipart body", _with(("content-type", "multipart/form-data; boundary=x")), 415, b"--x--"),
    Variant("untyped body", _with(), 415, b'{"a":1}'),
    Variant("json in a parameter", _with(("content-type", "text/plain; application/json")), 415, b"{}"),
    Variant("two types in one", _with(("content-type", "application/json, text/plain")), 415, b"{}"),
    Variant("longer type", _with(("content-type", "application/jsonp")), 415, b"{}"),
    Variant("suffixed type", _with(("content-type", "application/x+json")), 415, b"{}"),
    Variant("utf-16", _with(("content-type", "application/json; charset=utf-16")), 415, b"{}"),
    Variant("compressed", _with(("content-type", "application/json"), ("content-encoding", "gzip")), 415, b"{}"),
    Variant("doubled type", _with(("content-type", "application/json"), ("content-type", "text/plain")), 415, b"{}"),
    Variant("too deep", _with(("content-type", "application/json")), 400, _DEEP),
    Variant("not json", _with(("content-type", "application/json")), 400, b"{"),
    Variant("too large", _with(("content-type", "application/json")), 413, b'"' + b"x" * 70_000 + b'"'),
]

ALLOWED = [
    Variant("address", _with(), 200),
    Variant("name", _host("localhost:P"), 200),
    Variant("upper-case name", _host("LOCALHOST:P"), 200),
    Variant("IPv6", _host("[::1]:P"), 200),
    Variant("IPv6 written out", _host("[0:0:0:0:0:0:0:1]:P"), 200),
    Variant("typed address", _with(("sec-fetch-site", "none")), 200),
    Variant("own page", _with(("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:P")), 200),
    Variant("own page by name", (("host", "localhost:P"), ("origin", "http://localhost:P")), 200),
    Variant(
        "foreign proxy headers are ignored", _with(("x-forwarded-host", "evil.test"), ("forwarded", "host=evil")), 200
    ),
]
