"""Inside a tenant, a member's transaction sees the projects that he was granted, whatever the statement asks for."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
import sqlalchemy as sa

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import Forbidden, NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.project_scope import acting_within
from codexmem.kernel.model.query import Filter, Seq
from codexmem.kernel.model.tenant import ProjectRights, TenantRole
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.schema import metadata
from codexmem.kernel.store.sessions import Sessions
from tests._support import services

NOTES = frozenset({Kind.NOTE})
ME = WriteContext("test")
TENANT = "fenced"
ALPHA = "alpha 'quoted', \"twice\" \\ {and} 项目"
BETA = "beta"
STATISTICS = {"memory_terms", "text_counts", "vector_targets", "jobs", "tallies"}  # by tenant, as decision 0096 says


def rights(*granted: tuple[str | None, TenantRole], most: TenantRole = TenantRole.ADMIN) -> ProjectRights:
    return ProjectRights.of("mbr_ann", granted, most)


_VECTOR = (
    "INSERT INTO memory_vectors (tenant, seq, model, part, version, project, kind, embedding)"
    " VALUES (%(tenant)s, %(seq)s, 'toy', 0, 1, %(project)s, 'note', '[1,0]')"
)
ANN = rights((ALPHA, TenantRole.WRITER))


@pytest.fixture(scope="module")
def real(own_database: Database) -> services.Services:
    return services.build(own_database)


@pytest.fixture(scope="module")
def stored(real: services.Services, own_database: Database) -> dict[str, Memory]:
    """One memory of each project, with whatever leads to it."""
    log = Log(own_database, EventTable(own_database), LocalNotifier(), real.clock)
    sessions = Sessions(own_database)
    found: dict[str, Memory] = {}
    with acting_as(TENANT):
        for project in (ALPHA, BETA, ""):
            state = State(
                content=f"4711 of {project or 'nobody'}", attrs=NoteAttrs(), project=project, uris=(f"core://{len(found)}",)
            )  # fmt: skip
            delta = real.history.open_delta("run:1", "learn", ME)
            by = WriteContext("test", source="session:1", delta=delta.id)
            memory = real.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), by)
            real.memories.append(Seq(memory.seq), NOTES, "more", by)
            real.memories.link(Seq(memory.seq), NOTES, "cites", memory.seq, by)
            log.append(NewEvent(EventType.SEARCH_ANSWERED, "search:1", {"q": "secret"}, project=project))
            if project:
                sessions.touch(f"s-{project}", project=project, platform="p", cwd="/", now_ms=1)
            found[project] = memory
            with own_database.transaction() as tx:
                tx.connection.exec_driver_sql(_VECTOR, {"seq": memory.seq, "project": project, "tenant": TENANT})
    return found


def seen(db: Database, table: str) -> int:
    with db.reading() as tx:
        return int(tx.connection.execute(sa.select(sa.func.count()).select_from(metadata.tables[table])).scalar_one())


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_a_statement_that_forgets_the_project_sees_none_of_others(
    own_database: Database, stored: dict[str, Memory], table: str
) -> None:
    with acting_as(TENANT):
        everything = seen(own_database, table)
        for granted in (rights(), rights(("gamma", TenantRole.ADMIN))):
            with acting_within(granted):
                try:
                    count = seen(own_database, table)
                except Forbidden:
                    continue  # the table does not exist for members
                assert count == (everything if table in STATISTICS else 0)
        if table in {"memories", "memory_versions", "memory_uris", "memory_texts", "memory_links", "deltas", "sessions",
                     "memory_vectors", "memory_facets"}:  # fmt: skip
            with acting_within(ANN):
                assert 0 < seen(own_database, table) < everything


def test_verbs_find_what_is_granted_and_nothing_else(
    real: services.Services, stored: dict[str, Memory], own_database: Database
) -> None:
    with acting_as(TENANT), acting_within(ANN):
        assert real.memories.get(Seq(stored[ALPHA].seq), NOTES).state.project == ALPHA
        for project in (BETA, ""):
            with pytest.raises(NotFound):
                real.memories.get(Seq(stored[project].seq), NOTES)
            with pytest.raises(NotFound):
                real.memories.append(Seq(stored[project].seq), NOTES, "x", ME)
    with acting_as(TENANT):
        index = services.text_index(own_database)
        every = {hit.seq for hit in index.find(["4711"], Filter(NOTES), limit=10)}
        assert every == {each.seq for each in stored.values()}
        with acting_within(ANN):
            assert {hit.seq for hit in index.find(["4711"], Filter(NOTES), limit=10)} == {stored[ALPHA].seq}
            assert index.find(["4711"], Filter(NOTES, project=BETA), limit=10) == []
        with acting_within(rights()):
            assert index.find(["4711"], Filter(NOTES), limit=10) == []
            assert real.history.undo_source("session:1", Mode.STRICT, ME).restored == ()


def test_nothing_is_written_into_a_project_without_a_writers_right(
    real: services.Services, stored: dict[str, Memory]
) -> None:
    def draft(project: str) -> MemoryDraft:
        return MemoryDraft(Kind.NOTE, State(content="new", attrs=NoteAttrs(), project=project), Origin.AGENT)

    with acting_as(TENANT):
        for granted in (
            ANN,
            rights((BETA, TenantRole.READER)),
            rights((BETA, TenantRole.ADMIN), most=TenantRole.READER),
        ):
            with acting_within(granted), pytest.raises(Forbidden):
                real.memories.remember(draft(BETA), ME)
        reader = rights((BETA, TenantRole.READER), (ALPHA, TenantRole.WRITER))
        with acting_within(reader):
            assert real.memories.get(Seq(stored[BETA].seq), NOTES).state.project == BETA
            made = real.memories.remember(draft(ALPHA), ME)
        # What takes a reviewer is written where he is one.
        with acting_within(rights((ALPHA, TenantRole.WRITER), (BETA, TenantRole.REVIEWER)), TenantRole.REVIEWER):
            real.memories.remember(draft(BETA), ME)
            with pytest.raises(Forbidden):
                real.memories.remember(draft(ALPHA), ME)
            with acting_within(rights((ALPHA, TenantRole.ADMIN))), pytest.raises(Forbidden):
                real.memories.remember(draft(ALPHA), ME)  # a scope inside another only gets narrower
        assert real.memories.get(Seq(made.seq), NOTES).state.project == ALPHA


def test_the_member_role_cannot_change_who_may_do_what(own_database: Database) -> None:
    with acting_as(TENANT), acting_within(rights((ALPHA, TenantRole.ADMIN)), TenantRole.ADMIN):
        for table in ("members", "member_subjects", "groups", "group_members", "grants", "api_keys"):
            with pytest.raises(Forbidden), own_database.transaction() as tx:
                tx.connection.execute(sa.delete(metadata.tables[table]))


def test_a_member_without_settings_sees_nothing(
    own_store: str, address: Callable[[str], str], stored: dict[str, Memory]
) -> None:
    with psycopg.connect(address(own_store), autocommit=True) as connection:
        for start in ("", f"SET LOCAL codexmem.tenant = '{TENANT}'; "):
            connection.execute("BEGIN")
            with pytest.raises(psycopg.Error):
                connection.execute(f"SET LOCAL ROLE codexmem_member; {start} SELECT content FROM memories")
            connection.execute("ROLLBACK")
