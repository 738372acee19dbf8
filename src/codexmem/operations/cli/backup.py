"""`codexmem backup` and `codexmem restore`: the whole store to and from a folder."""

from pathlib import Path

import click

from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.progress import bar
from codexmem.console.store import chosen, store_options, transfer_of


@click.command("backup", cls=Command, key="backup")
@option("--to", "to", type=click.Path(path_type=Path), metavar="DIR", key="backup.to")
@store_options
def backup(to: Path | None, data_dir: str | None, database_url: str | None) -> None:
    """Copy the store, also while a server runs."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    with bar(say("backup.copying")) as progress:
        made = transfer_of(settings).backup(to.absolute() if to else None, progress=progress)
    manifest = made.manifest
    output = current()
    output.result(
        {
            "path": str(made.folder), "engine": manifest.engine, "schema": manifest.schema, "size": manifest.size,
            "sha256": manifest.sha256, "created_ms": manifest.created_ms, "counts": manifest.counts,
        },
        str(made.folder),
    )  # fmt: skip
    output.note(say("backup.done", memories=manifest.counts.get("memories", 0), size=_size(manifest.size)), good=True)
    output.note(say("backup.next", path=made.folder))


@click.command("restore", cls=Command, key="restore")
@click.argument("path", type=click.Path(path_type=Path), metavar="PATH")
@option("--yes", is_flag=True, key="option.yes")
@option("--dry-run", is_flag=True, key="restore.dry_run")
@store_options
def restore(path: Path, yes: bool, dry_run: bool, data_dir: str | None, database_url: str | None) -> None:
    """Replace the store by a backup."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    output = current()
    transfer = transfer_of(settings)
    found = transfer.verify(path.absolute())
    memories = found.manifest.counts.get("memories", 0)
    target = settings.shown("database_url")
    document = {"backup": str(found.folder), "store": target, "memories": memories, "schema": found.manifest.schema}
    if dry_run:
        output.result(document | {"restored": False}, say("restore.would", path=found.folder, store=target))
        return
    if not yes:
        _confirm(say("restore.confirm", store=target, memories=memories), output.may_ask)
    with bar(say("restore.keeping")) as progress:
        done = transfer.restore(path.absolute(), progress=progress)
    output.result(
        document | {"restored": True, "kept": str(done.kept) if done.kept else None, "schema": done.schema},
        str(found.folder),
    )
    output.note(say("restore.done", memories=memories), good=True)
    if done.kept:
        output.note(say("restore.kept", path=done.kept))


def _confirm(question: str, may_ask: bool) -> None:
    if not may_ask:
        raise UsageProblem(say("usage.needs_yes"), hint=say("usage.add_yes"))
    if not click.confirm(question, default=False, err=True):
        raise click.Abort


def _size(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
