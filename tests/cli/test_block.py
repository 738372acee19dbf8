"""`codexmem block`: written, updated, checked and removed; refused where that would need guessing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codexmem.app import open_core
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.settings import load
from tests.cli.conftest import Call

pytestmark = pytest.mark.sqlite


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return root


def demand(text: str) -> None:
    core = open_core(load({}))
    try:
        state = State(text, ObservationAttrs(concepts=("rule",)), project="shop", type="decision", title=text)
        core.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.HUMAN), WriteContext("test"))
    finally:
        core.close()


def test_a_block_comes_changes_and_goes(call: Call, shop: Path) -> None:
    demand("Always use uv.")
    file = shop / "CLAUDE.md"
    file.write_bytes(b"\xef\xbb\xbf# Mine\r\nno end")
    file.chmod(0o640)
    before = file.read_bytes()
    own = ("--file", "CLAUDE.md", str(shop))

    assert "- Always use uv." in call("block", *own).out
    assert file.read_bytes() == before
    assert call("block", *own, "--check").code == 1
    assert call("block", *own, "--write").err.strip() == f"block written: {file}"
    assert call("block", *own, "--check").code == 0
    written = file.read_bytes()
    assert call("block", *own, "--write", "--json").json["changed"] is False
    assert file.read_bytes() == written
    assert oct(file.stat().st_mode & 0o777) == "0o640"

    demand("Never push on Fridays.")
    assert call("block", *own, "--check", "--lang", "zh").code == 1
    call("block", *own, "--write")
    assert b"Fridays" in file.read_bytes()
    assert call("import", "agent-files", str(shop), "--no-personal").code == 0
    assert call("search", "Fridays", "--project", "shop", "--json").json["results"][0]["origin"] == "human"
    assert call("block", *own, "--remove").code == 0
    assert file.read_bytes() == before
    assert f"there is no block: {file}" in call("block", *own, "--remove").err


def test_a_file_that_was_made_for_the_block_goes_with_it(call: Call, shop: Path) -> None:
    demand("Always use uv.")
    call("block", str(shop), "--write")
    assert oct((shop / "AGENTS.md").stat().st_mode & 0o777) == "0o644"
    assert call("block", str(shop), "--remove").code == 0
    assert not (shop / "AGENTS.md").exists()


def test_without_rules_nothing_is_written(call: Call, shop: Path) -> None:
    demand("Always use uv.")
    said = call("block", str(shop), "--write", "--project", "other")
    assert said.code == 0
    assert "project other has no standing rules yet" in said.err
    assert not (shop / "AGENTS.md").exists()


def test_what_is_refused_says_why_and_changes_nothing(call: Call, shop: Path, tmp_path: Path) -> None:
    demand("Always use uv.")
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (shop / "AGENTS.md").symlink_to(outside)
    damaged = "<!-- codexmem:begin v1 lead=0 -->\n- x\n"
    (shop / "CLAUDE.md").write_text(damaged)
    os.mkfifo(shop / "QWEN.md")
    for options, told in (
        ((), "links to a place outside"),
        (("--file", "../outside.md"), "not inside"),
        (("--file", ".git/config"), "not inside"),
        (("--file", "CLAUDE.md"), "begins in line 1 has no end"),
        (("--file", "QWEN.md"), "not a plain file"),
        (("--file", "no/AGENTS.md"), "there is no folder"),
    ):
        for action in ("--write", "--remove"):
            said = call("block", str(shop), *options, action)
            assert said.code == 5
            assert told in said.err
            assert "hint:" in said.err
    assert outside.read_text() == "mine\n"
    assert (shop / "CLAUDE.md").read_text() == damaged
    assert call("block", str(shop), "--write", "--remove").code == 2


def test_a_link_that_stays_inside_is_followed(call: Call, shop: Path) -> None:
    demand("Always use uv.")
    (shop / "docs").mkdir()
    (shop / "docs/guide.md").write_text("guide\n")
    (shop / "AGENTS.md").symlink_to("docs/guide.md")
    call("block", str(shop), "--write")
    assert (shop / "AGENTS.md").is_symlink()
    assert "Always use uv." in (shop / "docs/guide.md").read_text()
    call("block", str(shop), "--remove")
    assert (shop / "docs/guide.md").read_text() == "guide\n"
