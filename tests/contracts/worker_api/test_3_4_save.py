"""Contract 000 §3.4: POST /api/memory/save."""

from __future__ import annotations

import pytest

from tests._support.server import Server


@pytest.mark.clause("000 §3.4", "saves and answers with the contract's fields")
def test_3_4_saves_and_answers_with_the_contracts_fields(api: Server, project: str) -> None:
    body = {"text": "API 需要 X-API-Key", "title": "Auth", "project": project}
    reply = api.post("/api/memory/save", body)
    number = reply.json["id"]
    assert (reply.status, reply.json) == (200, {
        "success": True, "id": number, "title": "Auth", "project": project,
        "message": f"Memory saved as observation #{number}",
    })  # fmt: skip


@pytest.mark.clause("000 §3.4", "title and project have defaults")
def test_3_4_title_and_project_have_defaults(api: Server) -> None:
    long = "端口" * 40
    assert api.post("/api/memory/save", {"text": long}).json["title"] == long[:60] + "..."
    short = api.post("/api/memory/save", {"text": "  short  "}).json
    assert (short["title"], short["project"]) == ("short", "codexmem")


@pytest.mark.clause("000 §3.4", "missing or empty text is 400")
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


@pytest.mark.clause("000 §4.1", "hostile JSON is 400, never 500")
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


@pytest.mark.clause("000 §3.4", "the same text and title in a project is one memory, and a repeat says so")
def test_3_4_a_repeat_is_the_same_memory_and_says_so(api: Server, project: str) -> None:
    body = {"text": "端口是 37877", "title": "Port", "project": project}
    first, second = api.post("/api/memory/save", body).json, api.post("/api/memory/save", body).json
    assert "duplicate" not in first
    assert second == {**first, "duplicate": True}
    others = ({"title": "Other"}, {"text": "端口是 37878"}, {"project": f"{project}-2"})
    numbers = {api.post("/api/memory/save", {**body, **other}).json["id"] for other in others}
    assert len(numbers | {first["id"]}) == 4


def test_what_is_private_or_secret_is_not_saved(api: Server, project: str) -> None:
    secret = "sk-" + "A1b2C3d4" * 6
    text = f"use the proxy <private>of Ann</private> with {secret}"
    number = api.post("/api/memory/save", {"text": text, "project": project}).json["id"]
    row = api.request("GET", f"/api/observation/{number}").json
    assert "proxy" in row["narrative"]
    assert not any(hidden in row[field] for hidden in ("Ann", secret) for field in ("narrative", "title"))
    reply = api.post("/api/memory/save", {"text": "<private>all of it</private>", "project": project})
    assert (reply.status, reply.json["error"]) == (400, "text is required and must be non-empty")
