"""A memory that another program kept, as plain values on its way in: read, but neither cleaned nor judged yet.

Its identity is what it was there: kind, number, time and words. The same row of a copied, moved or grown database is
therefore the same memory for ever, and rows of two databases never pass for each other.
"""

import hashlib
from dataclasses import dataclass

from codexmem.kernel.model.memory import Kind

CLAUDE_MEM = "claude-mem"
KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
MAX_TEXT = 100_000  # characters of one text, and of one list together
MAX_LIST = 500  # entries of one list


@dataclass(frozen=True, slots=True)
class ForeignMemory:
    """One row of another program's memory; each kind fills the fields it has."""

    kind: Kind
    number: int  # its number there
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

    @property
    def id(self) -> str:
        """The id under which it is remembered here."""
        said = (self.at_ms, self.title, self.text, self.request, self.learned, self.completed)
        spelled = "".join(f"{len(str(part))}:{part}" for part in said)
        digest = hashlib.blake2b(spelled.encode(errors="replace"), digest_size=8).hexdigest()
        return f"{CLAUDE_MEM}-{self.kind.value}-{self.number}-{digest}"

    @property
    def place(self) -> str:
        """Where it stood, as people say it."""
        return f"{CLAUDE_MEM}:{self.number}"


def source_of(fingerprint: str) -> str:
    """What everything that was imported from one database goes by."""
    return f"import:{CLAUDE_MEM}:{fingerprint}"
