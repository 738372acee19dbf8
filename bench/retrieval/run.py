"""Write a suite's passages through the production path and ask its questions, one after the other."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from bench.retrieval.corpus import Corpus, Passage, Task
from bench.retrieval.metrics import DEPTH, SHOWN, QuestionResult, tokens
from codexmem.app import Core, open_core
from codexmem.kernel.model.attrs import PromptAttrs
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import monotonic
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, Id
from codexmem.kernel.model.search import SearchQuery, Unit
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.settings import load

KINDS = frozenset({Kind.PROMPT})
BY = WriteContext("measure", source="import:measure")
_BATCH = 500  # memories per transaction
_ROLES = {"": Origin.HUMAN, "user": Origin.HUMAN, "assistant": Origin.AGENT}

Progress = Callable[[str, int, int], None]  # what is being done, how many are done, of how many


@dataclass(frozen=True, slots=True)
class MeasuredStore:
    """An open store, as a measurement uses it."""

    core: Core

    def knows(self, id: str) -> bool:
        """Whether a memory of this id is there."""
        try:
            self.core.memories.get(Id(id), KINDS)
        except NotFound:
            return False
        return True


@contextmanager
def opened(embedder: str, kept: Path | None = None) -> Iterator[MeasuredStore]:
    """Open a SQLite store of our own, temporary unless it is to be kept in a folder."""
    place: AbstractContextManager[str] = tempfile.TemporaryDirectory(prefix="codexmem-bench-")
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        place = nullcontext(str(kept))
    with place as folder:
        core = open_core(replace(load({"data_dir": folder}, {}), embedder=embedder))
        try:
            with acting_as(LOCAL):
                yield MeasuredStore(core)
        finally:
            core.close()


@dataclass(frozen=True, slots=True)
class FilledStore:
    """What the store holds, and how to read results back into keys."""

    keys: dict[str, Passage]  # by memory's id
    write_s: float
    index_s: float


def write(store: MeasuredStore, suite: str, corpora: Sequence[Corpus], progress: Progress) -> FilledStore:
    """Write every passage that is not there yet, then wait for the indexes."""
    total = sum(len(corpus.passages) for corpus in corpora)
    keys: dict[str, Passage] = {}
    began = monotonic()
    pending = _drafts(suite, corpora)
    while batch := list(islice(pending, _BATCH)):
        keys.update((draft.id or "", passage) for draft, passage in batch)
        # A batch is written whole or not at all, so that its last memory tells.
        if not store.knows(batch[-1][0].id or ""):
            with store.core.db.transaction():
                for draft, _ in batch:
                    store.core.memories.remember(draft, BY)
        progress("writing", len(keys), total)
    wrote = monotonic()
    progress("indexing", 0, 0)
    store.core.indexer.catch_up(lambda: None)
    return FilledStore(keys, wrote - began, monotonic() - wrote)


def ask(store: MeasuredStore, suite: str, corpora: Sequence[Corpus], task: Task, written: FilledStore, *, recipe: str,
        progress: Progress) -> list[QuestionResult]:  # fmt: skip
    """Ask every question that has gold or is known to have no answer; the rest say nothing about a search."""
    asked = [
        (corpus, question)
        for corpus in corpora
        for question in corpus.questions
        if question.absent or question.gold(task.unit)
    ]
    outcomes = []
    for corpus, question in asked:
        search = SearchQuery(
            question.text,
            Filter(KINDS, project=project(suite, corpus)),
            limit=DEPTH,
            min_score=0.0,
            unit=task.unit,
            asked_ms=question.asked_ms,
            recipe=recipe,
        )
        began = monotonic()
        answer = store.core.recall.search(search)
        spent = monotonic() - began
        found = [written.keys[each.memory.id] for each in answer.results]
        outcomes.append(
            QuestionResult(
                question,
                question.gold(task.unit),
                tuple(each.session if task.unit is Unit.SESSION else each.key for each in found),
                tuple(each.score for each in answer.results),
                sum(tokens(each.memory.state.content) for each in answer.results[:SHOWN]),
                spent * 1_000,
                answer.mode,
            )
        )
        progress("asking", len(outcomes), len(asked))
    return outcomes


def project(suite: str, corpus: Corpus) -> str:
    """The project that holds a corpus."""
    return f"{suite}/{corpus.name}"


def _drafts(suite: str, corpora: Sequence[Corpus]) -> Iterator[tuple[MemoryDraft, Passage]]:
    for corpus in corpora:
        turns: dict[str, int] = {}
        for passage in corpus.passages:
            turns[passage.session] = turns.get(passage.session, 0) + 1
            # A role is an origin; only a name is a speaker.
            role = _ROLES.get(passage.speaker)
            attrs = PromptAttrs(turns[passage.session], speaker="" if role is not None else passage.speaker)
            name = project(suite, corpus)
            yield (
                MemoryDraft(
                    Kind.PROMPT,
                    State(passage.text, attrs, project=name),
                    role or Origin.HUMAN,
                    session=f"{name}/{passage.session}",
                    id=f"{name}#{passage.key}",
                    created_ms=passage.created_ms,
                ),
                passage,
            )
