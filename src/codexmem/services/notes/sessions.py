"""Saving a session by hand: a record that it was, and what is to be remembered of it as a note."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from codexmem.domain import ids, note, privacy, redaction
from codexmem.domain.history import By
from codexmem.domain.ids import Clock
from codexmem.domain.memory import Memory
from codexmem.domain.session import Session
from codexmem.services.notes.writing import NewNote, Writing
from codexmem.store.database import Database
from codexmem.store.sessions import Sessions

PLATFORM = "notes"
_TITLE = 200
_SLUG = 60
_GAPS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class SavedSession:
    """The record, and the note if there was something to say."""

    session: Session
    title: str
    memory: Memory | None


class Keeping:
    """Writes sessions that an agent wants to be remembered."""

    def __init__(self, db: Database, sessions: Sessions, writing: Writing, clock: Clock) -> None:
        self._db = db
        self._sessions = sessions
        self._writing = writing
        self._clock = clock

    def save(self, title: str | None, summary: str | None, by: By, *, project: str | None = None) -> SavedSession:
        """Record a session that ends now; with a summary, as a note under `session://` too."""
        now = self._clock.now_ms()
        day = f"{datetime.fromtimestamp(now / 1000, UTC):%Y-%m-%d}"
        named = " ".join(redaction.redact(privacy.strip(title or "")).split())[:_TITLE]
        named = named or note.headline(redaction.redact(privacy.strip(summary or "")), _SLUG) or f"Session of {day}"
        with self._db.transaction():
            key = f"{ids.prefixed('saved')}:{named}"
            session = self._sessions.touch(key, project=project or "", platform=PLATFORM, cwd="", now_ms=now).session
            self._sessions.complete(key, now_ms=now)
            if summary is None or not summary.strip():
                return SavedSession(session, named, None)
            slug = _GAPS.sub("-", named).strip("-").lower()[:_SLUG].strip("-")
            uri = f"session://{day}/{session.id}" + (f"-{slug}" if slug else "")
            new = NewNote(uri, summary, project=project, title=named, session=session.key)
            return SavedSession(session, named, self._writing.create(new, by))
