"""Our own keys and token never become memory: seen by the real hook, looked for in every byte that is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests._support import warm
from tests._support.server import Server, environment
from tests._support.waiting import eventually

OLD_TOKEN = "7d" * 32  # as stores made them before tokens had a prefix
LEAK = 12  # so many characters of a secret in a row


def hook(env: dict[str, str], event: str, **payload: Any) -> None:
    given = {"session_id": "s1", "cwd": env["HOME"], **payload}
    command = [sys.executable, "-m", "codexmem.hook", "claude-code", event]
    done = subprocess.run(
        command, env=env, input=json.dumps(given).encode(), capture_output=True, timeout=30, check=True
    )
    assert done.stderr == b""


def session(env: dict[str, str], shown: dict[str, str]) -> None:
    """A session in which an agent saw all of these, told the person, and saved one as a memory."""
    hook(
        env, "session-init", hook_event_name="UserPromptSubmit", prompt="make a key for CI: " + " ".join(shown.values())
    )
    for command, output in shown.items():
        hook(env, "observation", hook_event_name="PostToolUse", tool_name="Bash", tool_input={"command": command},
             tool_response={"stdout": output, "stderr": "", "exit_code": 0})  # fmt: skip
        hook(env, "observation", hook_event_name="PostToolUse", tool_name="Bash",
             tool_input={"command": f"echo {output}"},
             tool_response={"stdout": "", "stderr": f"make: *** [{output}] Error 1", "exit_code": 2})  # fmt: skip
    message = "Done. Please note these: " + ", ".join(shown.values())
    hook(env, "summarize", hook_event_name="Stop", last_assistant_message=message)


def secrets_in(data: bytes, secrets: dict[str, str]) -> list[str]:
    return [
        name for name, secret in secrets.items()
        if any(secret[at : at + LEAK].encode() in data for at in range(4, len(secret) - LEAK + 1))
    ]  # fmt: skip


@pytest.mark.sqlite
@pytest.mark.parametrize("token", ["", OLD_TOKEN], ids=["new-token", "old-token"])
def test_a_created_key_and_the_token_file_are_not_remembered(token: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    if token:
        (data / "token").touch(0o600)
        (data / "token").write_text(token + "\n")
    env = environment(data, HOME=str(tmp_path), CODEXMEM_AUTH="token", CODEXMEM_EMBEDDER="none",
                      CODEXMEM_AUTOSTART="0", CODEXMEM_HOOK_BUDGET_MS="10000")  # fmt: skip
    made = subprocess.run([warm.program("codexmem"), "key", "create", "--label", "ci"], env=env, check=True,
                          capture_output=True, text=True).stdout  # fmt: skip
    key = next(word for word in made.split() if word.startswith("cmk_"))
    settings = {"CODEXMEM_AUTH": "token", "CODEXMEM_EMBEDDER": "none"}
    with Server(data, settings=settings) as server:
        server.key = (data / "token").read_text().strip()
        secrets = {"key": key, "token": server.key}
        shown = {"codexmem key create --label ci": made, f"cat {data}/token": server.key}
        session(env, shown)
        # What reaches the server by another way than our hook is masked there.
        for secret in secrets.values():
            saved = server.post("/api/memory/save", {"text": f"the CI uses {secret}", "project": "p"})
            assert saved.status == 200, saved.body
        context = f"/api/context?project={tmp_path.name}&tokens=20000"
        eventually(lambda: b"key create" in server.request("GET", context).body)
        seen = server.request("GET", context).body
        found = server.request("GET", "/api/search?query=CI&format=json").body
        assert b"[REDACTED:codexmem]" in found, found
        assert secrets_in(seen + found, secrets) == [], (seen, found)
    away = env | {"CODEXMEM_URL": "http://127.0.0.1:9", "CODEXMEM_HOOK_BUDGET_MS": "2000"}
    session(away, shown)
    assert any(path.is_file() for path in (data / "spool").rglob("*")), "nothing waits"
    leaks = {
        str(path.relative_to(data)): leak
        for path in data.rglob("*")
        if path.is_file() and path != data / "token" and (leak := secrets_in(path.read_bytes(), secrets))
    }
    assert leaks == {}
