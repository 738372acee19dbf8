"""What every engine promises about memories, their handles, their history and forgetting."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from codexmem.kernel.model.attrs import KnowledgeAttrs, NoteAttrs, ObservationAttrs, PromptAttrs
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import DeltaStatus, Mode, Op, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, Id, PageRequest, Seq, Uri
from codexmem.kernel.store.database import Database, acting_as
from tests._support import services
from tests._support.services import Services

NOTES = frozenset({Kind.NOTE})
ME = WriteContext("test")


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


def note(content: str, *uris: str, **state: Any) -> MemoryDraft:
    return MemoryDraft(Kind.NOTE, State(content=content, attrs=NoteAttrs(), uris=uris, **state), Origin.AGENT)


def remember(real: Services, content: str, *uris: str, by: WriteContext = ME, **state: Any) -> Memory:
    return real.memories.remember(note(content, *uris, **state), by)


def test_a_memory_answers_to_each_of_its_handles(real: Services) -> None:
    made = remember(real, "端口是 37877", "project://config", title="配置", priority=1)
    for handle in (Seq(made.seq), Id(made.id), Uri("project://config")):
        assert real.memories.get(handle, NOTES) == made


def test_an_endpoint_sees_only_the_kinds_it_names(real: Services) -> None:
    made = remember(real, "x", "project://x")
    others = frozenset(Kind) - NOTES
    for handle in (Seq(made.seq), Id(made.id), Uri("project://x")):
        with pytest.raises(NotFound):
            real.memories.get(handle, others)
    assert real.memories.many([made.seq], others) == {}


def test_uris_are_normalised_and_reserved_ones_refused(real: Services) -> None:
    made = remember(real, "x", "Project://a//b/")
    assert made.state.uris == ("project://a/b",)
    with pytest.raises(InvalidArgument):
        remember(real, "x", "system://boot")


def test_one_address_names_one_memory(real: Services) -> None:
    remember(real, "first", "project://config")
    with pytest.raises(Conflict, match="already names another memory"):
        remember(real, "second", "project://config")
    # The failed write left nothing behind: the next one gets the name's only claim.
    with pytest.raises(NotFound):
        real.memories.get(Uri("project://other"), NOTES)


def test_a_write_names_the_version_it_saw_and_the_loser_gets_a_conflict(real: Services) -> None:
    made = remember(real, "one")
    real.memories.append(Seq(made.seq), NOTES, "two", ME, seen=1)
    with pytest.raises(Conflict, match="changed since version 1"):
        real.memories.append(Seq(made.seq), NOTES, "three", ME, seen=1)
    assert real.memories.get(Seq(made.seq), NOTES).state.content == "one\ntwo"


def test_concurrent_appends_without_a_version_all_arrive(real: Services, database: Database, tenant: str) -> None:
    made = remember(real, "start")
    writers, each = 4, 10
    failures: list[Exception] = []

    def write(number: int) -> None:
        with acting_as(tenant):
            for turn in range(each):
                while True:
                    try:
                        real.memories.append(Seq(made.seq), NOTES, f"{number}.{turn}", ME)
                        break
                    except Conflict:
                        continue  # five tries were not enough against four writers; a caller repeats
                    except Exception as error:
                        failures.append(error)
                        return

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    after = real.memories.get(Seq(made.seq), NOTES)
    assert after.version == 1 + writers * each
    assert sorted(after.state.content.splitlines()[1:]) == sorted(
        f"{w}.{t}" for w in range(writers) for t in range(each)
    )
    assert len(real.history.versions(Seq(made.seq), NOTES, limit=100)) == after.version


def test_patch_says_when_the_text_is_absent_or_ambiguous(real: Services) -> None:
    made = remember(real, "port 8080, again 8080")
    with pytest.raises(NotFound, match="does not occur"):
        real.memories.patch(Seq(made.seq), NOTES, "9090", "1", ME)
    with pytest.raises(Conflict, match="occurs 2 times"):
        real.memories.patch(Seq(made.seq), NOTES, "8080", "1", ME)
    assert real.memories.patch(Seq(made.seq), NOTES, "port 8080", "port 1", ME).state.content == "port 1, again 8080"


def test_diff_shows_both_states_and_the_change(real: Services) -> None:
    made = remember(real, "port: 8080\nhost: a")
    real.memories.patch(Seq(made.seq), NOTES, "8080", "37877", ME)
    diff = real.history.diff(Seq(made.seq), NOTES, 1, 2)
    assert diff.unified.splitlines()[3:] == ["-port: 8080", "+port: 37877", " host: a"]


def test_rollback_writes_a_new_version_and_brings_back_a_deleted_note(real: Services) -> None:
    made = remember(real, "one", "project://config")
    real.memories.delete(Uri("project://config"), NOTES, ME)
    back = real.history.rollback(Uri("project://config"), NOTES, 1, ME)
    assert (back.version, back.state) == (3, made.state)
    assert [v.op for v in real.history.versions(Seq(made.seq), NOTES)] == [Op.RESTORE, Op.DELETE, Op.ADD]


def test_an_alias_taken_since_is_left_to_its_new_owner(real: Services) -> None:
    first = remember(real, "one", "project://one")
    real.memories.alias(Seq(first.seq), NOTES, "project://shared", ME)
    real.memories.unalias(Seq(first.seq), NOTES, "project://shared", ME)
    second = remember(real, "two", "project://shared")
    assert real.history.rollback(Seq(first.seq), NOTES, 2, ME).state.uris == ("project://one",)
    assert real.memories.get(Uri("project://shared"), NOTES).seq == second.seq


def test_a_prompt_keeps_no_version_row_until_it_changes(real: Services) -> None:
    prompts = frozenset({Kind.PROMPT})
    draft = MemoryDraft(Kind.PROMPT, State(content="修复登录", attrs=PromptAttrs(prompt_number=3)), Origin.HUMAN)
    made = real.memories.remember(draft, ME)
    assert [v.state for v in real.history.versions(Seq(made.seq), prompts)] == [made.state]
    real.memories.delete(Seq(made.seq), prompts, ME)
    assert [v.version for v in real.history.versions(Seq(made.seq), prompts)] == [2, 1]
    assert real.history.rollback(Seq(made.seq), prompts, 1, ME).state == made.state


def test_strict_rollback_of_a_delta_restores_even_what_was_edited_since(real: Services) -> None:
    old = remember(real, "before")
    delta = real.history.open_delta("run:1", "learn", ME)
    by = WriteContext("model", delta=delta.id)
    real.memories.append(Seq(old.seq), NOTES, "learned", by)
    new = remember(real, "lesson", by=by)
    real.memories.append(Seq(old.seq), NOTES, "hand edit", ME)
    done = real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    assert set(done.restored) == {old.seq, new.seq}
    assert real.memories.get(Seq(old.seq), NOTES).state == old.state
    assert real.memories.get(Seq(new.seq), NOTES).state.status is Status.DELETED
    assert real.history.delta(delta.id).status is DeltaStatus.REVERTED
    # The hand edit stays readable.
    assert real.history.version(Seq(old.seq), NOTES, 3).state.content.endswith("hand edit")


def test_safe_rollback_reports_and_leaves_what_was_edited_since(real: Services) -> None:
    edited, untouched = remember(real, "a"), remember(real, "b")
    delta = real.history.open_delta("run:1", "learn", ME)
    for memory in (edited, untouched):
        real.memories.append(Seq(memory.seq), NOTES, "learned", WriteContext("model", delta=delta.id))
    hand = real.memories.append(Seq(edited.seq), NOTES, "hand edit", ME)
    assert [step.written_since for step in real.history.preview_delta(delta.id)] == [True, False]
    done = real.history.rollback_delta(delta.id, Mode.SAFE, ME)
    assert (done.restored, done.left) == ((untouched.seq,), (edited.seq,))
    assert real.memories.get(Seq(edited.seq), NOTES).state == hand.state
    # What was left can still be taken back by force.
    assert real.history.delta(delta.id).status is DeltaStatus.APPLIED
    assert real.history.rollback_delta(delta.id, Mode.STRICT, ME).restored == (edited.seq,)
    assert real.memories.get(Seq(edited.seq), NOTES).state == edited.state
    assert real.history.delta(delta.id).status is DeltaStatus.REVERTED


def test_taking_a_delta_back_twice_is_taking_it_back_once_and_an_undo_can_be_undone(real: Services) -> None:
    delta = real.history.open_delta("run:1", "learn", ME)
    made = remember(real, "lesson", by=WriteContext("model", delta=delta.id))
    undo = real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    assert real.history.rollback_delta(delta.id, Mode.STRICT, ME).restored == ()
    real.history.rollback_delta(undo.delta.id, Mode.STRICT, ME)
    assert real.memories.get(Seq(made.seq), NOTES).state == made.state
    assert real.history.delta(delta.id).status is DeltaStatus.APPLIED
    assert [d.cause for d in real.history.deltas_of("run:1")] == ["rollback", "rollback", "learn"]


def test_memories_that_swapped_names_get_them_back(real: Services) -> None:
    a, b = remember(real, "a", "project://a"), remember(real, "b", "project://b")
    delta = real.history.open_delta("import:1", "import", ME)
    by = WriteContext("import", delta=delta.id)
    for memory, name in ((a, "project://free"), (b, "project://a"), (a, "project://b")):
        before = real.memories.get(Seq(memory.seq), NOTES)
        real.memories.write(before, replace(before.state, uris=(name,)), Op.UPDATE, by)
    done = real.history.rollback_delta(delta.id, Mode.STRICT, ME)
    assert done.lost_uris == ()
    assert real.memories.get(Uri("project://a"), NOTES).seq == a.seq
    assert real.memories.get(Uri("project://b"), NOTES).seq == b.seq


def test_everything_a_session_wrote_is_undone_in_one_delta(real: Services) -> None:
    session = WriteContext("agent", source="session:s1")
    mine = remember(real, "mine")
    real.memories.append(Seq(mine.seq), NOTES, "theirs", session)
    theirs = remember(real, "theirs", by=session)
    done = real.history.undo_source("session:s1", Mode.STRICT, ME)
    assert set(done.restored) == {mine.seq, theirs.seq}
    assert real.memories.get(Seq(mine.seq), NOTES).state == mine.state
    assert real.memories.get(Seq(theirs.seq), NOTES).state.status is Status.DELETED
    assert real.history.undo_source("session:s1", Mode.STRICT, ME).restored == ()


def test_forgetting_erases_versions_names_links_receipts_and_event_payloads(real: Services) -> None:
    gone = remember(real, "secret-7f3a", "project://gone")
    real.memories.append(Seq(gone.seq), NOTES, "more", ME)
    pointing = remember(real, "see also")
    real.memories.link(Seq(pointing.seq), NOTES, "cites", gone.seq, ME)
    assert real.history.forget([gone.seq], ME) == 1
    with pytest.raises(NotFound):
        real.memories.get(Uri("project://gone"), NOTES)
    with pytest.raises(NotFound):
        real.history.version(Seq(gone.seq), NOTES, 1)
    assert all(event.payload is None for event in real.events.of_subject(f"memory:{gone.seq}", after_seq=0, limit=10))
    audit = real.events.of_subject("memory:erased", after_seq=0, limit=10)
    assert [(e.type, e.payload and e.payload["count"]) for e in audit] == [(EventType.MEMORY_ERASED, 1)]
    remember(real, "the name is free again", "project://gone")


def test_forgetting_a_project_takes_all_kinds_and_nothing_else(real: Services) -> None:
    for number in range(3):
        remember(real, f"n{number}", project="doomed")
    knowledge = State(content="k", attrs=KnowledgeAttrs(tags=("t",)), project="doomed")
    real.memories.remember(MemoryDraft(Kind.KNOWLEDGE, knowledge, Origin.HUMAN), ME)
    kept = remember(real, "kept", project="kept")
    assert real.history.forget_all(ME, project="doomed") == 4
    assert real.memories.get(Seq(kept.seq), NOTES) == kept


def test_counters_are_not_versions(real: Services) -> None:
    made = remember(real, "x")
    real.memories.count([made.seq], shown=2, used=1)
    real.memories.count([made.seq], shown=1, valid=3)
    after = real.memories.get(Seq(made.seq), NOTES)
    assert (after.counters.shown, after.counters.used, after.counters.valid, after.version) == (3, 1, 3, 1)


@pytest.mark.parametrize(
    "state, reason",
    [
        (State(content="x" * ((1 << 20) + 1), attrs=NoteAttrs()), "characters"),
        (State(content="x", attrs=NoteAttrs(), priority=11), "priority"),
        (State(content="x", attrs=NoteAttrs(), confidence=1.5), "confidence"),
        (State(content="x", attrs=ObservationAttrs()), "NoteAttrs"),
        (State(content="x", attrs=NoteAttrs(), title="t" * 1001), "title is longer"),
        (State(content="x", attrs=NoteAttrs(), type="t" * 401), "label is longer"),
        (State(content="a\0b", attrs=NoteAttrs()), "NUL"),
        (State(content="x", attrs=NoteAttrs(), title="\ud800"), "surrogate"),
        (State(content="x", attrs=NoteAttrs(), project="p" * 201), "project's name is longer"),
    ],
)
def test_what_no_engine_should_store_is_refused(real: Services, state: State, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        real.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), ME)


def test_the_longest_keys_of_the_widest_characters_fit_every_index(real: Services) -> None:
    # Distinct characters of four bytes each, so that no engine can compress them.
    wide = "".join(chr(0x20000 + number) for number in range(600))
    state = State(
        content="x", attrs=ObservationAttrs(concepts=(wide[:400],), files_read=(wide[1:401],)), type=wide[:400],
        project=wide[:200], uris=("project://" + wide[: 512 - 10],),
    )  # fmt: skip
    draft = MemoryDraft(Kind.OBSERVATION, state, Origin.AGENT, session=wide[:400], id=wide[:400])
    made = real.memories.remember(draft, WriteContext("test", source=wide[:400]))
    wanted = Filter(frozenset({Kind.OBSERVATION}), project=wide[:200], facets=(("concept", frozenset({wide[:400]})),))
    assert real.memories.page(wanted, PageRequest()).items == (made,)
    for draft_of_too_long in (replace(draft, id="i" * 401), replace(draft, session="s" * 401)):
        with pytest.raises(InvalidArgument, match="longer than 400"):
            real.memories.remember(draft_of_too_long, ME)
    with pytest.raises(InvalidArgument, match="source is longer"):
        remember(real, "x", by=WriteContext("test", source="s" * 401))


def test_an_error_that_was_swallowed_inside_a_transaction_does_not_commit_the_rest(
    real: Services, database: Database
) -> None:
    remember(real, "first", "project://config")
    with pytest.raises(RuntimeError, match="must not commit"), database.transaction(), suppress(Conflict):
        remember(real, "second", "project://config")
    listed = real.history.versions(Uri("project://config"), NOTES)
    assert [v.state.content for v in listed] == ["first"]
