"""The page of a project: days by somebody's clock, labels, what needs care, what it cost and what it gave."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codexmem.capture.job_log import JobLog, TokenBudget
from codexmem.kernel.events.log import Log
from codexmem.kernel.llm.material import AuthorAnswer, ModelOutcome
from codexmem.kernel.model import file_blobs
from codexmem.kernel.model.attrs import ObservationAttrs, QaAttrs
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import JobStatus, NewJob
from codexmem.kernel.model.life import Act, MemoryEdit
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.lifecycle import ActRequest, Lifecycle
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from codexmem.kernel.store.tellings import Tellings
from codexmem.recall import brief_store
from codexmem.recall.brief import MemoryConcerns, ProjectBrief, whole_paths
from codexmem.recall.brief_model import DAY_MS, MemoryConcern, day_name
from codexmem.recall.brief_store import BriefTable
from codexmem.recall.decay import TOLD
from codexmem.recall.lookup import Lookup
from codexmem.recall.memory_list import ListRequirements, MemoryLists
from codexmem.recall.review import MemoryReview
from codexmem.recall.staleness import Staleness
from codexmem.recall.stamped_memories import StampedMemories
from codexmem.recall.wire.brief import BriefCost, BriefHealth
from tests._support import reviewing, services
from tests._support.git import Repository
from tests._support.reviewing import ReviewParts

ME = WriteContext("me", origin=Origin.HUMAN)


@dataclass
class Here:
    """A store with the page of its projects."""

    db: Database
    parts: ReviewParts
    brief: ProjectBrief
    lists: MemoryLists
    acts: Lifecycle
    sessions: Sessions

    @property
    def now_ms(self) -> int:
        return self.parts.base.clock.now_ms()

    def learn(self, text: str, *, at_ms: int | None = None, type: str = "change", session: str | None = None,
              project: str = "demo", origin: Origin = Origin.MODEL, **attrs: Any) -> Memory:  # fmt: skip
        """An observation."""
        state = State(text, ObservationAttrs(**attrs), project=project, type=type, title=text)
        draft = MemoryDraft(Kind.OBSERVATION, state, origin, session=session, created_ms=at_ms)
        return self.parts.base.memories.remember(draft, ME)

    def session(self, key: str, *, platform: str = "codex", cwd: str = "", project: str = "demo") -> Session:
        """A session that an agent reported."""
        found = self.sessions.touch(key, project=project, platform=platform, cwd=cwd, now_ms=self.now_ms)
        return found.session

    def listed(self, **wanted: Any) -> list[int]:
        """Numbers of a list, newest first."""
        page = self.lists.page(ListRequirements(**{"project": "demo", **wanted}), limit=50)
        return [each.memory.seq for each in page.items]


@pytest.fixture
def here(database: Database) -> Here:
    parts = reviewing.build(database)
    base, sessions = parts.base, Sessions(database)
    acts = Lifecycle(database, parts.table, base.memories, base.history)
    concerns = MemoryConcerns(sessions, Staleness())
    lookup = Lookup(base.memories, Labels(database), base.search)
    return Here(
        database, parts,
        ProjectBrief(
            BriefTable(database), MemoryReview(base.memories, parts.findings, acts, base.clock),
            StampedMemories(database, base.memories, base.history), concerns, Tallies(database), base.clock,
        ),
        MemoryLists(base.memories, lookup, acts, concerns.agents, concerns.judge), acts, sessions,
    )  # fmt: skip


def test_days_are_those_of_the_clock_that_asks(here: Here) -> None:
    midnight = here.now_ms // DAY_MS * DAY_MS
    late = here.learn("one", at_ms=midnight - 1_000, session="s1", type="bugfix")
    here.learn("two", at_ms=midnight + 1_000, session="s1")
    here.learn("three", at_ms=midnight + 2_000, session="s2")
    here.learn("by hand", at_ms=midnight + 3_000, session="manual-demo")
    here.learn("elsewhere", at_ms=midnight, project="other")
    here.learn("long ago", at_ms=midnight - 8 * DAY_MS)
    hidden = here.learn("hidden", at_ms=midnight)
    here.acts.act(ActRequest(Act.HIDE, (hidden.seq,)), ME)

    def told(offset: int) -> list[tuple[str, int, int, dict[str, int]]]:
        found = here.brief.days("demo", here.brief.span(7, offset))
        return [(day_name(each.day), each.memories, each.sessions, each.types) for each in found]

    today, yesterday = day_name(midnight // DAY_MS), day_name(midnight // DAY_MS - 1)
    assert told(0) == [(yesterday, 1, 1, {"bugfix": 1}), (today, 3, 2, {"change": 3})]
    assert told(60) == [(today, 4, 2, {"bugfix": 1, "change": 3})]
    span = here.brief.span(1, 60)
    assert span.from_ms <= late.created_ms <= span.to_ms
    assert len(here.listed(from_ms=span.from_ms, to_ms=span.to_ms)) == 4


def test_labels_name_whole_paths_and_each_of_them_narrows_the_list(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.session("s1")
    here.session("s2", platform="claude-code")
    first = here.learn("one", session="s1", concepts=("pool",), files_modified=("src/db.py",))
    second = here.learn("two", session="s2", files_read=("/a/very/long/way/to/src/db.py", "README.md"), type="bugfix")
    third = here.learn("three", session="s1", files_modified=("src/db.py",), origin=Origin.HUMAN)
    here.learn("elsewhere", project="other", files_modified=("src/other.py",))
    found = here.brief.labels("demo", 0, 2**62)
    assert found.values == {
        "file": [("src/db.py", 3), ("/a/very/long/way/to/src/db.py", 1), ("README.md", 1)],
        "concept": [("pool", 1)],
        "type": [("change", 2), ("bugfix", 1)],
        "agent": [("codex", 2), ("claude-code", 1)],
        "origin": [("model", 2), ("human", 1)],
    }
    assert here.listed(agents=frozenset({"codex"})) == [third.seq, first.seq]
    assert here.listed(files=("README.md",)) == [second.seq]
    assert here.listed(types=frozenset({"bugfix"}), agents=frozenset({"codex"})) == []
    assert here.listed(origins=frozenset({Origin.HUMAN}), agents=frozenset({"codex"})) == [third.seq]
    assert here.brief.labels("demo", second.created_ms, second.created_ms).values["type"] == [("bugfix", 1)]
    monkeypatch.setattr(brief_store, "MOST_LABELLED", 2)
    bounded = here.brief.labels("demo", 0, 2**62)
    assert (bounded.whole, sum(count for _, count in bounded.values["type"])) == (False, 2)


def test_a_path_is_not_told_by_its_ends_too() -> None:
    assert whole_paths({"a/b/c.py": 3, "b/c.py": 3, "c.py": 5, "x/c.py": 2}) == {"a/b/c.py": 3, "x/c.py": 2}
    assert whole_paths({"README.md": 4, "docs/README.md": 1}) == {"README.md": 4, "docs/README.md": 1}


def test_what_needs_care_is_counted_and_listed_alike(here: Here, tmp_path: Path) -> None:
    assert BriefHealth.of(here.brief.health("demo")).document()["files"] is None
    shop = tmp_path / "demo"
    Repository(shop)
    stamps = {}
    for name in ("kept.py", "changed.py", "gone.py"):
        (shop / name).write_bytes(b"x = 1\n")
        stamps[name] = here.learn(name, blobs=(str(file_blobs.stamp_of(name, b"x = 1\n")),))
    (shop / "changed.py").write_bytes(b"x = 2\n")
    (shop / "gone.py").unlink()
    here.session("s1", cwd=str(shop))
    unused, used, proposed = here.learn("unused"), here.learn("used"), here.learn("told twice")
    count = here.parts.base.memories.count_reading
    count([unused.seq], shown=TOLD)
    count([used.seq], shown=TOLD, used=1)
    count([proposed.seq], shown=2)
    candidate = State("with make", QaAttrs(question="How?"), project="demo", status=Status.CANDIDATE)
    waiting = here.parts.base.memories.remember(MemoryDraft(Kind.QA, candidate, Origin.AGENT), ME)
    told = BriefHealth.of(here.brief.health("demo")).document()
    assert told["candidate"] == {"count": 1, "more": False, "page": "/ui/qa?status=candidate"}
    assert told["files"] == {
        "changed": {"count": 1, "more": False, "page": "/ui/memories?health=changed"},
        "gone": {"count": 1, "more": False, "page": "/ui/memories?health=gone"},
        "compared": 3,
    }
    assert {name: told[name]["count"] for name in ("never_told", "unused", "duplicate")} == {
        "never_told": 4, "unused": 1, "duplicate": 0,
    }  # fmt: skip
    assert here.listed(concern=MemoryConcern.CHANGED) == [stamps["changed.py"].seq]
    assert here.listed(concern=MemoryConcern.GONE) == [stamps["gone.py"].seq]
    assert here.listed(concern=MemoryConcern.UNUSED) == [unused.seq]
    assert here.listed(concern=MemoryConcern.NEVER_TOLD) == [
        each.seq for each in (waiting, *list(stamps.values())[::-1])
    ]


def test_cost_is_told_by_day_model_and_project_and_what_is_not_known_is_null(here: Here) -> None:
    base = here.parts.base
    log = Log(here.db, base.events, LocalNotifier(), base.clock)
    tallies = Tallies(here.db)
    jobs = JobLog(here.sessions, Captures(here.db), tallies, TokenBudget(tallies, base.clock, 0), log, base.clock)
    queue = services.queue_of(here.db, base.clock)
    queue.enqueue(NewJob("capture.author", {}))
    (job,) = queue.list(JobStatus.QUEUED)
    sessions = {name: here.session(f"s-{name}", project=name) for name in ("demo", "other")}

    def answered(project: str, **of: Any) -> None:
        answer = AuthorAnswer(**{"outcomes": (ModelOutcome.SUCCESS,), "questions": 1, "model": "gpt-x", **of})
        jobs.ended(job, sessions[project], "author", answer, events=1, written=[1], index_ms=0.0)

    answered("demo", prompt_tokens=100, completion_tokens=20)
    base.clock.advance(DAY_MS)
    answered("demo", model="silent")  # an agent's own program does not say what it took
    answered("other", prompt_tokens=7)
    answered("demo", questions=0, outcomes=(), model=None)  # rules alone
    older = {"by": "model", "tokens": {"prompt": 5, "completion": 0}}  # as it was logged before it named the model
    log.append(NewEvent(EventType.MODEL_RESULT, "job:1", older, "demo"))
    told = BriefCost.of(here.brief.cost("demo", 3)).document()
    assert [(each["calls"], each["tokens"], each["unmeasured"]) for each in told["days"]] == [
        (0, 0, 0), (1, 120, 0), (2, 5, 1),
    ]  # fmt: skip
    assert told["total"] == {"calls": 3, "tokens": 125, "unmeasured": 1}
    assert [(each["model"], each["calls"], each["tokens"]) for each in told["models"]] == [
        ("gpt-x", 1, 120), (None, 1, 5), ("silent", 1, None),
    ]  # fmt: skip
    assert [(each["project"], each["calls"], each["tokens"]) for each in told["projects"]] == [
        ("demo", 3, 125), ("other", 1, 7),
    ]  # fmt: skip
    assert told["store"] == {"tokens": 127, "calls": 3}
    assert BriefCost.of(here.brief.cost("demo", 1)).document()["days"][0]["tokens"] == 5


def test_what_was_given_used_and_corrected(here: Here) -> None:
    base = here.parts.base
    log = Log(here.db, base.events, LocalNotifier(), base.clock)

    def given() -> dict[str, Any]:
        told: dict[str, Any] = BriefCost.of(here.brief.cost("demo", 30)).document()["given"]
        return told

    nothing = {"starts": 0, "prompts": 0, "tokens": 0, "memories": 0, "used": 0, "corrected": 0, "whole": True}
    assert given() == nothing
    memories = [here.learn(f"memory {number}") for number in range(5)]
    elsewhere = here.learn("elsewhere", project="other")
    seqs = [each.seq for each in memories]
    for start, some in ((True, seqs), (False, seqs[:1])):
        payload = {"seqs": some, "whole": [], "tokens": 40, "start": start, "turn": 1}
        log.append(NewEvent(EventType.CONTEXT_GIVEN, "session:1", payload, "demo"))
    # It is on record that something was given, but not what.
    unknown = {"memories": None, "used": None, "corrected": None}
    assert given() == nothing | {"starts": 1, "prompts": 1, "tokens": 80} | unknown
    here.acts.act(ActRequest(Act.EDIT, (seqs[4],), edit=MemoryEdit(text="before it was told")), ME)
    Tellings(here.db).tell("s1", [*seqs, elsewhere.seq], at_ms=here.now_ms)
    base.memories.count_reading([seqs[0]], used=2)
    here.acts.act(ActRequest(Act.EDIT, (seqs[1],), edit=MemoryEdit(text="better words")), ME)
    here.acts.act(ActRequest(Act.SUPERSEDE, (seqs[2],), into=seqs[3]), ME)
    here.acts.act(ActRequest(Act.PIN, (seqs[0],)), ME)
    assert given() == nothing | {
        "starts": 1, "prompts": 1, "tokens": 80, "memories": 5, "used": 1, "corrected": 2,
    }  # fmt: skip
