"""The policy hook as an agent runs it, and the endpoint at which it is answered."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from codexmem.codecli import policy_hook
from codexmem.codecli.agents.policy_hooks import shell_command
from codexmem.codecli.hook_socket import open_hook_socket
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

pytestmark = pytest.mark.process

CODEX = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"},
         "tool_use_id": "call_1", "cwd": "/repo", "session_id": "s"}  # fmt: skip
QWEN = {**CODEX, "tool_name": "run_shell_command", "tool_use_id": "toolu_1", "tool_call_id": "call_1"}
REASON = "不行: not that"


def denies(_: ToolRequest) -> ToolDecision:
    return ToolDecision(Verdict.DENY, REASON)


def allows(_: ToolRequest) -> ToolDecision:
    return ToolDecision(Verdict.ALLOW, "fine")


def run(command: tuple[str, ...], payload: Any, cwd: Path | None = None,
        environ: dict[str, str] | None = None) -> tuple[int, str, str]:  # fmt: skip
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    done = subprocess.run(
        ["/bin/sh", "-c", shell_command(command, "codex")], input=given, capture_output=True, cwd=cwd, timeout=30,
        env={**os.environ, **(environ or {})}, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_refusal_is_told_in_the_agents_dialect() -> None:
    with open_hook_socket(denies) as endpoint:
        code, said, _ = run(endpoint.command, CODEX)
    told = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": REASON}
    assert (code, json.loads(said)) == (0, {"hookSpecificOutput": told})


def test_gemini_has_another_word_for_it() -> None:
    with open_hook_socket(denies) as endpoint:
        said = policy_hook.asked(
            endpoint.command[-1], "gemini", json.dumps({**CODEX, "hook_event_name": "BeforeTool"}).encode()
        )
    assert json.loads(said) == {"decision": "deny", "reason": REASON}


def test_permission_is_silence() -> None:
    with open_hook_socket(allows) as endpoint:
        assert run(endpoint.command, CODEX)[:2] == (0, "")


@pytest.mark.parametrize("payload, agent, call_id", [(CODEX, "codex", "call_1"), (QWEN, "qwen", "call_1")])
def test_policy_is_told_everything(payload: dict[str, Any], agent: str, call_id: str) -> None:
    asked: list[ToolRequest] = []

    def decide(request: ToolRequest) -> ToolDecision:
        asked.append(request)
        return allows(request)

    with open_hook_socket(decide) as endpoint:
        policy_hook.asked(endpoint.command[-1], agent, json.dumps(payload).encode())
    (request,) = asked
    assert (request.agent, request.command, request.cwd, request.call_id) == (agent, "rm -rf /", "/repo", call_id)


@pytest.mark.parametrize("payload", [b"", b"nonsense", b"[]", b"{}", b'{"tool_name": 5}', b"\xff" * 100])
def test_what_cannot_be_read_is_refused(payload: bytes) -> None:
    with open_hook_socket(allows) as endpoint:
        said = policy_hook.asked(endpoint.command[-1], "codex", payload)
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_before_anybody_decides_everything_is_refused() -> None:
    with open_hook_socket() as endpoint:
        assert "deny" in policy_hook.asked(endpoint.command[-1], "codex", json.dumps(CODEX).encode())
        endpoint.decides(allows)
        assert policy_hook.asked(endpoint.command[-1], "codex", json.dumps(CODEX).encode()) == ""


def test_a_wrapper_that_is_gone_refuses() -> None:
    with open_hook_socket(allows) as endpoint:
        command = endpoint.command
    code, said, why = run(command, CODEX)
    assert (code, said) == (2, "")
    assert "mem-codecli cannot be asked" in why


def test_a_wrapper_that_dies_while_it_is_asked_refuses(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "endpoint"))
        listening.listen()
        with ThreadPoolExecutor(1) as pool:

            def hang_up() -> None:
                caller, _ = listening.accept()
                caller.close()

            pool.submit(hang_up)
            with pytest.raises(OSError, match=r"no whole answer|reset|Broken"):
                policy_hook.asked(str(tmp_path / "endpoint"), "codex", json.dumps(CODEX).encode())


def test_a_decision_that_breaks_its_promise_is_a_refusal() -> None:
    def decide(_: ToolRequest) -> ToolDecision:
        raise RuntimeError("no")

    with open_hook_socket(decide) as endpoint:
        assert "deny" in policy_hook.asked(endpoint.command[-1], "codex", json.dumps(CODEX).encode())


def test_a_python_that_does_not_start_refuses() -> None:
    assert run(("/nowhere/python", "-m", "x"), CODEX)[0] == 2
    assert run((sys.executable, "-m", "codexmem.no_such_module"), CODEX)[0] == 2


def test_neither_the_folder_nor_the_environment_says_what_is_loaded(tmp_path: Path) -> None:
    for name in ("codexmem", "socket", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(0)\n")
    with open_hook_socket(denies) as endpoint:
        code, said, _ = run(endpoint.command, CODEX, tmp_path, {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "x"})
    assert code == 0
    assert "deny" in said


def test_many_ask_at_once_and_each_gets_its_answer() -> None:
    together = threading.Barrier(8, timeout=20)

    def decide(request: ToolRequest) -> ToolDecision:
        together.wait()
        return ToolDecision(Verdict.DENY, request.command)

    def ask(number: int) -> str:
        payload = {**CODEX, "tool_input": {"command": f"rm {number}"}}
        return policy_hook.asked(endpoint.command[-1], "codex", json.dumps(payload).encode())

    with open_hook_socket(decide) as endpoint, ThreadPoolExecutor(8) as pool:
        said = list(pool.map(ask, range(8)))
    assert [f'"rm {number}"' in each for number, each in enumerate(said)] == [True] * 8


def test_only_its_user_can_enter_and_nothing_is_left() -> None:
    with open_hook_socket(allows) as endpoint:
        path = Path(endpoint.command[-1])
        folder = path.parent
        kept = Path(endpoint.keep("settings.json", "{}"))
        assert (folder.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o700, 0o600)
        assert len(str(path)) < 100
    assert not folder.exists()


def test_a_long_temporary_folder_is_gone_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with open_hook_socket(allows) as endpoint:
        assert policy_hook.asked(endpoint.command[-1], "codex", json.dumps(CODEX).encode()) == ""


def test_an_endpoint_closes_while_somebody_waits() -> None:
    asked, go_on = threading.Event(), threading.Event()

    def decide(request: ToolRequest) -> ToolDecision:
        asked.set()
        go_on.wait()
        return allows(request)

    with open_hook_socket(decide) as endpoint, socket.socket(socket.AF_UNIX) as caller:
        caller.connect(endpoint.command[-1])
        caller.sendall(b"codex\n" + json.dumps(CODEX).encode())
        caller.shutdown(socket.SHUT_WR)
        assert asked.wait(10)
        endpoint.close()
        go_on.set()


def test_what_was_allowed_and_refused_is_known_afterwards() -> None:
    def decide(request: ToolRequest) -> ToolDecision:
        return allows(request) if request.command == "ls" else denies(request)

    with open_hook_socket(decide) as endpoint:
        for command in ("ls", "rm"):
            payload = {**CODEX, "tool_input": {"command": command}, "tool_use_id": command}
            policy_hook.asked(endpoint.command[-1], "codex", json.dumps(payload).encode())
        assert (list(endpoint.matching._waiting), list(endpoint.matching._refused)) == (["ls"], ["rm"])


def test_it_loads_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import codexmem.codecli.policy_hook; " \
           "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"json", "re", "dataclasses", "typing", "asyncio"} & set(done.stdout.split())
