"""What is pinned is told first; what is withheld or only proposed is told by no section and for no prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from codexmem.kernel.model.attrs import Attrs, NoteAttrs, ObservationAttrs, PromptAttrs, QaAttrs, SummaryAttrs
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.life import Act, MemoryEdit
from codexmem.kernel.model.memory import (
    REMEMBERED,
    Kind,
    Mark,
    Memory,
    MemoryDraft,
    Origin,
    State,
    Status,
    manual_session,
)
from codexmem.kernel.model.query import Filter, Seq
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.services.lifecycle import ActRequest, Lifecycle
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall.context import ContextRequest
from codexmem.recall.lookup import Lookup
from codexmem.recall.memory_list import ListRequirements, MemoryLists
from codexmem.recall.standing_rules import StandingRules
from codexmem.recall.wire.layout import title_of
from tests._support import capturing
from tests._support.capturing import Capturing

ME = WriteContext("test", origin=Origin.HUMAN)
AGENT = WriteContext("mcp")
WORD = "zanzibar"  # in everything that must not be told
RULE = ObservationAttrs(concepts=("rule",))


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def remembered(here: Capturing, kind: Kind, attrs: Attrs, text: str, session: str | None = None,
               by: Origin = Origin.HUMAN, **more: object) -> Memory:  # fmt: skip
    state = replace(State(text, attrs, project="demo", title=text), **more)  # type: ignore[arg-type]
    return here.base.memories.remember(MemoryDraft(kind, state, by, session=session), replace(ME, origin=by))


def everything(here: Capturing, core_by: Origin = Origin.HUMAN) -> list[Memory]:
    """Memories that every section of a start, and a prompt, would tell of."""
    turn = SummaryAttrs(request=f"{WORD} login", learned=f"{WORD} tokens", commands=(f"make {WORD}",), errors=(WORD,),
                        files_modified=(f"src/{WORD}.py",), prompt_number=1)  # fmt: skip
    return [
        remembered(here, Kind.NOTE, NoteAttrs(), f"{WORD} note", priority=1, uris=("project://n",), by=core_by),
        remembered(here, Kind.OBSERVATION, ObservationAttrs(), f"{WORD} saved", session=manual_session("demo")),
        remembered(here, Kind.SUMMARY, turn, turn.text(), session="s0"),
        remembered(here, Kind.PROMPT, PromptAttrs(), f"fix the {WORD} login", session="s0"),
        remembered(here, Kind.OBSERVATION, RULE, f"Always build {WORD} with make"),
        remembered(here, Kind.OBSERVATION, ObservationAttrs(), f"{WORD} recently", session="s0"),
    ]


def told(here: Capturing) -> str:
    start = here.context.give(ContextRequest("demo")).text
    asked = here.context.give(ContextRequest("demo", f"why does the {WORD} login fail with {WORD} tokens?")).text
    return start + asked + "\n".join(rule.text for rule in StandingRules(here.base.memories).of("demo"))


@pytest.mark.parametrize("mark", [Mark.WITHHELD, Mark.PROPOSED])
def test_what_is_withheld_or_proposed_is_told_nowhere_unasked(here: Capturing, mark: Mark) -> None:
    # A core note that a person had agreed to would go on being told, and an agent's is told in its own project.
    memories = everything(here, Origin.HUMAN if mark is Mark.WITHHELD else Origin.IMPORT)
    assert told(here).count(WORD) > 8
    for memory in memories:
        here.base.memories.change(
            Seq(memory.seq), frozenset(Kind), lambda state: replace(state, marks=frozenset({mark})), ME
        )
    assert WORD not in told(here)


def test_pinned_ones_of_any_kind_are_told_first_and_once(here: Capturing) -> None:
    everything(here)
    pinned = frozenset({Mark.PINNED})
    remembered(here, Kind.QA, QaAttrs(question="Which port?"), "it is 8123", title="Which port?", marks=pinned)
    remembered(here, Kind.NOTE, NoteAttrs(), "for every project", uris=("core://x",), project="", marks=pinned)
    remembered(here, Kind.OBSERVATION, ObservationAttrs(), "of another", project="other", marks=pinned)
    remembered(here, Kind.OBSERVATION, ObservationAttrs(), "pinned by hand", manual_session("demo"), marks=pinned)
    text = here.context.give(ContextRequest("demo")).text
    first = text.split("\n\n")[1]
    assert first.startswith("## Pinned\n")
    for words in ("Which port? it is 8123", "core://x: for every project", "pinned by hand"):
        assert words in first
        assert text.count(words) == 1
    assert "of another" not in text


def test_a_candidate_answer_is_told_once_a_person_agrees_and_found_before_with_its_mark(here: Capturing) -> None:
    question = f"How are the {WORD} tokens of the login renewed?"
    attrs, status = QaAttrs(question=question), Status.CANDIDATE
    found = remembered(here, Kind.QA, attrs, "run make renew", by=Origin.AGENT, status=status, title=question)
    prompt = ContextRequest("demo", question)
    assert here.context.give(prompt).text == ""
    assert [
        title_of(each.memory)
        for each in here.base.recall.search(SearchQuery(question, Filter(frozenset({Kind.QA})))).results
    ] == [f"(proposed) {question}"]
    Lifecycle(here.db, MemoryTable(here.db), here.base.memories, here.base.history).act(
        ActRequest(Act.APPROVE, (found.seq,)), ME
    )
    assert "make renew" in here.context.give(prompt).text


@dataclass
class Written:
    """A rule, and what people and agents do to it."""

    here: Capturing
    acts: Lifecycle
    seq: int

    @classmethod
    def by(cls, here: Capturing, origin: Origin) -> Written:
        acts = Lifecycle(here.db, MemoryTable(here.db), here.base.memories, here.base.history)
        return cls(here, acts, remembered(here, Kind.OBSERVATION, RULE, "Always use five connections.", by=origin).seq)

    def edited(self, text: str, by: WriteContext) -> str:
        """The delta of an edit."""
        delta = self.acts.act(ActRequest(Act.EDIT, (self.seq,), MemoryEdit(text)), by).delta
        assert delta is not None
        return delta

    def told(self) -> str:
        """Who the start of a session says wrote it, and what."""
        lines = self.here.context.give(ContextRequest("demo")).text.splitlines()
        return next(line for line in lines if f"(#{self.seq})" in line)

    def of_people(self) -> list[int]:
        """Memories that are listed as a person's, and those that a person corrected."""
        base = self.here.base
        lists = MemoryLists(base.memories, Lookup(base.memories, Labels(self.here.db), base.recall.search), self.acts)
        own = ListRequirements(kinds=REMEMBERED, origins=frozenset({Origin.HUMAN}))
        marked = ListRequirements(kinds=REMEMBERED, marks=frozenset({Mark.CORRECTED}))
        return [each.memory.seq for wanted in (own, marked) for each in lists.page(wanted, limit=10).items]


def test_what_a_person_corrected_is_told_and_listed_as_the_persons_and_undone_with_the_words(here: Capturing) -> None:
    written = Written.by(here, Origin.MODEL)
    assert (written.told().startswith("- [model]"), written.of_people()) == (True, [])
    delta = written.edited("Always use seven connections.", ME)
    assert written.told() == f"- [person] \u201cAlways use seven connections.\u201d (#{written.seq})"
    assert written.of_people() == [written.seq, written.seq]
    here.base.history.rollback_delta(delta, Mode.STRICT, AGENT)
    assert (written.told().startswith("- [model] \u201cAlways use five"), written.of_people()) == (True, [])
    written.edited("Always use eight connections.", ME)
    written.edited("Always use nine connections.", AGENT)
    assert written.told().startswith("- [model] \u201cAlways use nine")
    here.base.history.rollback(Seq(written.seq), frozenset(Kind), 4, ME)
    assert written.told().startswith("- [person] \u201cAlways use eight")


def test_what_an_agent_makes_of_a_persons_words_is_told_as_the_agents(here: Capturing) -> None:
    written = Written.by(here, Origin.HUMAN)
    written.edited("Always use a hundred connections.", AGENT)
    assert written.told().startswith("- [agent] \u201cAlways use a hundred")
    written.edited("Always use six connections.", ME)
    assert written.told().startswith("- [person] \u201cAlways use six")
