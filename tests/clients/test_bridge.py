"""The bridge: one line in, one line out, through restarts and without a server."""

from __future__ import annotations

import http.server
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codexmem.app.mcp import answer_alone
from codexmem.client import bridge as bridge_module
from codexmem.client import starting
from codexmem.client.bridge import Bridge
from codexmem.client.starting import ServerLocation
from codexmem.kernel.model.errors import Unavailable
from tests._support import warm
from tests._support.mcp_calls import Agent, text_of
from tests._support.server import Server, environment
from tests._support.waiting import eventually

INITIALIZE = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Stdio:
    """A bridge as an agent starts it, spoken to line by line; the first test starts the real program."""

    def __init__(self, data_dir: Path, *flags: str, real: bool = False, **settings: str) -> None:
        program = [sys.executable, "-m", "codexmem.cli"] if real else [warm.program("codexmem")]
        command = [*program, "mcp", *flags]
        work = data_dir / "my-app"
        work.mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            command, env=environment(data_dir, **settings), cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def __enter__(self) -> Stdio:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait(30) == 0
        assert self._process.stdout.read() == b""
        self._process.stdout.close()

    def send(self, message: object) -> None:
        assert self._process.stdin is not None
        raw = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self._process.stdin.write(raw)
        self._process.stdin.flush()

    def read(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def ask(self, message: object) -> Any:
        self.send(message)
        return self.read()


def told(answer: Any) -> tuple[bool, str]:
    return answer["result"].get("isError", False), answer["result"]["content"][0]["text"]


@contextmanager
def ended(data_dir: Path) -> Iterator[None]:
    """Ends the server that a client started."""
    try:
        yield
    finally:
        facts = data_dir / "server.json"
        if facts.exists():
            os.kill(json.loads(facts.read_text())["pid"], signal.SIGTERM)
            eventually(lambda: not facts.exists())


@pytest.mark.sqlite
def test_it_starts_a_server_where_there_is_none_and_several_bridges_start_one(tmp_path: Path) -> None:
    with ended(tmp_path):
        with Stdio(tmp_path, "--port", "0", real=True) as one, Stdio(tmp_path, "--port", "0", real=True) as two:
            for bridge in (one, two):
                bridge.send(INITIALIZE)
            answers = [bridge.read() for bridge in (one, two)]
            assert [answer["result"]["serverInfo"]["name"] for answer in answers] == ["codexmem"] * 2
            # The project is the one that it was started in.
            first = told(one.ask(call(1, "save_memory", text="端口 37877")))
            assert first == (False, "Memory saved as observation #1 in project my-app")
            assert "\nFound 1 result(s)" in told(two.ask(call(2, "search", query="端口")))[1]
        # It outlives those who started it.
        with Stdio(tmp_path, CODEXMEM_AUTOSTART="0") as three:
            assert "\nFound 1 result(s)" in told(three.ask(call(3, "search", query="端口")))[1]


@pytest.mark.sqlite
def test_it_goes_on_after_the_server_was_away_and_came_back_elsewhere(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    with Stdio(tmp_path, CODEXMEM_AUTOSTART="0") as bridge:
        bridge.ask(INITIALIZE)
        bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert not told(bridge.ask(call(1, "save_memory", text="one")))[0]
        server.stop()
        failed, text = told(bridge.ask(call(2, "save_memory", text="two")))
        assert failed
        assert "does not answer" in text
        server.start()
        assert not told(bridge.ask(call(3, "save_memory", text="three")))[0]
        server.stop()


@pytest.mark.sqlite
def test_without_a_server_calls_are_answered_in_words(tmp_path: Path) -> None:
    with Stdio(tmp_path, CODEXMEM_AUTOSTART="off", CODEXMEM_PORT="1") as bridge:
        answer = bridge.ask({"jsonrpc": "2.0", "id": 6, "method": "prompts/get", "params": {"name": "x"}})
        assert (answer["id"], answer["error"]["code"]) == (6, -32603)
        assert "codexmem serve" in answer["error"]["message"]
        failed, text = told(bridge.ask(call(7, "search")))
        assert failed
        assert text.startswith("the codexmem server at http://127.0.0.1:1 does not answer")
        bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        bridge.send(b"\n")
        assert bridge.ask(b"this is no JSON\n")["error"]["code"] == -32700
    assert not (tmp_path / "server.json").exists()


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18"])
def test_without_a_server_a_client_connects_and_lists(tmp_path: Path, version: str) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    source: list[Any] = [{**INITIALIZE, "params": params}, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    listing = ("tools/list", "prompts/list", "ping")
    source += [{"jsonrpc": "2.0", "id": number, "method": each} for number, each in enumerate(listing, 1)]
    place = ServerLocation(tmp_path, 1, may_start=False)
    answered = passed(place, *source, toolset="recall", alone=answer_alone)
    answers = {each["id"]: each["result"] for each in answered}
    assert answers[0]["protocolVersion"] == version
    assert len(answers[1]["tools"]) == 5


def test_what_lists_waits_for_no_server_that_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge_module, "_ALONE_S", 0.01)
    looking, listed = threading.Event(), threading.Event()

    def ensure(_: ServerLocation, *within: float) -> str:
        if not within:
            looking.set()
            assert listed.wait(60)
        raise Unavailable("away")

    def alone(path: str, body: bytes, headers: Any) -> tuple[int, str, bytes]:
        assert looking.wait(60)
        listed.set()
        return 200, "application/json", b'{"jsonrpc": "2.0", "id": 2, "result": {}}'

    monkeypatch.setattr(starting, "ensure", ensure)
    asked = call(1, "search"), {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    answers = passed(ServerLocation(tmp_path, 1), *asked, alone=alone)
    assert [each["id"] for each in answers] == [2, 1]


@pytest.mark.sqlite
def test_the_token_is_brought_to_the_own_server(tmp_path: Path) -> None:
    with ended(tmp_path), Stdio(tmp_path, "--port", "0", CODEXMEM_AUTH="token") as bridge:
        assert "result" in bridge.ask(INITIALIZE)
        assert not told(bridge.ask(call(1, "save_memory", text="one")))[0]


class Fake(http.server.BaseHTTPRequestHandler):
    """A server of the protocol that does as it is told."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        self.server.got.append(dict(self.headers))  # type: ignore[attr-defined]
        self.rfile.read(int(self.headers["content-length"]))
        kind, body = self.server.answer  # type: ignore[attr-defined]
        if kind is None:
            self.connection.close()
            return
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def fake(kind: str | None, body: bytes = b"") -> Iterator[tuple[str, list[dict[str, str]]]]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Fake)
    server.got, server.answer = [], (kind, body)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.got  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def passed(place: ServerLocation, *messages: object, **more: Any) -> list[Any]:
    """What the bridge writes when it reads these."""
    source = io.BytesIO(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    target = io.BytesIO()
    Bridge(place, **more).run(source, target)
    return [json.loads(line) for line in target.getvalue().splitlines()]


def test_a_token_goes_to_no_other_server(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a" * 64)
    body = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
    with fake("application/json", body) as (url, got):
        passed(ServerLocation(tmp_path, 1, url=url), call(1, "search"))
        passed(
            ServerLocation(tmp_path, 1, url=url, key="given"),
            call(1, "search"),
            project="my app/端口",
            toolset="recall",
        )
        (tmp_path / "server.json").write_text(json.dumps({"url": url}))
        passed(ServerLocation(tmp_path, 1), call(1, "search"))
    assert [headers.get("Authorization") for headers in got] == [None, "Bearer given", f"Bearer {'a' * 64}"]


def test_what_may_have_arrived_is_never_sent_twice(tmp_path: Path) -> None:
    with fake(None) as (url, got):
        (answer,) = passed(ServerLocation(tmp_path, 1, url=url), call(5, "save_memory", text="x"))
    assert len(got) == 1
    assert told(answer)[0]
    assert "went away while it answered" in told(answer)[1]


def test_a_streamed_answer_is_passed_on(tmp_path: Path) -> None:
    events = b'event: message\r\ndata: {"jsonrpc": "2.0", "method": "notifications/progress"}\r\n\r\n'
    events += b': ping\n\nevent: message\ndata: {"jsonrpc": "2.0",\ndata: "id": 1, "result": {"\xe7\xab\xaf": 1}}\n\n'
    with fake("text/event-stream", events) as (url, _):
        answers = passed(ServerLocation(tmp_path, 1, url=url), call(1, "search"))
    assert answers == [
        {"jsonrpc": "2.0", "method": "notifications/progress"}, {"jsonrpc": "2.0", "id": 1, "result": {"端": 1}},
    ]  # fmt: skip


@pytest.mark.parametrize("body", [b"", b"<html>", b'"text"', b'{"error": "plain"}'])
def test_an_answer_that_is_none_is_told_as_one(tmp_path: Path, body: bytes) -> None:
    with fake("text/plain", body) as (url, _):
        (answer,) = passed(ServerLocation(tmp_path, 1, url=url), call(1, "search"))
        assert told(answer) == (True, "the codexmem server answered 200 without a message")
        assert (
            passed(ServerLocation(tmp_path, 1, url=url), {"jsonrpc": "2.0", "method": "notifications/initialized"})
            == []
        )


def test_a_refusal_is_told_to_whom_it_concerns(tmp_path: Path) -> None:
    body = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32603, "message": "a valid API key is required"}}'
    with fake("application/json", body) as (url, _):
        place = ServerLocation(tmp_path, 1, url=url)
        (answer,) = passed(place, call(4, "search"))
        assert (answer["id"], *told(answer)) == (4, True, "the codexmem server refused: a valid API key is required")
        (answer,) = passed(place, {"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
        assert (answer["id"], answer["error"]["message"]) == (5, "a valid API key is required")


def test_several_messages_in_one_line_and_lines_that_are_none(tmp_path: Path) -> None:
    body = b'{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "x"}}'
    with fake("application/json", body) as (url, _):
        answers = passed(ServerLocation(tmp_path, 1, url=url), [call(1, "search"), call(2, "search")], 5, "text", [])
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "2", "None", "None"]


@pytest.mark.sqlite
def test_the_newer_protocol_passes_too(tmp_path: Path) -> None:
    with Server(tmp_path) as server:

        async def version(client: Any) -> str:
            await client.call_tool("__IMPORTANT", {})
            return str(client.protocol_version)

        assert Agent(server, "stdio-new").run(version) == "2026-07-28"
        assert Agent(server, "stdio-old").run(version) < "2026-07-28"
        assert not Agent(server, "stdio-new").call("save_memory", {"text": "名"}).is_error
        assert text_of(Agent(server, "stdio-new").call("工具")).startswith("Unknown tool: 工具")


@pytest.mark.sqlite
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_line_nested_beyond_reason_is_a_parse_error_and_the_bridge_lives_on(tmp_path: Path, opening: bytes) -> None:
    with Server(tmp_path), Stdio(tmp_path) as agent:
        refused = agent.ask(opening * 50_000 + b"\n")
        assert (refused["id"], refused["error"]["code"]) == (None, -32700)
        assert agent.ask(INITIALIZE)["result"]["serverInfo"]["name"] == "codexmem"


def test_an_answer_nested_beyond_reason_is_no_answer(tmp_path: Path) -> None:
    with fake("application/json", b"[" * 50_000) as (url, _):
        (answer,) = passed(ServerLocation(tmp_path, 1, url=url), call(1, "search"))
    assert told(answer) == (True, "the codexmem server answered 200 without a message")
