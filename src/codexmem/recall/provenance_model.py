"""Where a memory came from, as plain values that every interface can tell: bounded, and without what the events said.

What was erased has no provenance: nothing of it is kept to tell.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Relative:
    """Another memory, as far as it matters here."""

    label: str
    seq: int
    kind: str
    title: str
    status: str
    created_ms: int
    relation: str = ""  # what a link says; empty where there is none


@dataclass(frozen=True, slots=True)
class EventOf:
    """One captured event it came from."""

    seq: int
    kind: str  # prompt, tool or stop
    tool: str
    at_ms: int
    turn: int
    job: int | None
    kept: bool  # False once what it said has faded or was forgotten


@dataclass(frozen=True, slots=True)
class SessionOf:
    """The session in which it was made."""

    key: str  # the agent's own name for it
    id: int | None = None  # None where only the name is known, as after an import
    project: str = ""
    platform: str = ""
    cwd: str = ""
    status: str = ""
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(frozen=True, slots=True)
class JobOf:
    """A job that extracted its events; old ones are pruned, and then only the number is known."""

    id: int
    kind: str = ""
    status: str = ""
    by: str = ""  # model or rules
    attempts: int = 0
    created_ms: int | None = None
    ended_ms: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class VersionOf:
    """One write: who, on whose behalf, why and what of it changed."""

    version: int
    op: str
    actor: str
    source: str | None
    note: str
    delta: str | None
    created_ms: int
    changed: tuple[str, ...]  # names of fields; empty for the first version


@dataclass(frozen=True, slots=True)
class DeltaOf:
    """A group of writes that one of its versions belongs to."""

    id: str
    subject: str
    cause: str
    actor: str
    status: str
    created_ms: int
    reverts: str | None


@dataclass(frozen=True, slots=True)
class Whence:
    """The memory itself and what set it apart from the first moment."""

    label: str
    seq: int
    id: str
    kind: str
    title: str
    project: str
    status: str
    version: int
    origin: str  # human, agent, tool, import or model
    source: str | None
    uris: tuple[str, ...]
    imported: str  # where it stood in the program it was imported from
    created_ms: int
    updated_ms: int
    confirmed: int  # further times that it was said or seen
    unproven: tuple[str, ...]  # what its author claimed besides, and the evidence did not bear


@dataclass(frozen=True, slots=True)
class Provenance:
    """The whole answer; each `more_…` says that there is more than is told."""

    memory: Whence
    run: str | None
    session: SessionOf | None
    prompt: Relative | None  # what was asked in its turn
    events: tuple[EventOf, ...]
    more_events: bool
    jobs: tuple[JobOf, ...]
    versions: tuple[VersionOf, ...]  # the newest first
    more_versions: bool
    deltas: tuple[DeltaOf, ...]
    links: tuple[Relative, ...]  # what it points to
    linked_by: tuple[Relative, ...]  # what points to it
    derived: tuple[Relative, ...]  # what else came of the same events, or of this prompt
    more_derived: bool
