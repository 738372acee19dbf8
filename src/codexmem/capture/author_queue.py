"""When an author is asked: a model behind a key soon after every turn; an agent, whose login has few questions, soon
after a turn that had much in it, and for short turns together, at the latest when the session ends or has been quiet.

A job names the first turn that it is about; its last is the one before the first of the session's next job. So a turn
that ends while a job waits belongs to that job, and one that ends while it runs gets another.

Whether a person's agent is at work: it should not have to share its login with the author.
"""

from collections.abc import Callable, Mapping, Sequence

from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.capture import Capture
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import PATIENT, Job, JobStatus, NewJob
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.session import Session, SessionStatus
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.sessions import Sessions

AUTHOR = "capture.author"
TURNS = 40  # of one job
_ENOUGH = 8  # captured events that are worth a question of their own
_QUIET = 90  # times the wait for a batch, after which short turns wait for no others
_ATTEMPTS = 3
_BUSY_MS = 60_000
_LATER, _LATER_MS = 5, 3_600_000  # times, and how long until the first; each time twice as long
_KNOWN = 50  # newest jobs of a session that are looked at


class AuthorQueue:
    """Plans the acting tenant's questions, inside the caller's transaction, by one look at the session's jobs."""

    def __init__(self, queue: Queue, sessions: Sessions, captures: Captures, *, asked: bool = False,
                 patient: bool = True, soon_ms: int = 10_000,
                 excludes: Callable[[str, str], bool] = lambda _folder, _project: False,
                 refuses: Callable[[str], bool] = lambda _folder: False) -> None:  # fmt: skip
        self._queue = queue
        self._sessions = sessions
        self._captures = captures
        self.is_asked = asked  # whether there is an author
        self._patient = patient  # whether short turns wait for others
        self._soon_ms = soon_ms
        self._excludes = excludes  # whether the person keeps a folder or a project from authors
        self.refuses = refuses  # whether a checkout's own file does, as far as it can be seen from here

    def keeps_back(self, session: Session) -> bool:
        """Whether no author may be told of a session, by what was said while it ran or is said now."""
        return session.rules_only or self.withholds(session.cwd, session.project)

    def withholds(self, folder: str, project: str = "") -> bool:
        """Whether no author may be told of what is done in a folder or for a project."""
        return self._excludes(folder, project) or self.refuses(folder)

    def tellable(self, project: str, memories: Sequence[Memory]) -> list[Memory]:
        """Those of a project's memories that an author may be shown; two queries, whatever their number.

        What belongs to no session is told only if every session of the project may be.
        """
        sessions = self._sessions.known([memory.session for memory in memories if memory.session])
        back = {key for key, session in sessions.items() if self.keeps_back(session)}
        strict = self.withholds("", project) or self._sessions.any_rules_only(project)
        return [each for each in memories if each.session not in back and (each.session in sessions or not strict)]

    def turn_ended(self, session: Session, turn: int, events: int) -> None:
        """A turn with so many tool events has been written down by rules."""
        if not self.is_asked or self.keeps_back(session):
            return
        now = self._sessions.get(session.id)
        over = now is None or now.status is SessionStatus.COMPLETED
        newest = self._newest(session)
        first = int(newest.payload["from"]) if newest is not None else turn
        enough = over or not self._patient or events + 2 * (turn - first + 1) >= _ENOUGH
        if newest is not None and self._queue.join(newest.id, hurry=enough):
            return
        enough = not self._patient or events + 2 >= _ENOUGH
        soon_ms = self._soon_ms if self._patient else self._soon_ms // 2
        delay_ms = 0 if over else soon_ms if enough else _QUIET * self._soon_ms
        self._enqueue(session, {"from": turn}, delay_ms)

    def session_ended(self, session: Session) -> None:
        """Nothing more will come: what waits need wait no longer, nor a turn that never ended."""
        if not self.is_asked or self.keeps_back(session):
            return
        newest = self._newest(session)
        if newest is not None:
            self._queue.hurry(newest.id, _subject(session))
        elif not self._captures.of_turn(session.id, session.turn, Capture.STOP, limit=1) and self._captures.of_turn(
            session.id, session.turn, Capture.TOOL, limit=1
        ):
            self._enqueue(session, {"from": session.turn}, 0)

    def imported(self, session: Session, delta: str, first: int = 1) -> None:
        """A session was imported whole, into this delta: what is written of it from this turn on belongs there too."""
        if self.is_asked and first <= session.turn and not self.keeps_back(session):
            self._enqueue(session, {"from": first, "delta": delta}, 0)

    def postpone(self, job: Job, session: Session) -> None:
        """Ask soon, about the same turns and those that end meanwhile: the author is busy."""
        self._enqueue(session, job.payload, _BUSY_MS)

    def try_later(self, job: Job, session: Session) -> None:
        """Ask much later, and not for ever: somebody has to log in, to pay or to install something first."""
        tries = int(job.payload.get("tries", 0)) + 1
        if tries <= _LATER:
            self._enqueue(session, {**job.payload, "tries": tries}, _LATER_MS << (tries - 1))

    def turns_of(self, job: Job, session: Session) -> range:
        """The turns that a job is about, as far as they have begun."""
        later = (each for each in self._queue.of_subject(_subject(session), limit=_KNOWN) if each.id > job.id)
        end = min((int(each.payload["from"]) for each in later), default=session.turn + 1)
        return range(int(job.payload["from"]), end)

    def _newest(self, session: Session) -> Job | None:
        """The job of the session that still waits, if one does."""
        newest = next(iter(self._queue.of_subject(_subject(session), limit=1)), None)
        waits = newest is not None and newest.status is JobStatus.QUEUED and newest.attempts == 0
        return newest if waits else None

    def _enqueue(self, session: Session, about: Mapping[str, object], delay_ms: int) -> None:
        subject = _subject(session)
        self._queue.enqueue(NewJob(
            AUTHOR, {**about, "session": session.id}, subject=subject, lane=subject, priority=PATIENT,
            max_attempts=_ATTEMPTS, delay_ms=delay_ms,
        ))  # fmt: skip


def _subject(session: Session) -> str:
    return f"author:{session.id}"


_LATELY_MS = 120_000  # an agent of which nothing was heard for so long is not at work
_LOOKED_AT = 20  # newest sessions


class AgentIdleness:
    """Looks at the newest sessions, whatever their number."""

    def __init__(self, sessions: Sessions, captures: Captures, clock: Clock, platform: str | None) -> None:
        self._sessions = sessions
        self._captures = captures
        self._clock = clock
        self._platform = platform  # None: the author is no agent

    def is_idle(self) -> bool:
        """Whether no session of the agent is in the middle of a turn."""
        if self._platform is None:
            return True
        since = self._clock.now_ms() - _LATELY_MS
        return not any(
            session.platform == self._platform
            and session.status is SessionStatus.ACTIVE
            and session.turn > 0
            and not self._captures.of_turn(session.id, session.turn, Capture.STOP, limit=1)
            for session in self._sessions.newest(limit=_LOOKED_AT)
            if session.last_ms >= since
        )
