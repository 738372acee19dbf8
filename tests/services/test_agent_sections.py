"""Sections of files for agents: headings, fences, front matter, imports, and what Codex remembers of other folders."""

from __future__ import annotations

import pytest

from codexmem.recall.agent_block import LONGEST, MAX_SECTIONS, imported_files, sections


def told(text: str, file: str = "AGENTS.md", *folders: str) -> dict[str, str]:
    return {each.heading: each.text for each in sections(file, text, folders)}


def test_a_heading_in_a_fence_is_none() -> None:
    text = "# A\n```sh\n# not a heading\n```\n~~~\n# nor this\n```\n# nor this\n~~~\n## B ##\nlast\n"
    assert list(told(text)) == ["A", "A > B"]


def test_the_same_heading_twice_is_two_sections() -> None:
    assert told("## B\nx\n## B\ny\n") == {"B": "x", "B (2)": "y"}


def test_a_heading_without_text_is_no_memory_of_its_own() -> None:
    assert told("# A\n## B\nx\n# C\n") == {"A > B": "x"}


def test_windows_line_ends_and_a_mark_at_the_beginning_are_read_through() -> None:
    assert told("\ufeff# A\r\nx\r\ny\r\n") == {"A": "x\ny"}


def test_front_matter_says_when_a_rule_applies() -> None:
    text = "---\ndescription: Python\nglobs: '*.py'\nother: 1\n---\nUse types.\n"
    assert told(text, ".cursor/rules/py.mdc") == {"": "description: Python\nglobs: '*.py'\nUse types."}


def test_what_codexmem_wrote_into_the_file_is_left_out() -> None:
    text = "before\n<!-- codexmem:begin v1 -->\n## Ours\nrule\n<!-- codexmem:end -->\nafter\n"
    assert told(text) == {"": "before\nafter"}


def test_lines_that_only_import_are_left_out_and_known() -> None:
    text = "@AGENTS.md\n- @docs/style.md\nmail me @work\n```\n@not/this.md\n```\n"
    assert told(text, "CLAUDE.md") == {"": "mail me @work\n```\n```"}
    assert imported_files(text) == ["AGENTS.md", "docs/style.md"]


def test_a_long_section_is_several_and_a_file_has_its_limit() -> None:
    long = sections("AGENTS.md", "# A\n" + "a line of text\n" * 600)
    assert [each.heading for each in long] == ["A", "A (2)", "A (3)"]
    assert all(len(each.text) <= LONGEST for each in long)
    assert len(sections("AGENTS.md", "".join(f"# {n}\nx\n" for n in range(1000)))) == MAX_SECTIONS


MEMORY = """# Task Group: shop
scope: release
applies_to: cwd=/w/shop; reuse_rule=safe

## Task 1
Use bun.

# Task Group: other
applies_to: cwd=/w/shop-old; reuse_rule=safe

## Task 1
Use npm.
"""


def test_codex_memories_of_other_folders_are_left_out() -> None:
    assert "Use bun." in told(MEMORY, "~/.codex/memories/MEMORY.md", "/w/shop").values()
    assert "Use npm." not in str(told(MEMORY, "~/.codex/memories/MEMORY.md", "/w/shop"))


@pytest.mark.parametrize("cwd, kept", [("/w/shop/api", True), ("/w/other", False)])
def test_a_rollout_summary_counts_for_its_own_folder(cwd: str, kept: bool) -> None:
    text = f"thread_id: 1\ncwd: {cwd}\n\n# Fixed the port\n8081 is right.\n"
    assert bool(told(text, "~/.codex/memories/rollout_summaries/x.md", "/w/shop")) is kept


def test_the_index_of_all_memories_is_left_out() -> None:
    text = "## User preferences\nBe brief.\n## What's in Memory\n- everything\n"
    assert list(told(text, "~/.codex/memories/memory_summary.md", "/w/shop")) == ["User preferences"]
