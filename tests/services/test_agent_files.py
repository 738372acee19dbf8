"""Files that are written for agents: what becomes a memory, what follows the file, what stays; on every engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from codexmem.kernel.model.errors import Conflict, InvalidArgument
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, Origin, Status
from codexmem.kernel.model.query import Filter, PageRequest, Seq
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall.agent_files import AgentFiles, AgentFileText, FileImported, file_of, names_of
from codexmem.recall.undoing import Undoing, UndoResult, Whose
from tests._support import services
from tests._support.services import Services

AT_MS = 1_767_225_600_000
BY = WriteContext("test")
SOURCE = "import:agent-files:shop"
OBSERVATIONS = frozenset({Kind.OBSERVATION})
TEXT = """# Shop
Sells things.

## Testing
Run `make check` before you push.

## Release
Tag with a leading v.
"""


@dataclass
class Here:
    """The services under test on one store."""

    base: Services
    files: AgentFiles
    undoing: Undoing

    def take_in(self, text: str, file: str = "AGENTS.md", project: str = "shop", **more: str | None) -> FileImported:
        return self.files.take_in(project, AgentFileText(file, text, AT_MS), BY, **more)  # type: ignore[arg-type]

    def all(self, statuses: frozenset[Status] = VISIBLE) -> dict[str, Memory]:
        found = self.base.memories.page(Filter(OBSERVATIONS, statuses=statuses), PageRequest(limit=500)).items
        return {each.state.title: each for each in found}

    def undo(self, **whose: Any) -> UndoResult:
        return self.undoing.take_back(Whose(**whose), Mode.SAFE, BY)


@pytest.fixture
def here(database: Database) -> Here:
    base = services.build(database)
    table, versions = MemoryTable(database), VersionTable(database)
    files = AgentFiles(database, table, versions, base.memories, base.history, base.clock)
    return Here(base, files, Undoing(database, table, versions, base.history))


def counts(done: FileImported) -> tuple[int, int, int, int, int]:
    return done.added, done.updated, done.hidden, done.unchanged, done.kept


def test_each_section_is_a_memory_that_says_where_it_stands(here: Here) -> None:
    done = here.take_in(TEXT)
    assert counts(done) == (3, 0, 0, 0, 0)
    assert done.source == SOURCE
    found = here.all()
    assert set(found) == {"AGENTS.md > Shop", "AGENTS.md > Shop > Testing", "AGENTS.md > Shop > Release"}
    memory = found["AGENTS.md > Shop > Testing"]
    assert memory.state.content == "Run `make check` before you push."
    assert (memory.origin, memory.source, memory.created_ms) == (Origin.IMPORT, SOURCE, AT_MS)
    assert memory.state.attrs.to_json()["imported"] == "AGENTS.md#Shop > Testing"
    assert memory.state.priority == 5
    assert here.base.history.delta(done.delta or "").subject == SOURCE
    results = here.base.recall.search(SearchQuery("what to run before a push", Filter(OBSERVATIONS))).results
    assert results[0].memory.seq == memory.seq


def test_a_second_run_writes_nothing(here: Here) -> None:
    here.take_in(TEXT)
    again = here.take_in(TEXT)
    assert counts(again) == (0, 0, 0, 3, 0)
    assert again.delta is None
    assert all(memory.version == 1 for memory in here.all().values())


def test_what_the_file_says_now_is_a_new_version_and_what_is_gone_is_hidden(here: Here) -> None:
    here.take_in(TEXT)
    changed = here.take_in(TEXT.replace("make check", "just check").partition("## Release")[0])
    assert counts(changed) == (0, 1, 1, 1, 0)
    found = here.all()
    assert set(found) == {"AGENTS.md > Shop", "AGENTS.md > Shop > Testing"}
    testing = found["AGENTS.md > Shop > Testing"]
    assert testing.version == 2
    said = [each.state.content for each in here.base.history.versions(Seq(testing.seq), OBSERVATIONS)]
    assert said == ["Run `just check` before you push.", "Run `make check` before you push."]
    back = here.take_in(TEXT)
    assert counts(back) == (0, 2, 0, 1, 0)
    assert len(here.all()) == 3


def test_a_file_that_is_gone_hides_its_sections_and_no_others(here: Here) -> None:
    here.take_in(TEXT)
    here.take_in(TEXT, file="docs/AGENTS.md")
    assert counts(here.take_in("")) == (0, 0, 3, 0, 0)
    assert {file_of(memory) for memory in here.all().values()} == {"docs/AGENTS.md"}
    assert [(each.file, each.sections) for each in here.files.known("shop")] == [
        ("AGENTS.md", 0),
        ("docs/AGENTS.md", 3),
    ]


def test_undoing_the_source_takes_all_back_and_holds(here: Here) -> None:
    first = here.take_in(TEXT)
    here.take_in(TEXT.replace("make", "just"))
    here.take_in("# Mine\nbe brief\n", file="CLAUDE.md")
    assert here.undo(source=SOURCE).restored == 4
    assert here.all() == {}
    assert not here.files.is_followed("shop")
    again = here.take_in(TEXT)
    assert counts(again) == (0, 0, 0, 0, 3)
    assert again.undone is not None
    assert here.all() == {}
    here.undo(delta=again.undone)
    assert len(here.all()) == 4
    assert first.delta is not None


def test_undoing_one_run_brings_back_what_the_file_said_before(here: Here) -> None:
    here.take_in(TEXT)
    second = here.take_in(TEXT.replace("make check", "just check").replace("## Release", "## Publish"))
    assert here.undo(delta=second.delta or "").restored == 3
    assert set(here.all()) == {"AGENTS.md > Shop", "AGENTS.md > Shop > Testing", "AGENTS.md > Shop > Release"}
    assert here.all()["AGENTS.md > Shop > Testing"].state.content == "Run `make check` before you push."


def test_what_a_person_changed_or_deleted_here_stays(here: Here) -> None:
    here.take_in(TEXT)
    found = here.all()
    edited, deleted = found["AGENTS.md > Shop > Testing"], found["AGENTS.md > Shop > Release"]
    person = WriteContext("person")
    here.base.memories.change(
        Seq(edited.seq), OBSERVATIONS, lambda state: replace(state, content="Run nothing."), person
    )
    here.base.memories.delete(Seq(deleted.seq), OBSERVATIONS, person)
    assert counts(here.take_in(TEXT.replace("check", "test").replace("leading", "small"))) == (0, 0, 0, 1, 2)
    assert here.all()["AGENTS.md > Shop > Testing"].state.content == "Run nothing."
    assert "AGENTS.md > Shop > Release" not in here.all()


def test_projects_do_not_share_their_files(here: Here) -> None:
    here.take_in(TEXT)
    assert counts(here.take_in(TEXT, project="other")) == (3, 0, 0, 0, 0)
    assert counts(here.take_in("", project="other")) == (0, 0, 3, 0, 0)
    assert {memory.state.project for memory in here.all().values()} == {"shop"}


def test_a_run_of_several_files_is_one_delta(here: Here) -> None:
    first = here.take_in(TEXT)
    second = here.take_in("be brief", file="CLAUDE.md", delta=first.delta)
    assert second.delta == first.delta
    with pytest.raises(InvalidArgument):
        here.take_in("be brief", file="QWEN.md", project="other", delta=first.delta)
    here.undo(delta=first.delta or "")
    with pytest.raises(Conflict):
        here.take_in("be brief", file="QWEN.md", delta=first.delta)


def test_secrets_and_private_regions_are_left_out(here: Here) -> None:
    token = "ghp_" + "a1B2" * 9
    here.take_in(f"Use {token} to log in.\n<private>my birthday</private>\n")
    said = here.all()["AGENTS.md"].state.content
    assert token not in said
    assert "birthday" not in said


def test_a_file_is_known_by_its_other_names_too(here: Here) -> None:
    file = AgentFileText("~/.codex/AGENTS.md", "be brief", AT_MS, "/home/u/.codex/AGENTS.md", ("~/.claude/CLAUDE.md",))
    here.files.take_in("shop", file, BY)
    (memory,) = here.all().values()
    assert names_of(memory) == ("~/.codex/AGENTS.md", "~/.claude/CLAUDE.md")
    assert here.files.known("shop")[0].path == "/home/u/.codex/AGENTS.md"
    assert here.files.is_known("shop", "~/.codex/AGENTS.md")
    assert not here.files.is_known("shop", "AGENTS.md")


@pytest.mark.parametrize("file", ["", "a#b.md", "x" * 301])
def test_odd_names_are_refused(here: Here, file: str) -> None:
    with pytest.raises(InvalidArgument):
        here.take_in("text", file=file)
