"""The lab, put together from the parts of an open store."""

import logging
from dataclasses import dataclass
from functools import partial

from codexmem.app.answering import Chosen, agent_from, has_model, profile_of
from codexmem.app.banking import Banking, Remembering, banking_of
from codexmem.app.shelving import Shelving, shelving_of
from codexmem.domain.ids import Clock
from codexmem.events.log import Log
from codexmem.jobs.duty import Duties, Duty
from codexmem.jobs.queue import Queue
from codexmem.jobs.worker import LOOK_S, Worker
from codexmem.services.lab import execution
from codexmem.services.lab.catalog import Catalog
from codexmem.services.lab.desk import BankReader
from codexmem.services.lab.evidence import Shelves
from codexmem.services.lab.execution import Agent, Execution
from codexmem.services.lab.feedback import Judging
from codexmem.services.lab.moves import Moves
from codexmem.services.lab.reconciling import Reconciling
from codexmem.services.lab.runs import RUN, Runs
from codexmem.services.lab.snapshot import Ground
from codexmem.services.lab.system import System, Watch
from codexmem.services.lab.trace import Trace
from codexmem.settings import SETTINGS, Settings
from codexmem.store import lab_catalog, lab_runs
from codexmem.store.database import Database
from codexmem.store.jobs import Jobs
from codexmem.store.lab_feedback import Judged
from codexmem.store.lab_steps import Steps
from codexmem.store.lab_trace import Traces

log = logging.getLogger(__name__)

_STALE_MS = 30_000  # a dispatcher that has not looked for so long does not run


class Working:
    """Whether this process runs jobs; the worker is known only after everything that it calls."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def started(self, worker: Worker) -> None:
        """From now on jobs run here."""
        self._worker = worker

    def look(self) -> Watch:
        """How it stands."""
        running = self._worker is not None and self._worker.dispatch_age_ms() < _STALE_MS
        return Watch(self._worker is not None, running, LOOK_S)


@dataclass(frozen=True, slots=True)
class Lab:
    """Everything the lab's door asks for, and the jobs it brings."""

    runs: Runs
    trace: Trace
    execution: Execution
    moves: Moves
    reconciling: Reconciling
    system: System
    working: Working
    banking: Banking
    shelving: Shelving
    catalog: Catalog
    judging: Judging
    debug: dict[str, str] | None  # settings as they may be shown; None unless switched on

    def begin(self, *, alone: bool) -> None:
        """Put right what a crash left behind; what cannot be put right now does not keep the others from working.

        `alone` says that no other process can hold a job.
        """
        try:
            found = self.reconciling.begin(alone=alone)
        except Exception:
            log.warning("runs could not be reconciled; the next start tries again", exc_info=True)
            return
        if found:
            log.info("%d runs had lost their worker", found)

    def duties(self) -> Duties:
        """The kinds of job of the lab."""
        running = Duty(self.execution.run, timeout_s=execution.TIMEOUT_S, moved=self.moves.settle)
        return {RUN: running, **self.banking.duties()}


def lab_of(db: Database, settings: Settings, clock: Clock, *, jobs: Jobs, queue: Queue, book: Log,
           under: Remembering, agent: Agent | None = None) -> Lab:  # fmt: skip
    """Everything of the lab; `agent` answers in place of the configured one."""
    table, steps = lab_runs.Runs(db), Steps(db)
    trace = Trace(db, table, Traces(db), book, clock, secrets_of(settings))
    chosen = profile_of(settings)
    shelving = shelving_of(db, settings, clock, under, runs=table, trace=trace, namespaces=chosen.namespaces)
    moves = Moves(db, table, trace, queue, clock, shelving.shelves.are_empty)
    reconciling, working = Reconciling(db, table, jobs, moves, queue, clock), Working()
    banking = banking_of(
        db, clock, under, runs=table, trace=trace, queue=queue, roles=chosen.roles, evidence=shelving.evidence.of
    )
    catalog = Catalog(db, lab_catalog.Catalog(db), trace, clock)
    learn = partial(banking.learning.queue, reason="feedback")
    answering = agent or agent_of(settings, chosen, banking.reader, shelving.shelves)
    return Lab(
        runs=Runs(
            db,
            table,
            moves,
            trace,
            queue,
            clock,
            ground_of(settings, chosen),
            *((has_model(settings),) if agent is None else ()),
        ),
        trace=trace,
        execution=Execution(db, table, steps, trace, moves, clock, answering),
        moves=moves,
        reconciling=reconciling,
        system=System(db, table, reconciling, clock, working.look),
        working=working,
        banking=banking,
        shelving=shelving,
        catalog=catalog,
        judging=Judging(db, Judged(db), table, catalog, trace, clock, learn if settings.lab_learn else None),
        debug={each.name: settings.shown(each.name) for each in SETTINGS} if settings.enable_debug_endpoints else None,
    )


def agent_of(settings: Settings, chosen: Chosen, bank: BankReader, shelves: Shelves) -> Agent:
    """What answers requests."""
    return agent_from(settings, chosen, shelves.shelf, bank)


def ground_of(settings: Settings, chosen: Chosen) -> Ground:
    """What is configured for the lab."""
    return Ground(
        settings.openai_model, settings.openai_base_url, settings.kb_principles_dir, settings.kb_modulation_dir,
        settings.kb_roots, settings.lab_api_bases, chosen.name,
    )  # fmt: skip


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Keys of ours that must not stand in any trace, wherever a model or a tool repeats them."""
    named = (settings.openai_api_key, settings.openai_embedding_api_key, settings.rerank_api_key, settings.api_key)
    return tuple(each for each in named if each)
