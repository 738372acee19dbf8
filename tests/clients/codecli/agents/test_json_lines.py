"""Lines out of bytes, and JSON out of lines."""

from __future__ import annotations

from codexmem.codecli.agents.json_lines import Lines, line_of, text_in, value_of


def split(lines: Lines, stream: bytes, size: int) -> list[bytes]:
    found = [line for at in range(0, len(stream), size) for line in lines.feed(stream[at : at + size])]
    return [*found, *lines.close()]


def test_a_line_that_is_too_long_is_skipped_and_the_next_is_read() -> None:
    stream = b"one\n" + b"x" * 50 + b"\r\ntwo\r\nthree"
    for size in (1, 3, 7, 1000):
        assert split(Lines(10), stream, size) == [b"one", b"two", b"three"]


def test_a_line_that_is_too_long_can_be_cut_instead() -> None:
    for size in (1, 4, 1000):
        assert split(Lines(4, cut=True), b"abcdefghij\nk\n", size) == [b"abcd", b"efgh", b"ij", b"k"]


def test_memory_is_bounded() -> None:
    lines = Lines(1000)
    for _ in range(1000):
        assert list(lines.feed(b"x" * 1000)) == []
    assert len(lines._held) <= 1000


def test_what_is_no_object_is_nothing() -> None:
    for line in (b"", b"[1]", b"nonsense", b"{", b"[" * 100_000, b'{"a": NaN}', b"9" * 10_000):
        assert value_of(line) is None
    assert value_of('{"a": "好"}'.encode()) == {"a": "好"}


def test_what_json_cannot_say_is_not_said() -> None:
    assert value_of(b'{"a": 1e999}') == {"a": float("inf")}
    assert line_of({"a": float("inf")}) is None
    assert line_of({"a": "好\ud800"}) == b'{"a":"\\u597d\\ud800"}\n'


def test_texts_can_be_written() -> None:
    assert text_in("好\ud800") == "好?"
    assert text_in(5) == ""
