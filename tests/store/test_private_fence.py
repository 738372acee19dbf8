"""Inside a project, what is private to a member is hidden by the database from everybody else: from colleagues with the
same rights, from keys that act for the whole tenant, and from programs that do not say for whom they look.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
import sqlalchemy as sa

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import Forbidden, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.life import Act
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.project_scope import acting_within
from codexmem.kernel.model.query import Filter, PageRequest, Seq
from codexmem.kernel.model.tenant import ProjectRights, TenantRole
from codexmem.kernel.model.visibility import NOBODY, Viewer, Visibility, as_server, viewing
from codexmem.kernel.services.lifecycle import ActRequest, Lifecycle
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.receipts import ReceiptTable
from codexmem.kernel.store.schema import metadata
from codexmem.kernel.store.sessions import Sessions
from tests._support import services

NOTES = frozenset({Kind.NOTE})
ME = WriteContext("test")
HUMAN = WriteContext("key:reviewer", origin=Origin.HUMAN)
TENANT = "private"
SHARED, PRIVATE, OPEN = Visibility.PROJECT, Visibility.MINE, Visibility.EVERYONE
ANN, BOB = Viewer.of("mbr_ann", SHARED), Viewer.of("mbr_bob", SHARED)
_VECTOR = (
    "INSERT INTO memory_vectors (tenant, seq, model, part, version, project, kind, embedding)"
    " VALUES (%(tenant)s, %(seq)s, 'toy', 0, 1, 'alpha', 'note', '[1,0]')"
)


def granted(member: str, *projects: str, role: TenantRole = TenantRole.ADMIN) -> ProjectRights:
    return ProjectRights.of(member, [(each, role) for each in projects], TenantRole.ADMIN)


def looking(viewer: Viewer, rights: ProjectRights | None = None) -> AbstractContextManager[Any]:
    """Whoever looks, with rights to some projects or (None) to all of them."""
    stack = ExitStack()
    stack.enter_context(acting_as(TENANT))
    stack.enter_context(acting_within(rights, TenantRole.ADMIN))
    stack.enter_context(viewing(viewer))
    return stack


def draft(text: str, visibility: Visibility | None = None, **more: Any) -> MemoryDraft:
    return MemoryDraft(
        Kind.NOTE, State(content=text, attrs=NoteAttrs(), project="alpha", **more), Origin.AGENT, visibility=visibility
    )


@pytest.fixture(scope="module")
def real(own_database: Database) -> services.Services:
    return services.build(own_database)


@pytest.fixture(scope="module")
def table(own_database: Database) -> MemoryTable:
    return MemoryTable(own_database)


@pytest.fixture(scope="module")
def lifecycle(real: services.Services, table: MemoryTable, own_database: Database) -> Lifecycle:
    return Lifecycle(own_database, table, real.memories, real.history)


@pytest.fixture(scope="module")
def stored(real: services.Services, own_database: Database) -> dict[Visibility, Memory]:
    """One memory of each visibility, all Ann's, with whatever leads to it."""
    log = Log(own_database, EventTable(own_database), LocalNotifier(), real.clock)
    sessions, receipts = Sessions(own_database), ReceiptTable(own_database)
    found: dict[Visibility, Memory] = {}
    for visibility in Visibility:
        with looking(Viewer.of("mbr_ann", visibility)), own_database.transaction() as tx:
            memory = real.memories.remember(draft(f"4711 for {visibility}", uris=(f"core://{visibility}",)), ME)
            real.memories.append(Seq(memory.seq), NOTES, "more", ME)
            real.memories.link(Seq(memory.seq), NOTES, "cites", memory.seq, ME)
            log.append(NewEvent(EventType.SEARCH_ANSWERED, "search", {"query": "4711"}, project="alpha"))
            session = sessions.touch(f"s-{visibility}", project="alpha", platform="p", cwd="/", now_ms=1).session
            tx.connection.exec_driver_sql(
                "INSERT INTO captured_events (tenant, session, turn, kind, key, tool, body, at_ms, created_ms)"
                " VALUES (%(tenant)s, %(session)s, 1, 'tool', %(key)s, 'Bash', '{}', 1, 1)",
                {"tenant": TENANT, "session": session.id, "key": f"key-{visibility}"},
            )
            for table, columns in (
                ("memory_tellings (tenant, session, seq, first_ms)", "%(tenant)s, 'other', %(seq)s, 1"),
                ("memory_findings (tenant, reason, seq, other, project, score, found_ms)",
                 "%(tenant)s, 'duplicate', %(seq)s, %(seq)s, 'alpha', 1, 1"),
                ("qa_beliefs (tenant, seq, good, bad, at_ms, spoken_ms)", "%(tenant)s, %(seq)s, 1, 1, 1, 1"),
                ("qa_signals (tenant, seq, signal, message, at_ms)", "%(tenant)s, %(seq)s, 'shown', 'm', 1"),
            ):  # fmt: skip
                tx.connection.exec_driver_sql(
                    f"INSERT INTO {table} VALUES ({columns})",
                    {"tenant": TENANT, "seq": memory.seq},
                )
            tx.connection.exec_driver_sql(_VECTOR, {"seq": memory.seq, "tenant": TENANT})
            if visibility is PRIVATE:
                receipts.claim("/api/memory/save", "mbr_ann:1", "hash", 1)
                receipts.settle("/api/memory/save", "mbr_ann:1", {"text": "4711"}, None)
            found[visibility] = memory
    return found


def count(db: Database, table: str) -> int:
    with db.reading() as tx:
        return int(tx.connection.execute(sa.select(sa.func.count()).select_from(metadata.tables[table])).scalar_one())


HIDDEN = {
    "memories", "memory_versions", "memory_uris", "memory_facets", "memory_links", "memory_tellings", "memory_findings",
    "memory_texts", "memory_vectors", "text_changes", "qa_beliefs", "qa_signals", "sessions", "captured_events",
    "events", "receipts",
}  # fmt: skip


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_a_statement_that_forgets_the_owner_sees_nothing_private(
    own_database: Database, stored: dict[Visibility, Memory], table: str
) -> None:
    with looking(ANN), as_server():
        everything = count(own_database, table)
    with looking(ANN):
        own = count(own_database, table)
    others = []
    for viewer in (NOBODY, BOB, Viewer(sees="mbr_an")):
        with looking(viewer):
            others.append(count(own_database, table))
    assert own == everything
    assert (max(others) < own) if table in HIDDEN else (set(others) == {own}), (table, own, others)
    if table in HIDDEN - {"events", "receipts"}:
        with looking(BOB, granted("mbr_bob", "alpha")):  # the same rights as the owner
            assert count(own_database, table) < own
        with looking(ANN, granted("mbr_ann", "alpha")):
            assert count(own_database, table) == own


def test_a_program_that_names_no_viewer_sees_nothing_private(
    own_database: Database, stored: dict[Visibility, Memory]
) -> None:
    with looking(NOBODY), own_database.reading() as tx:
        tx.connection.exec_driver_sql("RESET codexmem.viewer")  # as a program of before
        seqs = set(tx.connection.exec_driver_sql("SELECT seq FROM memories").scalars())
    assert stored[SHARED].seq in seqs
    assert stored[PRIVATE].seq not in seqs


def found_by(viewer: Viewer, rights: ProjectRights | None, real: services.Services, db: Database) -> set[int]:
    """What lists and searches by words of everything tell, which must be the same; other tests write other words."""
    with looking(viewer, rights):
        page = real.memories.page(Filter(NOTES), PageRequest(limit=50)).items
        listed = {each.seq for each in page if "4711" in each.state.content}
        index = services.text_index(db)
        searched = {hit.seq for hit in index.find(["4711"], Filter(NOTES), limit=50)}
        past = {hit.seq for hit in index.find_past(["4711"], Filter(NOTES), 2**60, limit=50)}
    assert listed == searched == past
    return listed


def test_lists_and_searches_tell_each_what_he_may_see(
    real: services.Services, own_database: Database, stored: dict[Visibility, Memory]
) -> None:
    all_of_it = {each.seq for each in stored.values()}
    shared = all_of_it - {stored[PRIVATE].seq}
    for viewer, rights, seqs in (
        (ANN, None, all_of_it),
        (ANN, granted("mbr_ann", "alpha"), all_of_it),
        (BOB, None, shared),
        (BOB, granted("mbr_bob", "alpha"), shared),
        (NOBODY, None, shared),
        (BOB, granted("mbr_bob", "beta"), {stored[OPEN].seq}),  # no right to the project: what is everyone's
        (BOB, granted("mbr_bob"), {stored[OPEN].seq}),
    ):
        assert found_by(viewer, rights, real, own_database) == seqs, (viewer, rights)


def test_nobody_else_changes_takes_back_or_names_what_is_private(
    lifecycle: Lifecycle, real: services.Services, stored: dict[Visibility, Memory]
) -> None:
    seq = stored[PRIVATE].seq
    for viewer in (BOB, NOBODY):
        with looking(viewer):
            for act in (
                lambda: real.memories.get(Seq(seq), NOTES),
                lambda: real.memories.append(Seq(seq), NOTES, "x", ME),
                lambda: lifecycle.act(ActRequest(Act.SHARE, (seq,), visibility=SHARED), HUMAN),
                lambda: lifecycle.act(ActRequest(Act.HIDE, (seq,)), HUMAN),
            ):
                with pytest.raises(NotFound):
                    act()
            assert real.history.forget([seq], HUMAN) == 0
    # Everyone reads it, its project's writers write it.
    with looking(BOB, granted("mbr_bob", "beta")), pytest.raises(Forbidden):
        real.memories.append(Seq(stored[OPEN].seq), NOTES, "x", ME)


def test_the_owner_decides_who_sees_and_each_decision_is_a_version(
    lifecycle: Lifecycle, real: services.Services, own_database: Database
) -> None:
    with looking(ANN):
        memory, delta = real.memories.remember(draft("a secret plan of 4712"), ME), ""
        for visibility in (PRIVATE, SHARED, PRIVATE):
            done = lifecycle.act(ActRequest(Act.SHARE, (memory.seq,), visibility=visibility, reason="why"), ME)
            delta = done.delta or ""
            assert delta
            with looking(BOB):
                found = real.memories.many([memory.seq], NOTES)
            assert bool(found) is (visibility is not PRIVATE)
        assert lifecycle.act(ActRequest(Act.SHARE, (memory.seq,), visibility=PRIVATE), ME).delta is None
        newest = real.history.version(Seq(memory.seq), NOTES, 4)
        assert (newest.state.visibility, newest.note, newest.actor) == (PRIVATE, "why", "test")
        # Neither an earlier version nor an undo shows what is private now.
        assert lifecycle.roll_back(f"#{memory.seq}", 1, ME).changed[0].state.visibility is PRIVATE
        real.history.rollback_delta(delta, Mode.STRICT, ME)
        assert real.memories.get(Seq(memory.seq), NOTES).state.visibility is PRIVATE


def test_nobody_takes_from_others_what_a_colleague_made(lifecycle: Lifecycle, real: services.Services) -> None:
    with looking(ANN):
        memory = real.memories.remember(draft("everybody's 4713"), ME)
    for by in (ME, HUMAN):
        with looking(BOB), pytest.raises(Forbidden, match="only who made"):
            lifecycle.act(ActRequest(Act.SHARE, (memory.seq,), visibility=PRIVATE), by)
    with looking(BOB), pytest.raises(Forbidden):
        lifecycle.act(ActRequest(Act.SHARE, (memory.seq,), visibility=OPEN), ME)
    with looking(BOB):  # whoever decides what is told decides that it is everyone's
        shown = lifecycle.act(ActRequest(Act.SHARE, (memory.seq,), visibility=OPEN), HUMAN).changed[0]
    assert shown.state.visibility is OPEN
    with looking(NOBODY), pytest.raises(InvalidArgument, match="no member"):
        real.memories.remember(draft("whose?", PRIVATE), ME)


def test_private_words_are_not_merged_into_shared_ones(lifecycle: Lifecycle, real: services.Services) -> None:
    with looking(ANN):
        own = real.memories.remember(draft("own", PRIVATE), ME)
        shared = real.memories.remember(draft("shared"), ME)
        with pytest.raises(InvalidArgument, match="same people"):
            lifecycle.act(ActRequest(Act.MERGE, (own.seq,), into=shared.seq), ME)


def test_others_may_know_that_it_is_there(table: MemoryTable, stored: dict[Visibility, Memory]) -> None:
    with looking(NOBODY):
        found = {each.seq: each for each in table.private(None, 100, 2**62)}
        one = found[stored[PRIVATE].seq]
        assert (one.owner, one.kind) == ("mbr_ann", Kind.NOTE)
        assert table.private_counts()["mbr_ann"] == len(found)
        assert table.private("mbr_bob", 100, 2**62) == []
        assert stored[OPEN].seq not in found
