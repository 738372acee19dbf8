"""Something that happened: the catalogue of event types and how long each is kept.

Events describe, jobs drive: losing an event loses a line of history, never a piece of work.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_DAY_MS = 86_400_000


class EventType(StrEnum):
    """Every type that may stand in the log; the value is the name on the wire."""

    MEMORY_WRITTEN = "memory.written"  # a version was added
    MEMORY_ERASED = "memory.erased"  # forgotten for good; the audit line that remains
    DELTA_ROLLED_BACK = "delta.rolled_back"
    SEARCH_ANSWERED = "search.answered"  # the trace of one search
    SEARCH_LOOKED_UP = "search.looked_up"  # the trace of a search that nobody asked for: what is alike, beside an item
    QUEUE_FAILED = "queue.failed"  # a job ended in failed
    SESSION_STATUS = "session.status"  # an agent's session began or ended
    MODEL_RESULT = "model.result"  # one extraction, and who answered it
    MODEL_FAILED = "model.failed"  # a model was to answer and did not, so rules did
    EXTRACTION_TIMED = "extraction.timed"  # how long one extraction took, step by step
    CONTEXT_GIVEN = "context.given"  # which memories an agent was handed
    QA_SIGNAL = "qa.signal"  # an answer was shown, used, tried or judged
    TOOL_DECIDED = "tool.decided"  # a row of a wrapper's audit log
    WORKSPACE_ERASED = "workspace.erased"  # a task's folder was removed for good
    KNOWLEDGE_RESTORED = "knowledge.restored"  # knowledge and workspaces were replaced by a backup of theirs
    STORE_BACKED_UP = "store.backed_up"
    STORE_RESTORED = "store.restored"
    TENANT_EXPORTED = "tenant.exported"
    TENANT_IMPORTED = "tenant.imported"
    TENANT_MOVED = "tenant.moved"
    TENANT_ERASED = "tenant.erased"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    MEMBER_CHANGED = "member.changed"  # a member or a group was made, changed or removed
    GRANT_CHANGED = "grant.changed"  # somebody may do more or less in a project
    SIGN_IN_ACCEPTED = "sign_in.accepted"  # a person of the issuer has a session or a key
    SIGN_IN_REFUSED = "sign_in.refused"
    SIGN_IN_ENDED = "sign_in.ended"  # signed out

    # The trace of a run of the lab, spelled as its contract spells it.
    RUN_STARTED = "run_started"
    RUN_RESUMED = "run_resumed"  # another worker goes on where the last one vanished
    RUN_FAILED = "run_failed"
    RUN_CANCELED = "run_canceled"
    RECAP_INFO = "recap_info"  # the agent went down into a subtask, acted, or came back up
    KB_QUERY = "kb_query"
    KB_GET = "kb_get"
    KB_LIST = "kb_list"
    LLM_REQUEST = "llm_request"  # written before the call: one that was made twice stands there twice
    LLM_RESPONSE = "llm_response"
    CITATIONS_RESOLVED = "citations_resolved"
    MEMORIES_RESOLVED = "memories_resolved"
    FINAL_OUTPUT = "final_output"
    MEM_SEARCH = "mem_search"
    MEM_GET = "mem_get"
    MEM_LIST = "mem_list"
    RB_LEARN_QUEUED = "rb_learn_queued"
    RB_JOB_STARTED = "rb_job_started"
    RB_JOB_COMPLETED = "rb_job_completed"
    RB_JOB_FAILED = "rb_job_failed"
    RB_LEARN_COMPLETED = "rb_learn_completed"
    RB_LEARN_FAILED = "rb_learn_failed"
    RB_LEARN_SNAPSHOT = "rb_learn_snapshot"
    RB_SOURCE_OPENED = "rb_source_opened"
    RB_ROLLBACK_STARTED = "rb_rollback_started"
    RB_ROLLBACK_COMPLETED = "rb_rollback_completed"


# What may stand in the trace of a run; kept as long as the run.
TRACED = frozenset(
    each for each in EventType if each.value.partition("_")[0] in {"run", "recap", "kb", "llm", "citations", "memories",
                                                                   "final", "mem", "rb"}
)  # fmt: skip


# Audit lines stay until someone removes the store; the rest fades.
RETENTION_MS: dict[EventType, int | None] = {
    EventType.MEMORY_WRITTEN: 7 * _DAY_MS,
    EventType.MEMORY_ERASED: None,
    EventType.DELTA_ROLLED_BACK: None,
    EventType.SEARCH_ANSWERED: 7 * _DAY_MS,
    EventType.SEARCH_LOOKED_UP: 7 * _DAY_MS,
    EventType.QUEUE_FAILED: 30 * _DAY_MS,
    EventType.SESSION_STATUS: 30 * _DAY_MS,
    EventType.MODEL_RESULT: 30 * _DAY_MS,
    EventType.MODEL_FAILED: 30 * _DAY_MS,
    EventType.EXTRACTION_TIMED: 7 * _DAY_MS,
    EventType.CONTEXT_GIVEN: 30 * _DAY_MS,
    EventType.QA_SIGNAL: 90 * _DAY_MS,
    EventType.TOOL_DECIDED: 365 * _DAY_MS,
    EventType.WORKSPACE_ERASED: None,
    EventType.KNOWLEDGE_RESTORED: None,
    EventType.STORE_BACKED_UP: None,
    EventType.STORE_RESTORED: None,
    EventType.TENANT_EXPORTED: None,
    EventType.TENANT_IMPORTED: None,
    EventType.TENANT_MOVED: None,
    EventType.TENANT_ERASED: None,
    EventType.KEY_CREATED: None,
    EventType.KEY_REVOKED: None,
    EventType.MEMBER_CHANGED: None,
    EventType.GRANT_CHANGED: None,
    EventType.SIGN_IN_ACCEPTED: None,
    EventType.SIGN_IN_REFUSED: None,
    EventType.SIGN_IN_ENDED: None,
    **dict.fromkeys(TRACED),
}


# Lines of the audit. On PostgreSQL the server cannot change or remove them: a new type takes a migration (see 0021).
AUDIT = frozenset(each for each, kept_ms in RETENTION_MS.items() if kept_ms is None) - TRACED


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event about to be appended."""

    type: EventType
    subject: str  # what it happened to: memory:12, job:7, run:…
    payload: Mapping[str, object]
    project: str = ""
    took_us: int | None = None  # how long what happened took, where that means something
    outline: Mapping[str, object] | None = None  # of a run's event: what a list shows of it without its payload
    owner: str | None = None  # the member to whom it is private, also if what it tells of is not


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Where a reader of the log stands: everything up to here has been seen.

    `position` orders by commit where `seq` alone cannot (several writers); a reader that resumes with a seq alone asks
    the log for its place.
    """

    position: int
    seq: int


@dataclass(frozen=True, slots=True)
class Event:
    """An event as logged."""

    place: LogPosition
    id: str
    at_ms: int
    type: str
    subject: str
    project: str
    payload: dict[str, Any] | None  # None once what it described has been forgotten
    took_us: int | None = None
    outline: dict[str, Any] | None = None

    @property
    def seq(self) -> int:
        """The number a live reader resumes from."""
        return self.place.seq
