"""What all five agents keep of a conversation, read: `python -m tests.agents.transcripts`, or `just soak-transcripts`.

Each program is the real one, with a scripted model on loopback, and has the conversation twice: without hooks, and with
hooks that write down what they are told. The reader must tell the conversation as it was, and the same as the hooks.
Ends with an error if anything is not so. Names on the command line choose agents.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.agents import four_agents
from tests.agents.authors import CLAUDE_CODE
from tests.agents.four_agents import Place
from tests.agents.installation import Installation
from tests.agents.loopback import loopback_only
from tests.agents.person import Person
from tests.agents.transcripts import conversation
from tests.agents.transcripts.programs import PROGRAMS

HOOKED = ("codex", "claude-code", "qwen-code", "gemini-cli")  # OpenCode has plugins instead
COLUMNS = ("agent", "turns", "tools", "bytes", "as its hooks are told", "seconds")


def main(names: Sequence[str]) -> None:
    """A row for each agent."""
    more = four_agents.install(CLAUDE_CODE)
    with loopback_only():
        say(COLUMNS)
        say(["---"] * len(COLUMNS))
        for name in names or PROGRAMS:
            say(row(name, more))


def row(name: str, more: Path) -> tuple[str, ...]:
    """One agent's conversation, read twice."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = settled(Path(folder), more)
        kept = conversation.held(name, place)
        conversation.check(name, place, kept)
    if name in HOOKED:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            place = settled(Path(folder), more)
            hooked = conversation.held(name, place, hooked=True)
            conversation.check(name, place, hooked)
            conversation.check_hooks(name, hooked)
    tools = sum(len(turn.tools) for turn in kept.turns)
    return (name, str(len(kept.turns)), str(tools), str(kept.file.bytes), "yes" if name in HOOKED else "no hooks",
            f"{time.monotonic() - began:.1f}")  # fmt: skip


def settled(folder: Path, more: Path) -> Place:
    """Somebody new."""
    programs = folder / "bin"
    programs.mkdir()
    return Place(Person(folder, "shop"), programs, Installation.find(), more)


def say(cells: Sequence[str]) -> None:
    """One line of the table."""
    print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201 - this is what the module is run for


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)  # the programs are those of the environment
    main(sys.argv[1:])
