"""What the environment says about the terminal: language, colour, and whether a person sits before it."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from codexmem.kernel.model.errors import CodexmemError
from codexmem.settings.sources import load
from codexmem.settings.table import PREFIX

# What agents set in the shells that they start. Variables that people set for themselves, such as CODEX_HOME, are none.
_AGENTS = (
    "CLAUDECODE", "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "GEMINI_CLI",
    "QWEN_CODE", "OPENCODE", "CURSOR_AGENT", "CLINE_ACTIVE", "AI_AGENT", f"{PREFIX}AUTHOR",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the environment says about the terminal and the person before it."""

    language: str  # en or zh
    no_color: bool
    force_color: bool
    dumb: bool


def terminal(flag: str | None = None, environ: Mapping[str, str] | None = None) -> Terminal:
    """Language and colour. Never fails: a broken settings file is reported by the command, in some language."""
    environ = os.environ if environ is None else environ
    wanted = flag or environ.get(f"{PREFIX}LANG") or "auto"
    if wanted == "auto" and not flag:
        try:
            wanted = load({}, environ).lang
        except (CodexmemError, OSError):
            wanted = "auto"
    if wanted not in {"en", "zh"}:
        locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
        wanted = "zh" if locale.lower().startswith("zh") else "en"
    return Terminal(
        wanted, bool(environ.get("NO_COLOR")), bool(environ.get("FORCE_COLOR")), environ.get("TERM") == "dumb"
    )


def is_person(environ: Mapping[str, str] | None = None) -> bool:
    """Whether a person types this command: there is a terminal, and no agent started the shell.

    A script, a timer and a hook of git are not a person, because nobody reads what they write before it is kept.
    """
    environ = os.environ if environ is None else environ
    if any(environ.get(name, "") not in {"", "0"} for name in _AGENTS):
        return False
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
