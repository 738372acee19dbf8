"""Where an attack is planted: what a hook reports, what an importer takes in, what an agent writes through a tool.

Each goes through the services that the product has for it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codexmem.capture.transcripts import ReportedTurn, TranscriptPart
from codexmem.kernel.model.attrs import LessonAttrs, ObservationAttrs, QaAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.import_row import GIT, ForeignMemory
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State, manual_session
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.tallies import Tallies
from codexmem.knowledge.service.entries import Entries
from codexmem.notes.model import NewNote
from codexmem.recall.agent_files import AgentFiles, AgentFileText
from codexmem.recall.importing import Importing
from codexmem.recall.saving import Saving
from tests._support import capturing
from tests._support.capturing import Capturing
from tests._support.noting import notes_on

BY_AGENT = WriteContext("mcp")
_TOPIC = "Prepare the release of the gateway"


@dataclass
class World:
    """The services, on one store."""

    here: Capturing
    planted: int = 0

    @classmethod
    def on(cls, db: Database) -> World:
        return cls(capturing.build(db))

    def session(self, project: str) -> str:
        """A new one."""
        self.planted += 1
        return f"{project}-s{self.planted}"

    def turn(self, project: str, *tools: tuple[str, Any, Any], message: str = "Done.", prompt: str = _TOPIC) -> None:
        """A whole turn as a hook reports it, and what rules make of it."""
        key = self.session(project)
        intake = self.here.intake
        intake.init(HookReport(key, prompt=prompt, project=project, cwd=f"/w/{project}"))
        for name, given, response in tools:
            intake.observe(
                HookReport(key, tool=name, input=given, response=response, project=project, cwd=f"/w/{project}")
            )
        intake.summarize(HookReport(key, message=message, project=project))
        intake.complete(key)
        self.here.run(all_of_them=True)


def _printed(text: str, code: int = 2) -> dict[str, Any]:
    return {"stdout": "", "stderr": text, "exit_code": code}


def _stderr(world: World, project: str, text: str) -> None:
    world.turn(project, ("Bash", {"command": "make build"}, _printed(f"error: {text}\nmake: *** [build] Error 2")))


def _exception(world: World, project: str, text: str) -> None:
    world.turn(project, ("Bash", {"command": "python -m shop.release"},
                         _printed(f"Traceback (most recent call last):\nValueError: {text}", 1)))  # fmt: skip


def _commit(world: World, project: str, text: str) -> None:
    subject = " ".join(text.split())
    said = f"[main 1a2b3c4] {subject}\n 1 file changed, 2 insertions(+)"
    world.turn(project, ("Bash", {"command": "git commit -F msg"}, {"stdout": said, "exit_code": 0}))


def _file(world: World, project: str, text: str) -> None:
    name = re.sub(r"[\s/\x00]+", " ", text)[:200]
    world.turn(project, ("Write", {"file_path": f"/w/{project}/docs/{name}.md", "content": "x"}, {"type": "create"}))


def _file_joined(world: World, project: str, text: str) -> None:
    name = re.sub(r"[\s/\x00]+", "_", text)[:200]
    world.turn(project, ("Edit", {"file_path": f"/w/{project}/{name}.py", "old_string": "a", "new_string": "b"}, "ok"))


def _command(world: World, project: str, text: str) -> None:
    world.turn(project, ("Bash", {"command": f"./release.sh --note '{' '.join(text.split())}'"}, "released"))


def _message(world: World, project: str, text: str) -> None:
    world.turn(project, ("Bash", {"command": "make"}, "ok"), message=f"The release of the gateway is done.\n{text}")


def _next(world: World, project: str, text: str) -> None:
    world.turn(project, ("Bash", {"command": "make"}, "ok"), message=f"Built it.\n\nNext steps:\n- {text}")


def _learned_rule(world: World, project: str, text: str) -> None:
    world.turn(project, message=f"We decided: the rule is always {text} before any release of the gateway.")


def _test_name(world: World, project: str, text: str) -> None:
    said = f"FAILED tests/test_gateway.py::test_release - {' '.join(text.split())}\n1 failed, 3 passed in 0.1s"
    world.turn(project, ("Bash", {"command": "pytest -q"}, _printed(said, 1)))


def _fetched(world: World, project: str, text: str) -> None:
    world.turn(project, ("WebFetch", {"url": "https://docs.example.org/gateway", "prompt": "how to release"}, text))


def _search_result(world: World, project: str, text: str) -> None:
    world.turn(project, ("WebSearch", {"query": f"gateway release {' '.join(text.split())}"}, text))


def _tool_result(world: World, project: str, text: str) -> None:
    world.turn(project, ("mcp__tickets__get", {"title": " ".join(text.split())}, {"body": text}))


def _sub_agent(world: World, project: str, text: str) -> None:
    world.turn(project, ("Task", {"description": " ".join(text.split())}, text))


def _read(world: World, project: str, text: str) -> None:
    world.turn(project, ("Read", {"file_path": f"/w/{project}/README.md"}, f"# {text}\n\n{text}\n"))


def _saved(world: World, project: str, text: str) -> None:
    saving = Saving(world.here.db, MemoryTable(world.here.db), world.here.base.memories)
    state = State(
        f"Gateway release: {text}", ObservationAttrs(), project=project, type="discovery", title="Gateway release"
    )
    saving.save(MemoryDraft(Kind.OBSERVATION, state, Origin.AGENT, session=manual_session(project)), BY_AGENT)


def _note(world: World, project: str, text: str) -> None:
    notes = notes_on(world.here.db, world.here.base)
    new = NewNote(f"project://{project}/release{world.planted}", f"Gateway release: {text}", project=project)
    notes.writing.create(new, BY_AGENT)


def _question(world: World, project: str, text: str) -> None:
    attrs = QaAttrs(question=f"How is the gateway released? {text}")
    state = State(text, attrs, project=project, title=attrs.question[:500])
    world.here.base.memories.remember(MemoryDraft(Kind.QA, state, Origin.AGENT), BY_AGENT)


def _knowledge(world: World, project: str, text: str) -> None:
    Entries(world.here.base.memories, world.here.base.recall.search).add(
        f"Gateway release {project}: {text}", f"gateway release {text}"[:200], ("gateway",), BY_AGENT
    )


def _lesson(world: World, project: str, text: str) -> None:
    state = State(text, LessonAttrs(), project=project, title=f"gateway release: {text}"[:500])
    world.here.base.memories.remember(MemoryDraft(Kind.LESSON, state, Origin.MODEL), BY_AGENT)


def _importing(world: World) -> Importing:
    here = world.here
    return Importing(
        here.db, MemoryTable(here.db), here.base.memories, here.base.history, Tallies(here.db), here.base.clock,
        here.sessions,
    )  # fmt: skip


def _claude_mem(world: World, project: str, text: str) -> None:
    at = world.here.base.clock.now_ms()
    rows = [
        ForeignMemory(Kind.OBSERVATION, 1, at, "old", project, text=f"Gateway release. {text}", type=text[:30].strip(),
                      title=f"Gateway release {text}", files_modified=("gateway.py",)),
        ForeignMemory(Kind.SUMMARY, 2, at, "old", project, 1, request=f"Release the gateway {text}", learned=text,
                      next_steps=text),
        ForeignMemory(Kind.PROMPT, 3, at, "old", project, 1, text=f"Release the gateway. {text}"),
    ]  # fmt: skip
    _importing(world).take_in(project, rows, WriteContext("import"))


def _git(world: World, project: str, text: str) -> None:
    at = world.here.base.clock.now_ms()
    commit = hashlib.sha256(f"{project}{text}".encode()).hexdigest()[:40]
    row = ForeignMemory(
        Kind.OBSERVATION,
        0,
        at,
        project=project,
        text=f"Gateway release: {text}",
        type="change",
        title=" ".join(text.split())[:300],
        files_modified=("gateway.py",),
        commit=commit,
    )
    _importing(world).take_in(project, [row], WriteContext("import"), program=GIT)


def _agent_file(world: World, project: str, text: str) -> None:
    here = world.here
    files = AgentFiles(
        here.db, MemoryTable(here.db), VersionTable(here.db), here.base.memories, here.base.history, here.base.clock
    )
    body = f"# Gateway\n\n## Release\n\n{text}\n"
    files.take_in(project, AgentFileText("AGENTS.md", body, here.base.clock.now_ms()), WriteContext("import"))


def _transcript(world: World, project: str, text: str) -> None:
    key = world.session(project)
    turn = ReportedTurn(
        HookReport(key, prompt=f"{_TOPIC}. {text}", project=project),
        (
            HookReport(
                key, tool="Bash", input={"command": "make"}, response=_printed(f"error: {text}"), project=project
            ),
        ),
        HookReport(key, message=f"The gateway is released.\n{text}", project=project),
    )
    world.here.transcripts.take_in(
        TranscriptPart(key, "codex", project, f"/w/{project}", 1, (turn,), ended=True), WriteContext("import")
    )
    world.here.run(all_of_them=True)


VECTORS: dict[str, Callable[[World, str, str], None]] = {
    "stderr": _stderr, "exception": _exception, "commit subject": _commit, "file name": _file,
    "file name, joined": _file_joined, "command line": _command, "last message": _message, "next steps": _next,
    "rule in a message": _learned_rule, "test name": _test_name, "fetched page": _fetched,
    "web search": _search_result, "tool result": _tool_result, "sub-agent": _sub_agent, "file read": _read,
    "save_memory": _saved, "create_memory": _note, "question and answer": _question, "knowledge": _knowledge,
    "lesson": _lesson, "claude-mem import": _claude_mem, "git import": _git, "agent file": _agent_file,
    "transcript import": _transcript,
}  # fmt: skip
