"""Batches and runs: asking for them, looking at them, canceling them.

A batch, its runs and their jobs are stored in one transaction. Runs of several batches take turns: each run has a place
in the line, the first one of a new batch the place of whoever is next, the following ones one behind the other, so a
batch of four that comes after a batch of five hundred is done after about eight turns. Canceling marks what runs, ends
what waits, and asks the jobs to stop; a run that was marked ends as canceled.

With which configuration a batch runs: the settings of its time and what it may override, never a secret.

A folder may be overridden only below configured roots, and the model's server only by one on a configured list: our key
goes to our own server alone, so a batch cannot carry it elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from codexmem.kernel.jobs.queue import Enqueued, Queue
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import PATIENT, JobStatus, NewJob
from codexmem.kernel.store.database import Database
from codexmem.lab.model import (
    DEFAULT_REASON,
    MAX_REASON,
    MAX_RECIPES,
    MAX_REQUEST,
    MAX_RUNS,
    MAX_TEMPERATURE,
    SEARCHED_REQUEST,
    Batch,
    BatchOrder,
    BatchStatus,
    Overrides,
    Run,
    RunStatus,
    kept_extra,
    run_subject,
)
from codexmem.lab.service.execution import RunTransitions
from codexmem.lab.service.trace import RunTrace, no_run
from codexmem.lab.store.runs import LabLists, RunCursor, RunTable, RunVerdict

MAX_NAME = 200
MAX_PATH = 1_000


@dataclass(frozen=True, slots=True)
class LabConfig:
    """What is configured for the lab."""

    llm_model: str = ""
    openai_api_base: str = ""
    kb_principles_dir: Path | None = None
    kb_modulation_dir: Path | None = None
    kb_roots: tuple[str, ...] = ()  # folders that overrides may point below
    api_bases: tuple[str, ...] = ()  # servers that overrides may name
    profile: str = ""


def snapshot(ground: LabConfig, wanted: Overrides) -> dict[str, object]:
    """What a batch runs with; InvalidArgument for an override that is not allowed."""
    used = {
        "kb_principles_dir": _folder(ground, "kb_principles_dir", wanted.kb_principles_dir),
        "kb_modulation_dir": _folder(ground, "kb_modulation_dir", wanted.kb_modulation_dir),
        "llm_model": _model(wanted.llm_model),
        "openai_api_base": _base(ground, wanted.openai_api_base),
    }
    overridden = {name: value for name, value in used.items() if value}
    configured = {
        "kb_principles_dir": _text(ground.kb_principles_dir),
        "kb_modulation_dir": _text(ground.kb_modulation_dir),
        "llm_model": ground.llm_model,
        "openai_api_base": bare(ground.openai_api_base),
    }
    return configured | overridden | {"overrides": overridden, "profile": ground.profile}


def bare(address: str) -> str:
    """An address without user, password, query and fragment, any of which may be a secret."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def _folder(ground: LabConfig, name: str, given: str) -> str:
    if not given:
        return ""
    if len(given) > MAX_PATH or "\0" in given:
        raise InvalidArgument(f"overrides.{name} is not a path")
    try:
        # Resolved before it is compared: a link inside a root may lead out of it.
        path = Path(given).expanduser().resolve(strict=True)
        roots = [Path(root).expanduser().resolve() for root in ground.kb_roots]
    except (OSError, RuntimeError, ValueError):
        path, roots = Path(given), []
    if not any(path.is_relative_to(root) for root in roots) or not path.is_dir():
        raise InvalidArgument(
            f"overrides.{name} is not a folder below a configured root",
            hint="name the root in CODEXMEM_KB_ROOTS, or leave the override out",
        )
    return str(path)


def _model(given: str) -> str:
    if len(given) > MAX_NAME or any(ord(letter) < 0x20 for letter in given):
        raise InvalidArgument(f"overrides.llm_model is longer than {MAX_NAME} characters, or no name")
    return given


def _base(ground: LabConfig, given: str) -> str:
    if not given:
        return ""
    if given.rstrip("/") not in {
        each.rstrip("/") for each in (*ground.api_bases, bare(ground.openai_api_base)) if each
    }:
        raise InvalidArgument(
            "overrides.openai_api_base is not on the list of allowed servers",
            hint="add it to CODEXMEM_LAB_API_BASES, or leave the override out",
        )
    return given.rstrip("/")


def _text(path: Path | None) -> str:
    return str(path) if path is not None else ""


RUN = "lab.run"  # the kind of job that executes a run
ATTEMPTS = 10
MAX_QUERY = 200
NO_MODEL = "no model is configured"
NO_MODEL_HINT = "set OPENAI_API_KEY or CODEXMEM_OPENAI_BASE_URL, or ask for a dry_run"

__all__ = ["RUN", "Canceling", "RunCursor", "RunVerdict", "Runs", "job_of"]


@dataclass(frozen=True, slots=True)
class Canceling:
    """A cancel that was accepted."""

    id: str


class Runs:
    """The acting tenant's batches and runs."""

    def __init__(
        self,
        db: Database,
        table: RunTable,
        moves: RunTransitions,
        trace: RunTrace,
        queue: Queue,
        clock: Clock,
        ground: LabConfig,
        has_model: Callable[[str, str], bool] = lambda *_: True,
    ) -> None:
        self._db = db
        self._table = table
        self._moves = moves
        self._trace = trace
        self._queue = queue
        self._clock = clock
        self._ground = ground
        self._has_model = has_model  # by its name and its server's address
        self._lists = LabLists(db)

    def running(self, batches: Sequence[Batch]) -> dict[str, int]:
        """How many runs of each of these batches are being executed."""
        return self._lists.running([each.id for each in batches if not each.status.ended])

    def verdicts(self, runs: Sequence[Run]) -> dict[str, RunVerdict]:
        """Those of these runs that were judged, and how."""
        return self._lists.verdicts([each.id for each in runs])

    def turn(self) -> int:
        """The place in the line that the next batch begins at; asked before any transaction, because it looks at
        everybody's queue."""
        first = self._queue.first_at(PATIENT)
        return first if first is not None else self._clock.now_ms() - MAX_RUNS

    def create(self, order: BatchOrder, *, turn: int | None = None) -> tuple[Batch, list[Run]]:
        """Store a batch, its runs and their jobs, all or nothing. Inside a transaction `turn` must be given."""
        _require_sound(order)
        turn = self.turn() if turn is None else turn
        config = snapshot(self._ground, order.overrides)
        if not order.dry_run and not self._has_model(str(config["llm_model"]), str(config["openai_api_base"])):
            raise Unavailable(NO_MODEL, hint=NO_MODEL_HINT, details={"reason": "no_model"})
        now_ms, request = self._clock.now_ms(), str(self._trace.masked(order.user_request))
        batch = Batch(
            id=ids.prefixed("batch"), status=BatchStatus.QUEUED, created_ms=now_ms, started_ms=None, ended_ms=None,
            user_request=request, n_runs=order.n_runs, recipes_per_run=order.recipes_per_run,
            temperature=order.temperature, dry_run=order.dry_run, config_snapshot=config, error=None, cancel_id=None,
            cancel_reason=None, completed_runs=0, failed_runs=0, canceled_runs=0,
            schema_version=order.schema_version, extra=self._trace.masked(kept_extra(order.extra)),
        )  # fmt: skip
        with self._db.transaction():
            made = [self._planned(batch, index, turn) for index in range(1, order.n_runs + 1)]
            self._table.add(batch, request[:SEARCHED_REQUEST].casefold(), made)
        return batch, made

    def batch(self, batch_id: str) -> Batch:
        """One batch."""
        batch = self._table.batch(batch_id)
        if batch is None:
            raise NotFound(f"no batch {batch_id[:80]}", hint="batches are listed at /api/v1/batches")
        return batch

    def run(self, run_id: str) -> Run:
        """One run."""
        run = self._table.run(run_id)
        if run is None:
            raise no_run(run_id)
        return run

    def output(self, run_id: str) -> dict[str, object]:
        """What a run has answered; NotFound while there is nothing."""
        run = self.run(run_id)
        output = self._table.output(run_id)
        if output is None:
            raise NotFound(
                f"run {run_id[:80]} has no output: it is {run.status.value}",
                hint="wait until its status is completed" if not run.status.ended else "look at its events",
                details={"status": run.status.value},
            )
        return output

    def batches(self, *, statuses: Sequence[BatchStatus] = (), text: str = "", below: RunCursor | None = None,
                limit: int = 50) -> tuple[list[Batch], RunCursor | None]:  # fmt: skip
        """Batches of these statuses or of all, newest first, and where the next page starts.

        With `text`, those whose request holds it, whatever the case. Such a page looks through a bounded number of
        requests and may hold fewer than `limit`, or none, although there is a next one.
        """
        if not text:
            return self._table.batches_page(statuses=statuses, below=below, limit=limit)
        if len(text) > MAX_QUERY:
            raise InvalidArgument(f"q is longer than {MAX_QUERY} characters")
        return self._table.batches_with(text.casefold(), statuses=statuses, below=below, limit=limit)

    def runs(self, *, statuses: Sequence[RunStatus] = (), below: RunCursor | None = None,
             limit: int = 50) -> tuple[list[Run], RunCursor | None]:  # fmt: skip
        """Runs of all batches, newest first, and where the next page starts."""
        return self._table.runs_page(statuses=statuses, below=below, limit=limit)

    def runs_of(self, batch_id: str, *, statuses: Sequence[RunStatus] = (), after: int = 0,
                limit: int = 50) -> tuple[list[Run], int | None]:  # fmt: skip
        """Runs of one batch by their places in it, and the last place if there is a next page."""
        self.batch(batch_id)
        found = self._table.runs_of(batch_id, statuses=statuses, after=after, limit=limit + 1)
        return found[:limit], found[limit - 1].run_index if len(found) > limit else None

    def cancel_batch(self, batch_id: str, reason: str = DEFAULT_REASON) -> Canceling:
        """Cancel what has not ended; asking again answers the same, and a batch that has ended is a Conflict."""
        seen = self.batch(batch_id)
        reason = self._reason(reason)
        with self._db.transaction():
            # Jobs first, then the batch: the order in which endings take them.
            unfinished = [run for run in self._all_of(batch_id) if not run.status.ended]
            jobs = self._queue.cancel_many([run.job_id for run in unfinished if run.job_id is not None])
            batch = self._table.hold_batch(batch_id)
            if batch.status is BatchStatus.CANCELED and batch.cancel_id is not None:
                return Canceling(batch.cancel_id)
            if batch.status.ended:
                raise _too_late("batch", seen.id, batch.status.value)
            if batch.cancel_id is not None:
                return Canceling(batch.cancel_id)
            cancel_id = ids.prefixed("cancel")
            self._table.mark_batch(batch_id, cancel_id=cancel_id, reason=reason)
            ended, at_ms = self._table.end_queued(
                batch_id, cancel_id=cancel_id, reason=reason, now_ms=self._clock.now_ms()
            )
            self._trace.write(ended, [(EventType.RUN_CANCELED, {"reason": reason})], at_ms=at_ms)
            self._moves.ended_together(batch_id, len(ended))
            running = [run for run in unfinished if run.id not in set(ended)]
            self._table.mark([run.id for run in running], cancel_id=cancel_id, reason=reason)
            for run in running:
                self._end_abandoned(run, jobs.get(run.job_id or 0))
            return Canceling(cancel_id)

    def cancel_run(self, run_id: str, reason: str = DEFAULT_REASON) -> Canceling:
        """The same for one run."""
        run = self.run(run_id)
        reason = self._reason(reason)
        with self._db.transaction():
            jobs = self._queue.cancel_many([run.job_id]) if run.job_id is not None and not run.status.ended else {}
            self._table.hold_batch(run.batch_id)
            run = self.run(run_id)
            if run.cancel_id is not None:
                return Canceling(run.cancel_id)
            if run.status.ended:
                raise _too_late("run", run.id, run.status.value)
            cancel_id = ids.prefixed("cancel")
            self._table.mark([run.id], cancel_id=cancel_id, reason=reason)
            if run.status is RunStatus.QUEUED:
                self._moves.canceled(run.id, run.batch_id)
            else:
                self._end_abandoned(run, jobs.get(run.job_id or 0))
            return Canceling(cancel_id)

    def _planned(self, batch: Batch, index: int, turn: int) -> Run:
        run_id = ids.prefixed("run")
        return Run(
            id=run_id, batch_id=batch.id, run_index=index, status=RunStatus.QUEUED, created_ms=batch.created_ms,
            started_ms=None, ended_ms=None, error=None, final_event_id=None, cancel_id=None, cancel_reason=None,
            job_id=enqueue(self._queue, run_id, place_ms=turn + index - 1), steps=0,
            schema_version=batch.schema_version, extra={},
        )  # fmt: skip

    def _end_abandoned(self, run: Run, job: JobStatus | None) -> None:
        # Nobody executes it, so nobody would end it.
        if job is not JobStatus.RUNNING:
            self._moves.canceled(run.id, run.batch_id)

    def _all_of(self, batch_id: str) -> list[Run]:
        return self._table.runs_of(batch_id, statuses=(), after=0, limit=MAX_RUNS)

    def _reason(self, reason: str) -> str:
        if len(reason) > MAX_REASON:
            raise InvalidArgument(f"a reason has at most {MAX_REASON} characters")
        return str(self._trace.masked(reason)) or DEFAULT_REASON


def enqueue(queue: Queue, run_id: str, *, place_ms: int) -> int | None:
    """Put a run into the line at this place; None if it stands there already."""
    outcome = queue.enqueue(job_of(run_id, place_ms=place_ms))
    return outcome.id if isinstance(outcome, Enqueued) else None


def job_of(run_id: str, *, place_ms: int) -> NewJob:
    """The job that executes a run; there is one at a time."""
    subject = run_subject(run_id)
    return NewJob(
        RUN, {"run_id": run_id}, subject=subject, dedupe_key=f"{RUN}:{run_id}", priority=PATIENT,
        max_attempts=ATTEMPTS, place_ms=place_ms,
    )  # fmt: skip


def _too_late(what: str, name: str, status: str) -> Conflict:
    return Conflict(
        f"{what} {name[:80]} has ended: it is {status}", hint="only what has not ended can be canceled",
        details={"status": status},
    )  # fmt: skip


def _require_sound(order: BatchOrder) -> None:
    if not order.user_request.strip() or len(order.user_request) > MAX_REQUEST:
        raise InvalidArgument(f"user_request must have 1 to {MAX_REQUEST} characters that are not all blank")
    for name, value, most in (
        ("n_runs", order.n_runs, MAX_RUNS), ("recipes_per_run", order.recipes_per_run, MAX_RECIPES),
        ("schema_version", order.schema_version, 1_000),
    ):  # fmt: skip
        if not 1 <= value <= most:
            raise InvalidArgument(f"{name} must be from 1 to {most}")
    if not 0.0 <= order.temperature <= MAX_TEMPERATURE:
        raise InvalidArgument(f"temperature must be from 0 to {MAX_TEMPERATURE:g}")
