"""One line per event, whatever is in it; nothing of a request but its shape."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from starlette.types import ASGIApp

from codexmem.http.logs import configure
from tests._support.own_logs import logging_restored
from tests.surfaces._kit.asgi import call, post
from tests.surfaces._kit.endpoints import KEY

NASTY = 'a\r\nb\x1b[31mred\x00\x7f\x85\u2028\u202e\ud800"\\'


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    with logging_restored():
        yield io.StringIO()


def raise_nasty() -> None:
    raise ValueError(NASTY)


def test_json_lines_survive_any_text(stream: io.StringIO) -> None:
    configure("info", json=True, stream=stream)
    log = logging.getLogger(f"x{NASTY}")
    log.warning("one %s", NASTY, extra={"field": NASTY, f"key{NASTY}": 1, "thing": object(), "many": [NASTY]})
    try:
        raise_nasty()
    except ValueError:
        log.exception(NASTY)
    lines = stream.getvalue().split("\n")
    assert lines.pop() == ""
    assert len(lines) == 2
    for line in lines:
        assert line.isascii()
        assert line.isprintable()
    first, second = map(json.loads, lines)
    assert (first["message"], first["field"], first["level"]) == (f"one {NASTY}", NASTY, "WARNING")
    assert first["at"].endswith("+00:00")
    assert "raise_nasty" in second["traceback"]


def test_text_lines_survive_any_text(stream: io.StringIO) -> None:
    configure("info", json=False, stream=stream)
    log = logging.getLogger("x")
    log.warning("one %s", NASTY)
    try:
        raise_nasty()
    except ValueError:
        log.exception("two")
    lines = stream.getvalue().split("\n")
    assert lines.pop() == ""
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if not line.startswith("    | ")] == [lines[0], lines[1]]
    assert "a\\u000d\\u000ab\\u001b[31mred\\u0000" in lines[0]


@pytest.mark.parametrize("as_json", [True, False])
def test_long_values_are_cut(stream: io.StringIO, as_json: bool) -> None:
    configure("info", json=as_json, stream=stream)
    logging.getLogger("x").info("y" * 1_000_000, extra={"field": "z" * 1_000_000})
    assert len(stream.getvalue()) < 10_000


def test_configuring_again_replaces(stream: io.StringIO) -> None:
    configure("info", json=True, stream=stream)
    again = io.StringIO()
    configure("warning", json=True, stream=again)
    logging.getLogger("x").warning("here")
    logging.getLogger("x").info("not here")
    assert stream.getvalue() == ""
    assert again.getvalue().count("\n") == 1


def test_a_request_line_names_the_template_and_no_content(stream: io.StringIO, keyed: ASGIApp) -> None:
    configure("info", json=True, stream=stream)
    key = ("authorization", f"Bearer {KEY}")
    call(keyed, "GET", "/api/items/77123", headers=[key], query=b"q=secret77")
    post(keyed, "/api/echo", {"secret77": "secret77"}, [key])
    call(keyed, "GET", "/api/none/secret77", headers=[key])
    call(keyed, "GET", "/api/items/77123", headers=[("host", "secret77")])
    call(keyed, "GET\r\nsecret", "/api/health")
    lines = [json.loads(line) for line in stream.getvalue().splitlines() if "codexmem.requests" in line]
    got = [(line["method"], line["route"], line["status"], line["tenant"], line.get("refused")) for line in lines]
    assert got == [
        ("GET", "/api/items/{item}", 200, "acme", None),
        ("POST", "/api/echo", 200, "acme", None),
        ("GET", "unmatched", 404, "acme", None),
        ("GET", "refused", 421, None, "misdirected"),
        ("GET\r\nsecret", "refused", 401, None, "unauthorized"),
    ]
    assert all(line["ms"] >= 0 for line in lines)
    assert "secret77" not in stream.getvalue()
    assert "77123" not in stream.getvalue()
    assert KEY not in stream.getvalue()
