"""The journal of one run: what makes its execution durable.

An agent is deterministic once the answers of its model and tools are given. So each of these is a step with a key: its
result is recorded, with the events that describe it, in one transaction, and after a crash `done` gives it back instead
of its being done again. What is about to be asked of the outside is noted before, so a call that a crash made necessary
twice stands in the trace twice as well. Only the attempt that executes the run can write; one that lost it is told so.

What lies on an agent's desk during one run: the knowledge base, the lessons, and the journal to write in.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from codexmem.kernel.jobs.job_kind import Lost
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.schema import encoded
from codexmem.lab.model import Evidence, Lesson, Run
from codexmem.lab.service.trace import Entry, RunTrace
from codexmem.lab.store.runs import Held, RunTable
from codexmem.lab.store.trace import Steps

MAX_KEY = 200
MAX_RESULT_CHARS = 4_000_000


class Journal:
    """What one attempt knows and writes about its run; used by one thread at a time."""

    def __init__(self, run: Run, holder: str, db: Database, runs: RunTable, steps: Steps, trace: RunTrace, clock: Clock,
                 check: Callable[[], None]) -> None:  # fmt: skip
        self.run = run
        self._holder = holder
        self._db = db
        self._runs = runs
        self._steps = steps
        self._trace = trace
        self._clock = clock
        self._check = check

    def done(self, key: str) -> dict[str, Any] | None:
        """The recorded result of a step; None if it has not been done."""
        return self._steps.result(self.run.id, key)

    def record(self, key: str, result: Mapping[str, object], *events: Entry) -> dict[str, Any]:
        """Record a step and its events, all or nothing; returns the result as it is kept.

        Go on with what is returned: secrets are masked in it, and after a crash it is all that is left. Anything else
        that belongs to the step may be written in the same `transaction()` around this call.
        """
        if not 0 < len(key) <= MAX_KEY:
            raise InvalidArgument(f"a step's key has 1 to {MAX_KEY} characters")
        kept: dict[str, Any] = self._trace.masked(result)
        if len(encoded(kept) or "") > MAX_RESULT_CHARS:
            raise InvalidArgument(f"the result of step {key} is larger than {MAX_RESULT_CHARS} characters")
        with self._db.transaction():
            held = self._hold(steps=1)
            self._steps.add(self.run.id, held.steps, key, kept, at_ms=held.at_ms)
            if events:
                self._trace.write([self.run.id], events, at_ms=held.at_ms)
        return kept

    def note(self, type: EventType, payload: Mapping[str, object]) -> str:
        """Write one event at once, for instance what is about to be asked; returns its id."""
        with self._db.transaction():
            held = self._hold(steps=0)
            return self._trace.write([self.run.id], [(type, payload)], at_ms=held.at_ms)[0]

    def check(self) -> None:
        """Raise if the run should stop here: canceled, lost to another worker, overdue, or the worker is stopping.

        Cheap, and meant to be called several times a second, also in the middle of a model's answer.
        """
        self._check()

    def _hold(self, *, steps: int) -> Held:
        held = self._runs.hold_as(self.run.id, self._holder, steps=steps, now_ms=self._clock.now_ms())
        if held is None:
            self._check()  # says why, if it knows
            raise Lost(f"run {self.run.id} is executed by another worker, or has ended")
        return held


class KnowledgeBase(Protocol):
    """The knowledge base as one run sees it: what it was shown keeps its alias."""

    def query(self, namespace: str, text: str, mode: str, top_k: int) -> list[Evidence]:
        """The best pieces of a namespace; each has an alias, the same one whenever it is found again in this run."""
        ...

    def get(self, alias: str) -> Evidence | None:
        """A piece that this run was shown; None for an alias that it has not given."""
        ...

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, limit: int) -> tuple[int, Sequence[str]]:
        """How many pieces the run was shown, and the first aliases of them."""
        ...


class BankReader(Protocol):
    """The ReasoningBank as a run reads it."""

    def search(self, query: str, top_k: int, role: str | None = None, status: str = "active",
               type: str | None = None) -> list[Lesson]:  # fmt: skip
        """The lessons nearest to a query."""
        ...

    def get(self, mem_id: str) -> Lesson | None:
        """One lesson, whatever its status."""
        ...

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, limit: int, role: str | None = None) -> tuple[int, Sequence[Lesson]]:
        """How many active lessons there are, and the newest of them."""
        ...
