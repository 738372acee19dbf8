"""One hierarchy, each endpoint's own words, and nothing of the inside in any reply."""

import json
from typing import Any

import pytest
from starlette.types import ASGIApp

from codexmem.http.errors import ENVELOPE, PLAIN, STATUSES, ErrorTable, invalid
from codexmem.kernel.model import errors as domain_errors
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument
from tests.surfaces._kit.asgi import JSON, call, post


@pytest.mark.parametrize(
    "how, status, code",
    [
        ("missing", 404, "not_found"),
        ("conflict", 409, "conflict"),
        ("busy", 429, "rate_limited"),
        ("down", 503, "dependency_unavailable"),
        ("full", 507, "storage_full"),
        ("bug", 500, "internal"),
    ],
)
def test_each_error_has_its_status_and_code(app: ASGIApp, how: str, status: int, code: str) -> None:
    answer = call(app, "GET", f"/api/v1/fail/{how}")
    assert (answer.status, answer.json["error"]["code"]) == (status, code)
    assert set(answer.json["error"]) == {"code", "message", "details"}


def test_details_hints_and_waiting_times_are_kept(app: ASGIApp) -> None:
    assert call(app, "GET", "/api/v1/fail/missing").json["error"] == {
        "code": "not_found", "message": "Run #7 not found", "details": {"run": 7},
    }  # fmt: skip
    assert call(app, "GET", "/api/v1/fail/conflict").json["error"]["details"] == {"hint": "read it again"}
    assert call(app, "GET", "/api/v1/fail/busy").header("retry-after") == "2"


def test_every_domain_error_has_a_status() -> None:
    found = [
        kind for kind in vars(domain_errors).values() if isinstance(kind, type) and issubclass(kind, CodexmemError)
    ]
    assert {kind.code for kind in found} <= set(STATUSES)
    assert len(found) >= 8


def test_a_bug_is_logged_and_not_told(app: ASGIApp, caplog: pytest.LogCaptureFixture) -> None:
    answer = call(app, "GET", "/api/v1/fail/bug")
    assert answer.status == 500
    for secret in [b"home", b"SELECT", b"RuntimeError", b"Traceback", b".py"]:
        assert secret not in answer.body
    assert "SELECT * FROM memories" in caplog.text
    assert "Traceback" in caplog.text


def test_an_internal_error_of_ours_is_not_told_either() -> None:
    reply = PLAIN.reply(CodexmemError("row 7 of /var/lib/x is broken", details={"path": "/var/lib"}))
    assert reply.status == 500
    assert b"/var" not in reply.body


def test_unknown_paths_and_methods_answer_in_the_endpoints_style(app: ASGIApp) -> None:
    assert call(app, "GET", "/api/none").json == {"error": "no such path"}
    assert call(app, "GET", "/none").json == {"error": "no such path"}
    assert call(app, "GET", "/api/v1/none").json["error"]["code"] == "not_found"
    assert call(app, "GET", "/api/v10").json == {"error": "no such path"}
    wrong = call(app, "PUT", "/api/v1/batches")
    assert (wrong.status, wrong.json["error"]["code"], wrong.header("allow")) == (405, "method_not_allowed", "POST")
    assert call(app, "GET", "/api/health/").status == 404


@pytest.mark.parametrize(
    "body, message",
    [
        ({}, "title: Field required"),
        ({"title": 5}, "title: Input should be a valid string"),
        ({"title": "a", "count": 0}, "count must be positive"),
        ([], "body: Input should be a valid dictionary or object to extract fields from"),
        ("x", "body: Input should be a valid dictionary or object to extract fields from"),
    ],
)
def test_validation_is_400_with_a_plain_sentence(app: ASGIApp, body: Any, message: str) -> None:
    answer = post(app, "/api/v1/batches", body)
    assert (answer.status, answer.json["error"]["code"], answer.json["error"]["message"]) == (
        400, "invalid_argument", message,
    )  # fmt: skip


def test_a_contracts_own_text_replaces_the_frameworks(app: ASGIApp) -> None:
    assert call(app, "POST", "/api/echo").json == {"error": "echo needs something to say"}


def test_validation_never_repeats_the_input(app: ASGIApp) -> None:
    answer = post(app, "/api/v1/batches", {"title": ["hunter2"]})
    assert answer.status == 400
    assert b"hunter2" not in answer.body


@pytest.mark.parametrize("number", ["9223372036854775808", "-9223372036854775809", "1" * 5000, "1.5", "x", "NaN"])
def test_path_numbers_fit_the_store(app: ASGIApp, number: str) -> None:
    assert call(app, "GET", f"/api/items/{number}").status == 400


def test_many_problems_are_listed_up_to_ten() -> None:
    problems = [{"type": "missing", "loc": ("body", f"f{n}"), "msg": "Field required"} for n in range(30)]
    listed = invalid("/x", problems, {}).details["errors"]
    assert isinstance(listed, list)
    assert len(listed) == 10
    assert invalid("/x", [], {}).message == "request: invalid request"


def test_the_longest_prefix_decides() -> None:
    table = ErrorTable([("/api", PLAIN), ("/api/v1", ENVELOPE)], otherwise=ENVELOPE)
    for path, style in [
        ("/api", PLAIN),
        ("/api/x", PLAIN),
        ("/api/v1", ENVELOPE),
        ("/api/v1/x", ENVELOPE),
        ("/api/v1x", PLAIN),
        ("/apix", ENVELOPE),
        ("/", ENVELOPE),
    ]:
        assert table.style_for(path) is style, path


def test_odd_texts_still_make_json() -> None:
    reply = PLAIN.reply(InvalidArgument("\ud800 \0 \x1b[31m", details={"x": object()}))
    assert json.loads(reply.body)["error"] == "\ud800 \0 \x1b[31m"
    assert ENVELOPE.reply(InvalidArgument("x", details={"x": {1, 2}})).status == 400


@pytest.mark.parametrize(
    "key, status", [("a", 200), ("!" * 200, 200), ("", 400), ("a" * 201, 400), ("a b", 400), ("é", 400)]
)
def test_idempotency_keys_are_visible_ascii(app: ASGIApp, key: str, status: int) -> None:
    answer = post(app, "/api/echo", 1, [("idempotency-key", key)])
    assert answer.status == status
    if status == 200:
        assert answer.json["key"] == key


def test_a_doubled_idempotency_key_is_refused_and_none_is_fine(app: ASGIApp) -> None:
    assert post(app, "/api/echo", 1, [("idempotency-key", "a"), ("idempotency-key", "a")]).status == 400
    assert post(app, "/api/echo", 1).json["key"] is None
    assert call(app, "POST", "/api/echo", headers=[JSON], body=b"null").status in {200, 400}
