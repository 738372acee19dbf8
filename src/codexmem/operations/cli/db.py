"""`codexmem db`: the store's schema."""

from collections.abc import Mapping

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
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
    """Compare the store's schema with what this program needs; exit 6 if they differ."""
    from codexmem.kernel.store import inspection

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
