"""Following files that are written for agents: when a session starts, what they say now is taken in.

Only files that were imported once, only of the checkout that the session is in and of the person whose server it is,
and only if one of them has changed since they were last looked at. All changes of one look are one delta.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from codexmem import agents
from codexmem.agents.install.targets import UserHome
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import GiveUp, Job, NewJob
from codexmem.kernel.model.project import identity
from codexmem.kernel.model.session import Session
from codexmem.recall import agent_file_discovery as discovery
from codexmem.recall.agent_files import AgentFiles, AgentFileText

FOLLOW = "recall.follow_files"
CAUSE = "follow"
TIMEOUT_S = 60.0
_ACTOR = "agent-files"
_CHECKOUTS = 200  # of which it is known how their files were
_Looks = tuple[tuple[str, int, int], ...]  # name, size and time of each file


class AgentFileFollower:
    """The job that looks at the files of a session's checkout; without a person it never does."""

    def __init__(self, files: AgentFiles, queue: Queue, person: UserHome | None) -> None:
        self._files = files
        self._queue = queue
        self._person = person
        self._seen: OrderedDict[tuple[str, str, str], _Looks] = OrderedDict()
        self._lock = threading.Lock()

    def begun(self, session: Session) -> None:
        """A session has started: look at the files of its project soon, if any were imported."""
        if self._person is None or not session.cwd.startswith("/") or not self._files.is_followed(session.project):
            return
        payload = {"project": session.project, "cwd": session.cwd}
        self._queue.enqueue(
            NewJob(FOLLOW, payload, subject=session.subject, dedupe_key=f"{FOLLOW}:{session.project}", max_attempts=2)
        )

    def follow(self, job: Job, context: JobContext) -> Done:
        """Read what has changed; it is remembered as the job ends."""
        project, cwd = job.payload.get("project"), job.payload.get("cwd")
        if not isinstance(project, str) or not isinstance(cwd, str):
            raise GiveUp(f"job {job.id} names no project or no folder")
        if self._person is None or not Path(cwd).is_dir():
            return Done({"files": 0})
        checkout = discovery.checkout_of(Path(cwd))
        if identity(str(checkout.root), discovery.text_of) != project:
            return Done({"files": 0})
        known = self._files.known(project)
        found = discovery.find_again(checkout, known, self._person)
        looks = tuple((each.file, each.size, each.changed_ns) for each in found.files)
        key = (job.tenant, project, str(checkout.root))
        every = [agents.agent_of(name) for name in agents.NAMES]
        lost = discovery.gone(checkout, every, known, found, personal=True)
        if self._seen.get(key) == looks and not lost:
            return Done({"files": 0})
        context.check()
        texts = [*discovery.read(found, checkout.folders), *(AgentFileText(file, "", 0) for file in lost)]

        def effect() -> None:
            self._take_in(project, texts)
            self._note(key, looks)

        return Done({"files": len(texts)}, effect)

    def _take_in(self, project: str, texts: Sequence[AgentFileText]) -> None:
        delta: str | None = None
        for text in texts:
            delta = self._files.take_in(project, text, WriteContext(_ACTOR), delta=delta, cause=CAUSE).delta

    def _note(self, key: tuple[str, str, str], looks: _Looks) -> None:
        with self._lock:
            self._seen[key] = looks
            self._seen.move_to_end(key)
            if len(self._seen) > _CHECKOUTS:
                self._seen.popitem(last=False)
