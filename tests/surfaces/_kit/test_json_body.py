"""Strict JSON: what it accepts equals the standard library's reading, what it refuses it refuses at once."""

import json
import time
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from codexmem.http.errors import ErrorTable, exception_handlers
from codexmem.http.json_body import BodyLimits, MalformedJson, parse_json
from codexmem.kernel.model.errors import InvalidArgument
from tests.surfaces._kit.asgi import JSON, call
from tests.surfaces._kit.endpoints import LAB, Endpoints, application

text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(text, inner, max_size=6),
    max_leaves=40,
)


@given(values, st.booleans(), st.sampled_from([None, 1]))
@pytest.mark.slow
def test_valid_json_means_what_the_standard_library_says(value: Any, ascii_only: bool, indent: int | None) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert parse_json(body) == json.loads(body) == value


@pytest.mark.slow
@given(values)
def test_the_careful_scan_agrees_with_the_quick_one(value: Any) -> None:
    """Limits that the value just meets; the quick count of bytes cannot vouch for it then."""
    body = json.dumps(value).encode()
    depth, items = measured(value)
    assert parse_json(body, BodyLimits(depth=depth, items=items)) == value
    if depth:
        with pytest.raises(InvalidArgument, match="nested"):
            parse_json(body, BodyLimits(depth=depth - 1))


def measured(value: Any) -> tuple[int, int]:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        return 0, 0
    below = [measured(part) for part in inner]
    return (
        1 + max((depth for depth, _ in below), default=0),
        1 + max(len(inner) - 1, 0) + sum(items for _, items in below),
    )


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\u0d8e1.-+ntf', max_size=80).map(str.encode))
def test_any_bytes_are_read_as_the_library_does_or_refused(body: bytes) -> None:
    try:
        value = parse_json(body)
    except InvalidArgument:
        return
    assert value == json.loads(body)


HOSTILE = {
    "empty": b"",
    "blank": b"  \n",
    "cut off": b'{"a": [1, 2',
    "open string": b'"abc',
    "open escape": b'"abc\\',
    "trailing text": b"{} {}",
    "trailing comma": b"[1,]",
    "single quotes": b"{'a': 1}",
    "comment": b"[1] // one",
    "byte order mark": b"\xef\xbb\xbf{}",
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "latin-1": b'"\xe9"',
    "overlong": b'"\xc0\xaf"',
    "encoded surrogate": b'"\xed\xa0\x80"',
    "raw control character": b'"a\nb"',
    "raw nul": b'"a\0b"',
    "escaped nul": b'"a\\u0000b"',
    "escaped nul in key": b'{"a\\u0000": 1}',
    "lone high surrogate": b'"\\ud800"',
    "lone low surrogate": b'["\\uDFFF"]',
    "surrogates reversed": b'{"a": {"b": "\\udc00\\ud800"}}',
    "surrogate key": b'{"\\ud800": 1}',
    "NaN": b"NaN",
    "nested NaN": b'{"a": [NaN]}',
    "Infinity": b"Infinity",
    "-Infinity": b"-Infinity",
    "1e999": b"1e999",
    "-1e999": b"[-1e999]",
    "2**63": b"9223372036854775808",
    "-2**63-1": b"-9223372036854775809",
    "5,000 digits": b"1" * 5000,
    "5,000 digit fraction overflow": b"1" * 5000 + b".5",
    "leading zero": b"01",
    "plus": b"+1",
    "hexadecimal": b"0x1",
    "bare point": b".5",
    "same key": b'{"a": 1, "a": 1}',
    "same key, escaped": b'{"a": 1, "\\u0061": 2}',
    "same key, deep": b'[{"x": {"a": 1, "b": 2, "a": 3}}]',
    "65 arrays": b"[" * 65 + b"]" * 65,
    "65 objects": b'{"a":' * 65 + b"1" + b"}" * 65,
    "100,000 arrays": b"[" * 100_000,
    "100,000 objects": b'{"a":' * 100_000,
    "depth beyond a string of brackets": b'["' + b"[" * 50 + b'",' + b"[" * 64 + b"]" * 65,
    "too many elements": b"[" + b"0," * 100_001 + b"0]",
    "too many empty arrays": b"[" + b"[]," * 50_001 + b"[]]",
    "too many members": b"{" + b",".join(b'"%d":0' % n for n in range(100_001)) + b"}",
    "only commas": b"," * 1_000_000,
    "only quotes": b'"' * 1_000_001,
    "open string of escaped quotes": b'"' + b'\\"' * 1_000_000,
    "brackets, then an open string of escaped quotes": b"[]" * 70 + b'"' + b'\\"' * 1_000_000,
    "brackets, then an open string of backslashes": b"[]" * 70 + b'"' + b"\\" * 1_000_001,
    "string of more than 1 MiB": b'"' + b"x" * (1024 * 1024 + 1) + b'"',
    "bracket salad": b"][}{" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_are_refused_without_quoting_them(name: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        parse_json(HOSTILE[name])
    assert refused.value.message.startswith("request body ")
    assert not any(word in refused.value.message for word in ["line", "column", "char "])


def test_hostile_bodies_are_refused_quickly() -> None:
    for name, body in HOSTILE.items():
        began = time.perf_counter()
        with pytest.raises(InvalidArgument):
            parse_json(body)
        assert time.perf_counter() - began < 5, name


@pytest.mark.parametrize(
    "body, value",
    [
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"-0", 0),
        (b"1e-999", 0.0),
        (b"1.5e300", 1.5e300),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\\\u0000"', "\\u0000"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'"\\u00e9\x7f"', "é\x7f"),
        (b"[" * 64 + b"]" * 64, json.loads("[" * 64 + "]" * 64)),
        (b'["' + b"[" * 500 + b'\\"]"]', ["[" * 500 + '"]']),
        (b'{"' + b"," * 200_000 + b'": 1}', {"," * 200_000: 1}),
        (b'{"a": {"a": 1}, "b": {"a": 1}}', {"a": {"a": 1}, "b": {"a": 1}}),
    ],
)
def test_close_to_a_limit_but_within(body: bytes, value: Any) -> None:
    assert parse_json(body) == value


def test_a_large_string_is_measured_in_characters() -> None:
    assert len(parse_json(('"' + "é" * 1024 * 1024 + '"').encode())) == 1024 * 1024


def test_malformed_and_forbidden_can_be_told_apart() -> None:
    with pytest.raises(MalformedJson):
        parse_json(b"{")
    with pytest.raises(InvalidArgument) as refused:
        parse_json(b"NaN")
    assert not isinstance(refused.value, MalformedJson)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "empty"])
def test_no_hostile_body_reaches_a_handler(name: str) -> None:
    endpoints = Endpoints()
    answer = call(application(endpoints, limits=BodyLimits()), "POST", "/api/echo", headers=[JSON], body=HOSTILE[name])
    assert answer.status == 400
    assert endpoints.total == 0


def test_a_route_parses_strictly_even_without_the_guard() -> None:
    endpoints = Endpoints()
    bare = FastAPI(exception_handlers=exception_handlers(ErrorTable([("/api/v1", LAB.errors)])))
    bare.router.routes.extend(LAB.routes(endpoints).routes)
    for body, status in [
        (b'{"title": "a", "title": "b"}', 400),
        (b'{"title": "\\u0000"}', 400),
        (b'{"title": "a"}', 200),
    ]:
        assert call(bare, "POST", "/api/v1/batches", headers=[JSON], body=body).status == status
    assert endpoints.total == 1


def test_a_body_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []

    def counting(body: bytes, limits: BodyLimits) -> Any:
        parsed.append(body)
        return json.loads(body)

    monkeypatch.setattr("codexmem.http.json_body.parse_json", counting)
    body = b'{"big": "' + b"x" * 40_000 + b'"}'
    assert call(application(Endpoints()), "POST", "/api/echo", headers=[JSON], body=body).status == 200
    assert parsed == [body]
