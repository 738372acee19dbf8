"""Finding files for agents on a disk: which, under which names, and nothing that lies elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codexmem import agents
from codexmem.agents.install.targets import UserHome
from codexmem.recall.agent_file_discovery import CheckoutRoot, checkout_of, find, gone, read
from codexmem.recall.agent_files import KnownFile

EVERY = [agents.agent_of(name) for name in agents.NAMES]


def write(path: Path, text: str = "text\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def shop(tmp_path: Path) -> CheckoutRoot:
    write(tmp_path / "shop/.git/HEAD", "ref: refs/heads/main\n")
    return checkout_of(tmp_path / "shop")


@pytest.fixture
def person(tmp_path: Path) -> UserHome:
    (tmp_path / "home").mkdir()
    return UserHome(tmp_path / "home", {})


def names(checkout: CheckoutRoot, person: UserHome | None = None, **more: bool) -> list[str]:
    return sorted(each.file for each in find(checkout, EVERY, person, **more).files)


def test_what_a_checkout_shares(shop: CheckoutRoot) -> None:
    shared = [
        ".clinerules/a.md", ".cursor/rules/a.mdc", ".cursor/rules/b.md", ".cursor/rules/web/c.mdc", ".cursorrules",
        ".github/copilot-instructions.md", ".claude/rules/a.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md",
        "docs/deep/AGENTS.md",
    ]  # fmt: skip
    others = ["CLAUDE.local.md", "README.md", "node_modules/x/AGENTS.md", ".hidden/AGENTS.md"]
    for name in (*shared, *others):
        write(shop.root / name, name)
    write(shop.root / "module/.git", "gitdir: ../.git/modules/module\n")
    write(shop.root / "module/AGENTS.md")
    assert names(shop) == sorted(shared)
    assert [each.file for each in find(shop, [agents.agent_of("gemini-cli")], None).files] == ["GEMINI.md"]


def test_outside_of_a_repository_nothing_nested_is_looked_for(tmp_path: Path) -> None:
    write(tmp_path / "plain/AGENTS.md")
    write(tmp_path / "plain/sub/AGENTS.md", "other\n")
    assert names(checkout_of(tmp_path / "plain")) == ["AGENTS.md"]


def test_what_is_the_persons_own(shop: CheckoutRoot, person: UserHome) -> None:
    mangled = str(shop.root).replace("/", "-").replace("_", "-")
    for name in (
        ".codex/AGENTS.md", ".codex/memories/MEMORY.md", ".codex/memories/rollout_summaries/a.md", ".claude/CLAUDE.md",
        f".claude/projects/{mangled}/memory/MEMORY.md", ".claude/projects/-other/memory/MEMORY.md",
        ".gemini/GEMINI.md", ".qwen/QWEN.md", ".config/opencode/AGENTS.md",
    ):  # fmt: skip
        write(person.home / name, name)
    write(shop.root / "CLAUDE.local.md")
    assert names(shop, person) == sorted([
        "CLAUDE.local.md", "~/.codex/AGENTS.md", "~/.codex/memories/MEMORY.md",
        "~/.codex/memories/rollout_summaries/a.md", "~/.claude/CLAUDE.md",
        f"~/.claude/projects/{mangled}/memory/MEMORY.md", "~/.gemini/GEMINI.md", "~/.qwen/QWEN.md",
        "~/.config/opencode/AGENTS.md",
    ])  # fmt: skip
    assert names(shop) == []


def test_folders_that_a_person_has_moved(shop: CheckoutRoot, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/AGENTS.md")
    moved = UserHome(tmp_path / "home", {"CODEX_HOME": str(tmp_path / "elsewhere")})
    (found,) = find(shop, EVERY, moved).files
    assert (found.file, found.path) == ("~/.codex/AGENTS.md", tmp_path / "elsewhere/AGENTS.md")


def test_nothing_outside_is_read_and_no_file_twice(shop: CheckoutRoot, tmp_path: Path) -> None:
    write(shop.root / "AGENTS.md")
    (shop.root / "CLAUDE.md").symlink_to("AGENTS.md")
    (shop.root / "GEMINI.md").symlink_to(write(tmp_path / "secret.md"))
    write(tmp_path / "rules/x.mdc")
    (shop.root / ".cursor").mkdir()
    (shop.root / ".cursor/rules").symlink_to(tmp_path / "rules")
    os.mkfifo(shop.root / "QWEN.md")
    found = find(shop, EVERY, None)
    assert [(each.file, each.aliases) for each in found.files] == [("AGENTS.md", ("CLAUDE.md",))]
    assert found.skipped == {"GEMINI.md": "outside", ".cursor/rules/x.mdc": "outside", "QWEN.md": "no_file"}


def test_large_and_binary_files_are_passed_over(shop: CheckoutRoot) -> None:
    write(shop.root / "AGENTS.md", "x" * 300_000)
    (shop.root / "CLAUDE.md").write_bytes(b"a\0b")
    found = find(shop, EVERY, None)
    assert read(found, shop.folders) == []
    assert found.skipped == {"AGENTS.md": "large", "CLAUDE.md": "unreadable"}


def test_a_file_that_imports_another_is_a_name_of_it(shop: CheckoutRoot) -> None:
    write(shop.root / "AGENTS.md", "rules\n")
    write(shop.root / "CLAUDE.md", "@AGENTS.md\n@../../etc/passwd\nmore\n")
    texts = {each.file: each for each in read(find(shop, EVERY, None), shop.folders)}
    assert texts["AGENTS.md"].aliases == ("CLAUDE.md",)
    assert texts["CLAUDE.md"].aliases == ()


def test_what_is_gone_is_only_what_could_have_been_found(shop: CheckoutRoot, person: UserHome) -> None:
    write(shop.root / "AGENTS.md")
    known = [
        KnownFile("AGENTS.md", "", 2),
        KnownFile("CLAUDE.md", "", 1),
        KnownFile("GEMINI.md", "", 0),
        KnownFile("~/.codex/AGENTS.md", str(person.home / ".codex/AGENTS.md"), 1),
        KnownFile("~/.claude/CLAUDE.md", str(write(person.home / "elsewhere.md")), 1),
        KnownFile("CLAUDE.local.md", "", 1),
    ]
    shared = find(shop, EVERY, None)
    assert gone(shop, EVERY, known, shared, personal=False) == ["CLAUDE.md"]
    own = find(shop, EVERY, person)
    assert gone(shop, EVERY, known, own, personal=True) == ["CLAUDE.md", "~/.codex/AGENTS.md", "CLAUDE.local.md"]
    codex = [agents.agent_of("codex")]
    assert gone(shop, codex, known, find(shop, codex, person), personal=True) == ["~/.codex/AGENTS.md"]


def test_a_worktree_has_the_memory_of_its_repository(tmp_path: Path, person: UserHome) -> None:
    write(tmp_path / "main/.git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path / "main/.git/worktrees/w/commondir", "../..\n")
    write(tmp_path / "w/.git", f"gitdir: {tmp_path}/main/.git/worktrees/w\n")
    mangled = "".join(each if each.isalnum() else "-" for each in str(tmp_path / "main"))
    write(person.home / f".claude/projects/{mangled}/memory/MEMORY.md")
    assert names(checkout_of(tmp_path / "w"), person) == [f"~/.claude/projects/{mangled}/memory/MEMORY.md"]
