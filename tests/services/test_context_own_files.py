"""No agent is handed what it reads by itself, others are; a search finds everything. Every agent with every file."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.agents import NAMES
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall import agent_file_discovery as discovery
from codexmem.recall.agent_block import StandingRule, lines_of, with_block
from codexmem.recall.agent_files import AgentFiles, AgentFileText
from codexmem.recall.context import ContextRequest
from tests._support import capturing
from tests._support.capturing import Capturing

BY = WriteContext("test")
AT_MS = 1_767_225_600_000
CWD = "/w/shop"
# Which agents read which file by themselves when no other file is there.
READ_BY = {
    "AGENTS.md": {"codex", "claude-code", "cursor", "qwen-code", "opencode", "cline", "copilot-cli", "kimi-code"},
    "docs/AGENTS.md": {"claude-code", "cursor", "qwen-code", "opencode", "cline"},  # Codex: only on its way down
    "CLAUDE.md": {"claude-code", "opencode", "copilot-cli"},
    "CLAUDE.local.md": {"claude-code"},
    ".claude/rules/go.md": {"claude-code"},
    "GEMINI.md": {"gemini-cli", "copilot-cli"},
    "QWEN.md": {"qwen-code"},
    ".cursor/rules/go.mdc": {"cursor"},
    ".cursor/rules/go.md": set(),
    ".cursorrules": {"cursor"},
    ".clinerules/go.md": {"cline"},
    ".github/copilot-instructions.md": {"copilot-cli"},
    ".github/instructions/go.instructions.md": {"copilot-cli"},
    "~/.codex/AGENTS.md": {"codex"},
    "~/.codex/memories/MEMORY.md": {"codex"},
    "~/.codex/memories/rollout_summaries/a.md": {"codex"},
    "~/.claude/CLAUDE.md": {"claude-code", "opencode"},
    "~/.claude/projects/-w-shop/memory/MEMORY.md": {"claude-code"},
    "~/.gemini/GEMINI.md": {"gemini-cli"},
    "~/.qwen/QWEN.md": {"qwen-code"},
    "~/.config/opencode/AGENTS.md": {"opencode"},
    "~/.copilot/copilot-instructions.md": {"copilot-cli"},
    "~/.kimi-code/AGENTS.md": {"kimi-code"},
}
PROMPT = "which command checks the warehouse before a push to production?"
SAID = "The command `warehouse-check` runs before every push to production."
TITLE = "Warehouse"


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def take_in(here: Capturing, database: Database, file: str, text: str = f"# {TITLE}\n{SAID}\n", *aliases: str) -> None:
    base = here.base
    table, versions = MemoryTable(database), VersionTable(database)
    files = AgentFiles(database, table, versions, base.memories, base.history, base.clock)
    folders = (CWD,)
    if "rollout_summaries" in file:
        text = f"cwd: {CWD}\n{text}"
    files.take_in("shop", AgentFileText(file, text, AT_MS, "", aliases, folders), BY)


def is_told(here: Capturing, platform: str, cwd: str = CWD) -> tuple[bool, bool]:
    """At the start, and with a prompt."""
    start = here.context.preview(ContextRequest("shop", cwd=cwd, platform=platform)).text
    prompt = here.context.preview(ContextRequest("shop", PROMPT, cwd=cwd, platform=platform)).text
    return TITLE in start, "warehouse-check" in prompt


@pytest.mark.parametrize("engine_name", ["sqlite"], indirect=True)  # the tests below are about both
@pytest.mark.parametrize("file", READ_BY)
def test_every_agent_and_every_file(here: Capturing, database: Database, file: str) -> None:
    take_in(here, database, file)
    told = {name: is_told(here, name) for name in NAMES}
    assert told == {name: (name not in READ_BY[file],) * 2 for name in NAMES}
    assert is_told(here, "") == (True, True)
    found = here.base.recall.search(SearchQuery(PROMPT, Filter(frozenset({Kind.OBSERVATION})))).results
    assert found[0].memory.state.title == f"{file} > {TITLE}"


def test_codex_reads_what_lies_on_the_way_to_its_folder(here: Capturing, database: Database) -> None:
    take_in(here, database, "docs/AGENTS.md")
    assert is_told(here, "codex", "/w/shop/docs/guide") == (False, False)
    assert is_told(here, "codex", "/w/shop/docsets") == (True, True)


def test_a_file_that_another_replaces_is_handed_over(here: Capturing, database: Database) -> None:
    take_in(here, database, "CLAUDE.md")
    take_in(here, database, "AGENTS.md", "# Other\nNothing of that kind.\n")
    assert is_told(here, "opencode") == (True, True)
    assert is_told(here, "claude-code") == (False, False)


def test_a_file_that_a_link_or_an_import_leads_to_is_read(here: Capturing, database: Database) -> None:
    take_in(here, database, "AGENTS.md", f"# {TITLE}\n{SAID}\n", "GEMINI.md")
    take_in(here, database, "CLAUDE.md", "# Other\nNothing of that kind.\n")
    assert is_told(here, "gemini-cli") == (False, False)
    assert is_told(here, "claude-code") == (True, True)


def test_the_platform_of_a_session_counts_where_the_question_names_none(here: Capturing, database: Database) -> None:
    take_in(here, database, "QWEN.md")
    here.base.clock.advance(60_000)
    here.intake.init(HookReport("s1", project="shop", platform="qwen-code", cwd=CWD, prompt="hello there, agent"))
    here.intake.init(HookReport("s2", project="shop", platform="codex", cwd=CWD, prompt="hello there, agent"))
    assert "warehouse-check" not in here.context.give(ContextRequest("shop", PROMPT, "s1")).text
    assert "warehouse-check" in here.context.give(ContextRequest("shop", PROMPT, "s2")).text


def test_many_sections_do_not_push_out_what_is_recent(here: Capturing, database: Database) -> None:
    old = State("", ObservationAttrs(), project="shop", type="bugfix", title="Fixed the warehouse door")
    here.base.memories.remember(MemoryDraft(Kind.OBSERVATION, old, Origin.MODEL, session="s0", created_ms=1), BY)
    take_in(here, database, "AGENTS.md", "".join(f"# Part {number}\ntext\n" for number in range(200)))
    text = here.context.preview(ContextRequest("shop", platform="codex")).text
    assert "Fixed the warehouse door" in text
    assert "Part" not in text


def test_rules_that_an_agent_reads_in_a_block_are_not_told_again(database: Database, tmp_path: Path) -> None:
    here = capturing.build(database, rules_read=discovery.rules_read_by)
    rule = "Never push to production on a Friday."
    state = State(rule, ObservationAttrs(concepts=("rule",)), project="shop", type="decision", title=rule)
    here.base.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.HUMAN, session="s0", created_ms=1), BY)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "AGENTS.md").write_bytes(with_block(b"# Shop\n", lines_of([StandingRule(rule)])))

    def told(platform: str, prompt: str = "") -> bool:
        wish = ContextRequest("shop", prompt, cwd=str(tmp_path), platform=platform)
        return "on a Friday" in here.context.give(wish).text

    for prompt in ("", "may I push to production on a Friday?"):
        assert {name: told(name, prompt) for name in ("codex", "opencode", "gemini-cli", "")} == {
            "codex": False,
            "opencode": False,
            "gemini-cli": True,
            "": True,
        }
