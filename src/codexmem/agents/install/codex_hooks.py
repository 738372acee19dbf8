"""What Codex itself says of hooks: their hashes before anything is written, and afterwards whether it trusts them.

Codex runs only hooks that a person has trusted and skips the others without a word. Trust is a hash in its
configuration. The person who agrees to the shown change has seen these hooks, so their hashes are part of the change;
Codex computes them (`hooks/list` of its app-server), in a home of its own that is thrown away.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from codexmem.kernel.model import json_text

TIMEOUT_S = 20.0
_CLIENT = {"clientInfo": {"name": "codexmem", "title": "codexmem", "version": "1"}}
_QUIET = ("features.apps=false", "features.plugins=false", "features.remote_plugin=false")


def hashes(program: str, environ: Mapping[str, str], groups: Mapping[str, Any]) -> dict[str, str]:
    """The hash of each command, under the command; empty if this Codex does not tell."""
    with tempfile.TemporaryDirectory(prefix="codexmem-codex-") as home:
        options = [f"hooks.{event}=[{_inline(group)}]" for event, group in groups.items()]
        # The person's own home stays HOME: `codex` may be a launcher that is found by it.
        listed = _listed(program, {**environ, "CODEX_HOME": home}, home, [*_QUIET, *options])
    return {str(hook.get("command")): str(hook["currentHash"]) for hook in listed if hook.get("currentHash")}


def listed(program: str, environ: Mapping[str, str], cwd: Path) -> list[dict[str, Any]]:
    """Every hook that Codex has read from the person's own configuration, with what it thinks of it."""
    return _listed(program, environ, str(cwd), _QUIET)


def _listed(program: str, environ: Mapping[str, str], cwd: str, options: Sequence[str]) -> list[dict[str, Any]]:
    asked = [
        {"id": 1, "method": "initialize", "params": _CLIENT},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [cwd]}},
    ]
    command = [program, "app-server", *(word for each in options for word in ("-c", each))]
    try:
        process = subprocess.Popen(
            command, cwd=cwd, env=dict(environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return []
    with process:
        # It goes on until it is told to stop, and one that does not answer is not waited for.
        limit = threading.Timer(TIMEOUT_S, process.kill)
        limit.start()
        try:
            return _answer(process, asked)
        finally:
            limit.cancel()
            process.terminate()


def _answer(process: subprocess.Popen[bytes], asked: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):
        process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in asked))
        process.stdin.flush()
    for line in process.stdout:
        try:
            message = json_text.loads(line)
            if message.get("id") == 2 and "method" not in message:
                return [hook for each in message["result"]["data"] for hook in each["hooks"] if isinstance(hook, dict)]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return []


def _inline(value: Any) -> str:
    """A value as TOML on one line; our groups hold tables, lists, texts and numbers."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_inline(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
