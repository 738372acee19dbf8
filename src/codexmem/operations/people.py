"""Who works in a tenant, and what each may do in which project.

A member has nothing until he is granted something, himself or through a group. What a member may do reaches his keys
with the next look at them, within the few seconds that an answer about a key may be remembered. There are members on
PostgreSQL alone: a file belongs to its one user, and nothing in it keeps him from reading all of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import MAX_PROJECT
from codexmem.kernel.model.tenant import ProjectRights, TenantRole, tenant_name
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.memories import MemoryTable, PrivateMemory
from codexmem.operations.key_store import KeyTable
from codexmem.operations.people_store import Grant, MemberKind, PeopleTable, TeamMember

_NAME_MAX = 100
_SUBJECT_MAX = 255


@dataclass(frozen=True, slots=True)
class GrantHolder:
    """A member or a group, by name: whoever can be granted something."""

    name: str
    is_group: bool = False


@dataclass(frozen=True, slots=True)
class NamedGrant:
    """A grant as people see it."""

    holder: GrantHolder
    project: str | None
    role: TenantRole


class People:
    """The verbs on members, groups and grants."""

    def __init__(self, db: Database, log: Callable[[NewEvent], object], clock: Clock) -> None:
        self._db = db
        self._table = PeopleTable(db)
        self._keys = KeyTable(db)
        self._memories = MemoryTable(db)
        self._log = log
        self._clock = clock

    def add_member(self, tenant: str, name: str, kind: MemberKind, *, by: str,
                   visibility: Visibility = Visibility.PROJECT) -> TeamMember:  # fmt: skip
        """A new member, who may do nothing yet."""
        self._require_server()
        name = _checked(name)
        with acting_as(tenant_name(tenant)), self._db.transaction():
            self._table.hold()
            if self._table.member_named(name) is not None:
                raise _taken("member", name)
            member = TeamMember(ids.prefixed("mbr"), name, kind, self._clock.now_ms(), visibility=visibility)
            self._table.add_member(member)
            self._tell(EventType.MEMBER_CHANGED, f"member:{member.id}", by, act="added", name=name, kind=kind.value)
            return member

    def members(self, tenant: str) -> list[TeamMember]:
        """Every member by name."""
        with acting_as(tenant_name(tenant)):
            return self._table.all_members()

    def named(self, tenant: str, name: str) -> TeamMember:
        """The member of this name."""
        with acting_as(tenant_name(tenant)):
            found = self._table.member_named(name.strip())
        if found is None:
            raise _missing("member", name)
        return found

    def show(self, tenant: str, name: str, visibility: Visibility, *, by: str) -> None:
        """How what is written with a member's keys is seen from now on, unless they say otherwise."""
        member = self.named(tenant, name)
        with acting_as(tenant), self._db.transaction():
            self._table.set_visibility(member.id, visibility)
            self._tell(
                EventType.MEMBER_CHANGED, f"member:{member.id}", by, act="writes", name=member.name,
                visibility=visibility.value,
            )  # fmt: skip

    def private_counts(self, tenant: str) -> dict[str, int]:
        """How many private memories each member has, by name; members who are gone by their id."""
        with acting_as(tenant_name(tenant)), self._db.reading():
            names = {each.id: each.name for each in self._table.all_members()}
            counts = self._memories.private_counts()
        return dict(sorted((names.get(each, each), count) for each, count in counts.items()))

    def private(self, tenant: str, name: str, *, limit: int = 1_000) -> list[PrivateMemory]:
        """That a member has these private memories, newest first, and nothing of what they say."""
        member = self.named(tenant, name)
        with acting_as(tenant):
            return self._memories.private(member.id, limit, 2**62)

    def link(self, tenant: str, name: str, issuer: str, subject: str, *, by: str) -> None:
        """Let a member sign in as this subject of the issuer, whoever the subject was before."""
        member, subject = self.named(tenant, name), subject.strip()
        if not subject or len(subject) > _SUBJECT_MAX or not subject.isprintable():
            raise InvalidArgument(f"a subject is 1 to {_SUBJECT_MAX} printable characters, as the issuer spells it")
        with acting_as(tenant), self._db.transaction():
            self._table.hold()
            self._table.link(issuer, subject, member.id, self._clock.now_ms())
            self._tell(
                EventType.MEMBER_CHANGED, f"member:{member.id}", by, act="linked", name=member.name, issuer=issuer,
                subject_id=subject,
            )  # fmt: skip

    def disable(self, tenant: str, name: str, *, by: str) -> None:
        """Let none of a member's keys open anything, until he is enabled again."""
        self._set_disabled(tenant, name, self._clock.now_ms(), "disabled", by)

    def enable(self, tenant: str, name: str, *, by: str) -> None:
        """Let a disabled member's keys work again."""
        self._set_disabled(tenant, name, None, "enabled", by)

    def _set_disabled(self, tenant: str, name: str, at_ms: int | None, act: str, by: str) -> None:
        member = self.named(tenant, name)
        with acting_as(tenant), self._db.transaction():
            self._table.set_disabled(member.id, at_ms)
            self._tell(EventType.MEMBER_CHANGED, f"member:{member.id}", by, act=act, name=member.name)

    def remove_member(self, tenant: str, name: str, *, by: str) -> None:
        """Remove a member; his keys are revoked, what he wrote stays."""
        member = self.named(tenant, name)
        with acting_as(tenant), self._db.transaction():
            self._table.hold()
            now_ms = self._clock.now_ms()
            revoked = [key.id for key in self._keys.of_member(member.id) if self._keys.revoke(key.id, now_ms)]
            self._table.remove_member(member.id)
            self._tell(
                EventType.MEMBER_CHANGED, f"member:{member.id}", by, act="removed", name=member.name, revoked=revoked
            )

    def add_group(self, tenant: str, name: str, *, by: str) -> None:
        """A new group of nobody."""
        self._require_server()
        name = _checked(name)
        with acting_as(tenant_name(tenant)), self._db.transaction():
            self._table.hold()
            if self._table.has_group(name):
                raise _taken("group", name)
            self._table.add_group(name, self._clock.now_ms())
            self._tell(EventType.MEMBER_CHANGED, f"group:{name}", by, act="added", name=name)

    def groups(self, tenant: str) -> dict[str, list[str]]:
        """Every group by name, with the names of its members."""
        with acting_as(tenant_name(tenant)):
            return self._table.all_groups()

    def remove_group(self, tenant: str, name: str, *, by: str) -> None:
        """Remove a group with what it was granted; its members stay."""
        with acting_as(tenant_name(tenant)), self._db.transaction():
            self._table.hold()
            self._require_group(name)
            self._table.remove_group(name)
            self._tell(EventType.MEMBER_CHANGED, f"group:{name}", by, act="removed", name=name)

    def join(self, tenant: str, group: str, name: str, *, by: str) -> None:
        """Put a member into a group."""
        member = self.named(tenant, name)
        with acting_as(tenant), self._db.transaction():
            self._table.hold()
            self._require_group(group)
            self._table.join(group, member.id)
            self._tell(EventType.MEMBER_CHANGED, f"group:{group}", by, act="joined", name=group, member=member.name)

    def leave(self, tenant: str, group: str, name: str, *, by: str) -> None:
        """Take a member out of a group."""
        member = self.named(tenant, name)
        with acting_as(tenant), self._db.transaction():
            self._require_group(group)
            if not self._table.leave(group, member.id):
                raise NotFound(f"{member.name} is not in the group {group}", hint="codexmem group ls shows who is")
            self._tell(EventType.MEMBER_CHANGED, f"group:{group}", by, act="left", name=group, member=member.name)

    def grant(self, tenant: str, holder: GrantHolder, project: str | None, role: TenantRole, *, by: str) -> None:
        """Give a role in a project (None: in all of them, "": for what belongs to no project)."""
        if project is not None and (len(project) > MAX_PROJECT or not project.isprintable()):
            raise InvalidArgument(f"a project's name has at most {MAX_PROJECT} printable characters")
        with acting_as(tenant_name(tenant)), self._db.transaction():
            self._table.hold()
            self._table.grant(Grant(self._spelled(tenant, holder), project, role), self._clock.now_ms())
            self._tell_grant(holder, project, by, act="granted", role=role.value)

    def take_back(self, tenant: str, holder: GrantHolder, project: str | None, *, by: str) -> None:
        """Take a role away that was given for exactly this."""
        with acting_as(tenant_name(tenant)), self._db.transaction():
            if not self._table.take_back(self._spelled(tenant, holder), project):
                raise NotFound(f"{holder.name} was granted nothing there", hint="codexmem grant ls shows what was")
            self._tell_grant(holder, project, by, act="taken back")

    def grants(self, tenant: str) -> list[NamedGrant]:
        """Everything that was granted, by name of who holds it."""
        with acting_as(tenant_name(tenant)), self._db.reading():
            names = {f"member:{each.id}": each.name for each in self._table.all_members()}
            found = self._table.all_grants()
        named = [
            NamedGrant(
                GrantHolder(names.get(each.holder, each.holder.partition(":")[2]), each.holder.startswith("group:")),
                each.project, each.role,
            ) for each in found
        ]  # fmt: skip
        return sorted(named, key=lambda each: (each.holder.is_group, each.holder.name, each.project or ""))

    def rights(self, tenant: str, id: str, most: TenantRole) -> tuple[TeamMember, ProjectRights] | None:
        """A member and what a key of his may do that may do no more than `most`; None if he is gone or disabled."""
        with acting_as(tenant), self._db.reading():
            member = self._table.member(id)
            if member is None or member.disabled_ms is not None:
                return None
            granted = [(each.project, each.role) for each in self._table.grants_of(id)]
        return member, ProjectRights.of(id, granted, most)

    def _spelled(self, tenant: str, holder: GrantHolder) -> str:
        if not holder.is_group:
            return f"member:{self.named(tenant, holder.name).id}"
        self._require_group(holder.name)
        return f"group:{holder.name}"

    def _require_group(self, name: str) -> None:
        if not self._table.has_group(name):
            raise _missing("group", name)

    def _require_server(self) -> None:
        if self._db.engine.ambient_tenant is not None:
            raise InvalidArgument(
                "members and groups need PostgreSQL",
                hint="a file belongs to its one user; codexmem db upgrade --database-url makes a store on PostgreSQL",
                details={"reason": "needs_postgres"},
            )

    def _tell_grant(self, holder: GrantHolder, project: str | None, by: str, **more: Any) -> None:
        kind = "group" if holder.is_group else "member"
        where = {"every": True} if project is None else {"of": project}
        self._tell(EventType.GRANT_CHANGED, f"{kind}:{holder.name}", by, **where, **more)

    def _tell(self, type: EventType, subject: str, by: str, **more: Any) -> None:
        self._log(NewEvent(type, subject=subject, payload={"by": by, **more}))


def _checked(name: str) -> str:
    name = name.strip()
    if not name or len(name) > _NAME_MAX or not name.isprintable() or ":" in name:
        raise InvalidArgument(f"a name is 1 to {_NAME_MAX} printable characters, none of them a colon")
    return name


def _taken(what: str, name: str) -> Conflict:
    return Conflict(f"there is a {what} {name!r} already", hint="choose another name", details={"reason": "name_taken"})


def _missing(what: str, name: str) -> NotFound:
    return NotFound(
        f"there is no {what} {name[:80]!r}", hint=f"codexmem {what} ls shows them",
        details={"reason": f"no_{what}", "name": name[:80]},
    )  # fmt: skip
