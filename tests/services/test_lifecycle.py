"""One life for all kinds: every act on memories of every kind, by selection, taken back as one, and listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from codexmem.kernel.model import audience, handle
from codexmem.kernel.model.attrs import (
    ChunkAttrs,
    KnowledgeAttrs,
    LessonAttrs,
    NoteAttrs,
    ObservationAttrs,
    QaAttrs,
    SummaryAttrs,
)
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.life import SPLIT_FROM, Act, Life, MemoryEdit
from codexmem.kernel.model.memory import ATTRS, REMEMBERED, Kind, Mark, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, Id, PageRequest, Seq
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.model.statement import SUPERSEDES
from codexmem.kernel.services.lifecycle import MAX_IDS, ActRequest, ActResult, Lifecycle
from codexmem.kernel.store import listing
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall import memory_list
from codexmem.recall.lookup import Lookup
from codexmem.recall.memory_list import ListRequirements, MemoryLists
from tests._support import services
from tests._support.services import Services

PERSON = WriteContext("anna", origin=Origin.HUMAN)
AGENT = WriteContext("key:agent", origin=Origin.AGENT)
ALL = frozenset(Kind)


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


@pytest.fixture
def acts(real: Services, database: Database) -> Lifecycle:
    return Lifecycle(database, MemoryTable(database), real.memories, real.history)


@pytest.fixture
def lists(real: Services, database: Database, acts: Lifecycle) -> MemoryLists:
    return MemoryLists(real.memories, Lookup(real.memories, Labels(database), real.search), acts)


@pytest.fixture
def make(real: Services) -> Callable[..., Memory]:
    made = iter(range(1_000))

    def make(kind: Kind = Kind.OBSERVATION, text: str = "the port is 8080", origin: Origin = Origin.AGENT,
             **given: object) -> Memory:  # fmt: skip
        number = next(made)
        attrs = QaAttrs(question=f"which port {number}?") if kind is Kind.QA else ATTRS[kind]()
        uris = (f"project://p/{number}",) if kind is Kind.NOTE else ()
        state = State(text, attrs, project="p", title=f"port {number}", uris=uris)
        return real.memories.remember(MemoryDraft(kind, replace(state, **given), origin), WriteContext("test"))  # type: ignore[arg-type]

    return make


def do(acts: Lifecycle, act: Act, *memories: Memory, by: WriteContext = PERSON, **more: object) -> ActResult:
    return acts.act(ActRequest(act, tuple(each.seq for each in memories), **more), by)  # type: ignore[arg-type]


def now(real: Services, memory: Memory) -> Memory:
    return real.memories.get(Seq(memory.seq), ALL)


def undo(real: Services, done: ActResult) -> None:
    assert done.delta is not None
    assert real.history.rollback_delta(done.delta, Mode.SAFE, PERSON).left == ()


def parts(*texts: str) -> tuple[MemoryEdit, ...]:
    return tuple(MemoryEdit(text, title=f"what about {text}?") for text in texts)


@pytest.mark.parametrize("kind", sorted(REMEMBERED))
def test_every_act_on_every_kind_is_one_delta_that_one_undo_takes_back(
    acts: Lifecycle, real: Services, make: Callable[..., Memory], kind: Kind
) -> None:
    first, second, stays = make(kind), make(kind), make(kind)
    both = (first, second)
    before = [each.state for each in (first, second, stays)]
    wanted = [
        ActRequest(Act.EDIT, (first.seq,), MemoryEdit("the port is 9090"), reason="it moved"),
        *(ActRequest(act, (first.seq, second.seq)) for act in (Act.HIDE, Act.DEPRECATE, Act.PIN, Act.WITHHOLD)),
        ActRequest(Act.SUPERSEDE, (first.seq, second.seq), into=stays.seq),
        ActRequest(Act.MERGE, (first.seq, second.seq), MemoryEdit("the port is 1"), into=stays.seq),
        ActRequest(Act.SPLIT, (first.seq,), parts=parts("one", "two")),
    ]
    for each in wanted:
        done = acts.act(each, PERSON)
        assert done.delta is not None
        assert real.history.delta(done.delta).cause == each.act.value
        for memory in done.changed:
            newest = real.history.versions(Seq(memory.seq), ALL, limit=1)[0]
            assert (newest.actor, newest.delta, newest.note) == ("anna", done.delta, each.reason or each.act.value)
        undo(real, done)
        assert [now(real, memory).state for memory in (*both, stays)] == before


@pytest.mark.parametrize("kind", sorted(REMEMBERED))
def test_every_kind_goes_back_to_an_earlier_version_which_one_undo_takes_back(
    acts: Lifecycle, real: Services, make: Callable[..., Memory], kind: Kind
) -> None:
    memory = make(kind)
    do(acts, Act.PIN, memory)
    changed = do(acts, Act.EDIT, memory, edit=MemoryEdit("the port is 9090")).changed[0]
    with pytest.raises(Conflict):
        acts.roll_back(handle.ref(memory), 1, PERSON, seen=2)
    done = acts.roll_back(handle.ref(memory), 1, PERSON, seen=3)
    back = now(real, memory)
    assert (back.version, back.state.content, back.state.marks) == (4, "the port is 8080", frozenset({Mark.PINNED}))
    undo(real, done)
    assert now(real, memory).state == changed.state
    with pytest.raises(NotFound):
        acts.roll_back(handle.ref(memory), 99, PERSON)


def test_hidden_ones_come_back_as_they_last_stood(acts: Lifecycle, real: Services, make: Callable[..., Memory]) -> None:
    proven, plain = make(Kind.QA, status=Status.VALIDATED), make()
    do(acts, Act.HIDE, proven, plain)
    do(acts, Act.WITHHOLD, proven)  # hidden then too
    do(acts, Act.UNHIDE, proven, plain)
    assert (now(real, proven).state.status, now(real, plain).state.status) == (Status.VALIDATED, Status.ACTIVE)


def test_what_there_is_nothing_to_do_about_is_told_and_not_written(
    acts: Lifecycle, real: Services, make: Callable[..., Memory]
) -> None:
    first, second = make(), make()
    assert do(acts, Act.HIDE, first).unchanged == ()
    done = do(acts, Act.HIDE, first, second)
    assert ([each.seq for each in done.changed], done.unchanged) == ([second.seq], (first.seq,))
    again = do(acts, Act.HIDE, first, second)
    assert again == ActResult(None, (), (first.seq, second.seq))
    assert now(real, first).version == 2


def test_an_edit_leaves_nothing_that_tells_the_old_words(
    acts: Lifecycle, real: Services, make: Callable[..., Memory]
) -> None:
    def edited(memory: Memory, **words: str) -> State:
        do(acts, Act.EDIT, memory, edit=MemoryEdit(**words))  # type: ignore[arg-type]
        return now(real, memory).state

    seen = make(title="the port is 8080", attrs=ObservationAttrs(facts=("port 8080",), concepts=("ports",)))
    state = edited(seen, text="the port is 9090 <private>and a secret</private>")
    assert (state.content.strip(), state.title, state.attrs) == (
        "the port is 9090", "the port is 9090", ObservationAttrs(concepts=("ports",)),
    )  # fmt: skip
    turn = make(Kind.SUMMARY, attrs=SummaryAttrs(request="ports", learned="8080", completed="did 8080"))
    state = edited(turn, text="9090", title="which port")
    assert (state.attrs, state.content) == (SummaryAttrs(request="which port", learned="9090"), "9090")
    item = make(Kind.QA, attrs=QaAttrs("Which?", ("What?",), summary="8080", alternatives=("it is 8080",)))
    state = edited(item, text="9090", title="What?")
    assert (state.attrs, state.content, state.title) == (QaAttrs("What?"), "9090", "What?")
    assert edited(make(Kind.NOTE), text="see core://ports").attrs == NoteAttrs(mentions=("core://ports",))
    assert edited(make(Kind.LESSON), text="be brief").attrs == LessonAttrs(by_hand=True)
    assert edited(make(Kind.KNOWLEDGE), title="ports").attrs == KnowledgeAttrs(summary="ports")
    assert edited(make(), type="decision").type == "decision"


def test_an_edit_sets_what_only_notes_have(acts: Lifecycle, real: Services, make: Callable[..., Memory]) -> None:
    note, other = make(Kind.NOTE), make()
    do(acts, Act.EDIT, note, edit=MemoryEdit(priority=1, disclosure="when  deploying"))
    after = now(real, note).state
    assert (after.priority, after.attrs, after.content) == (1, NoteAttrs("when deploying"), note.state.content)
    with pytest.raises(InvalidArgument, match="neither priority nor disclosure"):
        do(acts, Act.EDIT, other, edit=MemoryEdit(priority=1))


def test_what_an_edit_refuses(acts: Lifecycle, make: Callable[..., Memory]) -> None:
    first, second = make(), make(Kind.NOTE)
    for edit, memories in (
        (MemoryEdit(), (first,)), (MemoryEdit("<private>all</private>"), (first,)),
        (MemoryEdit("x"), (first, second)), (MemoryEdit(type="bugfix"), (second,)),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            do(acts, Act.EDIT, *memories, edit=edit)
    do(acts, Act.EDIT, first, edit=MemoryEdit("one"), seen=1)
    with pytest.raises(Conflict, match="changed since version 1"):
        do(acts, Act.EDIT, first, edit=MemoryEdit("two"), seen=1)
    do(acts, Act.HIDE, first)
    with pytest.raises(Conflict, match="hidden"):
        do(acts, Act.EDIT, first, edit=MemoryEdit("two"))


def test_superseded_merged_and_split_ones_are_linked(
    acts: Lifecycle, real: Services, make: Callable[..., Memory]
) -> None:
    old, other, newer = make(), make(), make()
    done = do(acts, Act.SUPERSEDE, old, into=newer.seq)
    assert now(real, newer).state.links == ((SUPERSEDES, old.seq),)
    assert acts.lives(done.changed) == {old.seq: Life.SUPERSEDED, newer.seq: Life.ACTIVE}
    # The other way round afterwards: no two that supersede each other.
    do(acts, Act.UNHIDE, old)
    do(acts, Act.SUPERSEDE, newer, into=old.seq)
    assert acts.lives([now(real, old), now(real, newer)]) == {old.seq: Life.ACTIVE, newer.seq: Life.SUPERSEDED}
    file = make(attrs=ObservationAttrs(files_modified=("src/a.py",)))
    do(acts, Act.MERGE, file, into=other.seq, edit=MemoryEdit("both"))
    state = now(real, other).state
    assert (state.content, state.attrs) == ("both", ObservationAttrs(files_modified=("src/a.py",)))
    note = make(Kind.NOTE)
    made = do(acts, Act.SPLIT, note, parts=parts("one", "two"))
    whole, *new = made.changed
    assert acts.lives(made.changed)[whole.seq] is Life.DEPRECATED
    assert [(each.state.uris, each.state.links, each.created_ms, each.origin) for each in new] == [
        ((f"{note.state.uris[0]}/{number}",), ((SPLIT_FROM, note.seq),), note.created_ms, Origin.HUMAN)
        for number in (1, 2)
    ]


def test_an_agent_may_not_decide_what_agents_are_told(
    acts: Lifecycle, real: Services, make: Callable[..., Memory]
) -> None:
    def marks(memory: Memory) -> list[Mark]:
        return sorted(now(real, memory).state.marks)

    secret, core, plain = make(), make(Kind.NOTE, priority=1), make()
    do(acts, Act.WITHHOLD, secret)
    for act in (Act.PIN, Act.UNPIN, Act.WITHHOLD, Act.RELEASE, Act.APPROVE, Act.UNHIDE):
        with pytest.raises(Conflict, match="only a person"):
            do(acts, act, plain, by=AGENT)
    with pytest.raises(NotFound):
        do(acts, Act.HIDE, secret, by=AGENT)
    do(acts, Act.EDIT, core, by=AGENT, edit=MemoryEdit("always run curl"))
    do(acts, Act.EDIT, plain, by=AGENT, edit=MemoryEdit("other words"))
    assert marks(core) == [Mark.PROPOSED]
    assert marks(plain) == []
    assert acts.lives([now(real, core)])[core.seq] is Life.PROPOSED
    do(acts, Act.APPROVE, core)
    assert marks(core) == []
    # Going back to words that nobody had agreed to is not a way around that, nor around withholding.
    real.history.rollback(Seq(core.seq), ALL, 2, AGENT)
    real.history.rollback(Seq(secret.seq), ALL, 1, AGENT)
    assert marks(core) == [Mark.PROPOSED]
    assert marks(secret) == [Mark.WITHHELD]


def test_pinned_and_withheld_exclude_each_other(acts: Lifecycle, real: Services, make: Callable[..., Memory]) -> None:
    memory = make(marks=frozenset({Mark.PROPOSED}))
    marks = []
    for act in (Act.WITHHOLD, Act.PIN, Act.WITHHOLD, Act.RELEASE, Act.PIN, Act.UNPIN):
        do(acts, act, memory)
        marks.append(sorted(now(real, memory).state.marks))
    assert marks == [["proposed", "withheld"], ["pinned"], ["withheld"], [], ["pinned"], []]


def test_pieces_of_documents_and_too_many_are_refused(acts: Lifecycle, make: Callable[..., Memory]) -> None:
    chunk = make(Kind.CHUNK, attrs=ChunkAttrs(document="d"))
    with pytest.raises(NotFound):
        do(acts, Act.HIDE, chunk)
    with pytest.raises(InvalidArgument, match=str(MAX_IDS)):
        acts.act(ActRequest(Act.HIDE, tuple(range(1, MAX_IDS + 2))), PERSON)


def test_memories_are_named_in_any_way(acts: Lifecycle, make: Callable[..., Memory]) -> None:
    note, item, turn = make(Kind.NOTE), make(Kind.QA), make(Kind.SUMMARY)
    names = (note.state.uris[0], f"qa {item.id}", f"#S{turn.seq}", turn.seq)
    assert [each.seq for each in acts.named(names, PERSON)] == [note.seq, item.seq, turn.seq]
    assert [each.seq for each in acts.named([f"#S{item.seq}"], PERSON)] == [item.seq]  # one counter for all kinds


def test_lists_by_life_mark_origin_and_label(
    acts: Lifecycle, lists: MemoryLists, make: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(**wanted: object) -> list[int]:
        seqs, after = [], None
        while True:
            page = lists.page(ListRequirements(**{"project": "p", **wanted}), limit=2, after=after)  # type: ignore[arg-type]
            seqs += [each.memory.seq for each in page.items]
            if (after := page.after) is None:
                return seqs

    monkeypatch.setattr(memory_list, "MOST_READ", 3)
    monkeypatch.setattr(memory_list, "_BATCH", 2)
    about = ObservationAttrs(concepts=("ports",), files_modified=("src/web/port.py",))
    hidden, old, newer, gone = make(attrs=about), make(), make(Kind.NOTE), make(Kind.LESSON)
    asked, person = make(Kind.QA, status=Status.CANDIDATE), make(attrs=about, origin=Origin.HUMAN, type="bugfix")
    proposed = make(marks=frozenset({Mark.PROPOSED}))
    make(project="q")
    do(acts, Act.HIDE, hidden, gone)
    do(acts, Act.SUPERSEDE, old, into=newer.seq)
    do(acts, Act.PIN, person)
    assert found() == [proposed.seq, person.seq, asked.seq, newer.seq]
    assert found(lives=frozenset({Life.ACTIVE})) == [person.seq, newer.seq]
    assert found(lives=frozenset({Life.PROPOSED})) == [proposed.seq, asked.seq]
    assert found(lives=frozenset({Life.HIDDEN})) == [gone.seq, hidden.seq]
    assert found(lives=frozenset({Life.HIDDEN}), concepts=frozenset({"ports"})) == [hidden.seq]
    assert found(lives=frozenset({Life.SUPERSEDED})) == [old.seq]
    assert found(lives=frozenset({Life.DEPRECATED})) == []
    assert len(found(lives=frozenset(Life))) == 7
    assert found(marks=frozenset({Mark.PINNED})) == [person.seq]
    assert found(origins=frozenset({Origin.HUMAN})) == [person.seq]
    assert found(files=("web/port.py",)) == found(types=frozenset({"bugfix"})) == [person.seq]
    assert found(files=("absent.py",)) == []
    assert found(kinds=frozenset({Kind.NOTE})) == [newer.seq]


def test_what_is_hidden_in_a_project_is_read_from_its_own_index(sqlite_database: Database) -> None:
    hidden = Filter(frozenset({Kind.NOTE}), project="p", statuses=frozenset({Status.DELETED}))
    (values,) = listing._branches(hidden)
    shape = listing._branch(frozenset(listing._CONDITIONS.keys() & values), 0, True, False)
    with sqlite_database.reading() as tx:
        compiled = shape.compile(tx.connection)
        names = {"project": "p", "kind": "note", "status": "deleted", "limit": 1, "tenant": "local"}
        bound = [names.get(name, "local") for name in compiled.positiontup or ()]
        plans = [row[3] for row in tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", tuple(bound))]
    assert any("memories_put_away" in plan for plan in plans), plans
    assert not any("TEMP B-TREE" in plan for plan in plans), plans


def test_readers_see_what_is_for_them(acts: Lifecycle, real: Services, make: Callable[..., Memory]) -> None:
    secret, proposed, plain = make(), make(marks=frozenset({Mark.PROPOSED})), make()
    do(acts, Act.WITHHOLD, secret)
    wanted = Filter(frozenset({Kind.OBSERVATION}), project="p")

    def seen() -> list[set[int]]:
        numbers = [secret.seq, proposed.seq, plain.seq]
        ids = [secret.id, proposed.id, plain.id]
        return [
            set(real.memories.many(numbers, ALL)),
            {each.seq for each in real.memories.page(wanted, PageRequest(10)).items},
            {each.memory.seq for each in real.search(SearchQuery("port", wanted)).results},
            {each.seq for name in ids for each in [_found(real, name)] if each is not None},
        ]

    everything = {secret.seq, proposed.seq, plain.seq}
    assert seen() == [everything] * 4
    with audience.agents():
        assert seen() == [everything - {secret.seq}] * 4
        with audience.everyone():
            assert seen() == [everything] * 4
    with audience.unasked():
        assert seen() == [{plain.seq}] * 4


def _found(real: Services, name: str) -> Memory | None:
    try:
        return real.memories.get(Id(name), ALL)
    except NotFound:
        return None


@pytest.mark.parametrize("act", [Act.HIDE, Act.DEPRECATE])
def test_an_agent_brings_nothing_back_by_going_to_an_earlier_version(
    acts: Lifecycle, real: Services, make: Callable[..., Memory], act: Act
) -> None:
    memory = make(Kind.OBSERVATION)
    do(acts, act, memory)
    out = now(real, memory).state
    with pytest.raises(Conflict, match="only a person"):
        acts.roll_back(handle.ref(memory), 1, AGENT)
    assert now(real, memory).state == out
    assert acts.roll_back(handle.ref(memory), 1, PERSON).changed[0].state.status is Status.ACTIVE
