"""The configuration of Codex, in which a hook's trust is kept under its place in the file that names the hook.

What Codex itself says of hooks: their hashes before anything is written, and afterwards whether it trusts them.

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

from codexmem.agents.install import formats, json_settings
from codexmem.agents.install.entries import Element, Entry, Member, is_complete, is_ours, without_entries
from codexmem.agents.install.targets import ConfigTarget
from codexmem.kernel.model import json_text

_LABELS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PostToolUse": "post_tool_use",
    "Stop": "stop",
    "SessionEnd": "session_end",
}


class CodexConfig(ConfigTarget):
    """`config.toml`. Where a hook stands in the file is known when the file is."""

    def __init__(
        self, path: Path, entries: Sequence[Entry], groups: Sequence[Element], hashes: Mapping[str, str]
    ) -> None:
        super().__init__(path, "toml", [*entries, *groups])
        self._groups = groups
        self._hashes = hashes
        self._apart: tuple[Entry, ...] = ()

    def trust(self, source: Path, groups: Sequence[Element], hashes: Mapping[str, str]) -> None:
        """Trust hooks that stand in another file."""
        self._apart = _states(source, json_settings.read(source), groups, hashes)

    def edited(self, text: str) -> str:
        """With hooks and trust."""
        value = formats.value_of("toml", text)
        wanted = [*self.entries, *self._states(value)]
        if is_complete(value, wanted):
            return text
        bare = self.stripped(text, None)
        return formats.edited("toml", bare, [*self.entries, *self._states(formats.value_of("toml", bare))])

    def stripped(self, text: str, before: str | None) -> str:
        """Without hooks and trust in them."""
        kept = formats.value_of("toml", before) if before else None
        present = _states(self.path, formats.value_of("toml", text), _present(formats.value_of("toml", text)), None)
        return formats.stripped("toml", text, [*self.entries, *present, *self._apart], kept)

    def _states(self, value: Any) -> tuple[Entry, ...]:
        return (*_states(self.path, value, self._groups, self._hashes), *self._apart)


def has_hooks(path: Path) -> bool:
    """Whether a file of hooks is there and names some, or cannot be read."""
    return path.is_file() and bool(json_settings.table(json_settings.read(path), "hooks") or not _is_json(path))


def unmarked(sources: Sequence[tuple[Path, dict[str, object]]]) -> int:
    """How many of our hooks in these files have no trust written down; the last is the configuration."""
    trusted = json_settings.table(sources[-1][1], "hooks", "state")
    found = [mark for source, value in sources for mark in _states(source, value, _present(value), None)]
    return sum(not json_settings.table(trusted, mark.path[-1]).get("trusted_hash") for mark in found)


def _present(value: Any) -> list[Element]:
    """Our groups as they stand in a configuration."""
    lists = json_settings.table(value, "hooks")
    found = [(name, lists.get(name)) for name in _LABELS]
    return [
        Element(("hooks", name), group)
        for name, groups in found
        if isinstance(groups, list)
        for group in groups
        if is_ours(group)
    ]


def _states(
    source: Path, value: Any, groups: Sequence[Element], hashes: Mapping[str, str] | None
) -> tuple[Member, ...]:
    """Trust in these groups, which stand in that file or will be added behind what is in it."""
    bare = without_entries(value, groups)
    found = []
    for group in groups:
        listed = json_settings.table(value, "hooks").get(group.path[-1])
        listed = listed if isinstance(listed, list) else []
        others = json_settings.table(bare, "hooks").get(group.path[-1])
        place = listed.index(group.value) if group.value in listed else len(others) if isinstance(others, list) else 0
        command = group.value["hooks"][0]["command"] if hashes is not None else ""
        if hashes is None or command in hashes:
            key = f"{source}:{_LABELS[group.path[-1]]}:{place}:0"
            found.append(Member(("hooks", "state", key), {"trusted_hash": (hashes or {}).get(command, "")}))
    return tuple(found)


def _is_json(path: Path) -> bool:
    try:
        formats.value_of("json", path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return False
    return True


TIMEOUT_S = 20.0
_CLIENT = {"clientInfo": {"name": "codexmem", "title": "codexmem", "version": "1"}}
_QUIET = ("features.apps=false", "features.plugins=false", "features.remote_plugin=false")


def hashes(program: str, environ: Mapping[str, str], groups: Mapping[str, object]) -> dict[str, str]:
    """The hash of each command, under the command; empty if this Codex does not tell."""
    with tempfile.TemporaryDirectory(prefix="codexmem-codex-") as home:
        options = [f"hooks.{event}=[{_inline(group)}]" for event, group in groups.items()]
        # The person's own home stays HOME: `codex` may be a launcher that is found by it.
        listed = _listed(program, {**environ, "CODEX_HOME": home}, home, [*_QUIET, *options])
    return {str(hook.get("command")): str(hook["currentHash"]) for hook in listed if hook.get("currentHash")}


def listed(program: str, environ: Mapping[str, str], cwd: Path) -> list[dict[str, object]]:
    """Every hook that Codex has read from the person's own configuration, with what it thinks of it."""
    return _listed(program, environ, str(cwd), _QUIET)


def _listed(program: str, environ: Mapping[str, str], cwd: str, options: Sequence[str]) -> list[dict[str, object]]:
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


def _answer(process: subprocess.Popen[bytes], asked: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
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
