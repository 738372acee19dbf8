"""Members, groups and grants: what was granted reaches a member's keys, and what was taken back leaves them."""

from __future__ import annotations

import pytest

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import AUDIT, EventType, NewEvent
from codexmem.kernel.model.tenant import Identity, ProjectRights, TenantRole
from codexmem.kernel.model.visibility import Viewer, Visibility
from codexmem.kernel.store.database import Database, acting_as
from codexmem.operations import keys as module
from codexmem.operations.keys import Keys
from codexmem.operations.people import GrantHolder, NamedGrant
from codexmem.operations.people_store import MemberKind
from tests._support.clock import StepClock

ANN, LEADS = GrantHolder("ann"), GrantHolder("leads", is_group=True)
READER, WRITER, REVIEWER, ADMIN = TenantRole


@pytest.fixture
def tenant() -> str:
    return f"people-{ids.secret(4)}"


@pytest.fixture
def log() -> list[NewEvent]:
    return []


@pytest.fixture
def keys(postgres_database: Database, log: list[NewEvent], monkeypatch: pytest.MonkeyPatch) -> Keys:
    monkeypatch.setattr(module, "_REMEMBER_SECONDS", 0.0)
    return Keys(postgres_database, log.append, StepClock())


def identity(keys: Keys, secret: str) -> Identity:
    found = keys.authenticate(secret)
    assert found is not None
    return found


def test_a_member_may_do_what_is_granted_to_him_or_his_groups(keys: Keys, tenant: str, log: list[NewEvent]) -> None:
    people = keys.people
    ann = people.add_member(tenant, " ann ", MemberKind.PERSON, by="cli:root")
    made = keys.create(tenant, "laptop", member="ann", by="cli:root")
    nothing = identity(keys, made.secret)
    assert (nothing.role, nothing.rights) == (READER, ProjectRights(ann.id))
    assert nothing.actor == "key:laptop of ann"

    people.grant(tenant, ANN, "shop", WRITER, by="cli:root")
    people.add_group(tenant, "leads", by="cli:root")
    people.grant(tenant, LEADS, "shop", REVIEWER, by="cli:root")
    people.grant(tenant, LEADS, "", READER, by="cli:root")
    assert identity(keys, made.secret).rights == ProjectRights(ann.id, (("shop", WRITER),))
    people.join(tenant, "leads", "ann", by="cli:root")
    both = identity(keys, made.secret)
    assert (both.role, both.rights) == (REVIEWER, ProjectRights(ann.id, (("", READER), ("shop", REVIEWER))))
    capped = keys.create(tenant, "script", role=READER, member="ann")
    assert identity(keys, capped.secret).rights == ProjectRights(ann.id, (("", READER), ("shop", READER)))
    assert people.grants(tenant) == [
        NamedGrant(ANN, "shop", WRITER), NamedGrant(LEADS, "", READER), NamedGrant(LEADS, "shop", REVIEWER),
    ]  # fmt: skip

    people.leave(tenant, "leads", "ann", by="cli:root")
    people.take_back(tenant, ANN, "shop", by="cli:root")
    assert identity(keys, made.secret).rights == ProjectRights(ann.id)
    people.grant(tenant, ANN, None, ADMIN, by="cli:root")
    whole = identity(keys, made.secret)  # as one of no member, but for what is his own
    viewer = Viewer.of(ann.id, Visibility.PROJECT)
    assert whole == Identity(tenant, "key:laptop of ann", role=ADMIN, viewer=viewer)
    people.show(tenant, "ann", Visibility.MINE, by="cli:root")
    assert identity(keys, made.secret).viewer == Viewer.of(ann.id, Visibility.MINE)
    for_all = keys.create(tenant, "shared", member="ann", visibility=Visibility.PROJECT)
    assert identity(keys, for_all.secret).viewer == viewer
    with pytest.raises(InvalidArgument, match="no member"):
        keys.create(tenant, "nobody", visibility=Visibility.MINE)

    people.disable(tenant, "ann", by="cli:root")
    assert keys.authenticate(made.secret) is None
    people.enable(tenant, "ann", by="cli:root")
    assert identity(keys, made.secret).role is ADMIN
    people.remove_member(tenant, "ann", by="cli:root")
    assert keys.authenticate(made.secret) is None
    assert people.members(tenant) == []
    assert {each.holder for each in people.grants(tenant)} == {LEADS}
    assert all(key.revoked_ms is not None for key in keys.list(tenant))
    assert {EventType.MEMBER_CHANGED, EventType.GRANT_CHANGED} <= {event.type for event in log} <= AUDIT
    assert all(event.payload["by"] in {"cli:root", ""} for event in log)


def test_one_name_one_member_and_nothing_for_strangers(keys: Keys, tenant: str) -> None:
    people = keys.people
    people.add_member(tenant, "ann", MemberKind.SERVICE, by="")
    people.add_group(tenant, "leads", by="")
    with pytest.raises(Conflict):
        people.add_member(tenant, "ann", MemberKind.PERSON, by="")
    with pytest.raises(Conflict):
        people.add_group(tenant, "leads", by="")
    for name in ("", "a:b", "a\nb", "x" * 101):
        with pytest.raises(InvalidArgument):
            people.add_member(tenant, name, MemberKind.PERSON, by="")
    for wrong in (
        lambda: keys.create(tenant, "x", member="bob"),
        lambda: people.grant(tenant, GrantHolder("bob"), "shop", READER, by=""),
        lambda: people.grant(tenant, GrantHolder("ann", is_group=True), "shop", READER, by=""),
        lambda: people.take_back(tenant, ANN, "shop", by=""),
        lambda: people.join(tenant, "leads", "bob", by=""),
        lambda: people.leave(tenant, "leads", "ann", by=""),
        lambda: people.remove_member(f"{tenant}-other", "ann", by=""),
    ):
        with pytest.raises(NotFound):
            wrong()


def test_a_member_who_only_writes_somewhere_does_not_decide() -> None:
    def of(*granted: tuple[str | None, TenantRole]) -> Identity:
        rights = ProjectRights.of("mbr", granted, ADMIN)
        return Identity("t", "a", role=rights.highest or READER, rights=rights)

    assert of(("a", REVIEWER), ("b", READER)).decides
    assert not of(("a", ADMIN), ("b", WRITER)).decides
    assert not of((None, WRITER), ("b", ADMIN)).decides
    assert not of(("a", READER)).decides
    assert of((None, REVIEWER), ("b", ADMIN)).rights == ProjectRights("mbr", (("b", ADMIN),), REVIEWER)


def test_a_file_has_no_members(sqlite_database: Database) -> None:
    with acting_as("local"), pytest.raises(InvalidArgument, match="PostgreSQL"):
        Keys(sqlite_database, lambda _: None, StepClock()).people.add_member("local", "ann", MemberKind.PERSON, by="")
