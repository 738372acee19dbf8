"""The conversations that agents keep on this disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codexmem.agents import PROMPT, installable, transcripts
from codexmem.agents.install.targets import UserHome
from codexmem.agents.transcripts.model import (
    AgentHere,
    MachineOverview,
    TranscriptFile,
    TranscriptOverview,
    TranscriptReader,
)

READERS: Mapping[str, TranscriptReader] = {reader.program: reader for reader in transcripts.READERS}
_LOOK_S = 3.0  # for an overview
_CLAUDE_MEM = ".claude-mem/claude-mem.db"


def find(
    home: Path, environ: Mapping[str, str], checkouts: Sequence[Path], programs: Sequence[str]
) -> Iterator[TranscriptFile]:
    """Those of these programs, in no promised order."""
    for name in programs:
        yield from READERS[name].find(home, environ, checkouts)


def overview(home: Path, environ: Mapping[str, str], checkouts: Sequence[Path]) -> list[TranscriptOverview]:
    """What each program keeps, as far as a short look can see."""
    until = time.monotonic() + _LOOK_S
    found: dict[str, TranscriptOverview] = {}
    for file in find(home, environ, checkouts, tuple(READERS)):
        before = found.get(file.program, TranscriptOverview(file.program, 0, file.started_ms, 0, 0))
        found[file.program] = TranscriptOverview(
            file.program, before.sessions + 1, min(before.first_ms, file.started_ms),
            max(before.last_ms, file.changed_ms), before.bytes + file.bytes,
        )  # fmt: skip
        if time.monotonic() > until:
            break
    return sorted(found.values(), key=lambda each: -each.sessions)


def on_machine(home: Path, environ: Mapping[str, str]) -> MachineOverview:
    """Which agents are here, which of them call our hook, and what they keep; reads a few small files of each."""
    person = UserHome(home, environ)
    agents = [
        AgentHere(agent.name, agent.title, bool(agent.hook(person, PROMPT)))
        for agent in installable().values()
        if agent.found(person)
    ]
    kept = f"~/{_CLAUDE_MEM}" if (home / _CLAUDE_MEM).is_file() else ""
    return MachineOverview(agents, overview(home, environ, ()), kept)
