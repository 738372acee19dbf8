"""Versions and deltas: how a memory came to say what it says, and how to take it back.

A version is the whole state after one write; a delta names the versions written together for one cause. Rolling back
writes an earlier state as a new version, so history only grows.
"""

import difflib
from dataclasses import dataclass, replace
from enum import StrEnum

from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.memory import CREDIT, MAX_KEY, Mark, Origin, State


class Op(StrEnum):
    """What a write did; `restore` is the one that a rollback writes."""

    ADD = "add"
    UPDATE = "update"
    ARCHIVE = "archive"
    DELETE = "delete"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class WriteContext:
    """Who writes, on whose behalf, and as part of what."""

    actor: str
    source: str | None = None  # session:…, run:…, import:…; what "undo everything it wrote" goes by
    delta: str | None = None
    note: str = ""
    at_ms: int | None = None  # when it was written; now, unless history is brought along
    origin: Origin = Origin.AGENT  # who speaks through the interface and credential that were used
    session: str | None = None  # the agent's session that speaks, where the interface knows it
    address: str | None = None  # from where the request came in, where it came over a network

    def signature(self) -> dict[str, object]:
        """Who it was, for the audit."""
        return {"actor": self.actor, "origin": self.origin.value, "address": self.address}

    def check(self) -> None:
        """Refuse a source that no index could hold."""
        if self.source is not None and len(self.source) > MAX_KEY:
            raise InvalidArgument(f"the source is longer than {MAX_KEY} characters")


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """The state of one memory after one write, and who wrote it."""

    seq: int
    version: int
    op: Op
    state: State
    actor: str
    created_ms: int
    delta: str | None = None
    source: str | None = None
    note: str = ""


class DeltaStatus(StrEnum):
    """Whether a delta still stands."""

    APPLIED = "applied"
    REVERTED = "reverted"  # a later delta restored what stood before it


@dataclass(frozen=True, slots=True)
class Delta:
    """Versions written together for one cause."""

    id: str
    subject: str  # what it was done for: run:…, import:…, session:…
    cause: str  # learn, import, undo, rollback …
    actor: str
    status: DeltaStatus
    created_ms: int
    reverts: str | None = None  # the delta or source that this one took back


class Mode(StrEnum):
    """What a rollback does with memories that were written again afterwards."""

    STRICT = "strict"  # restore them too; the later writes stay readable in history
    SAFE = "safe"  # leave them and report them


@dataclass(frozen=True, slots=True)
class Rollback:
    """What a rollback did: memories restored, memories left because they were written since."""

    delta: Delta
    restored: tuple[int, ...]
    left: tuple[int, ...]
    lost_uris: tuple[str, ...] = ()  # names that another memory has taken in the meantime


def rolled_back(now: State, earlier: State) -> State:
    """What a memory says after going back: as it said then, under the addresses and with the links it has now.

    Going back to other words is no decision about whom they are told or who sees them: marks and visibility stay as
    they are now, and words to which nobody had agreed then have to be agreed to again. Whose words they are goes along.
    """
    marks = now.marks - CREDIT | earlier.marks & {Mark.PROPOSED, *CREDIT}
    return replace(earlier, uris=now.uris, links=now.links, visibility=now.visibility, marks=marks)


def patch(content: str, old: str, new: str) -> str:
    """Replace the one occurrence of `old`."""
    if not old:
        raise InvalidArgument("the text to replace is empty")
    found = content.count(old)
    if found == 0:
        raise NotFound(
            "the text to replace does not occur in the memory", hint="read the memory and copy the text exactly"
        )
    if found > 1:
        raise Conflict(f"the text to replace occurs {found} times", hint="include more of the text around it")
    return content.replace(old, new)


def append(content: str, addition: str) -> str:
    """Add text at the end, on a line of its own."""
    return f"{content}\n{addition}" if content and not content.endswith("\n") else content + addition


def unified_diff(before: str, after: str, before_name: str, after_name: str) -> str:
    """The change as a unified diff; empty when nothing changed."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), before_name, after_name, lineterm="")
    return "\n".join(lines)
