"""Contract 000 §5: platforms and events of the hook command, against the real server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests._support import encoder
from tests._support.server import Server, environment

PLATFORMS = ("claude-code", "cursor", "raw")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("data"), settings={"CODEXMEM_EMBEDDER": encoder.setting("sqlite")}) as server:
        yield server


def hook(data_dir: Path, platform: str, event: str, said: Any) -> str:
    command = [sys.executable, "-m", "codexmem.cli", "hook", platform, event]
    env = environment(data_dir, CODEXMEM_AUTOSTART="0")
    if not (data_dir / "server.json").exists():
        env["CODEXMEM_PORT"] = "9"  # nobody listens there; a port in the environment wins over an announcement
    given = said if isinstance(said, bytes) else json.dumps(said).encode()
    done = subprocess.run(command, env=env, input=given, capture_output=True, check=False, cwd=data_dir)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def session(platform: str, name: str) -> dict[str, Any]:
    if platform == "cursor":
        return {"conversation_id": name, "workspace_roots": ["/home/me/shop"]}
    return {"session_id": name, "cwd": "/home/me/shop"}


@pytest.mark.clause("000 §5.1", "each platform's fields become ours")
@pytest.mark.clause("000 §5.2", "each event reaches its route")
@pytest.mark.clause("000 §5.3", "JSON from stdin becomes a session, a turn and a captured event")
@pytest.mark.parametrize("platform", PLATFORMS)
def test_5_the_four_events_reach_their_routes(platform: str, server: Server) -> None:
    about = session(platform, f"story-{platform}")
    tool = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_use_id": "u-1"}
    answered = {"tool_output": json.dumps({"text": "x = 1"})} if platform == "cursor" else {"tool_response": "x = 1"}
    hook(server.data_dir, platform, "session-init", {**about, "prompt": "登录为什么超时"})
    for _ in range(2):
        hook(server.data_dir, platform, "observation", {**about, **tool, **answered})
    hook(server.data_dir, platform, "summarize", {**about, "last_assistant_message": "done"})
    hook(server.data_dir, platform, "session-complete", about)
    prompts = server.request("GET", "/api/prompts?limit=100").json["items"]
    (mine,) = [each for each in prompts if each["content_session_id"] == f"story-{platform}"]
    assert (mine["project"], mine["prompt_number"], mine["prompt_text"]) == ("shop", 1, "登录为什么超时")
    again = server.post("/api/sessions/complete", {"contentSessionId": f"story-{platform}"}).json
    assert again == {"status": "skipped", "reason": "not_active"}
    repeated = {"contentSessionId": f"story-{platform}", "tool_name": "Read", "tool_use_id": "u-1"}
    assert server.post("/api/sessions/observations", repeated).json == {"status": "deduped"}


@pytest.mark.clause("000 §5.3", "a private prompt leaves a turn without text")
@pytest.mark.parametrize("platform", PLATFORMS)
def test_5_a_private_prompt_leaves_a_turn_without_text(platform: str, server: Server) -> None:
    about = session(platform, f"private-{platform}")
    hook(server.data_dir, platform, "session-init", {**about, "prompt": "<private>salaries</private>"})
    found = server.request("GET", "/api/prompts?limit=100")
    assert b"salaries" not in found.body
    (mine,) = [each for each in found.json["items"] if each["content_session_id"] == f"private-{platform}"]
    assert (mine["prompt_number"], mine["prompt_text"], mine["private"]) == (1, "", True)
    reply = server.post("/api/sessions/observations",
                        {"contentSessionId": f"private-{platform}", "tool_name": "Read", "tool_input": {}})  # fmt: skip
    assert reply.json == {"status": "skipped", "reason": "private"}


@pytest.mark.clause("000 §4.5", "exit 0 without a server, and the event is kept")
@pytest.mark.clause("000 §5.3", "exit 0 without a server")
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("event", ["session-init", "observation", "summarize", "session-complete"])
def test_5_without_a_server_it_succeeds_and_loses_nothing(platform: str, event: str, tmp_path: Path) -> None:
    said = {**session(platform, "s-1"), "prompt": "hi there", "tool_name": "Read", "last_assistant_message": "bye"}
    out = hook(tmp_path, platform, event, said)
    assert out == ('{"continue":true}\n' if platform == "cursor" else "")
    assert len(list((tmp_path / "spool").glob("*.event"))) == 1


@pytest.mark.clause("000 §4.5", "what was kept is delivered later, in order and once")
def test_5_what_was_kept_is_delivered_to_the_server_once(tmp_path: Path) -> None:
    about = {"session_id": "s-1", "cwd": "/home/me/shop"}
    hook(tmp_path, "raw", "session-init", {**about, "prompt": "first question"})
    hook(tmp_path, "raw", "observation", {**about, "tool_name": "Bash", "tool_input": {"command": "ls"}})
    hook(tmp_path, "raw", "session-init", {**about, "prompt": "second question"})
    kept = [path.read_bytes() for path in sorted((tmp_path / "spool").glob("*.event"))]
    with Server(tmp_path, settings={"CODEXMEM_EMBEDDER": encoder.setting("sqlite")}) as server:
        hook(tmp_path, "raw", "drain", {})
        assert list((tmp_path / "spool").glob("*.event")) == []
        # As if the first delivery had been answered and the answer lost.
        for number, content in enumerate(kept):
            (tmp_path / "spool" / f"{number:020d}-0000001-000001-{len(content)}-0.event").write_bytes(content)
        hook(tmp_path, "raw", "drain", {})
        found = server.request("GET", "/api/prompts").json["items"]
        assert [(each["prompt_number"], each["prompt_text"]) for each in found] == [
            (2, "second question"), (1, "first question"),
        ]  # fmt: skip


@pytest.mark.clause("000 §5.3", "broken input is a success without action")
@pytest.mark.parametrize("said", [b"", b"{", b"[]", b"nonsense"])
def test_5_broken_input_is_a_success_without_action(said: bytes, server: Server) -> None:
    before = server.request("GET", "/api/stats").json["database"]
    for event in ("session-init", "observation", "summarize", "session-complete"):
        hook(server.data_dir, "raw", event, said)
    assert server.request("GET", "/api/stats").json["database"]["prompts"] == before["prompts"]


@pytest.mark.clause("000 §5.1", "an unknown platform is raw")
@pytest.mark.clause("000 §5.2", "an unknown event is a success without action")
def test_5_unknown_platforms_and_events_are_a_success(server: Server) -> None:
    hook(server.data_dir, "nobody", "nothing", {})
    hook(server.data_dir, "raw", "nothing", {"session_id": "s"})
    hook(server.data_dir, "nobody", "session-init", {"session_id": "of-nobody", "prompt": "hello there"})
    assert b"of-nobody" in server.request("GET", "/api/prompts").body
