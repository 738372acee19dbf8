"""Forgetting on purpose: by number, session, project or source. What was captured goes with what came of it.

Memories, versions, index rows and event payloads are erased by `history`; here the sessions and captured events behind
them go as well. Every step is bounded and may be repeated: an interrupted forgetting is finished by asking again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.receipts import ReceiptTable
from codexmem.kernel.store.sessions import Sessions

MAX_IDS = 1_000
COUNTED = 10_000  # memories that are counted before they are erased, at most
SHOWN = 10  # memories that are shown before they are erased
_STEP = 500
_ALL = frozenset(Kind)
_OF_SESSION = "session:"


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What forgetting would erase."""

    found: int
    first: tuple[Memory, ...]
    more: bool = False  # so many that only these were counted


class Forgetting:
    """The verbs that leave nothing but an audit line."""

    def __init__(self, db: Database, memories: Memories, history: History, sessions: Sessions, captures: Captures,
                 receipts: ReceiptTable, log: Log) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._history = history
        self._sessions = sessions
        self._captures = captures
        self._receipts = receipts
        self._log = log

    def found(self, *, ids: Sequence[int] | None = None, session: int | str | None = None, project: str | None = None,
              source: str | None = None) -> int:  # fmt: skip
        """How many memories one of these would erase, counted up to a limit; changes nothing."""
        return self.outline(ids=ids, session=session, project=project, source=source).found

    def outline(self, *, ids: Sequence[int] | None = None, session: int | str | None = None,
                project: str | None = None, source: str | None = None) -> ForgetPreview:  # fmt: skip
        """What one of these would erase; changes nothing."""
        if ids is None:
            seqs = self._history.some(COUNTED, **self._named(session, project, source))
            shown = self._memories.many(seqs[:SHOWN], _ALL)
            return ForgetPreview(
                len(seqs), tuple(shown[seq] for seq in seqs[:SHOWN] if seq in shown), len(seqs) == COUNTED
            )
        found = self._memories.many(ids, _ALL)
        return ForgetPreview(len(found), tuple(found[seq] for seq in dict.fromkeys(ids) if seq in found)[:SHOWN])

    def one_of(self, by: WriteContext, *, ids: Sequence[int] | None = None, session: int | str | None = None,
               project: str | None = None, source: str | None = None) -> int:  # fmt: skip
        """Erase what is named by exactly one of these; returns how many memories there were."""
        if [ids, session, project, source].count(None) != 3:
            raise InvalidArgument(
                "name exactly one of ids, session, project and source", hint="to erase more, send several requests"
            )
        if ids is not None:
            return self.ids(ids, by)
        if session is not None:
            return self.session(session, by)
        return self.project(project, by) if project is not None else self.source(source or "", by)

    def ids(self, seqs: Iterable[int], by: WriteContext, kinds: frozenset[Kind] = _ALL) -> int:
        """Erase these memories and what was captured for them; returns how many there were."""
        found = self._memories.many(seqs, kinds)
        sources = {seq for memory in found.values() for seq in _captured(memory.state.attrs)}
        self._blank(sorted(sources))
        return self._history.forget(found, by)

    def session(self, name: int | str, by: WriteContext) -> int:
        """Erase everything of one session, given by its number or by the agent's name for it."""
        session = self._sessions.get(name) if isinstance(name, int) else self._sessions.named(name)
        if session is None:
            # Erased already, at least in part: its memories may still be there.
            key, source = (None, f"{_OF_SESSION}{name}") if isinstance(name, int) else (name, None)
            return self._history.forget_all(by, session=key, source=source)
        self._erase([session])
        erased = self._history.forget_all(by, session=session.key)
        return erased + self._history.forget_all(by, source=session.subject)

    def project(self, project: str, by: WriteContext) -> int:
        """Erase everything of one project."""
        if not project:
            raise InvalidArgument("name the project to forget")
        while sessions := self._sessions.newest(project=project, limit=_STEP):
            self._erase(sessions)
        return self._history.forget_all(by, project=project)

    def source(self, source: str, by: WriteContext) -> int:
        """Erase everything that one session, run or import wrote."""
        if source.startswith(_OF_SESSION) and source.removeprefix(_OF_SESSION).isdigit():
            return self.session(int(source.removeprefix(_OF_SESSION)), by)
        return self._history.forget_all(by, source=source)

    def _named(self, session: int | str | None, project: str | None, source: str | None) -> dict[str, str | None]:
        if isinstance(session, int):
            known = self._sessions.get(session)
            session, source = (known.key, None) if known is not None else (None, f"{_OF_SESSION}{session}")
        return {"project": project, "session": session, "source": source}

    def _erase(self, sessions: Sequence[Session]) -> None:
        numbers = [session.id for session in sessions]
        while self._captures.erase(numbers, limit=_STEP):
            pass
        subjects = [session.subject for session in sessions]
        with self._db.transaction():
            # The session last: an extraction that runs now either ends before this and is erased with the rest, or
            # finds no session and writes nothing.
            self._sessions.erase(numbers)
            self._captures.erase(numbers, limit=_STEP)
            self._receipts.drop(subjects)
            self._log.scrub(subjects)

    def _blank(self, seqs: Sequence[int]) -> None:
        for start in range(0, len(seqs), _STEP):
            self._captures.blank(seqs[start : start + _STEP])


def _captured(attrs: object) -> tuple[int, ...]:
    return attrs.events if isinstance(attrs, ObservationAttrs | SummaryAttrs) else ()
