"""`codexmem key`: who may call a server that is not on loopback or not one developer's own."""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.store import chosen, store_options, tenant_of
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.model.visibility import Visibility
from codexmem.settings import Settings

if TYPE_CHECKING:
    from codexmem.operations.key_store import ApiKey
    from codexmem.operations.keys import Keys, NewKey

_DAY_MS, _HOUR_MS = 86_400_000, 3_600_000


@click.group("key", cls=Group, key="key", no_args_is_help=True)
def key() -> None:
    """API keys."""


@key.command("create", cls=Command, key="key.create")
@option("--tenant", metavar="TENANT", key="key.tenant")
@option("--label", required=True, metavar="LABEL", key="key.label")
@option(
    "--role", type=click.Choice([role.value for role in TenantRole]), default=TenantRole.ADMIN.value, key="key.role"
)
@option("--member", metavar="NAME", key="key.member")
@option("--visibility", type=click.Choice([each.value for each in Visibility]), key="key.visibility")
@option("--days", type=click.IntRange(1, 36_500), metavar="N", key="key.days")
@store_options
def create(tenant: str | None, label: str, role: str, member: str | None, visibility: str | None, days: int | None,
           data_dir: str | None, database_url: str | None) -> None:  # fmt: skip
    """Make a key and print its secret, once."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    lifetime_ms = days * _DAY_MS if days is not None else None
    with opened_keys(settings) as keys:
        made = keys.create(
            whose, label, role=TenantRole(role), lifetime_ms=lifetime_ms, member=member,
            visibility=Visibility(visibility) if visibility is not None else None, by=login(),
        )  # fmt: skip
    _tell(made)


@key.command("rotate", cls=Command, key="key.rotate")
@click.argument("id", metavar="ID")
@option("--overlap-hours", "hours", type=click.IntRange(0, 8_760), default=24, metavar="N", key="key.overlap")
@option("--tenant", metavar="TENANT", key="key.tenant")
@store_options
def rotate(id: str, hours: int, tenant: str | None, data_dir: str | None, database_url: str | None) -> None:
    """Make a key in the place of another one, which works on for a while."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    with opened_keys(settings) as keys:
        made = keys.rotate(whose, id, overlap_ms=hours * _HOUR_MS, by=login())
    _tell(made)
    current().note(say("key.rotated", id=id, hours=hours))


@key.command("ls", cls=Command, key="key.ls")
@option("--tenant", metavar="TENANT", key="key.tenant")
@store_options
def ls(tenant: str | None, data_dir: str | None, database_url: str | None) -> None:
    """List a tenant's keys."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    whose = tenant_of(settings, tenant)
    with opened_keys(settings) as keys:
        found = keys.list(whose)
    now_ms = SystemClock().now_ms()
    rows = [
        [each.id, each.label, each.role.value, day(each.created_ms), _state(each, now_ms),
         say("key.used", day=day(each.used_ms)) if each.used_ms is not None else say("key.not_used")]
        for each in found
    ]  # fmt: skip
    current().result({"keys": [_document(each) for each in found]}, table(rows) if rows else "")
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
    with opened_keys(settings) as keys:
        keys.revoke(whose, id, by=login())
    current().result({"id": id, "revoked": True}, id)
    current().note(say("key.revoked", id=id), good=True)


@contextmanager
def opened_keys(settings: Settings) -> Iterator["Keys"]:
    """The keys and people of a store."""
    from codexmem.app import open_core

    core = open_core(settings)
    try:
        yield core.keys
    finally:
        core.close()


def _tell(made: "NewKey") -> None:
    output = current()
    output.result({**_document(made.key), "secret": made.secret}, made.secret)
    output.note(say("key.created", id=made.key.id, tenant=made.key.tenant), good=True)


def _document(each: "ApiKey") -> dict[str, object]:
    return {
        "id": each.id, "tenant": each.tenant, "label": each.label, "role": each.role.value,
        "created_ms": each.created_ms, "expires_ms": each.expires_ms, "revoked_ms": each.revoked_ms,
        "used_ms": each.used_ms, "member": each.member,
        "visibility": each.visibility.value if each.visibility is not None else None,
    }  # fmt: skip


def _state(each: "ApiKey", now_ms: int) -> str:
    if each.revoked_ms is not None:
        return say("key.revoked_state")
    if each.expires_ms is None:
        return say("key.living")
    return say("key.until" if each.is_valid(now_ms) else "key.expired", day=day(each.expires_ms))


def login() -> str:
    """Who runs the command, for the log."""
    try:
        return f"cli:{pwd.getpwuid(os.geteuid()).pw_name}"
    except KeyError:
        return f"cli:{os.geteuid()}"


def day(ms: int) -> str:
    """A moment as lists show it."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M}Z"
