"""What a checkout tells about one file, and what becomes of it.

Values alone: the command fills in a `FileReport`, the service answers with a `FileResult`, and neither knows the other.
"""

from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model.memory import VISIBLE, Kind, Status

KINDS = frozenset({Kind.NOTE, Kind.QA, Kind.LESSON})
# Which memories have a file: what stands and, where somebody has to approve it, is approved.
SHOWN: dict[Kind, frozenset[Status]] = {
    Kind.NOTE: VISIBLE,
    Kind.QA: frozenset({Status.VALIDATED}),
    Kind.LESSON: frozenset({Status.ACTIVE, Status.VALIDATED}),
}
# Which of those with a file keep it: also what came as one and waits for a person.
KEPT = {kind: statuses | {Status.CANDIDATE} for kind, statuses in SHOWN.items()}
GONE = "gone"  # the digest of a file that is not there


class Outcome(StrEnum):
    """What became of one file."""

    SAME = "same"  # file and memory say the same
    CREATED = "created"  # a new memory, from the file
    TAKEN = "taken"  # the file's edit is the memory's newest version
    MERGED = "merged"  # both were edited; the newest version says both
    REVIVED = "revived"  # a hidden memory stands again, because its file was edited or put back
    DELETED = "deleted"  # the file was removed, and the memory is hidden
    UPDATED = "updated"  # the file is to say what the memory says now
    RESTORED = "restored"  # the file was removed, but the memory was edited since: it is to be written again
    REMOVED = "removed"  # the memory is hidden, and its file is to be removed
    CONFLICT = "conflict"  # both were edited in the same place; nothing was written
    REFUSED = "refused"  # the file cannot be taken in


WRITES = frozenset({Outcome.CREATED, Outcome.TAKEN, Outcome.MERGED, Outcome.REVIVED, Outcome.DELETED})


@dataclass(frozen=True, slots=True)
class SyncBase:
    """A state that file and memory once had in common."""

    digest: str
    version: int = 0  # of the memory in the store it was seen in; 0 where only the digest is known


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file of a checkout, or the place where one was."""

    path: str  # inside the folder
    text: str | None  # None: a person or a commit removed it
    memory: str = ""  # the id of the memory it was last in step with
    base: SyncBase | None = None  # what it was last in step with here
    ancestors: tuple[SyncBase, ...] = ()  # what earlier commits of this file say, the newest first
    onward: bool = True  # False: another branch or an earlier commit was checked out since
    replaced: bool = False  # the base was put over the text of an old checkout, and never committed
    cause: str = ""  # the commit or the working tree, for the history
    insisted: bool = False  # a person decided for the file where both were edited


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of it, and what the file is to say now."""

    path: str
    outcome: Outcome
    memory: str = ""
    version: int = 0
    digest: str = GONE  # of what the memory says now
    text: str | None = None  # what the file is to say; None if there is to be no file
    reason: str = ""  # why it was refused
