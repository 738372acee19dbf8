"""The boundary of ownership, and who acts inside it.

The tenant comes from the caller's key, never from a request body. Its name is restricted so that it can stand in any
path, metric or setting without quoting.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from codexmem.kernel.model.errors import Forbidden, InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Origin
from codexmem.kernel.model.visibility import NOBODY, Viewer

LOCAL = "local"  # the one tenant of a single developer's store
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def tenant_name(text: str) -> str:
    """The name, if it is one."""
    if not _NAME.fullmatch(text):
        raise InvalidArgument(f"{text[:80]!r} is not a tenant name", hint="use 1 to 63 of a-z, 0-9, _ and -")
    return text


class TenantRole(StrEnum):
    """What a caller may do in its tenant; each may do what those before it may."""

    READER = "reader"  # search, read, be told
    WRITER = "writer"  # record sessions, write and change memories, as agents do
    REVIEWER = "reviewer"  # decide what is told: approve, pin, withhold, bring back, undo
    ADMIN = "admin"  # erase, import, run the server's chores

    def covers(self, needed: "TenantRole") -> bool:
        """Whether it may do what that role may."""
        ranks = list(TenantRole)
        return ranks.index(self) >= ranks.index(needed)


@dataclass(frozen=True, slots=True)
class ProjectScope:
    """The projects whose memories are read and written now."""

    member: str
    reads: frozenset[str] | None  # None: every project
    writes: frozenset[str] | None

    def within(self, outer: "ProjectScope") -> "ProjectScope":
        """What both allow."""
        return ProjectScope(self.member, _both(self.reads, outer.reads), _both(self.writes, outer.writes))


@dataclass(frozen=True, slots=True)
class ProjectRights:
    """The roles of a member; none in projects that are not named. The project "" holds what belongs to no project."""

    member: str
    roles: tuple[tuple[str, TenantRole], ...] = ()  # by project, in order
    everywhere: TenantRole | None = None

    @classmethod
    def of(cls, member: str, granted: Iterable[tuple[str | None, TenantRole]], most: TenantRole) -> "ProjectRights":
        """The highest of what was granted for each project (None: for all of them), and never more than `most`."""
        highest: dict[str | None, TenantRole] = {}
        for project, role in granted:
            capped = role if most.covers(role) else most
            if project not in highest or capped.covers(highest[project]):
                highest[project] = capped
        everywhere = highest.pop(None, None)
        roles = sorted((each, role) for each, role in highest.items() if each is not None)
        return cls(member, tuple(roles), everywhere)

    @property
    def highest(self) -> TenantRole | None:
        """The most that the member may do anywhere; None if nothing."""
        held = [role for _, role in self.roles] + ([self.everywhere] if self.everywhere is not None else [])
        return max(held, key=list(TenantRole).index) if held else None

    @property
    def is_whole(self) -> bool:
        """Whether no project is different from another, so that a role says everything."""
        return self.everywhere is not None and all(self.everywhere.covers(role) for _, role in self.roles)

    @property
    def decides(self) -> bool:
        """Whether wherever the member writes, he also decides what is told: then he is heard as a person."""
        held = {role for _, role in self.roles} | {self.everywhere}
        return TenantRole.WRITER not in held

    def scope(self, needed: TenantRole) -> ProjectScope:
        """What may be read, and written by an act that takes this role."""
        least = needed if needed.covers(TenantRole.WRITER) else TenantRole.WRITER
        return ProjectScope(self.member, self._holding(TenantRole.READER), self._holding(least))

    def _holding(self, least: TenantRole) -> frozenset[str] | None:
        if self.everywhere is not None and self.everywhere.covers(least):
            return None
        return frozenset(project for project, role in self.roles if role.covers(least))


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a request acts for."""

    tenant: str
    actor: str  # shown in versions and the audit trail, e.g. key:ci
    origin: Origin = Origin.AGENT  # who speaks, as the interface and the credential show; never as the body says
    session: str | None = None  # the agent's session that speaks, where it is known
    source: str | None = None  # … as what it writes is marked: session:12
    address: str | None = None  # from where the request came in
    role: TenantRole = TenantRole.ADMIN  # whoever has a store to himself may do everything
    rights: ProjectRights | None = None  # of a member whose projects differ; `role` is then the highest of his
    viewer: Viewer = NOBODY  # whose private memories it sees, and how what it writes is seen
    key: str | None = field(default=None, compare=False)  # the id of the key or the browser's session

    def require(self, needed: TenantRole) -> None:
        """Refuse what this caller may not do."""
        if not self.role.covers(needed):
            raise Forbidden(
                f"this key has the role {self.role}; this needs the role {needed}",
                hint="ask whoever runs the server for another key: codexmem key create --role ROLE",
                details={"reason": "role", "role": self.role.value, "needed": needed.value},
            )

    def require_every_project(self) -> None:
        """Refuse a caller whose rights differ from project to project."""
        if self.rights is not None:
            raise Forbidden(
                "this is about the whole tenant; this key has rights to some of its projects",
                hint="use a key that acts for the whole tenant, or be granted a role in every project",
                details={"reason": "every_project"},
            )

    @property
    def decides(self) -> bool:
        """Whether it decides what is told wherever it writes: then a person with it is heard as a person."""
        return self.role.covers(TenantRole.REVIEWER) and (self.rights is None or self.rights.decides)

    def by(self) -> WriteContext:
        """How what it writes is signed."""
        return WriteContext(self.actor, self.source, origin=self.origin, session=self.session, address=self.address)


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
