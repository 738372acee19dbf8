"""Members, groups and grants in their tables; every statement is about the acting tenant."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.tenant import TenantRole
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import grants, group_members, groups, member_subjects, members

_MOST = 10_000  # of each in a list


class MemberKind(StrEnum):
    """Who a member is."""

    PERSON = "person"
    SERVICE = "service"  # a program that acts for nobody in particular, such as a job of a build server


@dataclass(frozen=True, slots=True)
class TeamMember:
    """Somebody who may have keys and rights in a tenant."""

    id: str
    name: str
    kind: MemberKind
    created_ms: int
    disabled_ms: int | None = None
    visibility: Visibility = Visibility.PROJECT  # of what is written with his keys, unless they or the writer say it


@dataclass(frozen=True, slots=True)
class Grant:
    """A role for a member or a group."""

    holder: str  # member:<id> or group:<name>
    project: str | None  # None: every project; "": what belongs to no project
    role: TenantRole


class PeopleTable:
    """Reads and writes `members`, `member_subjects`, `groups`, `group_members` and `grants`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._join = db.engine.insert(group_members).on_conflict_do_nothing()
        linked = db.engine.insert(member_subjects)
        self._link = linked.on_conflict_do_update(
            index_elements=["tenant", "issuer", "subject"], set_={"member": linked.excluded.member}
        )
        given = db.engine.insert(grants)
        self._grant = given.on_conflict_do_update(
            index_elements=["tenant", "holder", "every", "project"], set_={"role": given.excluded.role}
        )

    def subject(self, issuer: str, subject: str) -> str | None:
        """The id of the member whom the issuer knows by this subject, or knew."""
        with self._db.reading() as tx:
            return tx.run(_subject, of_issuer=issuer, of_subject=subject).scalar()

    def link(self, issuer: str, subject: str, member: str, now_ms: int) -> None:
        """Let this subject of the issuer be that member from now on."""
        with self._db.transaction() as tx:
            tx.run(self._link, issuer=issuer, subject=subject, member=member, created_ms=now_ms)

    def groups_of(self, member: str) -> set[str]:
        """The groups that a member is in."""
        with self._db.reading() as tx:
            return set(tx.run(_groups_of, of_member=member).scalars())

    def hold(self) -> None:
        """Let nobody else change people of the acting tenant until the caller's transaction ends."""
        with self._db.transaction() as tx:
            tx.engine.lock_lane(tx.connection, tx.tenant, "people")

    def add_member(self, member: TeamMember) -> None:
        """Store a new member."""
        with self._db.transaction() as tx:
            tx.run(
                sa.insert(members), id=member.id, name=member.name, kind=member.kind.value,
                created_ms=member.created_ms, disabled_ms=None,
                visibility=member.visibility.value,
            )  # fmt: skip

    def member_named(self, name: str) -> TeamMember | None:
        """The member of this name."""
        with self._db.reading() as tx:
            row = tx.run(_member_named, name=name).mappings().first()
        return _member(row) if row is not None else None

    def member(self, id: str) -> TeamMember | None:
        """The member of this id."""
        with self._db.reading() as tx:
            row = tx.run(_member_by_id, member_id=id).mappings().first()
        return _member(row) if row is not None else None

    def all_members(self) -> list[TeamMember]:
        """Every member by name."""
        with self._db.reading() as tx:
            return [_member(row) for row in tx.run(_members).mappings()]

    def set_disabled(self, id: str, disabled_ms: int | None) -> None:
        """Let a member's keys open nothing from then on, or open again."""
        with self._db.transaction() as tx:
            tx.run(_disable, member_id=id, disabled_ms=disabled_ms)

    def set_visibility(self, id: str, visibility: Visibility) -> None:
        """Let what is written with a member's keys be seen like this from then on."""
        with self._db.transaction() as tx:
            tx.run(_set_visibility, member_id=id, visibility=visibility.value)

    def remove_member(self, id: str) -> None:
        """Remove a member with what he was granted; he leaves his groups."""
        with self._db.transaction() as tx:
            tx.run(_drop_grants, of_holder=f"member:{id}")
            tx.run(_drop_member, member_id=id)

    def add_group(self, name: str, now_ms: int) -> None:
        """Store a new group."""
        with self._db.transaction() as tx:
            tx.run(sa.insert(groups), name=name, created_ms=now_ms)

    def has_group(self, name: str) -> bool:
        """Whether there is a group of this name."""
        with self._db.reading() as tx:
            return tx.run(_group, name=name).first() is not None

    def all_groups(self) -> dict[str, list[str]]:
        """Every group by name, with the names of its members."""
        with self._db.reading() as tx:
            found: dict[str, list[str]] = {name: [] for name in tx.run(_groups).scalars()}
            for row in tx.run(_memberships):
                if row.group_name in found:
                    found[row.group_name].append(row.name)
        return found

    def remove_group(self, name: str) -> None:
        """Remove a group with what it was granted; its members stay."""
        with self._db.transaction() as tx:
            tx.run(_drop_grants, of_holder=f"group:{name}")
            tx.run(_drop_group, of_name=name)

    def join(self, group: str, member: str) -> None:
        """Let a member be in a group."""
        with self._db.transaction() as tx:
            tx.run(self._join, group_name=group, member=member)

    def leave(self, group: str, member: str) -> bool:
        """Let a member be in a group no more; False if he was not."""
        with self._db.transaction() as tx:
            return bool(tx.run(_leave, of_group=group, of_member=member).rowcount)

    def grant(self, given: Grant, now_ms: int) -> None:
        """Give a role, in place of one that was given for the same."""
        with self._db.transaction() as tx:
            tx.run(self._grant, **_place(given), role=given.role.value, created_ms=now_ms)

    def take_back(self, holder: str, project: str | None) -> bool:
        """Take a role away; False if none was given."""
        with self._db.transaction() as tx:
            place = {f"of_{name}": value for name, value in _place(Grant(holder, project, TenantRole.READER)).items()}
            return bool(tx.run(_take_back, **place).rowcount)

    def all_grants(self) -> list[Grant]:
        """Everything that was granted."""
        with self._db.reading() as tx:
            return [_grant(row) for row in tx.run(_grants).mappings()]

    def grants_of(self, member: str) -> list[Grant]:
        """What was granted to a member and to the groups that he is in."""
        with self._db.reading() as tx:
            return [_grant(row) for row in tx.run(_grants_of, own=f"member:{member}", of_member=member).mappings()]


_m, _g, _i, _r = members.c, groups.c, group_members.c, grants.c
_seen = (_m.id, _m.name, _m.kind, _m.created_ms, _m.disabled_ms, _m.visibility)
_members = sa.select(*_seen).where(_m.tenant == ACTING).order_by(_m.name).limit(_MOST)
_member_named = sa.select(*_seen).where(_m.tenant == ACTING, _m.name == bindparam("name"))
_member_by_id = sa.select(*_seen).where(_m.tenant == ACTING, _m.id == bindparam("member_id"))
_s = member_subjects.c
_subject = sa.select(_s.member).where(
    _s.tenant == ACTING, _s.issuer == bindparam("of_issuer"), _s.subject == bindparam("of_subject")
)
_disable = (
    sa.update(members)
    .where(_m.tenant == ACTING, _m.id == bindparam("member_id"))
    .values(disabled_ms=bindparam("disabled_ms"))
)
_set_visibility = (
    sa.update(members)
    .where(_m.tenant == ACTING, _m.id == bindparam("member_id"))
    .values(visibility=bindparam("visibility"))
)
_drop_member = sa.delete(members).where(_m.tenant == ACTING, _m.id == bindparam("member_id"))
_group = sa.select(_g.name).where(_g.tenant == ACTING, _g.name == bindparam("name"))
_groups = sa.select(_g.name).where(_g.tenant == ACTING).order_by(_g.name).limit(_MOST)
_drop_group = sa.delete(groups).where(_g.tenant == ACTING, _g.name == bindparam("of_name"))
_memberships = (
    sa.select(_i.group_name, _m.name)
    .join(members, sa.and_(_m.tenant == _i.tenant, _m.id == _i.member))
    .where(_i.tenant == ACTING)
    .order_by(_i.group_name, _m.name)
    .limit(_MOST)
)
_groups_of = sa.select(_i.group_name).where(_i.tenant == ACTING, _i.member == bindparam("of_member"))
_leave = sa.delete(group_members).where(
    _i.tenant == ACTING, _i.group_name == bindparam("of_group"), _i.member == bindparam("of_member")
)
_granted = (_r.holder, _r.every, _r.project, _r.role)
_grants = sa.select(*_granted).where(_r.tenant == ACTING).order_by(_r.holder, _r.every.desc(), _r.project).limit(_MOST)
_through_groups = sa.select(sa.literal("group:") + _i.group_name).where(
    _i.tenant == ACTING, _i.member == bindparam("of_member")
)
_grants_of = sa.select(*_granted).where(
    _r.tenant == ACTING, sa.or_(_r.holder == bindparam("own"), _r.holder.in_(_through_groups))
)
_drop_grants = sa.delete(grants).where(_r.tenant == ACTING, _r.holder == bindparam("of_holder"))
_take_back = sa.delete(grants).where(
    _r.tenant == ACTING, _r.holder == bindparam("of_holder"), _r.every == bindparam("of_every"),
    _r.project == bindparam("of_project"),
)  # fmt: skip


def _place(given: Grant) -> dict[str, object]:
    return {"holder": given.holder, "every": given.project is None, "project": given.project or ""}


def _member(row: Mapping[Any, Any]) -> TeamMember:
    seen = Visibility(row["visibility"] or Visibility.PROJECT)
    return TeamMember(**{**row, "kind": MemberKind(row["kind"]), "visibility": seen})


def _grant(row: Mapping[Any, Any]) -> Grant:
    return Grant(row["holder"], None if row["every"] else row["project"], TenantRole(row["role"]))
