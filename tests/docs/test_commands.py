"""Every command block of every page is run, in order, as a reader would type it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from codexmem.hook.program import PATHS
from tests._support import warm
from tests._support.claude_mem import small
from tests._support.kept_transcripts import kept
from tests._support.postgres import PostgresServer
from tests.agents import guide
from tests.docs.blocks import RUN, blocks, compared, typed
from tests.docs.pages import ROOT, Page, pages
from tests.docs.terminal import Failed, Terminal

READMES = [Page("README.md", "en", ROOT / "README.md"), Page("README.md", "zh", ROOT / "README.zh.md")]
RUNNABLE = [page for page in [*READMES, *pages()] if any(block.is_run for block in blocks(page.text))]
ENGLISH = {page.name: page for page in RUNNABLE if page.language == "en"}
# Pages that speak of PostgreSQL: it is at $POSTGRESQL.
NEEDS_POSTGRESQL = {page.name for page in RUNNABLE if "$POSTGRESQL" in page.text}


# Typed one after the other, as the first tells the reader to; see below.
FIRST_HOUR = ("README.md", "tutorial.md")


def distinct(page: Page) -> bool:
    """Whether it types or shows something else than its English page, whose commands are run already."""
    if page.name in FIRST_HOUR:
        return False
    if page.language == "en" or page.name not in ENGLISH:
        return True
    english = ENGLISH[page.name]
    return shown(page) != shown(english) or typed(page.path) != typed(english.path)


def shown(page: Page) -> list[list[str]]:
    """What the page says that each of its commands prints."""
    return [step.printed for block in blocks(page.text) if block.is_run for step in block.steps]


def _claude_mem(home: Path) -> None:
    (home / ".claude-mem").mkdir()
    small(home / ".claude-mem" / "claude-mem.db")


def _kept(home: Path) -> None:
    kept(home, "s1", "Why does the turbine stall?", "We decided to use valve seven.")
    kept(home, "s2", "Paint it green", project="boat")


# What a reader of the page has already and no command of ours makes.
PREPARED: Mapping[str, Callable[[Path], None]] = {"import.md": _claude_mem, "transcripts.md": _kept}


@pytest.fixture(scope="module")
def programs() -> Path:
    """Our programs, loaded once."""
    return warm.programs()


@pytest.mark.parametrize(
    "page", [page for page in RUNNABLE if distinct(page)], ids=lambda page: f"{page.language}-{page.name}"
)
def test_every_command_does_what_the_page_says(
    page: Page, programs: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = {}
    if page.name in NEEDS_POSTGRESQL:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        settings["POSTGRESQL"] = server.create_database(f"docs_{page.language}_{page.name.partition('.')[0]}")
    if page.name in PREPARED:
        PREPARED[page.name](tmp_path)
    with Terminal(tmp_path, programs, settings, language=page.language) as terminal:
        _typed_into(terminal, page)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_readme_and_then_the_tutorial_in_one_shell(language: str, programs: Path, tmp_path: Path) -> None:
    """With the encoder, as the README tells people to install it."""
    named: dict[tuple[str, str], Page] = {(page.name, page.language): page for page in RUNNABLE}
    with Terminal(tmp_path, programs, language=language, encoder=True) as terminal:
        for name in FIRST_HOUR:
            _typed_into(terminal, named[name, language])


def _typed_into(terminal: Terminal, page: Page) -> None:
    for block in blocks(page.text):
        if block.is_run:
            terminal.run(block)


# Every block that is not run, and why. They are few, and each has a reason that holds.
NOT_RUN = (
    ("codecli.md", "needs Codex and Qwen Code with a model; tests/agents runs both"),
    ("deploy.md", "needs a container engine or a cluster; `just trial-container` runs the program without"),
    ("effect.md", "needs public question sets, which are not part of the project"),
    ("operations.md", "it serves until it is stopped; tests/cli/test_server_group.py does all of this"),
    ("operations.md", "it streams until it is interrupted; tests/events reads such streams"),
    ("performance.md", "needs public question sets and environments of the others"),
    ("performance.md", "takes minutes, and its figures need a quiet machine"),
    ("releasing.md", "it builds, asks a registry and takes minutes; the gate runs the parts that are quick"),
    ("retrieval.md", "needs public question sets, which are not part of the project"),
    ("review.md", "the numbers are those of a store that has such memories"),
    ("web.md", "builds with npm; the gate does it"),
)
FENCES = {*RUN, "json", "toml", "text", "sql", "ts"}  # tests/client/test_typescript.py compiles the last
TYPED = re.compile(r"^(?:\$ |(?:codexmem|codexmem-hook|mem-codecli|just|curl|pip|uv) )", re.MULTILINE)


def test_blocks_that_are_not_run_are_these() -> None:
    found = [(page.name, block.reason) for page in pages() for block in blocks(page.text) if block.reason]
    assert sorted(found) == sorted(NOT_RUN * 2)  # in each language


@pytest.mark.parametrize("page", [page for page in pages() if not page.is_record], ids=lambda page: page.path.name)
def test_commands_stand_in_blocks_that_are_run(page: Page) -> None:
    found = blocks(page.text)
    assert {block.kind for block in found} <= FENCES
    shown = [block for block in found if block.kind not in RUN and TYPED.search(block.text)]
    shown = [] if page.name.startswith("reference/") else shown  # it quotes help texts
    assert [f"line {block.line}: commands belong into a console block" for block in shown] == []
    marks = page.text.count("<!-- not run: "), page.text.count("<!-- first\n")
    assert marks == (sum(bool(block.reason) for block in found), sum(bool(block.first) for block in found))


@pytest.mark.parametrize("page", [page for page in pages() if page.name.startswith("howto/")],
                         ids=lambda page: page.path.name)  # fmt: skip
def test_what_an_agent_is_configured_with_can_be_read_and_calls_us(page: Page) -> None:
    same = guide.blocks()
    for name, text in guide.blocks(page.path).items():
        assert text == same[name], f"docs/agents.md says otherwise: {name}"
    found = [block for block in blocks(page.text) if block.kind in {"json", "toml"}]
    read = {"json": json.loads, "toml": tomllib.loads}
    assert all(read[block.kind](block.text) for block in found)
    calls = re.findall(r"codexmem-hook ([a-z-]+) ([a-z-]+)", "".join(block.text for block in found))
    agent = page.name.removeprefix("howto/").removesuffix(".md")
    # OpenCode has a plugin instead of a table of hooks.
    assert calls == [] if agent == "opencode" else {name for name, _ in calls} == {agent}
    assert {event for _, event in calls} <= {"context", *PATHS}


def test_both_languages_type_as_many_commands() -> None:
    counted = {
        language: {page.name: len(typed(page.path)) for page in RUNNABLE if page.language == language}
        for language in ("en", "zh")
    }
    assert counted["en"] == counted["zh"]


@pytest.mark.parametrize(
    "shown, printed, missing, ids",
    [
        (["kept in 12 ms", "…"], "note\nkept in   7.5 ms\n", None, {}),
        (["id 1234abcd5678", "by …"], "id ffff0000aaaa\nby rules\n", None, {"1234abcd5678": "ffff0000aaaa"}),
        (["two", "one"], "one\ntwo\n", "one", {}),
        (['{"a":1,', '  "b":"x"}'], '{"a":2,"b":"x"}\n', None, {}),
        (["kept"], "not so\n", "kept", {}),
    ],
)
def test_what_a_page_shows_is_compared(
    shown: list[str], printed: str, missing: str | None, ids: dict[str, str]
) -> None:
    assert compared(shown, printed) == (missing, ids)


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "```console\n$ codexmem version\ncodexmem is something else\n```",
            "did not print: codexmem is something else",
        ),
        ("```console\n$ codexmem why '#1'\n```", "ended with 3"),
        ("```console\n$ false\n```", "ended with 1"),
        ("```sh\nexit 0\n```", "ended the shell"),
    ],
)
def test_a_page_that_says_otherwise_is_noticed(text: str, said: str, programs: Path, tmp_path: Path) -> None:
    with Terminal(tmp_path, programs) as terminal, pytest.raises(Failed, match=said):
        terminal.run(blocks(text)[0])
