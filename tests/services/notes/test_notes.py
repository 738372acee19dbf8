"""Notes beyond what the contract's tests ask: races, taking back, growth, and company of other kinds."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import sqlalchemy as sa

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.note import NOTES, NoteEdit
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import Database, acting_as
from codexmem.notes.model import ContextKind, Direction, NewNote, NoteFilter, Strategy
from codexmem.notes.service import NoteService
from tests._support.services import Services

ME = WriteContext("me")
PERSON = WriteContext("me", origin=Origin.HUMAN)


def create(notes: NoteService, uri: str, content: str = "said", **more: object) -> Memory:
    return notes.writing.create(NewNote(uri, content, **more), ME)  # type: ignore[arg-type]


def related(notes: NoteService, uri: str) -> set[tuple[Direction, str, bool]]:
    return {(each.direction, each.uri, each.memory is not None) for each in notes.reading.read(uri).relations}


def test_what_a_person_put_away_no_agent_brings_back(notes: NoteService, real: Services) -> None:
    for uri, by in (("a://by-agent", ME), ("a://by-person", PERSON)):
        create(notes, uri, "the words")
        notes.writing.delete(uri, by)
    assert notes.writing.rollback("a://by-agent", 1, ME).memory.state.status is Status.ACTIVE
    with pytest.raises(Conflict) as refused:
        notes.writing.rollback("a://by-person", 1, ME)
    assert refused.value.details["reason"] == "dismissed"
    with pytest.raises(Conflict, match="only a person"):
        notes.writing.restore("a://by-person", ME)
    assert create(notes, "a://another", "what the agent knows itself").state.status is Status.ACTIVE
    back = notes.writing.restore("a://by-person", PERSON).memory.state
    assert (back.status, back.marks) == (Status.ACTIVE, frozenset())


def test_what_a_person_undid_no_agent_brings_back(notes: NoteService, real: Services) -> None:
    source = replace(ME, source="session:s1")
    notes.writing.create(NewNote("a://undone", "the words"), source)
    real.history.undo_source("session:s1", Mode.STRICT, PERSON)
    with pytest.raises(Conflict, match="only a person"):
        notes.writing.rollback("a://undone", 1, ME)


def test_of_many_who_create_at_once_one_wins(notes: NoteService, tenant: str) -> None:
    outcomes: list[str] = []

    def work(number: int) -> None:
        with acting_as(tenant):
            try:
                create(notes, "a://x", f"by {number}")
                outcomes.append("created")
            except Conflict:
                outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["created", *["refused"] * 7]


def test_appending_at_once_loses_nothing(notes: NoteService, tenant: str) -> None:
    create(notes, "a://log", "start")

    def work(number: int) -> None:
        with acting_as(tenant):
            notes.writing.update("a://log", NoteEdit(content=f"line {number}", append=True), ME)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = notes.reading.read("a://log").memory
    assert (set(read.state.content.splitlines()), read.version) == ({"start", *(f"line {n}" for n in range(4))}, 5)


def test_a_mention_becomes_a_link_by_creation_alias_rollback_and_undo(notes: NoteService, real: Services) -> None:
    create(notes, "a://from", "see b://later and b://other")
    assert related(notes, "a://from") == {(Direction.TO, "b://later", False), (Direction.TO, "b://other", False)}
    delta = real.history.open_delta("run:1", "learn", ME)
    notes.writing.create(NewNote("b://later", "here"), replace(ME, delta=delta.id))
    notes.writing.alias("b://later", "b://other", ME)
    assert related(notes, "a://from") == {(Direction.TO, "b://later", True), (Direction.TO, "b://other", True)}
    assert related(notes, "b://other") == {(Direction.FROM, "a://from", True)}
    notes.writing.rollback("b://later", 1, ME)
    assert (Direction.TO, "b://other", True) in related(notes, "a://from")  # an alias is not what a note says
    notes.writing.update("a://from", NoteEdit(content="nothing"), ME)
    assert related(notes, "b://later") == set()
    notes.writing.rollback("a://from", 1, ME)
    assert related(notes, "b://later") == {(Direction.FROM, "a://from", True)}
    notes.writing.delete("a://from", ME)
    assert related(notes, "b://later") == set()
    real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    with pytest.raises(NotFound, match="was deleted"):
        notes.reading.read("b://later")


def test_links_that_are_no_mentions_are_shown_and_carried(notes: NoteService, real: Services) -> None:
    one, other = create(notes, "a://one"), create(notes, "a://other")
    real.memories.link(Seq(one.seq), NOTES, "supersedes", other.seq, ME)
    assert related(notes, "a://one") == {(Direction.TO, "a://other", True)}
    assert related(notes, "a://other") == {(Direction.FROM, "a://one", True)}
    document = notes.exchange.export(domain=None, versions=False, relations=True).document()
    for uri in ("a://one", "a://other"):
        notes.writing.delete(uri, ME, force=True)
    notes.exchange.take_in(document, Strategy.SKIP, ME)
    (relation,) = notes.reading.read("a://one").relations
    assert (relation.relation, relation.uri) == ("supersedes", "a://other")


def test_other_kinds_are_not_seen(notes: NoteService, real: Services) -> None:
    state = State("kiwi", ObservationAttrs(), uris=("o://x",), priority=0)
    real.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.TOOL), ME)
    with pytest.raises(NotFound):
        notes.reading.read("o://x")
    with pytest.raises(Conflict, match="already names another memory"):
        create(notes, "o://x")
    assert notes.views.read("system://boot").memories == ()
    assert notes.shelf.search("kiwi", NoteFilter(), limit=10).found == ()
    assert notes.shelf.figures().statuses == {}
    assert notes.preload.load(ContextKind.INTENT, "kiwi x").related == ()


def test_quarantined_notes_are_neither_told_nor_listed(notes: NoteService, real: Services) -> None:
    made = create(notes, "a://bad", "kiwi", priority=0)
    real.memories.change(Seq(made.seq), NOTES, lambda state: replace(state, status=Status.QUARANTINED), ME)
    assert notes.views.read("system://boot").memories == ()
    assert notes.shelf.page(NoteFilter(), limit=10).memories == ()
    assert notes.preload.load(ContextKind.INTENT, "bad kiwi").related == ()


def test_recent_reads_its_index_and_nothing_else(notes: NoteService, database: Database) -> None:
    create(notes, "a://x")
    query = "SELECT seq FROM memories WHERE tenant = '{}' AND kind = 'note' AND status IN ('active')"
    query = query.format(database.acting_tenant()) + " ORDER BY updated_ms DESC, seq DESC LIMIT 5"
    with database.reading() as tx:
        if database.engine.name == "sqlite":
            plan = str(tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}").all())
        else:
            tx.connection.execute(sa.text("SET LOCAL enable_seqscan = off"))
            tx.connection.execute(sa.text("SET LOCAL enable_bitmapscan = off"))
            tx.connection.execute(sa.text("SET LOCAL enable_sort = off"))
            plan = str(tx.connection.exec_driver_sql(f"EXPLAIN {query}").all())
    assert "memories_changed" in plan
    assert "TEMP B-TREE" not in plan


def test_an_import_that_fails_half_way_changes_nothing(notes: NoteService, real: Services) -> None:
    state = State("x", ObservationAttrs(), uris=("o://x",))
    real.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.TOOL), ME)
    rows = [{"uri": "a://one", "content": "1"}, {"uri": "o://x", "content": "2"}]
    with pytest.raises(Conflict):
        notes.exchange.take_in({"memories": rows}, Strategy.SKIP, ME)
    with pytest.raises(NotFound, match="there is no memory"):
        notes.reading.read("a://one")


def test_a_merge_does_not_repeat_a_paragraph_that_is_only_wrapped_otherwise(notes: NoteService) -> None:
    create(notes, "a://x", "run the smoke tests\nbefore the tag")
    row = {"uri": "a://x", "content": "run the smoke  tests before the tag\n\nthen tell the operators"}
    for _ in range(2):
        notes.exchange.take_in({"memories": [row]}, Strategy.MERGE, ME)
        content = notes.reading.read("a://x").memory.state.content
        assert content == "run the smoke tests\nbefore the tag\n\nthen tell the operators"


def test_times_of_a_history_cannot_lie_in_the_future(notes: NoteService, real: Services) -> None:
    row = {"uri": "a://x", "content": "x", "created_at": "2999-01-01T00:00:00Z", "versions": [
        {"content": "w", "created_at": "2020-01-01T00:00:00Z"}, {"content": "x", "created_at": "2999-01-01T00:00:00Z"},
    ]}  # fmt: skip
    notes.exchange.take_in({"memories": [row]}, Strategy.SKIP, ME)
    memory = notes.reading.read("a://x").memory
    assert max(memory.created_ms, memory.updated_ms) <= real.clock.now_ms()
    assert notes.reading.versions("a://x", limit=5).versions[1].created_ms == 1_577_836_800_000


@pytest.mark.slow
def test_a_store_that_is_too_large_to_export_says_so(notes: NoteService) -> None:
    for number in range(4):
        create(notes, f"a://{number}", "好" * 300_000)
    with pytest.raises(InvalidArgument, match="to export") as refused:
        notes.exchange.export(domain="a", versions=False, relations=False)
    assert "codexmem backup" in (refused.value.hint or "")


def test_an_unvouched_document_never_reaches_the_core(notes: NoteService) -> None:
    row = {"uri": "a://x", "content": "new", "priority": 0, "versions": [
        {"content": "old", "priority": 1}, {"content": "new", "priority": 0},
    ]}  # fmt: skip
    notes.exchange.take_in({"memories": [row]}, Strategy.SKIP, ME)
    assert {each.state.priority for each in notes.reading.versions("a://x", limit=5).versions} == {3}
    again = notes.exchange.export(domain=None, versions=False, relations=False).document()["memories"][0]
    assert (again["origin"], again["priority"]) == ("import", 3)
    claims = {"uri": "a://y", "content": "mine", "priority": 0, "origin": "human"}
    assert notes.exchange.take_in({"memories": [claims]}, Strategy.SKIP, PERSON).lowered == ["a://y"]
    notes.writing.delete("a://y", PERSON, force=True)
    kept = notes.exchange.take_in({"memories": [claims]}, Strategy.SKIP, PERSON, keep_priority=True)
    assert (kept.lowered, [each.state.uris[0] for each in notes.views.core()[0]]) == ([], ["a://y"])
    with pytest.raises(InvalidArgument, match="only a person"):
        notes.exchange.take_in({"memories": [claims]}, Strategy.OVERWRITE, ME, keep_priority=True)


def test_preloading_in_chinese_and_by_disclosure(notes: NoteService) -> None:
    create(notes, "a://支付网关", "最多需要二十秒")
    create(notes, "a://steps", "run the smoke test", disclosure="deploy to production")
    create(notes, "a://other", "bread and butter")
    for request in ("支付网关 为什么慢？", "请看一下支付网关为什么这么慢"):
        found = notes.preload.load(ContextKind.INTENT, request).related
        assert [(each.memory.state.uris[0], next(iter(each.reasons))) for each in found] == [
            ("a://支付网关", "is named 支付网关")
        ]
    found = notes.preload.load(ContextKind.INTENT, "please deploy the shop to production today").related
    assert [(each.memory.state.uris[0], list(each.reasons)) for each in found] == [
        ("a://steps", ["its disclosure says: deploy to production"])
    ]
    assert notes.preload.load(ContextKind.INTENT, "what is for lunch?").related == ()
