"""A log filled as the services fill it, with a clock that tests move."""

from __future__ import annotations

from typing import Any

from codexmem.kernel.events.log import Log
from codexmem.kernel.events.review import Review
from codexmem.kernel.jobs.outcomes import failure_event
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.event_pages import EventPages
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.notify import LocalNotifier
from tests._support.clock import StepClock

KINDS = {"capture.extract": "observation", "capture.summarize": "summarize"}


class Logbook:
    """Writes lines of every sort that reports read."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.clock = StepClock()
        self.log = Log(db, EventTable(db), LocalNotifier(), self.clock)
        self.review = Review(EventPages(db))

    def search(self, query: str = "why", *, project: str = "shop", mode: str = "hybrid", took_ms: float = 10.0,
               type: EventType = EventType.SEARCH_ANSWERED, **more: Any) -> None:  # fmt: skip
        """A search was answered."""
        payload = {
            "query": query, "recipe": "default", "mode": mode, "sources": {"lexical": 3, "neighbours": 1, "sqlite": 2},
            "timings_ms": {"lexical": 1.5, "total": took_ms}, "results": 2, "notes": [], **more,
        }  # fmt: skip
        took_us = round(took_ms * 1000)
        self.log.append(NewEvent(type, "search", payload, project, took_us))

    def timing(self, session: int = 1, message_type: str = "observation", *, success: bool = True,
               total_ms: int = 100) -> None:  # fmt: skip
        """An extraction ended."""
        payload = {
            "job": 1, "sessionDbId": session, "messageType": message_type, "success": success, "events": 3,
            "queueWaitMs": 10, "modelMs": 50.5, "indexMs": 4.5, "totalMs": total_ms,
        }  # fmt: skip
        subject = f"session:{session}"
        self.log.append(NewEvent(EventType.EXTRACTION_TIMED, subject, payload, "shop", total_ms * 1000))

    def failure(self, error_class: str = "transient", *, kind: str = "capture.extract", session: int | None = 1,
                error: str = "it broke", job: int = 7) -> None:  # fmt: skip
        """A job failed for good."""
        self.log.append(failure_event(failed_job(job, kind, session), error, error_class))


def failed_job(number: int, kind: str, session: int | None) -> Job:
    """A job as a worker sees it when it gives up."""
    return Job(
        "local", number, kind, JobStatus.RUNNING, {}, None, f"session:{session}" if session is not None else "index",
        None, None, 0, 5, 5, 0, None, "w", False, None, None, 0, 0, None,
    )  # fmt: skip
