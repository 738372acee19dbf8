"""One conversation that every agent has, and what its transcript must tell of it."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codexmem.agents import agent_of
from codexmem.agents.transcripts import READERS
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptReader, TranscriptTurn
from codexmem.kernel.llm.tools import Family, command_of, family_of, path_of, response_of
from codexmem.kernel.model.capture import Capture, CapturedEvent
from tests._support.scripted_model import Say
from tests.agents.four_agents import Place
from tests.agents.transcripts.programs import PROGRAMS, Conversation

FILE = "orders.py"
CODE = "def total(rows):\n    return sum(rows)\n"
PRINTS, FAILS = "python3 -c 'print(6*7)'", "echo oops; exit 3"
FIRST, SECOND = "Add a file of orders.", "Does it fail? 试一下。"
WROTE, FAILED = "Wrote orders.py; the answer is 42.", "It fails with 3."


@dataclass(frozen=True)
class Kept:
    """What was read of the conversation, and what its hooks were told if there were any."""

    file: TranscriptFile
    turns: list[TranscriptTurn]
    flaws: TranscriptFlaws
    told: list[dict[str, Any]]
    began_ms: int
    ended_ms: int


def reader_of(program: str) -> TranscriptReader:
    """The reader of one program."""
    return next(reader for reader in READERS if reader.program == program)


@contextmanager
def agent(name: str, place: Place, *, hooked: bool = False) -> Iterator[tuple[Conversation, Path]]:
    """An agent that is set up, with hooks that write down what they are told, or without; and that file."""
    notes = place.person.home.parent / "told.jsonl"
    script = place.person.home.parent / "hook.sh"
    script.write_text(f'#!/bin/sh\ncat >> "{notes}"\necho >> "{notes}"\n')
    script.chmod(0o755)
    with PROGRAMS[name](place, shlex.quote(str(script)) if hooked else "") as conversation:
        yield conversation, notes


def talk(conversation: Conversation, place: Place) -> None:
    """Two turns: a file is written and a command runs; a command fails."""
    written = conversation.write(place.person.repository / FILE, CODE)
    conversation.turn(FIRST, written, conversation.shell(PRINTS), Say(WROTE))
    conversation.turn(SECOND, conversation.shell(FAILS), Say(FAILED))


def held(name: str, place: Place, *, hooked: bool = False) -> Kept:
    """The conversation, held and read."""
    began = time.time_ns() // 1_000_000
    with agent(name, place, hooked=hooked) as (conversation, notes):
        talk(conversation, place)
    ended = time.time_ns() // 1_000_000
    reader, flaws = reader_of(name), TranscriptFlaws()
    (file,) = reader.find(place.person.home, {}, [place.person.repository])
    told = [json.loads(line) for line in notes.read_text().splitlines() if line] if notes.exists() else []
    return Kept(file, list(reader.turns(file, flaws)), flaws, told, began, ended)


def check(name: str, place: Place, kept: Kept) -> None:
    """Prompts, tools in a form that the rules understand, closing words, session, folder and times."""
    file = kept.file
    assert (file.program, file.cwd) == (name, str(place.person.repository)), file
    assert kept.began_ms - 1000 <= file.started_ms <= file.changed_ms <= kept.ended_ms + 1000, file
    assert (file.session != "", kept.flaws) == (True, TranscriptFlaws())
    assert (file.bytes > 0) == (name != "opencode"), file
    first, second = kept.turns
    # OpenCode puts a prompt of its command line in quotes, for its hooks too.
    assert [turn.prompt.strip('"') for turn in kept.turns] == [FIRST, SECOND]
    assert [(turn.message, turn.finished) for turn in kept.turns] == [(WROTE, True), (FAILED, True)]
    wrote, printed = (_event(tool, place) for tool in first.tools)
    (failed,) = (_event(tool, place) for tool in second.tools)
    assert family_of(wrote) in {Family.WRITE, Family.PATCH}, wrote
    assert path_of(wrote).endswith(FILE) or FILE in command_of(wrote)
    assert "total(rows)" in json.dumps(wrote.input)
    assert not response_of(wrote).failed
    assert (family_of(printed), command_of(printed)) == (Family.SHELL, PRINTS)
    assert "42" in response_of(printed).text.split()
    assert not response_of(printed).failed
    assert (family_of(failed), command_of(failed)) == (Family.SHELL, FAILS)
    assert "oops" in response_of(failed).text
    assert response_of(failed).failed, failed
    at = [first.at_ms, *(tool.at_ms for tool in first.tools), first.ended_ms, second.at_ms,
          *(tool.at_ms for tool in second.tools), second.ended_ms]  # fmt: skip
    assert at == sorted(at)
    assert kept.began_ms <= at[0] <= at[-1] <= kept.ended_ms


def check_hooks(name: str, kept: Kept) -> None:
    """What the hooks were told is what the transcript tells: the session, prompts, calls and closing words."""
    records = [agent_of(name).read(payload, {}) for payload in kept.told]
    assert {record["contentSessionId"] for record in records} == {kept.file.session}
    assert {record["cwd"] for record in records} == {kept.file.cwd}
    assert [record["prompt"] for record in records if record.get("prompt") and "prompt_response" not in record][:1]
    calls = [(each["tool_name"], each.get("tool_input")) for each in records if "tool_name" in each]
    assert calls == [(tool.tool, tool.input) for turn in kept.turns for tool in turn.tools]
    stops = [each["last_assistant_message"] for each in records if "last_assistant_message" in each]
    assert stops == [turn.message for turn in kept.turns]
    answers = [each.get("tool_response") for each in records if "tool_name" in each]
    read = [tool.response for turn in kept.turns for tool in turn.tools]
    alike = 3 if name == "codex" else 2  # only Codex's rollout tells the hook how a command failed
    assert read[:alike] == answers[:alike]


def _event(tool: Any, place: Place) -> CapturedEvent:
    return CapturedEvent(1, 1, 1, Capture.TOOL, tool.at_ms, tool.tool, tool.input, tool.response,
                         str(place.person.repository))  # fmt: skip
