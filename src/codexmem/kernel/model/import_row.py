"""A memory that another program kept, as plain values on its way in: read, but neither cleaned nor judged yet.

Its identity is what it was there. A commit is known by its hash. A row of claude-mem is known by kind, number, time and
words: the same row of a copied, moved or grown database is the same memory for ever, and rows of two databases never
pass for each other.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model.memory import Kind

CLAUDE_MEM = "claude-mem"
GIT = "git"
KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
MAX_TEXT = 100_000  # characters of one text, and of one list together
MAX_LIST = 500  # entries of one list
MAX_REVERTS = 50  # commits that one commit takes back
_SHORT = 12  # characters of a hash, as people write it


class Flaw(StrEnum):
    """Why a row cannot be remembered."""

    NO_TIME = "no_time"  # neither of its times can be read
    NO_TEXT = "no_text"  # it says nothing
    ROUTINE = "routine"  # a commit that decides and explains nothing: a merge, a version, a typo


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that is passed over."""

    kind: Kind
    number: int
    flaw: Flaw


@dataclass(frozen=True, slots=True)
class ForeignMemory:
    """One row of another program's memory; each kind fills the fields it has."""

    kind: Kind
    number: int  # its number there; 0 for a commit
    at_ms: int
    session: str = ""  # the agent's name for the conversation
    project: str = ""
    prompt_number: int | None = None
    tokens: int = 0
    text: str = ""  # what an observation tells, what a person asked
    type: str = ""
    title: str = ""
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""
    commit: str = ""  # the whole hash, if it is a commit
    reverts: tuple[str, ...] = ()  # hashes of the commits that it takes back
    blobs: tuple[str, ...] = ()  # stamps of what it left of its files (`file_blobs`)

    @property
    def program(self) -> str:
        """Which program kept it."""
        return GIT if self.commit else CLAUDE_MEM

    @property
    def id(self) -> str:
        """The id under which it is remembered here."""
        if self.commit:
            return commit_id(self.commit)
        said = (self.at_ms, self.title, self.text, self.request, self.learned, self.completed)
        spelled = "".join(f"{len(str(part))}:{part}" for part in said)
        digest = hashlib.blake2b(spelled.encode(errors="replace"), digest_size=8).hexdigest()
        return f"{CLAUDE_MEM}-{self.kind.value}-{self.number}-{digest}"

    @property
    def place(self) -> str:
        """Where it stood, as people say it."""
        return f"{GIT}:{self.commit[:_SHORT]}" if self.commit else f"{CLAUDE_MEM}:{self.number}"


def commit_id(commit: str) -> str:
    """The id under which a commit is remembered."""
    return f"{GIT}-{commit}"


def source_of(program: str, fingerprint: str) -> str:
    """What everything that was imported from one database or repository goes by."""
    return f"import:{program}:{fingerprint}"
