"""git hooks that take edits of files into the memory after a commit, a merge, a rebase and a checkout.

They are written only where a person asks for them, marked as ours, and taken out again without a trace. A hook of
somebody else is left as it is. They write no files: a checkout that changes under git's hands would get in its way.
"""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model.errors import Conflict, NotFound
from codexmem.sync.cli.checkout_history import CheckoutHistory, text_of

HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
_MARK = "# made by codexmem sync --install-hook; codexmem sync --remove-hook takes it out"


@dataclass(frozen=True, slots=True)
class HookChange:
    """What became of the hooks."""

    changed: tuple[str, ...]
    foreign: tuple[str, ...]  # somebody else's, left as they are
    line: str  # what to add to those by hand


def install(git: CheckoutHistory, folder: str) -> HookChange:
    """Write our hooks; those of others stay."""
    place = _place(git)
    place.mkdir(exist_ok=True)
    line = f"command -v codexmem >/dev/null 2>&1 && codexmem sync --take-in --quiet --folder {shlex.quote(folder)} || :"
    changed, foreign = [], []
    for name in HOOKS:
        text, path = f"#!/bin/sh\n{_MARK}\n{line}\n", place / name
        if path.is_symlink() or (path.exists() and _MARK not in (text_of(str(path)) or "")):
            foreign.append(name)
        elif text_of(str(path)) != text:
            partial = place / f".{name}.codexmem"
            partial.write_text(text, encoding="utf-8")
            partial.chmod(0o755)
            os.replace(partial, path)  # noqa: PTH105
            changed.append(name)
    return HookChange(tuple(changed), tuple(foreign), line)


def remove(git: CheckoutHistory) -> HookChange:
    """Take our hooks out."""
    place = _place(git)
    ours = [name for name in HOOKS if not (place / name).is_symlink() and _MARK in (text_of(str(place / name)) or "")]
    for name in ours:
        (place / name).unlink()
    return HookChange(tuple(ours), (), "")


def _place(git: CheckoutHistory) -> Path:
    config = text_of(f"{git.common}/config") or ""
    if "hookspath" in config.lower():
        raise Conflict(
            "this repository keeps its hooks elsewhere (core.hooksPath)",
            hint="call codexmem sync --take-in from its post-merge, post-checkout and post-commit hooks",
            details={"reason": "sync_hooks_path"},
        )
    place = Path(git.common, "hooks")
    if not Path(git.common).is_dir() or place.is_symlink():
        raise NotFound(f"{place} is no folder of hooks", hint="run it inside a git repository")
    return place
