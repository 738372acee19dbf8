"""`codexmem key`: who may call a server that is not on loopback or not one developer's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.store import chosen, store_options, tenant_of
from codexmem.settings import Settings

if TYPE_CHECKING:
    from codexmem.operations.keys import Keys


@click.group("key", cls=Group, key="key", no_args_is_help=True)
def key() -> None:
    """API keys."""


@key.command("create", cls=Command, key="key.create")
@option("--tenant", metavar="TENANT", key="key.tenant")
@option("--label", required=True, metavar="LABEL", key="key.label")
@store_options
def create(tenant: str | None, label: str, data_dir: str | None, database_url: str | None) -> None:
    """Make a key and print its secret, once."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    with _keys(settings) as keys:
        made = keys.create(whose, label)
    output = current()
    output.result(
        {"id": made.key.id, "tenant": made.key.tenant, "label": made.key.label, "secret": made.secret}, made.secret
    )
    output.note(say("key.created", id=made.key.id, tenant=made.key.tenant), good=True)


@key.command("ls", cls=Command, key="key.ls")
@option("--tenant", metavar="TENANT", key="key.tenant")
@store_options
def ls(tenant: str | None, data_dir: str | None, database_url: str | None) -> None:
    """List a tenant's keys."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    with _keys(settings) as keys:
        found = keys.list(whose)
    document = [
        {"id": k.id, "tenant": k.tenant, "label": k.label, "created_ms": k.created_ms, "revoked_ms": k.revoked_ms}
        for k in found
    ]
    rows = [
        [k.id, k.label, _day(k.created_ms), say("key.living") if k.revoked_ms is None else say("key.revoked_state")]
        for k in found
    ]
    current().result({"keys": document}, table(rows) if rows else "")
    if not rows:
        current().note(say("key.none"))


@key.command("revoke", cls=Command, key="key.revoke")
@click.argument("id", metavar="ID")
@option("--tenant", metavar="TENANT", key="key.tenant")
@store_options
def revoke(id: str, tenant: str | None, data_dir: str | None, database_url: str | None) -> None:
    """End a key's life."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    with _keys(settings) as keys:
        keys.revoke(whose, id)
    current().result({"id": id, "revoked": True}, id)
    current().note(say("key.revoked", id=id), good=True)


@contextmanager
def _keys(settings: Settings) -> Iterator["Keys"]:
    from codexmem.app import open_core

    core = open_core(settings)
    try:
        yield core.keys
    finally:
        core.close()


def _day(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M}Z"
