"""`codexmem sync`: memories of a project as files of its repository, by hand, by a hook or by a watcher.

git hooks that take edits of files into the memory after a commit, a merge, a rebase and a checkout.

They are written only where a person asks for them, marked as ours, and taken out again without a trace. A hook of
somebody else is left as it is. They write no files: a checkout that changes under git's hands would get in its way.
"""

import json
import os
import shlex
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import click

from codexmem.console.backend import Answer, Backend, backend
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.store import StoreFlags, chosen, store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.kernel.model import project as projects
from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument, NotFound
from codexmem.sync.cli.checkout_history import CheckoutHistory, text_of
from codexmem.sync.cli.ledger import Ledger, ledger_of
from codexmem.sync.cli.passes import SyncPass, SyncSummary, SyncWish
from codexmem.sync.cli.tree import MemoryFolder
from codexmem.sync.model import Outcome

HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
_MARK = "# made by codexmem sync --install-hook; codexmem sync --remove-hook takes it out"


@dataclass(frozen=True, slots=True)
class HookChange:
    """What became of the hooks."""

    changed: tuple[str, ...]
    foreign: tuple[str, ...]  # somebody else's, left as they are
    line: str  # what to add to those by hand


def install_hooks(git: CheckoutHistory, folder: str) -> HookChange:
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


def remove_hooks(git: CheckoutHistory) -> HookChange:
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


FOLDER = ".codexmem/memory"
_LOOKS_EVERY_S = 1.0  # at the files, while watching
_ASKS_EVERY = 10  # looks between two questions to the store
_REASONS = {
    "link": "sync.problem_link", "large": "sync.problem_large", "encoding": "sync.problem_encoding",
    "long": "sync.problem_long", "full": "sync.problem_full",
}  # fmt: skip
_OUTCOMES = {
    Outcome.CREATED: "sync.created", Outcome.TAKEN: "sync.taken", Outcome.MERGED: "sync.merged",
    Outcome.REVIVED: "sync.revived", Outcome.DELETED: "sync.deleted", Outcome.UPDATED: "sync.updated",
    Outcome.RESTORED: "sync.restored", Outcome.REMOVED: "sync.removed", Outcome.CONFLICT: "sync.conflict",
    Outcome.REFUSED: "sync.refused",
}  # fmt: skip


@click.command("sync", cls=Command, key="sync")
@click.argument("path", type=click.Path(path_type=Path), default=Path(), metavar="[PATH]")
@option("--folder", default=FOLDER, metavar="FOLDER", key="sync.folder")
@option("--project", metavar="PROJECT", key="sync.project")
@option("--check", is_flag=True, key="sync.check")
@option("--dry-run", is_flag=True, key="sync.dry_run")
@option("--take-in", is_flag=True, key="sync.take_in")
@option("--watch", is_flag=True, key="sync.watch")
@option("--resolve", type=click.Choice(["file", "memory"]), default=None, key="sync.resolve")
@option("--lessons", is_flag=True, key="sync.lessons")
@option("--export", "export_to", type=click.Path(path_type=Path), metavar="DIR", key="sync.export")
@option("--import", "import_from", type=click.Path(path_type=Path), metavar="DIR", key="sync.import")
@option("--install-hook", is_flag=True, key="sync.install_hook")
@option("--remove-hook", is_flag=True, key="sync.remove_hook")
@option("--yes", is_flag=True, key="sync.yes")
@tenant_option
@store_options
def sync(path: Path, folder: str, project: str | None, check: bool, dry_run: bool, take_in: bool, watch: bool,
         resolve: str | None, lessons: bool, export_to: Path | None, import_from: Path | None, install_hook: bool,
         remove_hook: bool, yes: bool, **where: Unpack[StoreFlags]) -> None:  # fmt: skip
    """Keep notes, approved answers and lessons as files of the repository."""
    modes = [
        check or dry_run,
        take_in,
        watch,
        export_to is not None,
        import_from is not None,
        install_hook,
        remove_hook,
    ]
    if sum(map(bool, modes)) > 1:
        command = click.get_current_context().command_path
        raise UsageProblem(say("sync.one_mode"), hint=say("usage.see_help", command=command))
    here = path.expanduser().resolve()
    if not here.is_dir():
        raise NotFound(f"{here} is no folder", hint="name a folder of the checkout")
    git = CheckoutHistory.around(here)
    if install_hook or remove_hook:
        _hooks(git, folder, install_hook)
        return
    wish = SyncWish(
        project if project is not None else projects.identity(str(here), text_of),
        write_files=import_from is None and not take_in, dry_run=dry_run or check, lessons=lessons,
        resolve=resolve or "", many_deletions=yes,
    )  # fmt: skip
    root = Path(git.root) if git is not None else here
    if export_to is not None or import_from is not None:
        _transfer(export_to, import_from, wish, where)
    elif watch:
        _watch(root, folder, wish, where)
    elif not (take_in and (not MemoryFolder(root, folder).exists() or (git is not None and git.rebasing))):
        _tell(_synced(root, folder, wish, where, check=check), wish, check=check)


def _synced(root: Path, folder: str, wish: SyncWish, where: StoreFlags, *, check: bool = False) -> SyncSummary:
    settings = chosen(data_dir=where["data_dir"], database_url=where["database_url"])
    names = (str(root), folder, settings.url or settings.database_url, where["tenant"] or "", wish.project)
    place, git = MemoryFolder(root, folder), CheckoutHistory.around(root)
    try:
        with (
            backend(write=not wish.dry_run, create=not wish.dry_run, **where) as store,
            ledger_of(settings.data_dir, *names) as ledger,
        ):
            return SyncPass(store, place, ledger, git, wish).run()
    except NotFound as error:
        if not check or error.details.get("reason") != "no_store":
            raise
    # Where nothing is remembered, as in CI, the files alone are looked at.
    return SyncPass(_FilesAlone(), place, Ledger(), None, wish).run()


class _FilesAlone(Backend):
    """A store that agrees with whatever it is told."""

    def _answer(self, method: str, target: str, body: bytes | None, timeout_s: float | None) -> tuple[int, Answer]:
        if method == "GET":
            return 200, {"items": [], "withheld": 0, "next_cursor": None, "has_more": False}
        files = json.loads(body or b"{}")["files"]
        same = {"outcome": "same", "memory": "", "version": 0, "digest": "gone", "text": None, "reason": ""}
        return 200, {"results": [{"path": each["path"], **same} for each in files], "delta": None}


def _transfer(export_to: Path | None, import_from: Path | None, wish: SyncWish, where: StoreFlags) -> None:
    """The whole project as one folder, out of the store or into it; nothing is noted about it."""
    root = (export_to or import_from or Path()).expanduser().absolute()
    if export_to is not None:
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise InvalidArgument(
                f"{root} is not empty",
                hint="name a new folder",
                details={"reason": "sync_not_empty", "path": str(root)},
            )
    elif not root.is_dir():
        raise NotFound(f"{root} is no folder", hint="name a folder that was exported")
    with backend(write=True, create=import_from is not None, **where) as store:
        _tell(SyncPass(store, MemoryFolder(root, ""), Ledger(), None, wish).run(), wish)


def _watch(root: Path, folder: str, wish: SyncWish, where: StoreFlags) -> None:
    place, output = MemoryFolder(root, folder), current()
    output.note(say("sync.watching", folder=str(place.path)))
    seen: int | None = None
    looks, pause = 0, threading.Event()
    while True:
        stamp = place.stamp()
        git = CheckoutHistory.around(root)
        if (stamp != seen or looks % _ASKS_EVERY == 0) and not (git is not None and git.rebasing):
            try:
                summary = _synced(root, folder, wish, where)
                if summary.lines:
                    output.result(_document(summary, wish), _lines(summary))
            except CodexmemError as error:
                output.failure(error)
            seen = place.stamp()
        looks += 1
        pause.wait(_LOOKS_EVERY_S)


def _hooks(git: CheckoutHistory | None, folder: str, install: bool) -> None:
    if git is None:
        raise NotFound("this is no git repository", hint="run it inside one", details={"reason": "sync_no_git"})
    change = install_hooks(git, folder) if install else remove_hooks(git)
    output = current()
    document = {"changed": list(change.changed), "foreign": list(change.foreign), "line": change.line}
    output.result(document, "\n".join(change.changed))
    if change.foreign:
        output.note(say("sync.foreign_hooks", names=", ".join(change.foreign), line=change.line), good=False)
        click.get_current_context().exit(1)
    output.note(say("sync.hooks_installed" if install else "sync.hooks_removed"), good=True)


def _tell(summary: SyncSummary, wish: SyncWish, *, check: bool = False) -> None:
    output = current()
    output.result(_document(summary, wish), _lines(summary))
    for count, key in (
        (summary.absent, "sync.absent"), (summary.withheld, "sync.withheld"), (summary.busy, "sync.busy"),
    ):  # fmt: skip
        if count:
            output.note(say(key, count=f"{count:,}"), good=False)
    counts = summary.counts()
    if counts[Outcome.CONFLICT]:
        output.note(say("sync.how_to_resolve"), good=False)
    if summary.delta is not None:
        output.note(say("sync.undo", command=f"codexmem undo {summary.delta}"))
    failed = bool(summary.troubled) or summary.busy > 0 or (check and bool(summary.lines))
    output.note(
        say("sync.not_in_step" if failed or (wish.dry_run and summary.lines) else "sync.in_step"), good=not failed
    )
    if failed:
        click.get_current_context().exit(1)


def _document(summary: SyncSummary, wish: SyncWish) -> dict[str, object]:
    files = [
        {"path": each.path, "outcome": each.outcome.value, "cause": each.cause, "reason": each.reason}
        for each in summary.lines
    ]
    return {
        "project": wish.project, "dry_run": wish.dry_run, "files": files, "same": summary.same,
        "absent": summary.absent, "withheld": summary.withheld, "busy": summary.busy, "delta": summary.delta,
    }  # fmt: skip


def _lines(summary: SyncSummary) -> str:
    if not summary.lines:
        return ""
    rows = [
        (say(_OUTCOMES[each.outcome]), one_line(each.path), _because(each.reason, each.cause)) for each in summary.lines
    ]
    return table(rows)


def _because(reason: str, cause: str) -> str:
    if reason:
        return say(_REASONS[reason]) if reason in _REASONS else one_line(reason)
    word, _, rest = cause.partition(" ")
    return f"{word} {rest[:12]}" if word == "commit" else ""
