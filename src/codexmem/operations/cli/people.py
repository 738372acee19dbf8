"""`codexmem member`, `group` and `grant`: who works in a tenant, and who may do what in which project."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem, table
from codexmem.console.store import chosen, store_options, tenant_of
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.model.visibility import Visibility
from codexmem.operations.cli.key import day, login, opened_keys

if TYPE_CHECKING:
    from codexmem.operations.people import People

_KINDS = {"person": "member.person", "service": "member.service_kind"}
_VISIBILITY = click.Choice([each.value for each in Visibility])
_ROLES = [role.value for role in TenantRole]


@contextmanager
def _people(tenant: str | None, where: Mapping[str, str | None]) -> Iterator[tuple["People", str]]:
    """Who may do what in a store that several people can share, and the tenant that is meant."""
    settings = chosen(**where)
    if not settings.on_postgres:
        raise InvalidArgument(
            "a SQLite store belongs to one person, so it has no members",
            hint="members need a PostgreSQL store: set CODEXMEM_DATABASE_URL or give --database-url",
            details={"reason": "members_on_sqlite"},
        )
    whose = tenant_of(settings, tenant)
    with opened_keys(settings) as keys:
        yield keys.people, whose


def _of_tenant(command: Any) -> Any:
    """`--tenant` and the flags that name the store."""
    return option("--tenant", metavar="TENANT", key="key.tenant")(store_options(command))


@click.group("member", cls=Group, key="member", no_args_is_help=True)
def member() -> None:
    """People and service accounts."""


@member.command("add", cls=Command, key="member.add")
@click.argument("name", metavar="NAME")
@option("--service", is_flag=True, key="member.service")
@option("--visibility", type=_VISIBILITY, default=Visibility.PROJECT.value, key="member.visibility")
@_of_tenant
def member_add(name: str, service: bool, visibility: str, tenant: str | None, **where: str | None) -> None:
    """Add a member, who may do nothing yet."""
    from codexmem.operations.people_store import MemberKind

    with _people(tenant, where) as (people, whose):
        kind = MemberKind.SERVICE if service else MemberKind.PERSON
        made = people.add_member(whose, name, kind, visibility=Visibility(visibility), by=login())
    current().result({"id": made.id, "name": made.name, "kind": made.kind.value}, made.name)
    current().note(say("member.added", name=made.name), good=True)


@member.command("ls", cls=Command, key="member.ls")
@_of_tenant
def member_ls(tenant: str | None, **where: str | None) -> None:
    """List members with their groups."""
    with _people(tenant, where) as (people, whose):
        found, groups = people.members(whose), people.groups(whose)
    inside = {each.name: [name for name, names in groups.items() if each.name in names] for each in found}
    documents = [
        {"id": each.id, "name": each.name, "kind": each.kind.value, "created_ms": each.created_ms,
         "disabled_ms": each.disabled_ms, "visibility": each.visibility.value, "groups": inside[each.name]}
        for each in found
    ]  # fmt: skip
    rows = [
        [each.name, say(_KINDS[each.kind.value]), ", ".join(inside[each.name]),
         say("key.living" if each.disabled_ms is None else "member.disabled_state")] for each in found
    ]  # fmt: skip
    current().result({"members": documents}, table(rows) if rows else "")
    if not rows:
        current().note(say("member.none"))


@member.command("set", cls=Command, key="member.set")
@click.argument("name", metavar="NAME")
@option("--visibility", type=_VISIBILITY, required=True, key="member.visibility")
@_of_tenant
def member_set(name: str, visibility: str, tenant: str | None, **where: str | None) -> None:
    """Say who may see what a member writes."""
    with _people(tenant, where) as (people, whose):
        people.show(whose, name, Visibility(visibility), by=login())
    _done("member.set_done", {"name": name, "visibility": visibility}, name=name, visibility=visibility)


@member.command("private", cls=Command, key="member.private")
@click.argument("name", required=False, metavar="[NAME]")
@_of_tenant
def member_private(name: str | None, tenant: str | None, **where: str | None) -> None:
    """Show that members have private memories, and nothing of them."""
    with _people(tenant, where) as (people, whose):
        if name is None:
            counts = people.private_counts(whose)
            rows = [[each, str(count)] for each, count in counts.items()]
            document: dict[str, Any] = {"members": [{"name": each, "private": n} for each, n in counts.items()]}
        else:
            found = people.private(whose, name)
            rows = [[f"#{each.seq}", each.kind.value, day(each.since_ms)] for each in found]
            items = [{"seq": each.seq, "kind": each.kind.value, "since_ms": each.since_ms} for each in found]
            document = {"name": name, "memories": items}
    current().result(document, table(rows) if rows else "")
    if not rows:
        current().note(say("member.private_none"))


@member.command("link", cls=Command, key="member.link")
@click.argument("name", metavar="NAME")
@click.argument("subject", metavar="SUBJECT")
@_of_tenant
def member_link(name: str, subject: str, tenant: str | None, **where: str | None) -> None:
    """Say who of the issuer a member is."""
    issuer = chosen(**where).oidc_issuer
    if not issuer:
        raise InvalidArgument(
            "people cannot sign in here: there is no issuer", hint="set oidc_issuer first: codexmem config list",
            details={"reason": "no_issuer"},
        )  # fmt: skip
    with _people(tenant, where) as (people, whose):
        people.link(whose, name, issuer, subject, by=login())
    _done("member.linked", {"name": name, "issuer": issuer, "subject": subject}, name=name, subject=subject)


@member.command("disable", cls=Command, key="member.disable")
@click.argument("name", metavar="NAME")
@_of_tenant
def member_disable(name: str, tenant: str | None, **where: str | None) -> None:
    """Shut out a member."""
    with _people(tenant, where) as (people, whose):
        people.disable(whose, name, by=login())
    _done("member.disabled", {"name": name, "disabled": True}, name=name)


@member.command("enable", cls=Command, key="member.enable")
@click.argument("name", metavar="NAME")
@_of_tenant
def member_enable(name: str, tenant: str | None, **where: str | None) -> None:
    """Let a member in again."""
    with _people(tenant, where) as (people, whose):
        people.enable(whose, name, by=login())
    _done("member.enabled", {"name": name, "disabled": False}, name=name)


@member.command("rm", cls=Command, key="member.rm")
@click.argument("name", metavar="NAME")
@_of_tenant
def member_rm(name: str, tenant: str | None, **where: str | None) -> None:
    """Remove a member and revoke his keys."""
    with _people(tenant, where) as (people, whose):
        people.remove_member(whose, name, by=login())
    _done("member.removed", {"name": name, "removed": True}, name=name)


@click.group("group", cls=Group, key="group", no_args_is_help=True)
def group() -> None:
    """Groups of members."""


@group.command("add", cls=Command, key="group.add")
@click.argument("name", metavar="GROUP")
@_of_tenant
def group_add(name: str, tenant: str | None, **where: str | None) -> None:
    """Add a group of nobody."""
    with _people(tenant, where) as (people, whose):
        people.add_group(whose, name, by=login())
    _done("group.added", {"name": name}, name=name)


@group.command("ls", cls=Command, key="group.ls")
@_of_tenant
def group_ls(tenant: str | None, **where: str | None) -> None:
    """List groups with their members."""
    with _people(tenant, where) as (people, whose):
        found = people.groups(whose)
    rows = [[name, ", ".join(names)] for name, names in found.items()]
    documents = [{"name": name, "members": names} for name, names in found.items()]
    current().result({"groups": documents}, table(rows) if rows else "")
    if not rows:
        current().note(say("group.none"))


@group.command("rm", cls=Command, key="group.rm")
@click.argument("name", metavar="GROUP")
@_of_tenant
def group_rm(name: str, tenant: str | None, **where: str | None) -> None:
    """Remove a group with what it was granted."""
    with _people(tenant, where) as (people, whose):
        people.remove_group(whose, name, by=login())
    _done("group.removed", {"name": name, "removed": True}, name=name)


@group.command("join", cls=Command, key="group.join")
@click.argument("name", metavar="GROUP")
@click.argument("who", metavar="MEMBER")
@_of_tenant
def group_join(name: str, who: str, tenant: str | None, **where: str | None) -> None:
    """Put a member into a group."""
    with _people(tenant, where) as (people, whose):
        people.join(whose, name, who, by=login())
    _done("group.joined", {"group": name, "member": who}, group=name, member=who)


@group.command("leave", cls=Command, key="group.leave")
@click.argument("name", metavar="GROUP")
@click.argument("who", metavar="MEMBER")
@_of_tenant
def group_leave(name: str, who: str, tenant: str | None, **where: str | None) -> None:
    """Take a member out of a group."""
    with _people(tenant, where) as (people, whose):
        people.leave(whose, name, who, by=login())
    _done("group.left", {"group": name, "member": who}, group=name, member=who)


def _of_whom(command: Any) -> Any:
    """`--member` or `--group`, and one of the ways to name projects."""
    for decorate in (
        option("--no-project", "unnamed", is_flag=True, key="grant.no_project"),
        option("--every-project", "every", is_flag=True, key="grant.every"),
        option("--project", metavar="PROJECT", key="grant.project"),
        option("--group", "of_group", metavar="GROUP", key="grant.group"),
        option("--member", "of_member", metavar="NAME", key="grant.member"),
    ):
        command = decorate(command)
    return command


@click.group("grant", cls=Group, key="grant", no_args_is_help=True)
def grant() -> None:
    """Rights by project."""


@grant.command("add", cls=Command, key="grant.add")
@_of_whom
@option("--role", type=click.Choice(_ROLES), required=True, key="grant.role")
@_of_tenant
def grant_add(of_member: str | None, of_group: str | None, project: str | None, every: bool, unnamed: bool,
              role: str, tenant: str | None, **where: str | None) -> None:  # fmt: skip
    """Give a role."""
    from codexmem.operations.people import GrantHolder

    wanted = _project(project, every, unnamed)
    holder = GrantHolder(*_holder(of_member, of_group))
    with _people(tenant, where) as (people, whose):
        people.grant(whose, holder, wanted, TenantRole(role), by=login())
    _done("grant.added", _document(holder, wanted, role), name=holder.name, role=role, where=_where(wanted))


@grant.command("ls", cls=Command, key="grant.ls")
@_of_tenant
def grant_ls(tenant: str | None, **where: str | None) -> None:
    """List what was granted."""
    with _people(tenant, where) as (people, whose):
        found = people.grants(whose)
    rows = [
        [each.holder.name, say("grant.of_group" if each.holder.is_group else "grant.of_member"), each.role.value,
         _where(each.project)] for each in found
    ]  # fmt: skip
    documents = [_document(each.holder, each.project, each.role.value) for each in found]
    current().result({"grants": documents}, table(rows) if rows else "")
    if not rows:
        current().note(say("grant.none"))


@grant.command("rm", cls=Command, key="grant.rm")
@_of_whom
@_of_tenant
def grant_rm(of_member: str | None, of_group: str | None, project: str | None, every: bool, unnamed: bool,
             tenant: str | None, **where: str | None) -> None:  # fmt: skip
    """Take a role away."""
    from codexmem.operations.people import GrantHolder

    wanted = _project(project, every, unnamed)
    holder = GrantHolder(*_holder(of_member, of_group))
    with _people(tenant, where) as (people, whose):
        people.take_back(whose, holder, wanted, by=login())
    _done("grant.removed", _document(holder, wanted, None), name=holder.name, where=_where(wanted))


def _holder(of_member: str | None, of_group: str | None) -> tuple[str, bool]:
    if (of_member is None) == (of_group is None):
        raise UsageProblem(say("grant.one_holder"), hint=_help())
    return (of_member, False) if of_member is not None else (of_group or "", True)


def _project(project: str | None, every: bool, unnamed: bool) -> str | None:
    if (project is not None) + every + unnamed != 1 or project == "":
        raise UsageProblem(say("grant.one_place"), hint=_help())
    return None if every else project or ""


def _help() -> str:
    return say("usage.see_help", command=click.get_current_context().command_path)


def _where(project: str | None) -> str:
    return say("grant.everywhere") if project is None else project or say("grant.nowhere")


def _document(holder: Any, project: str | None, role: str | None) -> dict[str, object]:
    kind = "group" if holder.is_group else "member"
    given = {"role": role} if role is not None else {"removed": True}
    return {kind: holder.name, "project": project, "every_project": project is None, **given}


def _done(message: str, document: dict[str, object], **named: str) -> None:
    current().result(document, next(iter(named.values())))
    current().note(say(message, **named), good=True)
