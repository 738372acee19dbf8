"""`codexmem db`: the store's schema.

`codexmem backup` and `codexmem restore`: the whole store to and from a folder.
"""

from collections.abc import Mapping
from pathlib import Path

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.progress import bar
from codexmem.console.store import chosen, store_options, transfer_of
from codexmem.kernel.model.errors import NotReady


@click.group("db", cls=Group, key="db", no_args_is_help=True)
def db() -> None:
    """The schema."""


@db.command("upgrade", cls=Command, key="db.upgrade")
@option("--wait", metavar="SECONDS", type=click.FloatRange(0, 3600), default=60.0, key="db.upgrade.wait")
@store_options
def upgrade(wait: float, data_dir: str | None, database_url: str | None) -> None:
    """Bring the schema up to date."""
    from codexmem.kernel.store import inspection
    from codexmem.kernel.store.opening import Upgraded, open_database, upgrade_telling

    settings = chosen(data_dir=data_dir, database_url=database_url)
    output = current()
    before = inspection.schema(settings.direct_url)
    if settings.on_postgres:
        done = upgrade_telling(settings.direct_url, wait_s=wait, tell=_tell)
    else:
        transfer_of(settings).before_upgrade()
        # Opening takes the owner's lock first: two programs must not migrate one file.
        open_database(settings.database_url).close()
        done = Upgraded(before, inspection.expected_schema())
    facts = {"before": before, "after": done.after, "changed": before != done.after or done.vectors_made}
    if settings.on_postgres:
        facts |= {"vectors": not done.vectors_problem, "problem": done.vectors_problem or None}
    output.result(facts, done.after)
    if before != done.after:
        output.note(say("db.upgraded", before=before or "-", after=done.after))
    elif not done.vectors_made:
        output.note(say("db.current"))
    if done.vectors_made:
        output.note(say("db.vectors_made"))
    if done.vectors_problem:
        output.note(say("db.vectors_none", problem=done.vectors_problem), good=False)
        output.note(say("db.vectors_how", hint=done.hint), good=False)


_HAPPENING = {"step": "db.upgrade_step", "locked": "db.upgrade_locked", "in_use": "db.upgrade_in_use"}


def _tell(what: str, facts: Mapping[str, object]) -> None:
    current().note(say(_HAPPENING[what], **facts))


@db.command("status", cls=Command, key="db.status")
@store_options
def status(data_dir: str | None, database_url: str | None) -> None:
    """Compare the store's schema with what this program needs; exit 6 if it cannot work with it."""
    from codexmem.kernel.store import inspection

    settings = chosen(data_dir=data_dir, database_url=database_url)
    have, want = inspection.schema(settings.database_url), inspection.expected_schema()
    fit = inspection.is_fit(settings.database_url)
    if have is not None and have > want and not fit:
        raise NotReady(
            f"the store was written by a newer codexmem (schema {have})",
            hint="upgrade codexmem",
            details={"reason": "store_newer", "schema": have},
        )
    current().result(
        {"schema": have, "expected": want, "current": fit, "store": settings.shown("database_url")},
        say("db.status_text", have=have or "-", want=want),
    )
    if fit and have != want:
        current().note(say("db.status_ahead"))
    if not fit:
        current().note(say("db.run_upgrade"), good=False)
        click.get_current_context().exit(6)


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
