"""What policy is told of a tool call."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.codecli.agents.requests import request_of
from codexmem.codecli.policy.deciding import Policy
from codexmem.kernel.model.tool_access import Verdict

PATCH = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@
-1
+2
*** Add File: 新.txt
+x
*** End Patch"""


@pytest.mark.parametrize("tool, arguments, command, paths, urls, server", [
    ("Bash", {"command": "/bin/bash -lc 'rm -rf build'"}, "/bin/bash -lc 'rm -rf build'", (), (), ""),
    ("shell", {"command": ["bash", "-lc", "echo 好"]}, "bash -lc 'echo 好'", (), (), ""),
    ("run", {"commands": [{"command": "ls"}, {"command": "rm x"}]}, "ls\nrm x", (), (), ""),
    ("apply_patch", {"command": PATCH}, "", ("src/a.py", "src/b.py", "新.txt"), (), ""),
    ("edit", {"file_path": "/repo/a.py", "old_string": "1"}, "", ("/repo/a.py",), (), ""),
    ("read_many", {"paths": ["a", "b", "a"]}, "", ("a", "b"), (), ""),
    ("web_fetch", {"prompt": "read https://example.com/x?a=1 and http://例子.cn"}, "", (),
     ("https://example.com/x?a=1", "http://例子.cn"), ""),
    ("mcp__github__create_issue", {"title": "x"}, "", (), (), "github"),
    ("Bash", None, "", (), (), ""),
    ("Bash", "text", "", (), (), ""),
])  # fmt: skip
def test_a_request(tool: str, arguments: Any, command: str, paths: tuple[str, ...], urls: tuple[str, ...],
                   server: str) -> None:  # fmt: skip
    request = request_of(tool, arguments, agent="codex")
    assert (request.command, request.paths, request.urls, request.server) == (command, paths, urls, server)
    assert request.arguments == arguments


def test_a_shell_around_a_command_is_left_for_policy_to_take_off() -> None:
    # A program of the checkout may be called bash too: only policy knows which one is the shell.
    for command in ("bash -lc 'git status'", "./bash -lc 'git status'"):
        assert request_of("Bash", {"command": command}, agent="codex").command == command
    policy = Policy.parse(["command:git status"], [], [], "dev", "read")
    for command, verdict in (("/bin/bash -lc 'git status'", Verdict.ALLOW), ("./bash -lc 'git status'", Verdict.ASK)):
        request = request_of("Bash", {"command": command}, agent="codex", cwd="/repo")
        assert policy.decide(request).verdict is verdict, command


def test_what_is_deep_inside_is_found_too() -> None:
    nested: Any = {"command": "rm deep"}
    for _ in range(900):
        nested = [nested]
    assert request_of("t", {"a": nested}, agent="").command == "rm deep"
