"""`codexmem block`: a project's standing rules, in a file that agents read, written and taken out again to the byte."""

import os
import stat
from pathlib import Path
from typing import Any

import click

from codexmem.client import files
from codexmem.console.backend import backend
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.own_project import own_project
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import one_line, printable
from codexmem.kernel.model.errors import Conflict
from codexmem.recall.agent_block import BlockDamage, DamagedFile, block_text, with_block, without_block
from codexmem.recall.agent_file_discovery import checkout_of

_LARGEST = 1 << 20  # bytes of a file
_NEW_MODE = 0o644  # a checkout is for everybody who has it
_DAMAGES = {
    BlockDamage.UNCLOSED: ("block.unclosed", "block.damaged_hint"),
    BlockDamage.UNOPENED: ("block.unopened", "block.damaged_hint"),
    BlockDamage.TWICE: ("block.twice", "block.damaged_hint"),
    BlockDamage.MARK: ("block.mark", "block.damaged_hint"),
    BlockDamage.FENCE: ("block.fence", "block.open_hint"),
    BlockDamage.COMMENT: ("block.comment", "block.open_hint"),
    BlockDamage.BINARY: ("block.binary", "block.other_file"),
}


class _Refused(Conflict):
    """The file is left alone; its text comes from the catalogue."""

    spoken = True


@click.command("block", cls=Command, key="block")
@click.argument("path", type=click.Path(path_type=Path), metavar="[PATH]", default=None, required=False)
@option("--file", "name", metavar="FILE", default="AGENTS.md", key="block.file")
@option("--write", is_flag=True, key="block.write")
@option("--remove", is_flag=True, key="block.remove")
@option("--check", is_flag=True, key="block.check")
@option("--project", metavar="PROJECT", key="block.project")
@tenant_option
@store_options
def block(
    path: Path | None, name: str, write: bool, remove: bool, check: bool, project: str | None, **where: Any
) -> None:
    """Keep standing rules in a file that agents read."""
    if write + remove + check > 1:
        raise UsageProblem(say("block.one"), hint=say("usage.see_help", command="codexmem block"))
    root = checkout_of((path or Path.cwd()).expanduser()).root
    file = _file(root, name)
    before = files.read(file)
    shown = str(file)
    try:
        if remove:
            after = without_block(before) if before is not None else None
            _replace(file, before, after)
            _tell(_outcome(before, after, "block.removed", "block.none"), shown, root, changed=before != after)
            return
        lines = _lines(project or own_project(root), where)
        after = with_block(before, lines) if lines else (without_block(before) if before is not None else None)
        if not (write or check):
            said = block_text(after) if lines and after is not None else ""
            current().result({"file": shown, "lines": lines, "current": before == after}, printable(said))
            if not lines:
                current().note(say("block.nothing", project=one_line(project or own_project(root))))
            return
    except DamagedFile as damaged:
        key, hint = _DAMAGES[damaged.damage]
        raise _Refused(say(key, file=one_line(shown), line=damaged.line), hint=say(hint)) from None
    if check:
        _check(shown, before == after)
        return
    _replace(file, before, after)
    if not lines:
        current().note(say("block.nothing", project=one_line(project or own_project(root))))
    key = "block.written" if lines else "block.removed"
    _tell(
        _outcome(before, after, key, "block.current" if lines else "block.none"), shown, root, changed=before != after
    )


def _lines(project: str, where: dict[str, Any]) -> list[str]:
    with backend(**where) as store:
        return list(store.get("/api/context/block", project=project)["lines"])


def _file(root: Path, name: str) -> Path:
    """The file itself, behind links that stay inside; refused if it is elsewhere."""
    path = Path(os.path.realpath(root / name))
    if not path.is_relative_to(root.resolve()) or path == root or ".git" in path.relative_to(root.resolve()).parts:
        raise _Refused(
            say("block.outside", file=one_line(name), root=one_line(str(root))), hint=say("block.outside_hint")
        )
    try:
        looked = path.stat()
    except FileNotFoundError:
        if path.parent.is_dir():
            return path
        raise _Refused(
            say("block.no_folder", folder=one_line(str(path.parent))), hint=say("block.other_file")
        ) from None
    if not stat.S_ISREG(looked.st_mode):
        raise _Refused(say("block.no_file", file=one_line(str(path))), hint=say("block.other_file"))
    if looked.st_size > _LARGEST:
        raise _Refused(say("block.large", file=one_line(str(path))), hint=say("block.other_file"))
    return path


def _replace(file: Path, before: bytes | None, after: bytes | None) -> None:
    try:
        if after is None and before is not None:
            files.remove(file, before)
        elif after is not None and after != before:
            files.replace(file, before, after, new_mode=_NEW_MODE)
    except files.StaleFile:
        raise _Refused(say("block.stale", file=one_line(str(file))), hint=say("block.stale_hint")) from None


def _outcome(before: bytes | None, after: bytes | None, changed: str, same: str) -> str:
    if before == after:
        return same
    return "block.deleted" if after is None else changed


def _tell(key: str, shown: str, root: Path, *, changed: bool) -> None:
    current().result({"file": shown, "root": str(root), "changed": changed})
    current().note(say(key, file=one_line(shown)), good=True if changed else None)


def _check(shown: str, is_current: bool) -> None:
    output = current()
    output.result({"file": shown, "current": is_current})
    if is_current:
        output.note(say("block.current", file=one_line(shown)), good=True)
        return
    output.note(say("block.old", file=one_line(shown)), good=False)
    output.note(say("block.old_next"))
    click.get_current_context().exit(1)
