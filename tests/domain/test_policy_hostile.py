"""Whatever an agent writes, a decision comes soon and nothing is raised."""

from __future__ import annotations

import time

import pytest

from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.names import Around
from codexmem.kernel.model.tool_access import ToolRequest

SIZE = 24 * 1024
HOSTILE = {
    "eval": "eval " * (SIZE // 5), "nested": "$(" * (SIZE // 2), "ticks": "`a" * (SIZE // 2),
    "shells": "sh -c " * (SIZE // 6), "quotes": "'\"\\" * (SIZE // 3), "one word": "a" * SIZE,
    "schemes": "a://" * (SIZE // 4), "signs": "a=" * (SIZE // 2), "slashes": "/" * SIZE, "ups": "../" * (SIZE // 3),
    "ats": "@" * SIZE, "dots": "." * SIZE, "stars": "*a" * (SIZE // 2), "numbers": "1." * (SIZE // 2),
    "zero": "\0" * SIZE, "surrogates": "\ud800" * 1000, "marks": "e\u0301" * (SIZE // 2), "words": "ab " * (SIZE // 3),
    "brackets": "[" * SIZE, "colons": "[::" * (SIZE // 3), "percent": "%25" * (SIZE // 3), "dashes": "xn--" * 9999,
    "moves": "cd a;" * (SIZE // 5), "folders": "-C a " * (SIZE // 5), "aliases": "alias a='b c';" * (SIZE // 14),
    "settings": "git -c a=!b " * (SIZE // 12), "variables": "PATH='a b' " * (SIZE // 11),
    "roots": "/proc/1/root" * (SIZE // 12),
    "sed": "sed s/" + "a/b" * (SIZE // 3), "sockets": "/dev/tcp/a" * (SIZE // 10),
    "options": "rm " + "-v " * (SIZE // 3),
    "editors": "sudo " + "vim " * (SIZE // 4), "awks": "env " + "awk " * (SIZE // 4),
    "gits": "xargs " + "git " * (SIZE // 4),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.slow
def test_a_hostile_request_is_decided_soon(name: str) -> None:
    text = HOSTILE[name]
    rules = ["path:/etc", "domain:evil.com", "command:rm -rf", "server:*a*b*", "tool:*x*y"]
    policy = Policy.parse(rules[:2], rules * 4, rules * 2, around=Around("/shop", "/home/u"))
    began = time.process_time()
    policy.decide(ToolRequest(text, server=text, command=text, paths=(text,), urls=(text,), cwd="/shop"))
    assert time.process_time() - began < 2
