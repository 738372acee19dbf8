"""Contract 000 §3.4: POST /api/memory/save."""

from __future__ import annotations

import pytest

from tests._support.server import Server


def test_3_4_saves_and_answers_with_the_contracts_fields(api: Server, project: str) -> None:
    body = {"text": "API 需要 X-API-Key", "title": "Auth", "project": project}
    reply = api.post("/api/memory/save", body)
    number = reply.json["id"]
    assert (reply.status, reply.json) == (200, {
        "success": True, "id": number, "title": "Auth", "project": project,
        "message": f"Memory saved as observation #{number}",
    })  # fmt: skip


def test_3_4_title_and_project_have_defaults(api: Server) -> None:
    long = "端口" * 40
    assert api.post("/api/memory/save", {"text": long}).json["title"] == long[:60] + "..."
    short = api.post("/api/memory/save", {"text": "  short  "}).json
    assert (short["title"], short["project"]) == ("short", "codexmem")


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": " \n\t"}, {"text": None}, {"text": 5}, {"title": "x"}])
def test_3_4_missing_or_empty_text_is_400(api: Server, body: object) -> None:
    reply = api.post("/api/memory/save", body)
    assert (reply.status, reply.json["error"]) == (400, "text is required and must be non-empty")


def test_the_same_idempotency_key_saves_once(api: Server, project: str) -> None:
    body, key = {"text": "once", "project": project}, {"Idempotency-Key": f"k-{project}"}
    first, second = api.post("/api/memory/save", body, key), api.post("/api/memory/save", body, key)
    assert (second.status, second.json) == (200, first.json)
    other = api.post("/api/memory/save", {"text": "twice", "project": project}, key)
    assert other.status == 409


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b'{"text": NaN}', b'{"text": "\\ud800"}', b'{"text": "a\\u0000b"}', b"\xff\xfe", b'{"a": 1e999}',
        b'{"ids": [9223372036854775808]}', b"[" * 100_000, b'{"text": "x", "text": "y"}', b'"text"', b"5" * 5000,
    ],
)  # fmt: skip
def test_4_1_hostile_json_is_400_never_500(api: Server, raw: bytes) -> None:
    reply = api.request("POST", "/api/memory/save", raw)
    assert reply.status == 400, reply.body
    assert "Traceback" not in reply.body.decode()


def test_a_body_over_the_limit_is_413(api: Server) -> None:
    assert api.request("POST", "/api/memory/save", b'{"text": "' + b"x" * (8 << 20) + b'"}').status == 413


def test_a_team_server_asks_for_a_key(postgresql_api: Server) -> None:
    for value in ("", "Bearer wrong", "Basic x"):
        reply = postgresql_api.post("/api/memory/save", {"text": "x"}, {"Authorization": value})
        assert reply.status == 401
        assert reply.headers["www-authenticate"] == "Bearer"
