"""New commits, as they are seen: when a session begins or ends in a checkout whose repository was imported before, a
job imports its newest commits.

Whoever never imported a repository has no such job, and one whose import was undone stays undone. Only a server that
stands on the machine of its callers looks into their folders. The hook does nothing for it.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.errors import CodexmemError, Conflict
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.import_row import GIT, ForeignMemory
from codexmem.kernel.model.job import PATIENT, Job, NewJob
from codexmem.kernel.model.session import Session
from codexmem.recall.git_history import GitHistory
from codexmem.recall.importing import Importing

NEW_COMMITS = "recall.new-commits"
TIMEOUT_S = 180.0
NEWEST = 500  # commits that one job looks at
ACTOR = "git"
_WAIT_S = 120.0  # for git
_AT_ONCE = 50


class CommitWatch:
    """Plans and runs that job for the acting tenant."""

    def __init__(
        self, queue: Queue, importing: Importing, excluded: Callable[[str, str], bool], *, local: bool
    ) -> None:
        self._queue = queue
        self._importing = importing
        self._excluded = excluded  # by directory and project
        self._local = local  # whether a session's folder is on this machine

    def seen(self, session: Session) -> None:
        """A session began or ended: look soon, one after another for all who work in that folder.

        No job stands for another: one that runs may have read where HEAD was before this session's last commit.
        """
        if not self._local or not session.cwd.startswith("/") or self._excluded(session.cwd, session.project):
            return
        if self._importing.has_imported(GIT):
            folder = blake2b(session.cwd.encode(errors="replace"), digest_size=8).hexdigest()
            self._queue.enqueue(NewJob(
                NEW_COMMITS, {"cwd": session.cwd}, subject=session.subject, lane=f"{NEW_COMMITS}:{folder}",
                priority=PATIENT, max_attempts=2,
            ))  # fmt: skip

    def take_in(self, job: Job, context: JobContext) -> Done:
        """Import what is new among the newest commits; a folder that is no repository, or not one of ours, is left."""
        try:
            with closing(GitHistory(Path(str(job.payload.get("cwd"))), newest=NEWEST, wait_s=_WAIT_S)) as history:
                return Done({"commits": self._imported(history, context)})
        except Conflict:
            return Done({"commits": 0})  # undone while we looked
        except CodexmemError as problem:
            return Done({"commits": 0, "reason": problem.message})

    def _imported(self, history: GitHistory, context: JobContext) -> int:
        fingerprint = history.fingerprint()
        project = self._importing.project_of(GIT, fingerprint)
        if project is None:
            return 0
        rows = (replace(row, project=project) for row in history.rows() if isinstance(row, ForeignMemory))
        count, delta = 0, None
        for batch in _batches(rows):
            context.check()
            taken = self._importing.take_in(fingerprint, batch, WriteContext(ACTOR), program=GIT, delta=delta)
            count, delta = count + sum(taken.imported.values()), taken.delta
        return count


def _batches(rows: Iterator[ForeignMemory]) -> Iterator[list[ForeignMemory]]:
    while batch := list(islice(rows, _AT_ONCE)):
        yield batch
