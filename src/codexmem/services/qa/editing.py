"""A person corrects an item: its question, answer, summary or tags. The correction is a version, in a delta of its own.

Evidence and standing stay: whoever corrects an item means the same item. Another question is not looked for, so an item
may come to ask what another one asks; `similar` shows that, and a merge settles it.
"""

from dataclasses import dataclass, replace

from codexmem.domain.history import By, Op
from codexmem.domain.memory import MAX_TITLE, Memory, State
from codexmem.domain.qa.items import KINDS, NewQa, attrs_of
from codexmem.domain.qa.validation import Unfit
from codexmem.domain.query import Seq
from codexmem.services.history import History
from codexmem.services.memories import Memories, changed_since
from codexmem.services.qa import retracting
from codexmem.services.qa.cleaning import cleaned
from codexmem.services.qa.lifecycle import Lifecycle
from codexmem.services.qa.views import Item, Views
from codexmem.store.beliefs import Beliefs
from codexmem.store.database import Database
from codexmem.store.memories import Memories as Table


@dataclass(frozen=True, slots=True)
class Correction:
    """What changes; None leaves a field as it is."""

    question: str | None = None
    answer: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None


class Editing:
    """Corrects the acting tenant's items."""

    def __init__(self, db: Database, table: Table, memories: Memories, history: History, beliefs: Beliefs,
                 lifecycle: Lifecycle, views: Views) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._views = views

    def edit(self, qa_id: str, change: Correction, project: str | None, by: By, *, seen: int | None = None) -> Item:
        """Correct an item; with `seen`, only if that is still its version. `delta` is None if it said so already."""
        if change == Correction():
            raise Unfit("nothing to change was given", hint="give question, answer, summary or tags")
        found = self._views.named(qa_id, project)
        with self._db.transaction():
            self._table.hold(f"qa:{found.state.project}")
            held = self._beliefs.hold({found.seq: found.created_ms})[found.seq]
            memory = self._memories.get(Seq(found.seq), KINDS)
            if seen is not None and memory.version != seen:
                raise changed_since(memory, seen)
            after = _corrected(memory, change)
            if after == memory.state:
                return self._views.one(memory)
            delta = self._history.open_delta(f"qa:{memory.id}", "edit", by).id
            memory = self._memories.write(memory, after, Op.UPDATE, replace(by, delta=delta))
            self._lifecycle.tell(memory, ["edited"], by, **retracting.facts("edit", delta, held, held))
            return replace(self._views.one(memory), delta=delta)


def _corrected(memory: Memory, change: Correction) -> State:
    state, attrs = memory.state, attrs_of(memory)
    new = cleaned(NewQa(
        state.project, attrs.question if change.question is None else change.question,
        state.content if change.answer is None else change.answer,
        attrs.summary if change.summary is None else change.summary,
        attrs.tags if change.tags is None else change.tags, attrs.metadata,
    ))  # fmt: skip
    corrected = replace(
        attrs, question=new.question, summary=new.summary, tags=new.tags,
        phrasings=tuple(each for each in attrs.phrasings if each != new.question),
    )  # fmt: skip
    title = " ".join(new.question.split())[:MAX_TITLE] if change.question is not None else state.title
    return replace(state, content=new.answer, title=title, attrs=corrected)
