"""What the environment says about the terminal: language and colour."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from codexmem.kernel.model.errors import CodexmemError
from codexmem.settings.sources import load
from codexmem.settings.table import PREFIX


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
