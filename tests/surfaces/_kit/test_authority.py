"""Parsing of Host and Origin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.http.authority import Authority, OurNames


@pytest.mark.parametrize(
    "text, host, port",
    [
        ("localhost", "localhost", None),
        ("LocalHost:80", "localhost", 80),
        ("127.0.0.1:65535", "127.0.0.1", 65535),
        ("[::1]", "::1", None),
        ("[0:0::1]:8", "::1", 8),
        ("a-b.c_d.example:1", "a-b.c_d.example", 1),
    ],
)
def test_well_formed(text: str, host: str, port: int | None) -> None:
    assert Authority.parse(text) == Authority(host, port)


@pytest.mark.parametrize(
    "text",
    [
        "", ":", ":80", "a:", "a:0", "a:08", "a:65536", "a:999999", "a:8 0",
        "a:+8", "a:٣", "a.", ".a", "a..b", "-a", "a-",
        " a", "a ", "a\t", "a\n", "a/b", "a@b", "a:b@c:1", "a:1:2", "::1", "[::1",
        "[::1]x", "[::1]:", "[::1%lo]", "[127.0.0.1]",
        "[]", "a,b", "a?b", "a#b", "a\\b", "a%2eb", "münchen",
        "a" * 64, ".".join(["a"] * 200), "http://a", "[::g]",
    ],
)  # fmt: skip
def test_malformed(text: str) -> None:
    assert Authority.parse(text) is None


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    authority = Authority.parse(text)
    if authority is not None:
        assert text.lower().startswith((authority.host, "["))


@given(st.text(alphabet="127.0localhost[]:@%/#?, e", min_size=1, max_size=30))
def test_only_exact_names_are_ours(text: str) -> None:
    authority = Authority.parse(text)
    if authority is not None and OurNames().own(authority, 1270):
        host = text.rpartition(":")[0].lower()
        assert host in {"127.0.0.1", "localhost"} or (
            host[0] == "[" and Authority.parse(host) == Authority("::1", None)
        )


def test_nothing_is_ours_on_an_unknown_port() -> None:
    assert not OurNames().own(Authority("127.0.0.1", None), None)
