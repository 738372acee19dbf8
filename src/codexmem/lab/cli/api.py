"""The lab's interface, called by a person: by the running server that owns the store, else in this process.

Both ways lead to the same routes, so that a command and any other client mean the same by the same words, and are
refused for the same reasons. What the interface advises is in the names of paths; here it is said in those of commands.

Waiting for the lab: looking again until something has ended, with a bar for people.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from urllib.parse import quote, urlencode

from pydantic import BaseModel

from codexmem.console.backend import Answer, Backend, InProcess, advised, backend
from codexmem.console.progress import bar
from codexmem.console.store import StoreFlags
from codexmem.lab.wire.bank import LearningJob, RunLearnings
from codexmem.lab.wire.fields import LabPage
from codexmem.lab.wire.runs import LabBatch, OneBatch

if TYPE_CHECKING:
    from codexmem.app import Core

M = TypeVar("M", bound=BaseModel)
PAGE = 200  # items that are asked for at once
GRACE_S = 5.0
_COMMANDS = {
    "/api/v1/batches": "codexmem batch ls",
    "/api/v1/runs": "codexmem run ls",
    "/api/v1/products": "codexmem product ls",
    "/api/v1/product_presets": "codexmem preset ls",
    "/api/v1/memories": "codexmem rb ls",
    "…/reasoningbank/deltas": "codexmem rb deltas",
    "…/events": "codexmem run events",
    "…/evidence": "codexmem run evidence",
    "PUT the same path to give it": "codexmem run feedback --help says how to give it",
}
_NAME = re.compile("|".join(re.escape(each) for each in sorted(_COMMANDS, key=len, reverse=True)))


class LabApi:
    """The lab's interface."""

    def __init__(self, wire: Backend, core: "Core | None" = None) -> None:
        self._wire = wire
        self._core = core

    def get(self, answer: type[M], *path: str, **query: Any) -> M:
        """Look; a list is repeated, and what is None or empty is left out."""
        given = [(name, value) for name, value in query.items() if value not in (None, "", [], ())]
        return answer.model_validate(self._call("GET", path, urlencode(given, doseq=True), None))

    def send(self, answer: type[M], method: str, *path: str, **body: Any) -> M:
        """Ask for a change; what is None is left out."""
        given = {name: value for name, value in body.items() if value is not None}
        return answer.model_validate(self._call(method, path, "", given))

    def items(self, page: type[LabPage[M]], *path: str, limit: int, **query: Any) -> LabPage[M]:
        """The first so many of a list, asked for page by page."""
        found: list[M] = []
        cursor: str | None = None
        while True:
            told = self.get(page, *path, **query, cursor=cursor, limit=min(PAGE, limit - len(found)))
            found += told.items
            cursor = told.next_cursor
            if not cursor or len(found) >= limit:
                return page.of(found, cursor)

    @contextmanager
    def working(self) -> Iterator[bool]:
        """Run what is queued during the block, if nobody else can; says whether that is so."""
        if self._core is None or self._core.db.engine.ambient_tenant is None:
            yield False
            return
        self._core.begin()
        try:
            yield True
        finally:
            self._core.stop(GRACE_S)

    def _call(self, method: str, path: Sequence[str], query: str, body: Mapping[str, object] | None) -> Answer:
        target = "/".join(("/api/v1", *(quote(part, safe="") for part in path))) + (f"?{query}" if query else "")
        with advised(lambda hint: _NAME.sub(lambda found: _COMMANDS[found[0]], hint)):
            return self._wire.call(method, target, body)


@contextmanager
def lab_api(*, create: bool = False, **where: Unpack[StoreFlags]) -> Iterator[LabApi]:
    """The lab of the store that these flags name; one that does not exist yet is made only if that is said."""
    with backend(write=True, create=create, **where) as store:
        yield LabApi(store, store.core if isinstance(store, InProcess) else None)


LOOK_S = 0.3


def until_ended(api: LabApi, batch_id: str, label: str, *, pause: Callable[[float], None] = time.sleep) -> LabBatch:
    """The batch, once its last run has ended."""
    with bar(label) as progress:
        while True:
            batch = api.get(OneBatch, "batches", batch_id).batch
            progress(batch.ended_runs.total, batch.n_runs)
            if batch.ended_at is not None:
                return batch
            pause(LOOK_S)


def until_learned(
    api: LabApi, run_id: str, job_id: str, *, pause: Callable[[float], None] = time.sleep
) -> LearningJob | None:
    """The learning, once it has ended; None if the server no longer lists it."""
    while True:
        jobs = api.get(RunLearnings, "runs", run_id, "reasoningbank", "jobs").jobs
        found = next((each for each in jobs if each.rb_job_id == job_id), None)
        if found is None or found.ended_at is not None:
            return found
        pause(LOOK_S)
