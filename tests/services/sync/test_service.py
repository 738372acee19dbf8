"""What becomes of a file, by what it says, what the memory says and what both last had in common; on both engines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codexmem.kernel.model.attrs import LessonAttrs, NoteAttrs, QaAttrs
from codexmem.kernel.model.history import Mode, Op, WriteContext
from codexmem.kernel.model.life import Act, is_proposed, simple_act
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Id, Seq
from codexmem.kernel.services.memories import Memories, changed_since
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.sync.document import MemoryFile, of_state, parse
from codexmem.sync.model import GONE, KINDS, FileReport, FileResult, Outcome, SyncBase
from codexmem.sync.service import SyncService
from tests._support.services import Services, build

ME = WriteContext("test")
P = "shop"


class World:
    """A store, and the words for what a checkout would send."""

    def __init__(self, db: Database) -> None:
        self.built: Services = build(db)
        self.sync = SyncService(db, MemoryTable(db), self.built.memories, self.built.history)

    def note(self, body: str = "one\ntwo\nthree", uri: str = "project://x", **more: Any) -> Memory:
        state = State(body, NoteAttrs(), project=P, uris=(uri,), **more)
        return self.built.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), ME)

    def edit(self, memory: Memory, body: str) -> Memory:
        return self.built.memories.change(Seq(memory.seq), KINDS, lambda s: replace(s, content=body), ME)

    def now(self, memory: Memory) -> Memory:
        return self.built.memories.get(Seq(memory.seq), KINDS)

    def send(self, memory: Memory | None, file: MemoryFile | str | None, **more: Any) -> FileResult:
        text = file.text() if isinstance(file, MemoryFile) else file
        report = FileReport("notes/project/x.md", text, memory.id if memory else "", **more)
        dry = self.sync.take(P, [report], ME, write=False).results[0]
        result = self.sync.take(P, [report], ME).results[0]
        assert (dry.outcome, dry.digest if dry.outcome is not Outcome.DELETED else GONE) == (
            result.outcome,
            result.digest,
        )
        return result


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def of(memory: Memory, body: str | None = None) -> MemoryFile:
    file = of_state(memory.kind, memory.state, memory.id)
    return file if body is None else replace(file, body=body)


def base(memory: Memory) -> SyncBase:
    return SyncBase(of(memory).digest(), memory.version)


def test_an_edit_is_a_version_whose_cause_is_the_commit(world: World) -> None:
    memory = world.note()
    result = world.send(memory, of(memory, "one\n2\nthree"), base=base(memory), cause="commit abc by Ann")
    assert (result.outcome, result.version) == (Outcome.TAKEN, 2)
    version = world.built.history.versions(Seq(memory.seq), KINDS)[0]
    assert (version.state.content, version.note, version.source) == ("one\n2\nthree", "commit abc by Ann", "sync:shop")
    assert version.delta is not None
    world.built.history.rollback_delta(version.delta, Mode.SAFE, ME)
    assert world.now(memory).state.content == "one\ntwo\nthree"
    again = world.send(memory, of(memory, "one\n2\nthree"), base=SyncBase(result.digest, 2))
    assert again.outcome is Outcome.UPDATED  # taken back in the memory, and nobody edited the file


def test_two_edits_are_merged_and_two_in_one_place_are_shown(world: World) -> None:
    memory = world.note()
    begun = base(memory)
    world.edit(memory, "one\ntwo\nTHREE")
    merged = world.send(memory, of(memory, "ONE\ntwo\nthree"), base=begun)
    assert (merged.outcome, world.now(memory).state.content) == (Outcome.MERGED, "ONE\ntwo\nTHREE")
    world.edit(memory, "1\ntwo\nTHREE")
    conflict = world.send(memory, of(memory, "uno\ntwo\nTHREE"), base=SyncBase(merged.digest, merged.version))
    assert conflict.outcome is Outcome.CONFLICT
    assert conflict.text is not None
    assert "uno\n=======\n1\n" in conflict.text
    assert world.now(memory).version == conflict.version == 4
    unresolved = world.send(memory, conflict.text, base=SyncBase(conflict.digest, conflict.version))
    assert (unresolved.outcome, "not resolved" in unresolved.reason) == (Outcome.REFUSED, True)
    answer = world.send(memory, of(memory, "uno, 1\ntwo\nTHREE"), base=SyncBase(conflict.digest, conflict.version))
    assert (answer.outcome, world.now(memory).version) == (Outcome.TAKEN, 5)


def test_what_the_memory_said_before_is_an_edit_only_when_the_checkout_moved_onward(world: World) -> None:
    memory = world.note()
    old = of(memory)
    now = world.edit(memory, "new")
    for asked in ({}, {"onward": False}, {"onward": False, "base": base(now)}):
        assert world.send(memory, old, **asked).outcome is Outcome.UPDATED
    assert world.now(memory).version == 2
    # The same text after it was in step with the newer one: somebody reverted.
    assert world.send(memory, old, base=base(now)).outcome is Outcome.TAKEN
    newest = world.edit(memory, "newest")
    # Pulled from a checkout that knew less: the memory has been there and moved on.
    assert world.send(memory, of(memory, "new"), base=SyncBase(old.digest(), 1)).outcome is Outcome.UPDATED
    assert world.now(memory).version == newest.version


def test_the_history_of_git_says_what_both_began_with_where_nothing_else_does(world: World) -> None:
    memory = world.note()
    begun = base(memory)
    world.edit(memory, "one\ntwo\nTHREE")
    mine = of(memory, "ONE\ntwo\nthree")
    alone = world.send(memory, mine)
    assert alone.outcome is Outcome.CONFLICT
    assert "<<<<<<< file\nONE\n=======\none\n" in (alone.text or "")
    merged = world.send(memory, mine, ancestors=(SyncBase("0" * 64), SyncBase(begun.digest)))
    assert (merged.outcome, world.now(memory).state.content) == (Outcome.MERGED, "ONE\ntwo\nTHREE")


def test_a_deletion_hides_and_an_edit_is_stronger_than_a_deletion(world: World) -> None:
    memory = world.note()
    begun = base(memory)
    edited = world.edit(memory, "newer")
    back = world.send(memory, None, base=begun)
    assert (back.outcome, parse(back.text or "").body) == (Outcome.RESTORED, "newer")
    gone = world.send(memory, None, base=base(edited))
    assert (gone.outcome, gone.text, world.now(memory).state.status) == (Outcome.DELETED, None, Status.DELETED)
    # An old checkout still has the file; it is not an edit.
    assert world.send(memory, of(edited), onward=False, base=SyncBase(GONE, 3)).outcome is Outcome.REMOVED
    assert world.send(memory, of(edited), base=base(edited)).outcome is Outcome.REMOVED
    # Put back by hand, or edited where the deletion was not known.
    assert world.send(memory, of(edited), base=SyncBase(GONE, 3)).outcome is Outcome.REVIVED
    world.built.memories.delete(Seq(memory.seq), KINDS, ME)
    revived = world.send(memory, of(edited, "other words"), base=base(edited))
    assert (revived.outcome, world.now(memory).state.status) == (Outcome.REVIVED, Status.ACTIVE)


def test_a_new_file_keeps_its_id_and_is_found_again_by_it_or_by_its_address(world: World) -> None:
    made = world.send(None, MemoryFile(Kind.NOTE, "hi", {"uri": "project://new"}, "from-elsewhere"))
    assert (made.outcome, made.memory) == (Outcome.CREATED, "from-elsewhere")
    memory = world.built.memories.get(Id("from-elsewhere"), KINDS)
    assert (memory.origin, memory.state.project, memory.state.status) == (Origin.IMPORT, P, Status.ACTIVE)
    other = MemoryFile(Kind.NOTE, "hi", {"uri": "project://new"}, "another-id")
    same = world.send(None, other)
    assert (same.outcome, same.memory, parse(same.text or "").id) == (Outcome.SAME, "from-elsewhere", "another-id")


@pytest.mark.parametrize("kind", [Kind.QA, Kind.LESSON])
def test_an_answer_or_a_lesson_of_a_checkout_waits_for_a_person(world: World, kind: Kind) -> None:
    head: dict[str, Any] = {"question": "Which port?"} if kind is Kind.QA else {"title": "Look", "role": "writer"}
    file = MemoryFile(kind, "5179", head)
    made = world.send(None, file)
    memory = world.built.memories.get(Id(made.memory), KINDS)
    assert (made.outcome, memory.state.status, is_proposed(memory)) == (Outcome.CREATED, Status.CANDIDATE, True)
    assert (memory.state.confidence, getattr(memory.state.attrs, "by_hand", False)) != (1.0, True)
    known = SyncBase(made.digest or "", memory.version)
    assert world.send(memory, file, base=known).outcome is Outcome.SAME  # and keeps its file
    world.built.memories.write(memory, simple_act(Act.APPROVE, memory), Op.UPDATE, ME)
    approved = world.now(memory)
    assert not is_proposed(approved)
    changed = world.send(approved, replace(file, body="6000", id=approved.id), base=known)
    assert (changed.outcome, world.now(memory).state.status) == (Outcome.TAKEN, Status.CANDIDATE)
    world.built.memories.delete(Seq(memory.seq), KINDS, ME)
    back = world.send(world.now(memory), replace(file, body="7000", id=approved.id), base=base(approved))
    assert (back.outcome, world.now(memory).state.status) == (Outcome.REVIVED, Status.CANDIDATE)


def test_approved_answers_and_lessons_have_a_file(world: World) -> None:
    text = "---\nkind: qa\nquestion: Which port?\ntags: [net]\n---\n5179\n"
    asked = world.built.memories.get(Id(world.send(None, text).memory), KINDS)
    assert (asked.state.title, asked.state.attrs) == ("Which port?", QaAttrs("Which port?", tags=("net",)))
    asked = world.built.memories.write(asked, simple_act(Act.APPROVE, asked), Op.UPDATE, ME)
    world.built.memories.remember(MemoryDraft(Kind.QA, replace(asked.state, status=Status.CANDIDATE), Origin.AGENT), ME)
    lesson = State("Look first", LessonAttrs(), title="Look")
    learned = world.built.memories.remember(MemoryDraft(Kind.LESSON, lesson, Origin.MODEL), ME)
    world.note(uri="project://private", body="x")
    world.built.memories.remember(
        MemoryDraft(Kind.NOTE, State("x", NoteAttrs(), project="other", uris=("project://o",)), Origin.AGENT), ME
    )
    world.built.memories.remember(
        MemoryDraft(Kind.NOTE, State("x", NoteAttrs(), uris=("user://me",)), Origin.AGENT), ME
    )
    assert {each.file.kind for each in items(world, lessons=False)} == {Kind.NOTE, Kind.QA}
    assert [each.file.kind for each in items(world, lessons=True)] == [Kind.QA, Kind.NOTE, Kind.LESSON]
    edited = world.send(learned, of(learned, "Look twice"), base=base(learned))
    now = world.now(learned)
    assert (edited.outcome, now.state.project, now.state.attrs) == (Outcome.TAKEN, "", LessonAttrs(by_hand=True))


def items(world: World, *, lessons: bool) -> list[Any]:
    found: list[Any] = []
    after = None
    while True:
        page = world.sync.page(P, lessons=lessons, after=after)
        found += page.items
        if (after := page.after) is None:
            return found


def test_pages_lead_through_all_memories(world: World) -> None:
    made = [world.note(f"note {number}", f"project://n{number}").id for number in range(120)]
    assert [each.memory.id for each in items(world, lessons=True)] == made


def test_nothing_of_others_is_read_or_written(world: World) -> None:
    state = State("theirs", NoteAttrs(), project="other", uris=("project://x",))
    theirs = world.built.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), ME)
    observed = State("x", NoteAttrs(), project=P, uris=("project://y",))
    taken = world.built.memories.remember(MemoryDraft(Kind.NOTE, observed, Origin.AGENT), ME)
    for file in (
        of(theirs, "stolen"),
        MemoryFile(Kind.NOTE, "stolen", {"uri": "project://x"}),
        replace(of(taken), fields={"uri": "project://y", "aliases": ("project://x",)}),
        MemoryFile(Kind.NOTE, "mine", {"uri": "core://me"}),
        MemoryFile(Kind.QA, "5179", {"question": "q"}, taken.id),
        MemoryFile(Kind.NOTE, "key AKIA" + "IOSFODNN7EXAMPL2", {"uri": "project://z"}),
    ):
        result = world.send(None, file, base=base(taken))
        assert (result.outcome, result.text, bool(result.reason)) == (Outcome.REFUSED, None, True)
    assert world.now(theirs) == theirs
    assert world.now(taken) == taken


def test_a_write_in_between_means_deciding_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = world.note()
    whole, tried = Memories.write, []

    def write(self: Memories, before: Memory, *given: Any) -> Memory:
        tried.append(before.version)
        if len(tried) == 1:
            raise changed_since(before, before.version)
        return whole(self, before, *given)

    monkeypatch.setattr(Memories, "write", write)
    report = FileReport("x.md", of(memory, "ONE\ntwo\nthree").text(), memory.id, base(memory))
    page = world.sync.take(P, [report], ME)
    assert (page.results[0].outcome, tried) == (Outcome.TAKEN, [1, 1])
    assert page.delta is not None
    assert world.built.history.delta(page.delta).cause == "sync"
