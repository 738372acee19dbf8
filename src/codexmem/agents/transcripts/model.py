"""What a coding agent kept of a conversation, in the words of our hooks.

A transcript is found (`TranscriptFile`, from the head of a file) and then read (`TranscriptTurn`, one after another,
never all at once). Session ids, names of tools, inputs and responses are those that the agent's hooks report, so that
what was captured live and what is read afterwards are the same. Texts are as they stand in the file, apart from what
hosts inject: whoever keeps them takes out what is private or secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class TranscriptTool:
    """One finished tool call."""

    tool: str
    input: Any
    response: Any
    call: str = ""  # the agent's id of the call
    at_ms: int = 0  # when it answered
    agent: str = ""  # the sub-agent that made it, if one did


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """What a person asked and what came of it."""

    prompt: str  # empty if no person asked in words: a command began it, or the beginning is missing
    at_ms: int
    tools: tuple[TranscriptTool, ...] = ()
    message: str = ""  # the agent's last words of the turn
    ended_ms: int = 0
    finished: bool = True  # False: the file ends in the middle of it


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """One conversation on disk, found but not read. Its session tells it from others: a database holds many."""

    program: str  # the platform as our hooks name it
    path: Path
    session: str  # the agent's own id, which its hooks report too
    cwd: str
    started_ms: int
    changed_ms: int
    bytes: int  # 0 where a database holds it


@dataclass(frozen=True, slots=True)
class TranscriptOverview:
    """What one program keeps."""

    program: str
    sessions: int
    first_ms: int
    last_ms: int
    bytes: int


@dataclass(slots=True)
class TranscriptFlaws:
    """What could not be read of transcripts, counted; give the same one to several readings to count them together."""

    broken: int = 0  # records that are not what they should be: cut, no JSON, no object
    too_long: int = 0  # records longer than a reader takes in
    dropped: int = 0  # tool calls that were left out because a turn has too many

    def __bool__(self) -> bool:
        return bool(self.broken or self.too_long or self.dropped)


class TranscriptReader(Protocol):
    """Finds and reads the transcripts of one program."""

    program: str

    def find(self, home: Path, environ: Mapping[str, str], checkouts: Sequence[Path]) -> Iterator[TranscriptFile]:
        """The conversations on this disk, in no promised order; from the heads of files, which may be missing.

        What cannot be read is left out. `checkouts` are folders of the person's work, for programs that keep
        transcripts there.
        """
        ...

    def turns(self, file: TranscriptFile, flaws: TranscriptFlaws | None = None) -> Iterator[TranscriptTurn]:
        """The turns in their order, within bounded memory. What is wrong in the file is counted in `flaws`.

        Never raises for what stands in the file; `Unavailable` if it cannot be opened or read.
        """
        ...


@dataclass(frozen=True, slots=True)
class AgentHere:
    """An agent that is on this machine."""

    name: str  # as people type it
    title: str
    connected: bool  # its files name our hook


@dataclass(frozen=True, slots=True)
class MachineOverview:
    """What is on this machine to begin a memory with."""

    agents: Sequence[AgentHere] = ()
    transcripts: Sequence[TranscriptOverview] = ()
    claude_mem: str = ""  # where claude-mem keeps its memory, as a person would type it; empty if it keeps none
