"""One conversation of an agent: its turns are numbered by its prompts, and the current one may be private."""

from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model.visibility import Visibility


class SessionStatus(StrEnum):
    """Whether the agent still talks."""

    ACTIVE = "active"
    COMPLETED = "completed"  # what it left in the queue still runs


@dataclass(frozen=True, slots=True)
class Session:
    """A session as stored; `id` never changes, `key` is the agent's own name for it."""

    id: int
    key: str
    project: str
    platform: str
    cwd: str
    status: SessionStatus
    turn: int  # prompts so far
    private: bool  # whether the current turn is
    started_ms: int
    last_ms: int
    ended_ms: int | None = None
    rules_only: bool = False  # a checkout in which it worked says that nobody else may read it; for good
    owner: str | None = None  # the member whose session it is
    visibility: Visibility = Visibility.PROJECT  # of it and of what is made of it

    @property
    def subject(self) -> str:
        """What jobs, events and memories about it name as their subject or source."""
        return f"session:{self.id}"
