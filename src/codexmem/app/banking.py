"""The ReasoningBank, put together from the parts of an open store: lessons, learning, and taking learnings back."""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.domain.ids import Clock
from codexmem.domain.search import Answer, Search
from codexmem.jobs.duty import Duties, Duty
from codexmem.jobs.queue import Queue
from codexmem.llm.lessons import Teacher
from codexmem.services.history import History
from codexmem.services.lab.bank import Bank, Reader
from codexmem.services.lab.learning import Learning
from codexmem.services.lab.learning import learning as learning_job
from codexmem.services.lab.learning.applying import Applying
from codexmem.services.lab.learning.sources import EvidenceOf
from codexmem.services.lab.learnings import Learnings
from codexmem.services.lab.rollback import Rollbacks
from codexmem.services.lab.system import LEARN
from codexmem.services.lab.trace import Trace
from codexmem.services.memories import Memories
from codexmem.store.database import Database
from codexmem.store.history import Versions
from codexmem.store.lab_feedback import Judged
from codexmem.store.lab_learnings import Learnings as LearningsTable
from codexmem.store.lab_runs import Runs
from codexmem.store.memories import Memories as Table


@dataclass(frozen=True, slots=True)
class Remembering:
    """What the lab needs of the memory it stands on."""

    table: Table
    versions: Versions
    memories: Memories
    history: History
    search: Callable[[Search], Answer]
    teacher: Teacher
    spent: Callable[[int], object] = lambda _: None  # tokens that learning has cost


@dataclass(frozen=True, slots=True)
class Banking:
    """Everything about lessons."""

    bank: Bank
    reader: Reader
    learning: Learning
    rollbacks: Rollbacks
    learnings: Learnings

    def duties(self) -> Duties:
        """The kind of job that learns."""
        return {LEARN: Duty(self.learning.run, timeout_s=learning_job.TIMEOUT_S, moved=self.learning.settle)}


def banking_of(db: Database, clock: Clock, under: Remembering, *, runs: Runs, trace: Trace, queue: Queue,
               roles: tuple[str, ...], evidence: EvidenceOf | None = None) -> Banking:  # fmt: skip
    """Lessons for these roles; `evidence` reads what a run was shown, by its alias."""
    bank = Bank(db, under.table, under.memories, under.search, runs, trace, clock, roles, under.history)
    learning = Learning(
        db, under.table, under.memories, runs, trace, queue, clock, bank,
        Applying(under.memories, under.history, bank), under.teacher, Judged(db).of_run, evidence=evidence,
        roles=roles, spent=under.spent,
    )  # fmt: skip
    rollbacks = Rollbacks(
        db, under.table, under.memories, under.history, under.versions, runs, trace, bank, learning
    )  # fmt: skip
    learnings = Learnings(db, LearningsTable(db), under.memories, under.history, under.versions)
    return Banking(bank, Reader(bank), learning, rollbacks, learnings)
