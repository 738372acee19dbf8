"""Importing and undoing it: what is kept, what is left out, again and again; on every engine."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.errors import Conflict, InvalidArgument
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.import_row import MAX_TEXT, ForeignMemory
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, Origin, Status
from codexmem.kernel.model.query import Filter, Id, PageRequest, Seq
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.model.session import SessionStatus
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from codexmem.recall.importing import MAX_ROWS, Imported, Importing
from codexmem.recall.sessions import TurnCursor, TurnReader
from codexmem.recall.undoing import AT_ONCE, Undoing, UndoResult, Whose
from tests._support import services
from tests._support.services import Services

FINGERPRINT = "0123456789abcdef"
SOURCE = f"import:claude-mem:{FINGERPRINT}"
AT_MS = 1_767_225_600_000
ALL = frozenset(Kind)
BY = WriteContext("test")

BUG = ForeignMemory(
    Kind.OBSERVATION, 7, AT_MS, session="s-en", project="shop", prompt_number=2, tokens=321, text="port 8080 was used",
    type="bugfix", title="Wrong port", subtitle="in the fixture", facts=("8081 is right",), concepts=("gotcha",),
    files_read=("a.py",), files_modified=("src/b.py",),
)  # fmt: skip
SUMMARY = ForeignMemory(
    Kind.SUMMARY, 7, AT_MS + 2, session="s-zh", project="商店", request="修复登录", learned="令牌会过期",
    completed="已修复", prompt_number=1,
)  # fmt: skip
PROMPT = ForeignMemory(
    Kind.PROMPT, 7, AT_MS + 1, session="s-zh", project="商店", text="为什么登录失败", prompt_number=3
)


@dataclass
class Here:
    """The services under test on one store."""

    base: Services
    importing: Importing
    undoing: Undoing

    def take_in(self, *rows: ForeignMemory, delta: str | None = None) -> Imported:
        return self.importing.take_in(FINGERPRINT, rows, BY, delta=delta)

    def undo(self, whose: Whose, mode: Mode = Mode.SAFE) -> UndoResult:
        """Call until all is done; the sums of it."""
        total, into, after = UndoResult(None, 0, 0), None, 0
        while True:
            done = self.undoing.take_back(whose, mode, BY, into=into, after=after)
            into = done.delta or into
            total = UndoResult(into, total.restored + done.restored, total.left + done.left)
            if done.after is None:
                return total
            after = done.after

    def all(self, statuses: frozenset[Status] = VISIBLE) -> list[Memory]:
        return list(self.base.memories.page(Filter(ALL, statuses=statuses), PageRequest(limit=500)).items)

    def found(self, text: str) -> list[int]:
        return [each.memory.seq for each in self.base.recall.search(SearchQuery(text, Filter(ALL))).results]


@pytest.fixture
def here(database: Database) -> Here:
    base = services.build(database)
    table = MemoryTable(database)
    return Here(
        base,
        Importing(database, table, base.memories, base.history, Tallies(database), base.clock, Sessions(database)),
        Undoing(database, table, VersionTable(database), base.history),
    )


def many(count: int, first: int = 1) -> Sequence[ForeignMemory]:
    return [replace(BUG, number=number, title=f"bug {number}") for number in range(first, first + count)]


def test_everything_of_a_row_is_kept(here: Here) -> None:
    taken = here.take_in(BUG, PROMPT, SUMMARY)
    assert (taken.imported, taken.known, taken.hidden, taken.refused) == (
        {"observation": 1, "prompt": 1, "summary": 1}, 0, 0, {},
    )  # fmt: skip
    summary, prompt, bug = here.all()
    assert (bug.kind, bug.origin, bug.source, bug.session, bug.created_ms) == (
        Kind.OBSERVATION, Origin.IMPORT, SOURCE, "s-en", AT_MS,
    )  # fmt: skip
    assert bug.state.attrs == ObservationAttrs(
        subtitle="in the fixture", facts=("8081 is right",), concepts=("gotcha",), files_read=("a.py",),
        files_modified=("src/b.py",), prompt_number=2, discovery_tokens=321, imported="claude-mem:7",
    )  # fmt: skip
    state = bug.state
    assert (state.project, state.type, state.title, state.content, state.priority) == (
        "shop", "bugfix", "Wrong port", "port 8080 was used", 5,
    )  # fmt: skip
    assert (prompt.state.content, prompt.session, prompt.created_ms) == ("为什么登录失败", "s-zh", AT_MS + 1)
    assert prompt.state.attrs == PromptAttrs(prompt_number=3, imported="claude-mem:7")
    assert isinstance(summary.state.attrs, SummaryAttrs)
    assert (summary.state.title, summary.state.content) == ("修复登录", "令牌会过期\n已修复")
    assert summary.state.attrs.imported == "claude-mem:7"
    assert here.found("令牌") == [summary.seq]
    assert here.base.memories.get(Id(BUG.id), ALL) == bug


def test_what_was_imported_is_listed_by_sessions(here: Here, database: Database) -> None:
    here.take_in(BUG, SUMMARY, PROMPT, replace(BUG, number=8, session="manual-shop"))
    here.take_in(replace(PROMPT, number=9, prompt_number=4, at_ms=AT_MS + 90, text="现在呢"))
    sessions = Sessions(database)
    known = sessions.known(["s-en", "s-zh", "manual-shop"])
    assert {key: (each.project, each.platform, each.turn, each.status) for key, each in known.items()} == {
        "s-en": ("shop", "claude-code", 2, SessionStatus.COMPLETED),
        "s-zh": ("商店", "claude-code", 4, SessionStatus.COMPLETED),
    }
    assert (known["s-zh"].started_ms, known["s-zh"].last_ms) == (AT_MS + 1, AT_MS + 90)
    reader = TurnReader(
        database, sessions, Captures(database), here.base.memories, Jobs(database), EventTable(database)
    )
    turns = reader.page(known["s-zh"].id, TurnCursor(), limit=9).turns
    assert [(turn.number, turn.prompt and turn.prompt.state.content, len(turn.came)) for turn in turns] == [
        (1, None, 1),
        (3, "为什么登录失败", 0),
        (4, "现在呢", 0),
    ]


def test_a_session_that_an_agent_goes_on_with_stays_open(here: Here, database: Database) -> None:
    sessions = Sessions(database)
    sessions.touch("s-en", project="shop", platform="codex", cwd="/shop", now_ms=AT_MS - 5)
    here.take_in(BUG)
    session = sessions.named("s-en")
    assert session is not None
    assert (session.status, session.platform, session.turn) == (SessionStatus.ACTIVE, "codex", 0)


def test_a_second_run_changes_nothing_and_leaves_no_delta(here: Here) -> None:
    first = here.take_in(BUG, PROMPT)
    again = here.take_in(BUG, PROMPT)
    assert (again.delta, again.imported, again.known, again.hidden) == (None, {}, 2, 0)
    assert len(here.all()) == 2
    assert [delta.id for delta in here.base.history.deltas_of(SOURCE)] == [first.delta]


def test_a_broken_off_run_is_completed_by_the_next(here: Here) -> None:
    first = here.take_in(*many(3))
    rest = here.take_in(*many(5))
    assert (rest.imported, rest.known) == ({"observation": 2}, 3)
    assert rest.delta != first.delta
    assert here.undo(Whose(source=SOURCE)).restored == 5


def test_a_row_that_is_there_twice_is_imported_once(here: Here) -> None:
    assert here.take_in(BUG, BUG).imported == {"observation": 1}


def test_rows_of_other_databases_do_not_pass_for_each_other(here: Here) -> None:
    here.take_in(BUG)
    other = here.importing.take_in("f" * 16, [replace(BUG, text="something else")], BY)
    assert other.imported == {"observation": 1}
    # The same row in a copy whose fingerprint changed is still the same.
    assert here.importing.take_in("e" * 16, [BUG], BY).known == 1


def test_what_was_edited_or_deleted_since_stays_so(here: Here) -> None:
    here.take_in(*many(2))
    new, old = here.all()
    here.base.memories.change(Seq(new.seq), ALL, lambda state: replace(state, title="mine"), BY)
    here.base.memories.delete(Seq(old.seq), ALL, BY)
    again = here.take_in(*many(2))
    assert (again.imported, again.known, again.hidden, again.undone) == ({}, 1, 1, None)
    assert [memory.state.title for memory in here.all()] == ["mine"]


def test_what_was_forgotten_for_good_comes_again(here: Here) -> None:
    here.take_in(BUG)
    here.base.history.forget([here.all()[0].seq], BY)
    assert here.take_in(BUG).imported == {"observation": 1}


def test_private_regions_and_secrets_do_not_come_in(here: Here) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    taken = here.take_in(
        replace(BUG, title="<private>机密</private>Title", text=f"key {key}", facts=("<private>x</private>", "a fact"),
                concepts=("<private>x</private>", "gotcha")),
        replace(BUG, number=8, title="<private>t</private>", text="<private>t</private>", facts=()),
        replace(PROMPT, text="<private>全部机密</private>"),
        replace(PROMPT, number=8, text="看 <private>机密 and never closed"),
        replace(SUMMARY, request=f"use {key}", learned="<private>x</private>", completed=""),
    )  # fmt: skip
    assert taken.refused == {"private": 1}
    texts = repr([(memory.state, memory.id) for memory in here.all()])
    assert key not in texts
    assert "机密" not in texts
    by_kind = {(memory.kind, memory.state.attrs.imported): memory for memory in here.all()}  # type: ignore[attr-defined]
    observation = by_kind[Kind.OBSERVATION, "claude-mem:7"]
    assert isinstance(observation.state.attrs, ObservationAttrs)
    assert (observation.state.title, observation.state.attrs.facts) == ("Title", ("a fact",))
    assert observation.state.attrs.concepts == ("gotcha",)
    private = by_kind[Kind.PROMPT, "claude-mem:7"]
    assert (private.state.content, private.state.attrs) == (
        "", PromptAttrs(prompt_number=3, private=True, imported="claude-mem:7"),
    )  # fmt: skip
    assert by_kind[Kind.PROMPT, "claude-mem:8"].state.content == "看"


def test_odd_rows_are_made_fit(here: Here) -> None:
    now, long = here.base.clock.now_ms(), "z" * MAX_TEXT
    taken = here.take_in(
        replace(BUG, title="", text="第一行\n" + "x" * 200, project="p" * 500, session="s" * 900, type="t" * 900,
                concepts=("c" * 900, "gotcha", "gotcha"), at_ms=now + 10**12),
        replace(BUG, number=8, title="x" * 5000, text="y" * MAX_TEXT),
        replace(SUMMARY, request=long, investigated=long, learned=long, completed=long, next_steps=long, notes=long),
    )  # fmt: skip
    assert taken.refused == {}
    odd = next(memory for memory in here.all() if memory.state.title.startswith("第一行"))
    assert isinstance(odd.state.attrs, ObservationAttrs)
    assert odd.state.title == ("第一行 " + "x" * 56) + "..."
    assert (len(odd.state.project), len(odd.session or ""), len(odd.state.type)) == (200, 400, 400)
    assert odd.state.attrs.concepts == ("gotcha",)
    assert odd.created_ms <= here.base.clock.now_ms()  # a clock that was ahead must not keep it on top for ever


def test_what_was_saved_by_hand_there_is_saved_by_hand_here(here: Here) -> None:
    here.take_in(replace(BUG, session="manual-content-shop-claude"))
    assert here.all()[0].session == "manual-shop"


def test_batches_are_bounded_and_kinds_are_known(here: Here) -> None:
    with pytest.raises(InvalidArgument):
        here.take_in(*many(MAX_ROWS + 1))
    with pytest.raises(InvalidArgument):
        here.take_in(replace(BUG, kind=Kind.NOTE))
    assert here.all() == []


def test_a_delta_must_be_of_this_import_and_stand(here: Here) -> None:
    foreign = here.base.history.open_delta("session:1", "learn", BY)
    with pytest.raises(InvalidArgument):
        here.take_in(BUG, delta=foreign.id)
    begun = here.take_in(BUG).delta
    assert here.take_in(*many(2), delta=begun).delta == begun
    here.undo(Whose(delta=begun))
    with pytest.raises(Conflict):
        here.take_in(*many(4), delta=begun)


def test_two_imports_at_once_import_once(here: Here, database: Database, tenant: str) -> None:
    rows, taken, failed = many(60), list[int](), list[Exception]()

    def run() -> None:
        try:
            with acting_as(tenant):
                for start in range(0, len(rows), 10):
                    batch = here.take_in(*rows[start : start + 10])
                    taken.append(batch.imported.get("observation", 0))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert (sum(taken), len(here.all())) == (60, 60)


def test_one_call_takes_an_import_back_and_another_brings_it_again(here: Here) -> None:
    taken = here.take_in(BUG, PROMPT, SUMMARY)
    outline = here.undoing.outline(Whose(source=SOURCE), shown=2)
    assert (outline.memories, outline.written_since, len(outline.first), outline.more) == (3, 0, 2, False)
    assert {(change.op, change.written_since) for change in outline.first} == {("delete", False)}
    assert len(here.all()) == 3

    undone = here.undo(Whose(source=SOURCE))
    assert (undone.restored, undone.left) == (3, 0)
    assert here.all() == []
    assert here.found("port") == []
    assert here.undo(Whose(source=SOURCE)) == UndoResult(None, 0, 0)

    again = here.take_in(BUG, PROMPT, SUMMARY)
    assert (again.imported, again.known, again.hidden, again.undone) == ({}, 0, 3, undone.delta)

    assert undone.delta is not None
    redone = here.undo(Whose(delta=undone.delta))
    assert redone.restored == 3
    assert [memory.state.content for memory in here.all()] == [
        "令牌会过期\n已修复",
        "为什么登录失败",
        "port 8080 was used",
    ]
    assert here.undo(Whose(delta=undone.delta)).restored == 0
    assert here.take_in(BUG).known == 1
    # And by its delta alone.
    assert taken.delta is not None
    assert here.undo(Whose(delta=taken.delta), Mode.STRICT).restored == 3
    assert here.base.history.delta(taken.delta).status.value == "reverted"


def test_what_somebody_wrote_since_is_left_unless_overruled(here: Here) -> None:
    taken = here.take_in(*many(2))
    assert taken.delta is not None
    edited = here.all()[0]
    here.base.memories.change(Seq(edited.seq), ALL, lambda state: replace(state, title="我的"), WriteContext("person"))
    assert here.undoing.outline(Whose(delta=taken.delta)).written_since == 1
    undone = here.undo(Whose(delta=taken.delta))
    assert (undone.restored, undone.left) == (1, 1)
    assert [memory.state.title for memory in here.all()] == ["我的"]
    assert here.base.history.delta(taken.delta).status.value == "applied"
    assert here.undo(Whose(delta=taken.delta)) == UndoResult(None, 0, 1)
    assert here.undo(Whose(delta=taken.delta), Mode.STRICT).restored == 1
    assert here.all() == []
    assert here.base.history.delta(taken.delta).status.value == "reverted"


@pytest.mark.slow
def test_a_large_import_is_taken_back_in_steps_and_can_be_broken_off(here: Here) -> None:
    count = 2 * AT_ONCE + 7
    delta = None
    for start in range(1, count + 1, 100):
        delta = here.take_in(*many(min(100, count + 1 - start), start), delta=delta).delta
    assert delta is not None
    edited = here.all()[-1]  # among the first that are taken back
    here.base.memories.change(Seq(edited.seq), ALL, lambda state: replace(state, title="mine"), WriteContext("person"))

    begun = here.undoing.take_back(Whose(delta=delta), Mode.SAFE, BY)
    assert (begun.restored, begun.left, begun.after is not None) == (AT_ONCE - 1, 1, True)
    assert here.undoing.outline(Whose(delta=delta)).memories == count - AT_ONCE + 1
    # Somebody else's work is not refused while the undoing pauses, and a new beginning does the rest.
    rest = here.undo(Whose(delta=delta))
    assert (rest.restored, rest.left) == (count - AT_ONCE, 1)
    assert [memory.state.title for memory in here.all()] == ["mine"]
    assert here.base.history.delta(delta).status.value == "applied"  # one memory of it still stands
    assert here.undo(Whose(delta=delta), Mode.STRICT).restored == 1
    assert here.base.history.delta(delta).status.value == "reverted"


@pytest.mark.slow
def test_a_large_delta_that_is_taken_back_whole_is_reverted(here: Here) -> None:
    taken = here.take_in(*many(AT_ONCE + 1))
    assert taken.delta is not None
    undone = here.undo(Whose(delta=taken.delta))
    assert (undone.restored, undone.left) == (AT_ONCE + 1, 0)
    assert here.base.history.delta(taken.delta).status.value == "reverted"
    assert undone.delta is not None
    assert here.undo(Whose(delta=undone.delta)).restored == AT_ONCE + 1
    assert here.base.history.delta(taken.delta).status.value == "applied"  # it stands again
    assert len(here.all()) == AT_ONCE + 1


def test_undoing_goes_on_in_its_own_delta_only(here: Here) -> None:
    taken = here.take_in(BUG)
    with pytest.raises(InvalidArgument):
        here.undoing.take_back(Whose(source=SOURCE), Mode.SAFE, BY, into=taken.delta)
    for source, delta in ((None, None), ("", None), ("session:1", "delta_x")):
        with pytest.raises(InvalidArgument):
            Whose(source, delta)


def test_forgetting_the_source_leaves_nothing(here: Here) -> None:
    here.take_in(BUG, PROMPT)
    assert here.base.history.forget_all(BY, source=SOURCE) == 2
    assert here.all(frozenset(Status)) == []
    assert here.found("port") == []
