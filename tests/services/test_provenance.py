"""Where memories came from: events, session, job, versions, deltas, links and what else came of it; on every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codexmem.kernel.model.attrs import KnowledgeAttrs, LessonAttrs, NoteAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.note_queries import Noted
from codexmem.recall.provenance import MAX_VERSIONS, Explaining, Provenance
from tests._support import capturing
from tests._support.capturing import Capturing

ME = WriteContext("person", "session:77", note="because 因为")
ALL = frozenset(Kind)


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


@pytest.fixture
def explaining(here: Capturing) -> Explaining:
    return Explaining(
        here.db,
        here.base.memories,
        here.base.history,
        VersionTable(here.db),
        here.sessions,
        here.captures,
        Jobs(here.db),
        Noted(here.db),
    )


def made(here: Capturing, kind: Kind, content: str, by: WriteContext = ME, **state: Any) -> Memory:
    attrs = {Kind.NOTE: NoteAttrs, Kind.KNOWLEDGE: KnowledgeAttrs, Kind.LESSON: LessonAttrs}[kind]
    told = State(content, state.pop("attrs", attrs()), project="demo", **state)
    return here.base.memories.remember(MemoryDraft(kind, told, Origin.AGENT), by)


def labels(told: Any) -> list[str]:
    return [each.label for each in told]


def turns(here: Capturing) -> None:
    """Two turns of one session, the first with two tool events and a summary."""
    here.say("修复登录 please", cwd="/home/me/shop", platform="claude-code")
    here.tool("Read", input={"file_path": "/w/a.py"}, response="one")
    here.tool("Edit", input={"file_path": "/w/a.py", "old_string": "one", "new_string": "two"}, response="two")
    here.intake.summarize(HookReport("s1", project="demo", message="done 完成"))
    here.run(all_of_them=True)
    here.say("and now the port")
    here.tool("Bash", response="three")
    here.run(all_of_them=True)


def test_an_observation_tells_its_events_session_prompt_and_job(here: Capturing, explaining: Explaining) -> None:
    turns(here)
    first, second = here.memories(Kind.OBSERVATION)
    (summary,) = here.memories(Kind.SUMMARY)
    asked, _ = here.memories(Kind.PROMPT)
    told = explaining.why(f"#{first.seq}")
    session = here.sessions.named("s1")
    assert session is not None
    assert (told.memory.label, told.memory.origin, told.memory.source) == (
        f"#{first.seq}", "tool", session.subject,
    )  # fmt: skip
    assert [(event.tool, event.kind, event.turn, event.kept) for event in told.events] == [
        ("Read", "tool", 1, True), ("Edit", "tool", 1, True),
    ]  # fmt: skip
    assert all(event.at_ms <= first.created_ms for event in told.events)
    assert told.session is not None
    assert (told.session.key, told.session.platform, told.session.cwd) == ("s1", "claude-code", "/home/me/shop")
    assert told.prompt is not None
    assert (told.prompt.label, told.prompt.title) == (f"#P{asked.seq}", "修复登录 please")
    (job,) = told.jobs
    assert (job.id, job.kind) == (told.events[0].job, "capture.extract")
    (version,) = told.versions
    assert (version.version, version.op, version.actor, version.source) == (1, "add", "extraction", session.subject)
    assert (labels(told.derived), told.more_derived) == ([f"#S{summary.seq}"], False)
    assert second.seq not in [each.seq for each in told.derived]
    assert (told.run, told.more_events, told.more_versions) == (None, False, False)


def test_a_summary_and_a_prompt_tell_what_came_of_the_turn(here: Capturing, explaining: Explaining) -> None:
    turns(here)
    first, second = here.memories(Kind.OBSERVATION)
    (summary,) = here.memories(Kind.SUMMARY)
    asked, then = here.memories(Kind.PROMPT)
    told = explaining.why(f"S{summary.seq}")
    assert [event.kind for event in told.events] == ["tool", "tool", "stop"]
    assert {job.kind for job in told.jobs} == {"capture.extract", "capture.summarize"}
    assert labels(told.derived) == [f"#{first.seq}"]
    told = explaining.why(f"P{asked.seq}")
    assert [event.kind for event in told.events] == ["prompt"]
    assert labels(told.derived) == [f"#{first.seq}", f"#S{summary.seq}"]
    assert [version.actor for version in told.versions] == ["human"]  # its first version is its row
    assert labels(explaining.why(f"#P{then.seq}").derived) == [f"#{second.seq}"]
    assert explaining.why(f"S{asked.seq}").memory.seq == asked.seq  # one counter: the letter is for people


def test_events_that_faded_and_jobs_that_are_gone_are_told_by_number(here: Capturing, explaining: Explaining) -> None:
    turns(here)
    first, _ = here.memories(Kind.OBSERVATION)
    here.captures.fade(before_ms=2**60, limit=99)
    with here.db.transaction():
        here.queue.prune(ended_before_ms=2**60)
    told = explaining.why(str(first.seq))
    assert [(event.tool, event.kept) for event in told.events] == [("Read", False), ("Edit", False)]
    (job,) = told.jobs
    assert (job.id, job.kind, job.status) == (told.events[0].job, "", "")


def test_every_change_says_who_why_and_what(here: Capturing, explaining: Explaining) -> None:
    note = made(here, Kind.NOTE, "port 8080", uris=("project://config",))
    kinds = frozenset({Kind.NOTE})
    here.base.memories.patch(Seq(note.seq), kinds, "8080", "8081", WriteContext("agent", "run:r1", note="patched"))
    here.base.memories.change(
        Seq(note.seq),
        kinds,
        lambda state: replace(state, priority=1, title="端口"),
        WriteContext("ui", origin=Origin.HUMAN),
    )
    told = explaining.why("project://config")
    assert [(v.version, v.actor, v.source, v.note, v.changed) for v in told.versions] == [
        (3, "ui", None, "", ("title", "priority")), (2, "agent", "run:r1", "patched", ("content",)),
        (1, "person", "session:77", "because 因为", ()),
    ]  # fmt: skip
    assert told.run == "r1"
    assert told.session is None
    assert (told.memory.label, told.memory.version, told.memory.uris) == (
        "note project://config", 3, ("project://config",),
    )  # fmt: skip


def test_answers_are_bounded(here: Capturing, explaining: Explaining) -> None:
    note = made(here, Kind.NOTE, "0", uris=("project://long",))
    for number in range(MAX_VERSIONS + 2):
        here.base.memories.append(Seq(note.seq), ALL, str(number), ME)
    told = explaining.why("project://long", versions=2)
    assert ([v.version for v in told.versions], told.more_versions) == ([MAX_VERSIONS + 3, MAX_VERSIONS + 2], True)
    assert told.versions[-1].changed == ("content",)
    assert len(explaining.why("project://long", versions=10**6).versions) == MAX_VERSIONS
    turns(here)
    first, _ = here.memories(Kind.OBSERVATION)
    told = explaining.why(str(first.seq), events=1)
    assert ([event.tool for event in told.events], told.more_events) == (["Edit"], True)


def test_deltas_and_what_took_them_back(here: Capturing, explaining: Explaining) -> None:
    delta = here.base.history.open_delta("run:r9", "learn", WriteContext("lab"))
    lesson = made(here, Kind.LESSON, "Keep the pH low", WriteContext("lab", "run:r9", delta.id))
    here.base.history.rollback_delta(delta.id, Mode.STRICT, WriteContext("person"))
    told = explaining.why(f"mem:{lesson.id}")
    assert (told.run, told.memory.status, told.memory.label) == ("r9", "deleted", f"mem:{lesson.id}")
    assert [(d.cause, d.actor, d.status, d.reverts) for d in told.deltas] == [
        ("learn", "lab", "reverted", None), ("rollback", "person", "applied", delta.id),
    ]  # fmt: skip
    assert [v.op for v in told.versions] == ["delete", "add"]


def test_links_and_mentions_both_ways(here: Capturing, explaining: Explaining) -> None:
    config = made(here, Kind.NOTE, "端口", uris=("project://config",))
    entry = made(here, Kind.KNOWLEDGE, "ports below 1024 need rights")
    here.base.memories.link(Seq(entry.seq), ALL, "explains", config.seq, ME)
    deploy = made(
        here, Kind.NOTE, "see project://config", uris=("project://deploy",),
        attrs=NoteAttrs(mentions=("project://config", "project://nothing")),
    )  # fmt: skip
    told = explaining.why(f"note #{config.seq}")
    assert [(each.relation, each.label) for each in told.linked_by] == [
        ("explains", entry.id), ("mentions", "note project://deploy"),
    ]  # fmt: skip
    assert [(each.relation, each.label) for each in explaining.why(entry.id).links] == [
        ("explains", "note project://config")
    ]
    assert [(each.relation, each.label) for each in explaining.why(str(deploy.seq)).links] == [
        ("mentions", "note project://config")
    ]


def test_the_deleted_are_explained_and_the_erased_are_gone(here: Capturing, explaining: Explaining) -> None:
    note = made(here, Kind.NOTE, "secret plan", uris=("project://plan",))
    here.base.memories.delete(Seq(note.seq), ALL, WriteContext("person"))
    assert explaining.why("project://plan").memory.status == "deleted"
    assert explaining.why("project://plan").versions[0].op == "delete"
    here.forgetting.ids([note.seq], WriteContext("person"))
    for name in ("project://plan", str(note.seq), note.id):
        with pytest.raises(NotFound) as gone:
            explaining.why(name)
        assert "erased" in (gone.value.hint or "")


def test_names_that_nothing_answers_to(here: Capturing, explaining: Explaining) -> None:
    for name in ("#999999", "kb-none", "S1", "project://none", "mem:none"):
        with pytest.raises(NotFound):
            explaining.why(name)
    with pytest.raises(InvalidArgument):
        explaining.why("no name at all")


def test_a_memory_of_an_unknown_session_tells_its_name(here: Capturing, explaining: Explaining) -> None:
    draft = MemoryDraft(Kind.KNOWLEDGE, State("x", KnowledgeAttrs()), Origin.IMPORT, session="theirs")
    memory = here.base.memories.remember(draft, WriteContext("cli", "import:claude-mem:0"))
    told: Provenance = explaining.why(memory.id)
    assert told.session is not None
    assert (told.session.key, told.session.id) == ("theirs", None)
    assert told.memory.source == "import:claude-mem:0"
