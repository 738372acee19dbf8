"""`codexmem index`: how far the vectors are, and what only an operator does to them.

Servers and workers keep the indexes up to date by themselves; nothing here is needed day by day.
"""

from typing import TYPE_CHECKING

import click

from codexmem.console.backend import opened
from codexmem.console.command import Command, Group, current
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.progress import Progress, bar
from codexmem.console.store import chosen, store_options, tenant_of, tenant_option
from codexmem.kernel.model.errors import InvalidArgument, NotFound, Unavailable

if TYPE_CHECKING:
    from codexmem.app import Core
    from codexmem.kernel.search.indexer import Caught, VectorIndexStatus


@click.group("index", cls=Group, key="index", no_args_is_help=True)
def index() -> None:
    """The vectors."""


@index.command("status", cls=Command, key="index.status")
@tenant_option
@store_options
def status(tenant: str | None, data_dir: str | None, database_url: str | None) -> None:
    """Say how far the vectors are."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    from codexmem.app import open_reading
    from codexmem.kernel.model.visibility import as_server
    from codexmem.kernel.search.indexer import told
    from codexmem.kernel.store.database import acting_as

    reading = open_reading(settings)
    try:
        with acting_as(whose), as_server():
            found = reading.indexing.status()
    finally:
        reading.close()
    output = current()
    output.result(told(found), table(_rows(found)))
    for note in found.notes:
        output.note(note, good=False)
    if found.model is None:
        output.note(say("index.no_embedder"))
    elif found.waiting:
        output.note(say("index.found_by_words"))


def _rows(found: "VectorIndexStatus") -> list[list[str]]:
    model = found.model or say("index.none")
    if found.model is not None and found.dimension is not None:
        model = say("index.model", model=found.model, dimension=found.dimension)
    rows = [[say("index.row_backend"), found.backend], [say("index.row_model"), model]]
    for name, count in found.indexed.items():
        told = say("index.silent") if count is None else f"{count:,}"
        rows.append([say("index.row_indexed", index=name), told])
    if found.model is not None:
        rows.append([say("index.row_waiting"), f"{found.waiting:,}"])
        rows.append([say("index.row_complete"), say("index.yes") if found.complete else say("index.no")])
    if found.former:
        rows.append([say("index.row_former"), ", ".join(found.former)])
    return rows


@index.command("rebuild", cls=Command, key="index.rebuild")
@tenant_option
@store_options
def rebuild(tenant: str | None, data_dir: str | None, database_url: str | None) -> None:
    """Make every vector of the present model anew: here on SQLite, by the workers on PostgreSQL."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    output = current()
    with opened(settings, whose, create=True) as core:
        model = core.indexing.status().model
        core.indexing.rebuild()
        if settings.on_postgres:
            # The note that `rebuild` leaves would be read by a thread of a server; this process has none.
            core.indexing.wake(whose)
            output.result({"queued": True, "model": model}, model or say("index.none"))
            output.note(say("index.queued"), good=True)
            return
        with bar(say("index.rebuilding")) as progress:
            done = _caught_up(core, progress)
        count = max((each or 0 for each in core.indexing.status().indexed.values()), default=0)
    output.result(
        {
            "queued": False, "model": model, "indexed": count, "worded": done.worded, "embedded": done.embedded,
            "refused": done.refused, "forgotten": done.forgotten,
        },
        model or say("index.none"),
    )  # fmt: skip
    if model is None:
        output.note(say("index.no_embedder"))
        return
    output.note(say("index.rebuilt", count=f"{count:,}"), good=True)
    if done.refused:
        output.note(say("index.refused", count=f"{done.refused:,}"), good=False)


def _caught_up(core: "Core", progress: Progress) -> "Caught":
    from codexmem.kernel.store.index_backlog import CatchingUp

    backlog = CatchingUp(core.db)
    last = backlog.last()

    def proceed() -> None:
        at = [target.position for target in backlog.targets() if not target.complete and target.redo]
        if at:
            progress(at[0], last)

    done = core.indexer.catch_up(proceed)
    progress(1, 1)
    return done


@index.command("approximate", cls=Command, key="index.approximate")
@tenant_option
@store_options
def approximate(tenant: str | None, data_dir: str | None, database_url: str | None) -> None:
    """Build the PostgreSQL index for scopes that are too large to compare whole."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    if not settings.on_postgres:
        raise InvalidArgument(
            "SQLite has no such index and needs none",
            hint="it is for PostgreSQL: name the store with --database-url",
            details={"reason": "approximate_on_sqlite"},
        )
    whose = tenant_of(settings, tenant)
    from codexmem.app import embedder_of
    from codexmem.kernel.store.opening import build_approximate_index

    embedder = embedder_of(settings)
    if embedder is None:
        raise Unavailable(
            "no embedder is configured, so there is nothing to index",
            hint="set CODEXMEM_EMBEDDER to what the servers use; for details run codexmem doctor",
            details={"reason": "no_embedder"},
        )
    model = embedder.model
    output = current()
    output.note(say("index.building", model=model, tenant=whose))
    name = build_approximate_index(settings.direct_url, whose, model)
    if name is None:
        raise NotFound(
            f"tenant {whose} has no vectors of {model}",
            hint="let a server or worker index them first: codexmem index status",
            details={"reason": "no_vectors", "tenant": whose, "model": model},
        )
    output.result({"index": name, "tenant": whose, "model": model}, name)
    output.note(say("index.built"), good=True)
