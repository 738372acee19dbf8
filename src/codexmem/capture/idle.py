"""Whether a person's agent is at work: it should not have to share its login with the author."""

from codexmem.kernel.model.capture import Capture
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.session import SessionStatus
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.sessions import Sessions

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
