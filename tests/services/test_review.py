"""The review of memories: exact duplicates become one, other pairs and proposals wait for a person, all is undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codexmem.kernel.model.attrs import KnowledgeAttrs, NoteAttrs, ObservationAttrs, QaAttrs
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import Mode, Op, WriteContext
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.memory import Kind, Mark, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Seq
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.kernel.store.database import Database
from codexmem.recall.review import MemoryReview
from codexmem.recall.review_model import ReviewCursor, ReviewDecision, ReviewItems, ReviewReason, ReviewVerdict
from codexmem.recall.review_scan import REVIEW, REVIEWED
from codexmem.recall.wire.review import ReviewRow
from tests._support import reviewing
from tests._support.reviewing import ME, ReviewParts

AGENT = WriteContext("key:agent", origin=Origin.AGENT)
ALL = frozenset(ReviewReason)


@pytest.fixture
def here(database: Database) -> ReviewParts:
    return reviewing.build(database)


@pytest.fixture
def queue(here: ReviewParts, database: Database) -> MemoryReview:
    acts = Lifecycle(database, here.table, here.base.memories, here.base.history)
    return MemoryReview(here.base.memories, here.findings, acts, here.base.clock)


def stands(here: ReviewParts, memory: Memory) -> Memory:
    return here.base.memories.get(Seq(memory.seq), REVIEWED)


def noted(here: ReviewParts, uri: str, text: str, project: str, *marks: Mark) -> Memory:
    state = State(text, NoteAttrs(), project=project, uris=(uri,), marks=frozenset(marks))
    return here.base.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), AGENT)


def found(queue: MemoryReview, *projects: str) -> list[tuple[str, int, int | None]]:
    items = queue.page(projects or None, ALL, 50).items
    return [(item.reason.value, item.newer.seq, item.older.seq if item.older else None) for item in items]


def test_exact_duplicates_become_one_and_undo_brings_both_back_for_good(here: ReviewParts, queue: MemoryReview) -> None:
    first, other = here.claim("Deploys run on Monday."), here.claim("部署之前必须备份数据库。")
    again, more = here.claim("deploys  run on Monday"), here.claim("Deploys run on Monday")
    before = [stands(here, each).state for each in (first, other, again, more)]
    delta = here.look()
    assert delta is not None
    kept = stands(here, first)
    assert kept.state.links == (("supersedes", again.seq), ("supersedes", more.seq))
    assert [stands(here, each).state.status for each in (again, more, other)] == [
        Status.DEPRECATED, Status.DEPRECATED, Status.ACTIVE,
    ]  # fmt: skip
    assert found(queue) == []
    (version,) = here.base.history.versions(Seq(again.seq), REVIEWED, limit=1)
    assert (version.delta, version.actor, version.note) == (delta, "review", f"the same as #{first.seq}")
    here.base.history.rollback_delta(delta, Mode.STRICT, ME)
    assert [stands(here, each).state for each in (first, other, again, more)] == before
    here.claim("Something else entirely: the cache lives in Redis.")
    assert here.look() is None
    assert [stands(here, each).state for each in (first, other, again, more)] == before


def test_what_a_person_said_marked_or_gave_an_address_is_not_dropped_silently(
    here: ReviewParts, queue: MemoryReview
) -> None:
    agents = here.claim("Never push to the release branch.")
    persons = here.claim("Never push to the release branch.", origin=Origin.HUMAN)
    pinned = here.claim("Always rebase before review.")
    state = replace(pinned.state, marks=frozenset({Mark.PINNED}))
    here.base.memories.write(pinned, state, Op.UPDATE, ME)
    same = here.claim("Always rebase before review.")
    one = noted(here, "project://ports", "The metrics endpoint listens on port 9100.", "demo")
    two = noted(here, "project://metrics", "The metrics endpoint listens on port 9100.", "demo")
    here.look()
    assert [stands(here, each).state.status for each in (agents, persons)] == [Status.DEPRECATED, Status.ACTIVE]
    assert found(queue) == [("duplicate", two.seq, one.seq), ("duplicate", same.seq, pinned.seq)]


@pytest.mark.parametrize(
    "older, newer, reason",
    [
        ("The dev server listens on port 5179.", "The dev server now runs on port 6000.", "contradiction"),
        ("We use Redis for session storage.", "We use Kafka for session storage.", "contradiction"),
        ("Always squash commits before merging.", "Never squash commits before merging.", "contradiction"),
        ("Use yarn for installs.", "We no longer use yarn, use pnpm for installs.", "contradiction"),
        ("开发服务器的端口是 5179。", "开发服务器监听端口 6000。", "contradiction"),
        ("合并之前要跑测试。", "合并之前不要跑测试。", "contradiction"),
        ("The build needs NODE_ENV=test to pass.", "To pass, the build needs NODE_ENV=test.", "duplicate"),
        ("负载均衡我们使用 Nginx。", "我们决定负载均衡采用 Nginx。", "duplicate"),
        ("The auth service listens on port 8080.", "The billing service listens on port 9090.", None),
        ("认证服务监听端口 8080。", "计费服务监听端口 9090。", None),
        ("Store the GitHub token in the vault.", "Store the GitLab token in the vault.", None),
        ("Release 1.2 fixed the memory leak.", "Release 1.3 fixed the memory leak.", None),
        ("Run the tests before merging.", "Run the tests before deploying.", None),
    ],
)
def test_pairs_are_told_from_look_alikes(
    here: ReviewParts, queue: MemoryReview, older: str, newer: str, reason: str | None
) -> None:
    first, second = here.claim(older), here.claim(newer)
    here.look()
    assert found(queue) == ([(reason, second.seq, first.seq)] if reason else [])
    assert stands(here, first).state.status is Status.ACTIVE


def test_kinds_are_compared_within_a_project_and_with_notes_for_every_project(
    here: ReviewParts, queue: MemoryReview
) -> None:
    note = noted(here, "core://ports", "The dev server listens on port 5179.", "")
    elsewhere = here.claim("The dev server listens on port 7000.", project="other")
    claim = here.claim("The dev server listens on port 6000.")
    done = State("Ran the dev server, which listens on port 8000.", ObservationAttrs(concepts=("what-changed",)),
                 project="demo")  # fmt: skip
    here.base.memories.remember(MemoryDraft(Kind.OBSERVATION, done, Origin.TOOL), AGENT)
    entry = State("The dev server listens on port 6500.", KnowledgeAttrs(), project="demo")
    known = here.base.memories.remember(MemoryDraft(Kind.KNOWLEDGE, entry, Origin.AGENT), AGENT)
    asked = QaAttrs(question="Which port does the dev server use?")
    for answer in ("Port 1.", "Port 2."):  # which the queue of questions with answers looks after
        state = State(answer, asked, project="demo", status=Status.CANDIDATE)
        here.base.memories.remember(MemoryDraft(Kind.QA, state, Origin.AGENT), AGENT)
    here.look()
    pairs = {(each[1], each[2]) for each in found(queue, "demo")}
    assert pairs == {(claim.seq, note.seq), (known.seq, note.seq), (known.seq, claim.seq)}
    assert found(queue, "other") == [("contradiction", elsewhere.seq, note.seq)]
    assert queue.counts(["demo"]).qa_candidates == 2


def test_a_decision_settles_a_pair_and_its_undo_opens_it_again(here: ReviewParts, queue: MemoryReview) -> None:
    older, newer = here.claim("We deploy every Monday."), here.claim("We deploy every Friday.")
    here.look()
    pair = ("contradiction", newer.seq, older.seq)
    for decision, target, gone in (
        (ReviewDecision.SUPERSEDE, None, older),
        (ReviewDecision.MERGE, newer.seq, older),
        (ReviewDecision.HIDE, older.seq, older),
        (ReviewDecision.HIDE, None, newer),
    ):
        assert found(queue) == [pair]
        done = queue.decide(ReviewVerdict(decision, newer.seq, older.seq, target), ME)
        assert done.delta is not None
        assert stands(here, gone).state.status is not Status.ACTIVE
        assert (found(queue), queue.counts(None).contradiction) == ([], 0)
        again = queue.decide(ReviewVerdict(decision, newer.seq, older.seq, target), ME)
        assert (again.delta, again.unchanged) == (None, (newer.seq, older.seq))
        here.base.history.rollback_delta(done.delta, Mode.STRICT, ME)
    queue.decide(ReviewVerdict(ReviewDecision.KEEP, newer.seq, older.seq), ME)
    here.claim("We deploy every second Tuesday of a quarter, unless it is a holiday.")
    here.look()
    assert found(queue) == []
    queue.decide(ReviewVerdict(ReviewDecision.REOPEN, newer.seq, older.seq), ME)
    assert found(queue) == [pair]
    with pytest.raises(NotFound):
        queue.decide(ReviewVerdict(ReviewDecision.KEEP, older.seq, 999), ME)
    with pytest.raises(InvalidArgument):
        queue.decide(ReviewVerdict(ReviewDecision.MERGE, newer.seq, older.seq, 999), ME)


def test_a_pair_that_was_edited_since_is_passed_over(here: ReviewParts, queue: MemoryReview) -> None:
    older, newer = (
        here.claim("The limit is 100 requests per minute."),
        here.claim("The limit is 50 requests per minute."),
    )
    here.look()
    (item,) = queue.page(None, ALL, 50).items
    assert item.sentences == (newer.state.content, older.state.content)
    here.base.clock.advance(1_000)
    text = "Uploads may be 100 MB."
    here.base.memories.write(older, replace(older.state, content=text, title=text), Op.UPDATE, ME)
    assert found(queue) == []


def test_proposals_come_first_and_only_a_person_approves(here: ReviewParts, queue: MemoryReview) -> None:
    here.claim("We deploy every Monday.")
    here.claim("We deploy every Friday.")
    one = noted(here, "core://one", "Agents may deploy on their own.", "", Mark.PROPOSED)
    two = noted(here, "core://two", "Reply in Latin.", "", Mark.PROPOSED)
    here.look()
    assert [each[0] for each in found(queue, "demo", "")] == ["proposed", "proposed", "contradiction"]
    assert (queue.counts(None).proposed, queue.counts(["demo"]).proposed) == (2, 0)
    with pytest.raises(Conflict):
        queue.decide(ReviewVerdict(ReviewDecision.APPROVE, one.seq), AGENT)
    approved = queue.decide(ReviewVerdict(ReviewDecision.APPROVE, one.seq), ME)
    assert stands(here, one).state.marks == frozenset()
    queue.decide(ReviewVerdict(ReviewDecision.REJECT, two.seq), ME)
    assert stands(here, two).state.status is Status.DELETED
    assert [each[0] for each in found(queue)] == ["contradiction"]
    with pytest.raises(Conflict):
        queue.decide(ReviewVerdict(ReviewDecision.APPROVE, one.seq), ME)
    assert approved.delta is not None
    here.base.history.rollback_delta(approved.delta, Mode.STRICT, ME)
    assert found(queue)[0] == ("proposed", one.seq, None)


def test_a_proposal_says_in_what_it_differs_from_what_a_person_agreed_to(
    here: ReviewParts, queue: MemoryReview
) -> None:
    note = noted(here, "core://one", "Agents deploy on Fridays.", "", Mark.PROPOSED)

    def changes() -> list[tuple[str, object, object]]:
        (item,) = queue.page(None, frozenset({ReviewReason.PROPOSED}), 50).items
        row = ReviewRow.of(item, dict(queue.lives([item])))
        return [(each.field, each.before, each.after) for each in row.changes]

    assert changes() == []  # nobody agreed to anything before
    queue.decide(ReviewVerdict(ReviewDecision.APPROVE, note.seq), ME)
    state = replace(stands(here, note).state, priority=9, attrs=NoteAttrs(disclosure="deploying"))
    here.base.memories.write(stands(here, note), state, Op.UPDATE, AGENT)
    assert changes() == [("priority", 5, 9), ("disclosure", None, "deploying")]
    here.base.memories.write(stands(here, note), replace(state, content="Agents deploy daily."), Op.UPDATE, AGENT)
    assert changes()[0] == ("content", "Agents deploy on Fridays.", "Agents deploy daily.")


def test_pages_fit_together(here: ReviewParts, queue: MemoryReview) -> None:
    for name, text in (("deploy", "Agents may deploy."), ("reply", "Reply in Latin."), ("tests", "测试可以跳过。")):
        noted(here, f"core://{name}", text, "", Mark.PROPOSED)
    for service in ("billing", "search", "mail", "report"):
        here.claim(f"The {service} worker retries failed calls 3 times.")
        here.claim(f"The {service} worker retries failed calls 5 times.")
    here.look()
    read: list[ReviewItems] = []
    after: ReviewCursor | None = None
    while after is not None or not read:
        read.append(queue.page(None, ALL, 2, after))
        after = read[-1].after
    seen = [(item.reason, item.newer.seq) for page in read for item in page.items]
    assert seen == [(item.reason, item.newer.seq) for item in queue.page(None, ALL, 50).items]
    assert [reason.value for reason, _ in seen] == ["proposed"] * 3 + ["contradiction"] * 4


def test_a_run_is_planned_once_after_writes_and_never_for_nothing(here: ReviewParts) -> None:
    here.scan.plan()
    assert here.queue.list(JobStatus.QUEUED) == []
    here.claim("We deploy every Monday.")
    here.scan.plan()
    here.scan.plan()
    (job,) = here.queue.list(JobStatus.QUEUED)
    assert (job.kind, job.run_at_ms - job.created_ms) == (REVIEW, 600_000)
    here.look()
    here.scan.plan()
    assert len(here.queue.list(JobStatus.QUEUED)) == 1
