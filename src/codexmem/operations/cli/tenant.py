"""`codexmem tenant` and `codexmem cell`: whole tenants, and the clusters that they live in."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.store import chosen, store_options
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.ids import SystemClock
from codexmem.operations.cli.key import login

if TYPE_CHECKING:
    from codexmem.operations.cells import Cells
    from codexmem.operations.tenant_move import TenantMove, TenantMoved
    from codexmem.operations.tenants import Tenants

_STATES = {
    "here": "tenant.state_here",
    "arriving": "tenant.state_arriving",
    "fenced": "tenant.state_fenced",
    "moved": "tenant.state_moved",
    "gone": "tenant.state_gone",
    "erasing": "tenant.state_erasing",
}
_OUTCOMES = {"moved": "tenant.moved", "committed": "tenant.committed", "undone": "tenant.undone"}
_argument = click.argument("name", metavar="TENANT")


@click.group("tenant", cls=Group, key="tenant", no_args_is_help=True)
def tenant() -> None:
    """Whole tenants."""


@tenant.command("ls", cls=Command, key="tenant.ls")
@store_options
def ls(data_dir: str | None, database_url: str | None) -> None:
    """Tenants of this cluster."""
    found = _tenants(data_dir, database_url).list()
    rows = [[name, say(_STATES[state])] for name, state in found]
    current().result(
        {"tenants": [{"tenant": name, "state": state} for name, state in found]}, table(rows) if rows else ""
    )
    if not rows:
        current().note(say("tenant.none"))


@tenant.command("export", cls=Command, key="tenant.export")
@_argument
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@store_options
def export(name: str, path: Path, data_dir: str | None, database_url: str | None) -> None:
    """One tenant into a file."""
    made = _tenants(data_dir, database_url).export(name, path.absolute())
    current().result(
        {"path": str(path), "tenant": made.tenant, "schema": made.schema, "rows": made.rows, "sha256": made.sha256,
         "tables": {each: asdict(found) for each, found in made.tables.items()}},
        str(path),
    )  # fmt: skip
    current().note(say("tenant.exported", tenant=name, rows=made.rows), good=True)


@tenant.command("import", cls=Command, key="tenant.import")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@store_options
def take_in(path: Path, data_dir: str | None, database_url: str | None) -> None:
    """One tenant from a file."""
    made = _tenants(data_dir, database_url).take_in(path.absolute())
    current().result({"tenant": made.tenant, "rows": made.rows, "sha256": made.sha256}, made.tenant)
    current().note(say("tenant.imported", tenant=made.tenant, rows=made.rows), good=True)


@tenant.command("erase", cls=Command, key="tenant.erase")
@_argument
@option("--yes", is_flag=True, key="option.yes")
@store_options
def erase(name: str, yes: bool, data_dir: str | None, database_url: str | None) -> None:
    """Everything of one tenant, for good."""
    tenants = _tenants(data_dir, database_url)
    if not yes:
        if not current().may_ask:
            raise UsageProblem(say("usage.needs_yes"), hint=say("usage.add_yes"))
        if not click.confirm(say("tenant.erase_confirm", tenant=name), default=False, err=True):
            raise click.Abort
    done = tenants.erase(name)
    current().result({"tenant": done.tenant, "rows": done.rows, "erased": True}, done.tenant)
    current().note(say("tenant.erased", tenant=done.tenant, rows=done.rows), good=True)


@tenant.command("move", cls=Command, key="tenant.move")
@_argument
@option("--to", "to", required=True, metavar="CELL", key="tenant.move.to")
@option("--commit", is_flag=True, key="tenant.move.commit")
@option("--undo", is_flag=True, key="tenant.move.undo")
@option("--fence-seconds", type=click.IntRange(1, 3600), default=30, metavar="N", key="tenant.move.fence")
@store_options
def move(name: str, to: str, commit: bool, undo: bool, fence_seconds: int, data_dir: str | None,
         database_url: str | None) -> None:  # fmt: skip
    """To another cluster, while it is written to."""
    if commit and undo:
        raise UsageProblem(say("usage.commit_or_undo"), hint=say("usage.see_help", command="codexmem tenant move"))
    moving = _move(name, fence_seconds * 1000, data_dir, database_url)
    done: TenantMoved = moving.commit(to) if commit else moving.undo(to) if undo else moving.run(to)
    current().result(asdict(done), done.source if done.state == "undone" else done.target)
    current().note(say(_OUTCOMES[done.state], tenant=name, source=done.source, target=done.target, rows=done.rows,
                       seconds=f"{done.fenced_ms / 1000:.1f}"), good=True)  # fmt: skip
    if done.state == "moved" and done.source != done.target:
        current().note(say("tenant.moved_next", tenant=name, target=to))


@click.group("cell", cls=Group, key="cell", no_args_is_help=True)
def cell() -> None:
    """Clusters."""


@cell.command("add", cls=Command, key="cell.add")
@click.argument("name", metavar="CELL")
@option("--store", required=True, metavar="URL", key="cell.add.store")
@option("--address", required=True, metavar="URL", key="cell.add.address")
@store_options
def add(name: str, store: str, address: str, data_dir: str | None, database_url: str | None) -> None:
    """Make a cluster ready and known."""
    added = _cells(data_dir, database_url).add(name, store, address)
    cell, schema = added.cell, added.upgraded
    current().result(
        {"cell": cell.name, "address": cell.address, "tenants": cell.tenants, "schema": schema.after,
         "upgraded": schema.before != schema.after, "vectors": not schema.vectors_problem},
        cell.name,
    )  # fmt: skip
    current().note(say("cell.added", cell=cell.name, tenants=cell.tenants, schema=schema.after), good=True)
    if schema.vectors_problem:
        current().note(say("db.vectors_none", problem=schema.vectors_problem), good=False)
        current().note(say("db.vectors_how", hint=schema.hint), good=False)


@cell.command("ls", cls=Command, key="cell.ls")
@store_options
def list_cells(data_dir: str | None, database_url: str | None) -> None:
    """Clusters and where tenants live."""
    cells = _cells(data_dir, database_url)
    found, routes = cells.known(), cells.routes()
    rows = [[each.name, each.address, say("cell.tenants", count=each.tenants)] for each in found]
    current().result(
        {"cells": [{"cell": each.name, "address": each.address, "tenants": each.tenants} for each in found],
         "routes": [asdict(each) for each in routes]},
        table(rows) if rows else "",
    )  # fmt: skip
    if not rows:
        current().note(say("cell.none"))


def _url(data_dir: str | None, database_url: str | None) -> str:
    settings = chosen(data_dir=data_dir, database_url=database_url)
    if not settings.on_postgres:
        raise InvalidArgument(
            "a SQLite store has one tenant, and no clusters",
            hint="copy it with codexmem backup; for PostgreSQL give --database-url",
            details={"reason": "needs_postgres"},
        )
    return settings.direct_url


def _tenants(data_dir: str | None, database_url: str | None) -> "Tenants":
    url = _url(data_dir, database_url)
    from codexmem.operations.tenants import Tenants

    return Tenants(url, SystemClock(), by=login())


def _move(name: str, fence_ms: int, data_dir: str | None, database_url: str | None) -> "TenantMove":
    url = _url(data_dir, database_url)
    from codexmem.operations.tenant_move import TenantMove

    return TenantMove(url, name, SystemClock(), by=login(), fence_ms=fence_ms)


def _cells(data_dir: str | None, database_url: str | None) -> "Cells":
    url = _url(data_dir, database_url)
    from codexmem.operations.cells import Cells

    return Cells(url)
