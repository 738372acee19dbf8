"""Servers that are busy, gone or strange: what is tried again, what is not, and what people are told."""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from codexmem.client import (
    AsyncClient,
    Client,
    CodexmemError,
    Conflict,
    InvalidArgument,
    NotReady,
    Patience,
    RateLimited,
    StorageFull,
    Unauthorized,
    Unavailable,
    calls,
)
from codexmem.client.exchange import refusal
from tests.client.unsteady import HANGS_UP, STALLS, Unsteady

Line = tuple[int, dict[str, str], object]

QUICK = Patience(timeout_s=0.3, pause_s=0.01)
PROJECTS: Line = (200, {}, {"projects": ["shop"], "and": "more"})
SAVED: Line = (200, {}, {"id": 1, "title": "t", "project": "p", "message": "m", "success": True})
UNDONE: Line = (200, {}, {"delta": None, "restored": 0, "left": 0, "lost_uris": [], "after": None, "more": False})


@pytest.mark.parametrize("trouble", [503, 502, 504, 429, HANGS_UP, STALLS])
def test_what_only_asks_is_tried_again(trouble: object) -> None:
    with Unsteady([trouble, PROJECTS]) as server, Client(server.url, patience=QUICK) as client:
        assert client.projects().projects == ("shop",)
        assert len(server.asked) == 2


def test_a_write_is_tried_again_under_the_same_key() -> None:
    with Unsteady([HANGS_UP, 503, SAVED]) as server, Client(server.url, patience=QUICK) as client:
        client.save("said")
        keys = [headers["Idempotency-Key"] for _, _, headers, _ in server.asked]
        assert len(keys) == 3
        assert len(set(keys)) == 1
        client.save("said")
        assert server.asked[-1][2]["Idempotency-Key"] != keys[0]


@pytest.mark.parametrize("trouble, error", [(503, NotReady), (HANGS_UP, Unavailable), (STALLS, Unavailable)])
def test_what_may_not_be_done_twice_is_not_sent_twice(trouble: object, error: type[CodexmemError]) -> None:
    with Unsteady([trouble, UNDONE]) as server, Client(server.url, patience=QUICK) as client:
        with pytest.raises(error):
            client.send(replace(calls.undo(delta="d"), wait_s=0.3))
        assert len(server.asked) == 1


def test_it_gives_up_and_says_what_the_server_said() -> None:
    with (
        Unsteady([(503, {}, {"error": "starting", "hint": "wait"})]) as server,
        Client(server.url, patience=QUICK) as c,
    ):
        with pytest.raises(NotReady, match="starting") as given_up:
            c.projects()
        assert given_up.value.hint == "wait"
        assert len(server.asked) == QUICK.tries


@pytest.mark.parametrize("status", [400, 401, 404, 409, 413, 500, 507])
def test_a_refusal_is_not_asked_again(status: int) -> None:
    with Unsteady([status]) as server, Client(server.url, patience=QUICK) as client:
        with pytest.raises(CodexmemError, match="not now"):
            client.projects()
        assert len(server.asked) == 1


def test_the_server_says_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("codexmem.client.blocking.time.sleep", waited.append)
    busy = (429, {"Retry-After": "7"}, {"error": "busy"})
    with Unsteady([busy, PROJECTS]) as server, Client(server.url, patience=QUICK) as client:
        client.projects()
        assert waited == [7.0]
    with Unsteady([(429, {"Retry-After": "3600"}, {"error": "busy"})]) as server, Client(server.url) as client:
        with pytest.raises(RateLimited) as error:
            client.projects()
        assert error.value.details["retry_after_s"] == 3600
        assert len(server.asked) == 1
    with Unsteady([503]) as server, Client(server.url, patience=Patience(tries=4, pause_s=1, longest_s=3)) as client:
        waited.clear()
        with pytest.raises(NotReady):
            client.projects()
        assert waited == [1, 2, 3]


def test_the_awaited_client_tries_again_too() -> None:
    async def ask(url: str) -> tuple[str, ...]:
        async with AsyncClient(url, patience=QUICK) as client:
            return (await client.projects()).projects

    with Unsteady([503, HANGS_UP, PROJECTS]) as server:
        assert asyncio.run(ask(server.url)) == ("shop",)
        assert len(server.asked) == 3


@pytest.mark.process
def test_nobody_at_home_is_said_with_what_to_do() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with Client(url, patience=QUICK) as client, pytest.raises(Unavailable, match="no codexmem server") as error:
            client.health()
        assert error.value.hint == "start it with: codexmem serve"


@pytest.mark.parametrize("answer", [b"<html>", b"\xff", {"projects": 5}, {}])
def test_an_answer_of_another_program_is_an_error_of_ours(answer: object) -> None:
    with (
        Unsteady([(200, {}, answer)]) as server,
        Client(server.url, patience=QUICK) as client,
        pytest.raises(CodexmemError, match="GET /api/projects"),
    ):
        client.projects()


def test_errors_come_in_two_forms() -> None:
    told = {"error": {"code": "conflict", "message": "changed", "details": {"hint": "read it", "version": 4}}}
    enveloped = refusal(400, told)
    assert (type(enveloped), enveloped.message, enveloped.hint) == (Conflict, "changed", "read it")
    assert enveloped.details == {"version": 4, "status": 400}
    plain = refusal(507, {"error": "full", "hint": "make room"})
    assert (type(plain), plain.message, plain.hint) == (StorageFull, "full", "make room")
    assert type(refusal(413, {})) is InvalidArgument
    assert type(refusal(500, {"error": {"code": "surprise", "message": "?"}})) is CodexmemError


def test_a_server_that_asks_for_a_key_says_so(url: str) -> None:
    with Client(url) as client, pytest.raises(Unauthorized) as error:
        client.projects()
    assert "api_key" in str(error.value.hint)


def test_a_server_that_moved_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CODEXMEM_URL", "CODEXMEM_TOKEN", "CODEXMEM_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    announced = tmp_path / "server.json"
    with Unsteady([PROJECTS]) as old:
        announced.write_text(json.dumps({"url": old.url}))
        client = Client(patience=QUICK)
        client.projects()
    with client, Unsteady([PROJECTS]) as new:
        announced.write_text(json.dumps({"url": new.url}))
        assert client.projects().projects == ("shop",)
        assert len(new.asked) == 1
