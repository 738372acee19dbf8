"""`codexmem db`: the store's schema."""

import click

from codexmem.cli.frame import Command, Group, current
from codexmem.cli.messages import say
from codexmem.cli.store import chosen, store_options, transfer_of
from codexmem.domain.errors import NotReady


@click.group("db", cls=Group, key="db", no_args_is_help=True)
def db() -> None:
    """The schema."""


@db.command("upgrade", cls=Command, key="db.upgrade")
@store_options
def upgrade(data_dir: str | None, database_url: str | None) -> None:
    """Bring the schema up to date."""
    from codexmem.store import inspection
    from codexmem.store.opening import open_database, upgrade_store

    settings = chosen(data_dir=data_dir, database_url=database_url)
    before = inspection.schema(settings.database_url)
    if settings.on_postgres:
        _, after = upgrade_store(settings.database_url)
    else:
        transfer_of(settings).before_upgrade()
        # Opening takes the owner's lock first: two programs must not migrate one file.
        open_database(settings.database_url).close()
        after = inspection.expected_schema()
    output = current()
    output.result({"before": before, "after": after, "changed": before != after}, after)
    output.note(say("db.upgraded", before=before or "-", after=after) if before != after else say("db.current"))


@db.command("status", cls=Command, key="db.status")
@store_options
def status(data_dir: str | None, database_url: str | None) -> None:
    """Compare the store's schema with what this program needs; exit 6 if they differ."""
    from codexmem.store import inspection

    settings = chosen(data_dir=data_dir, database_url=database_url)
    have, want = inspection.schema(settings.database_url), inspection.expected_schema()
    if have is not None and have > want:
        raise NotReady(
            f"the store was written by a newer codexmem (schema {have})",
            hint="upgrade codexmem",
            details={"reason": "store_newer", "schema": have},
        )
    current().result(
        {"schema": have, "expected": want, "current": have == want, "store": settings.shown("database_url")},
        say("db.status_text", have=have or "-", want=want),
    )
    if have != want:
        current().note(say("db.run_upgrade"), good=False)
        click.get_current_context().exit(6)
