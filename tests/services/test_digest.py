"""What a project is worked on with, counted from its turns; on every engine where a store takes part."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.kernel.model.attrs import SummaryAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import Database
from codexmem.recall import digest
from codexmem.recall.context import ContextRequest
from tests._support import capturing
from tests._support.capturing import Capturing

ME = WriteContext("test")


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def turn(here: Capturing, session: str, **did: Any) -> Memory:
    attrs = SummaryAttrs(request="go on", learned=f"what {session} said", **did)
    state = State(attrs.text(), attrs, project="demo", title="go on")
    return here.base.memories.remember(MemoryDraft(Kind.SUMMARY, state, Origin.TOOL, session=session), ME)


def start(here: Capturing, tokens: int = 2_000) -> str:
    return here.context.give(ContextRequest("demo", session="new", tokens=tokens)).text


def test_a_session_begins_with_files_commands_and_errors(here: Capturing) -> None:
    turn(here, "s1", files_modified=("src/api/users.py", "src/api/keys.py"), commands=("TENANT=demo pytest -q",),
         errors=("ValueError: no such tenant",))  # fmt: skip
    turn(here, "s2", files_modified=("src/api/users.py", "/tmp/scratch.txt"), failed_commands=("npm run lint",))
    text = start(here)
    assert "- “src/api/: users.py, keys.py”" in text
    assert "TENANT=demo pytest -q" in text
    assert "npm run lint ✗" in text
    assert "ValueError: no such tenant" in text
    assert "scratch" not in text
    assert "what s2 said" in text  # the last session, and no other
    assert "what s1 said" not in text


def test_what_is_forgotten_is_counted_no_longer(here: Capturing) -> None:
    known = turn(here, "s1", commands=("make deploy",))
    turn(here, "s2", commands=("make test",))
    assert "deploy" in start(here)
    here.base.memories.delete(Seq(known.seq), frozenset({Kind.SUMMARY}), ME)
    assert "deploy" not in start(here)


def test_sessions_count_and_not_uses_and_the_later_count_more(here: Capturing) -> None:
    for _ in range(9):
        turn(here, "s1", files_modified=("often.py",))
    for session in ("s2", "s3"):
        turn(here, session, files_modified=("twice.py",), files_read=("read.py",))
    turn(here, "s4", files_modified=("once.py",))
    turns = here.memories(Kind.SUMMARY)[::-1]
    assert digest.digest(turns).files == ("twice.py", "once.py", "often.py", "read.py")


def test_a_command_is_told_as_it_works(here: Capturing) -> None:
    turn(here, "s1", commands=("npm run test -- --run",), failed_commands=("make all",))
    turn(here, "s2", commands=("CI=1 npm run test",))
    turn(here, "s3", commands=("CI=1 npm run test", "make all"))
    turn(here, "s4", failed_commands=("make all",))
    told = digest.digest(here.memories(Kind.SUMMARY)[::-1]).commands
    assert told == ("CI=1 npm run test", "make all ✗")


@pytest.mark.parametrize("tokens", [200, 400, 800])
def test_it_stays_within_its_tokens(here: Capturing, tokens: int) -> None:
    for number in range(60):
        turn(here, f"s{number}", files_modified=(f"src/目录{number}/file.py",), commands=(f"make target{number}",),
             errors=(f"Error: kind {number} of trouble",))  # fmt: skip
    given = here.context.give(ContextRequest("demo", session="new", tokens=tokens))
    assert 0 < given.tokens <= tokens + 20
