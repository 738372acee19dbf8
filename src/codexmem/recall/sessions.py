"""Sessions as people look through them: the last active first, or those that say something about a question."""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import MAX_DEPTH, SearchAnswer, SearchQuery, Unit
from codexmem.kernel.model.session import Session
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall.session_store import SessionOutline, SessionOutlines

_SAID = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
_NOTHING = SessionOutline("", 0, 0, whole=True)


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One session of a list."""

    session: Session
    outline: SessionOutline
    score: float | None = None  # how well it fits a question


@dataclass(frozen=True, slots=True)
class SessionListPage:
    """Some sessions."""

    sessions: tuple[ListedSession, ...]
    after: tuple[int, int] | None = None  # last activity and number of the last one, if others follow
    offset: int | None = None  # of a search: how many results to pass over for the next page


class SessionLists:
    """Lists sessions of the acting tenant."""

    def __init__(self, db: Database, sessions: Sessions, outlines: SessionOutlines,
                 search: Callable[[SearchQuery], SearchAnswer]) -> None:  # fmt: skip
        self._db = db
        self._sessions = sessions
        self._outlines = outlines
        self._search = search

    def newest(self, *, project: str | None, below: tuple[int, int] | None, limit: int) -> SessionListPage:
        """A page by last activity, newest first."""
        with self._db.reading():
            found = self._sessions.newest(project=project, below=below, limit=limit + 1)
            shown = found[:limit]
            outlines = self._outlines.of([each.id for each in shown])
        told = tuple(ListedSession(each, outlines.get(each.id, _NOTHING)) for each in shown)
        return SessionListPage(told, (shown[-1].last_ms, shown[-1].id) if len(found) > limit else None)

    def fitting(self, text: str, *, project: str | None, offset: int, limit: int) -> SessionListPage:
        """A page of sessions in which something was said about this, best first."""
        limit = min(limit, MAX_DEPTH - offset)
        wanted = Filter(_SAID, project=project)
        answer = self._search(SearchQuery(text, wanted, limit=limit, offset=offset, unit=Unit.SESSION))
        scores = {each.memory.session: each.score for each in answer.results if each.memory.session is not None}
        with self._db.reading():
            # Memories that were saved by hand or imported name sessions that were never captured.
            known = self._sessions.known(list(scores))
            outlines = self._outlines.of([each.id for each in known.values()])
        told = tuple(
            ListedSession(known[key], outlines.get(known[key].id, _NOTHING), score)
            for key, score in scores.items()
            if key in known
        )
        further = answer.more and offset + limit < MAX_DEPTH
        return SessionListPage(told, offset=offset + limit if further else None)

    def one(self, number: int) -> ListedSession:
        """One session."""
        with self._db.reading():
            session = self._sessions.get(number)
            if session is None:
                raise NotFound(f"Session {number} not found", hint="GET /api/sessions lists them")
            return ListedSession(session, self._outlines.of([number]).get(number, _NOTHING))

    def numbers(self, keys: list[str]) -> dict[str, int]:
        """The numbers of sessions by the agents' names for them; for a page of rows."""
        return {key: session.id for key, session in self._sessions.known(keys).items()}
