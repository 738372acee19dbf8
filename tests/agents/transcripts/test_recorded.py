"""Recorded transcripts of every program, whole and damaged: what is read of them, and that nothing stops a reader."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.agents.transcripts import READERS
from codexmem.agents.transcripts.files import MAX_LINE
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.kernel.model.errors import Unavailable
from tests.agents.transcripts.conversation import reader_of
from tests.agents.transcripts.home import furnish

FILES = 8  # in the recorded home
ROUNDS = 50  # damaged copies of each file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Somebody who used every program."""
    return furnish(tmp_path)


def found(home: Path, **environ: str) -> list[TranscriptFile]:
    """Everything that is found, by program and beginning."""
    files = [file for reader in READERS for file in reader.find(home, environ, [home])]
    return sorted(files, key=lambda file: (file.program, file.started_ms, file.session))


def read(file: TranscriptFile) -> tuple[list[TranscriptTurn], TranscriptFlaws]:
    """One of them."""
    flaws = TranscriptFlaws()
    return list(reader_of(file.program).turns(file, flaws)), flaws


def test_everything_is_found_with_session_and_folder(home: Path) -> None:
    files = found(home)
    assert [(file.program, file.session[:8], file.cwd) for file in files] == [
        ("claude-code", "9244b673", "/home/ana/shop"),
        ("claude-code", "a7d1ed15", "/home/ana/shop"),
        ("codex", "01a1ebbe", "/home/ana/shop"),
        ("codex", "01a1ebc0", "/home/ana/shop"),
        ("codex", "01a1ebdd", "/home/ana/shop"),
        ("gemini-cli", "25a778de", "/home/ana/shop"),
        ("opencode", "ses_e144", "/home/ana/shop"),
        ("qwen-code", "3860ec51", "/home/ana/shop"),
    ]
    assert all(file.started_ms > 1_794_000_000_000 and file.changed_ms > file.started_ms - 1 for file in files)


def test_variables_move_the_folders(home: Path) -> None:
    for name, at in (("CODEX_HOME", ".codex"), ("CLAUDE_CONFIG_DIR", ".claude"), ("QWEN_HOME", ".qwen"),
                     ("XDG_DATA_HOME", ".local/share")):  # fmt: skip
        moved = home / "moved" / name
        shutil.copytree(home / at, moved)
        shutil.rmtree(home / at)
    gemini = home / "moved" / "GEMINI_CLI_HOME"
    shutil.copytree(home / ".gemini", gemini / ".gemini")
    shutil.rmtree(home / ".gemini")
    assert found(home) == []
    moved_to = {path.name: str(path) for path in (home / "moved").iterdir()}
    assert len(found(home, **moved_to)) == FILES


def test_finding_reads_the_beginnings_alone(home: Path) -> None:
    before = [(file.session, file.cwd, file.started_ms) for file in found(home)]
    for path in home.rglob("*.jsonl"):
        with path.open("r+b") as file:
            file.truncate(1 << 40)
    assert [(file.session, file.cwd, file.started_ms) for file in found(home)] == before


def test_a_sub_agent_works_within_the_turn_that_sent_it(home: Path) -> None:
    (claude, *_, codex) = (file for file in found(home) if file.program in {"claude-code", "codex"})
    (turn,), flaws = read(claude)
    assert (turn.prompt, turn.message, flaws) == ("Delegate it.", "All done.", TranscriptFlaws())
    assert [(tool.tool, tool.agent) for tool in turn.tools] == [
        ("Bash", "a9340c9829d7f7e9a"),
        ("Agent", ""),
        ("Bash", ""),
        ("mcp__things__lookup", ""),
    ]
    assert turn.tools[0].input == {"command": "echo from sub", "description": "x"}
    (turn,), flaws = read(codex)
    assert (turn.prompt, turn.message, flaws) == ("Delegate it.", "all done", TranscriptFlaws())
    assert [(tool.tool, tool.agent[:13]) for tool in turn.tools] == [
        ("spawn_agent", ""),
        ("Bash", "01a1ebdd-04ac"),
        ("Bash", ""),
    ]
    assert (turn.tools[1].input, turn.tools[1].response) == (
        {"command": "echo from sub"},
        {"output": "from sub\n", "exit_code": 0},
    )


def test_lines_that_a_session_has_from_another_are_not_told_twice(home: Path) -> None:
    (turn,), flaws = read(found(home)[1])
    assert (turn.prompt, turn.message, turn.tools, flaws) == ("And now?", "Forked answer.", (), TranscriptFlaws())


def test_in_code_mode_the_calls_of_the_program_count(home: Path) -> None:
    (turn,), _ = read(found(home)[3])
    assert [(tool.tool, tool.input["command"][:36], tool.response) for tool in turn.tools] == [
        ("Bash", "echo hi; exit 4", {"output": "hi\n", "exit_code": 4}),
        ("apply_patch", "*** Begin Patch\n*** Add File: /home/", "Success. Updated the following files:\nA o.py\n"),
    ]


def test_a_resumed_conversation_is_told_once(home: Path) -> None:
    (file,) = [file for file in found(home) if file.program == "gemini-cli"]
    turns, flaws = read(file)
    assert [(turn.prompt, turn.message, len(turn.tools)) for turn in turns] == [
        ("Add a file of orders.", "Wrote orders.py; the answer is 42.", 6),
        ("Does it fail?\nTry it.", "It fails with 3.", 1),
    ]
    assert turns[0].ended_ms <= turns[1].at_ms
    assert turns[1].tools[0].response == {"output": "oops", "exit_code": 3}
    assert flaws == TranscriptFlaws()


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """A copy with a few things wrong: cut, lines missing or repeated, bytes changed, values of other types."""
    lines = raw.splitlines(keepends=True)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        match chance.randrange(7):
            case 0:
                lines = lines[: at + 1]
                lines[-1] = lines[-1][: chance.randrange(len(lines[-1]) + 1)]
            case 1:
                del lines[at]
            case 2:
                lines.insert(at, lines[chance.randrange(len(lines))])
            case 3 if lines[at]:
                spoilt = bytearray(lines[at])
                for _ in range(chance.randint(1, 20)):
                    spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
                lines[at] = bytes(spoilt)
            case 4:
                lines[at] = chance.choice([b"null\n", b"[]\n", b"7\n", b'"text"\n', b"{}\n", b"[[[[\n", b"\xff\xfe\n"])
            case _:
                lines[at] = retyped(lines[at], chance)
        if not lines:
            return b""
    return b"".join(lines)


def retyped(line: bytes, chance: random.Random) -> bytes:
    """A record with one of its values of another type."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    places = list(_places(record))
    if not places:
        return line
    inside, name = chance.choice(places)
    inside[name] = chance.choice([None, 7, -1.5, True, "", "x", [], [None], {}, {"type": None}, "\ud800\x00", 10**400])
    return json.dumps(record).encode() + b"\n"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    names = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in list(names):
        yield value, name
        yield from _places(each)


def sound(turn: TranscriptTurn) -> None:
    """That a turn is of the promised types, and can be stored."""
    assert all(type(said) is str for said in (turn.prompt, turn.message))
    assert all(type(at) is int and at >= 0 for at in (turn.at_ms, turn.ended_ms, *(tool.at_ms for tool in turn.tools)))
    assert all(tool.tool and type(tool.tool) is str and type(tool.call) is str for tool in turn.tools)
    told = [turn.prompt, turn.message, [[tool.tool, tool.input, tool.response, tool.call] for tool in turn.tools]]
    assert "\x00" not in turn.prompt + turn.message
    json.dumps(told, ensure_ascii=False).encode("utf-8")


def test_damage_stops_no_reader(home: Path) -> None:
    chance = random.Random(20261117)
    for file in found(home):
        if file.program == "opencode":
            continue
        raw = file.path.read_bytes()
        whole = [tool for turn in read(file)[0] for tool in turn.tools]
        for _ in range(ROUNDS):
            file.path.write_bytes(damaged(raw, chance))
            list(reader_of(file.program).find(home, {}, [home]))
            turns, flaws = read(file)
            for turn in turns:
                sound(turn)
            assert sum(len(turn.tools) for turn in turns) <= 2 * len(whole) + 8, flaws
        file.path.write_bytes(raw)


def test_a_file_that_is_cut_tells_its_beginning(home: Path) -> None:
    chance = random.Random(7)
    for file in found(home):
        if file.program == "opencode":
            continue
        raw = file.path.read_bytes()
        whole = [(tool.call, tool.tool) for turn in read(file)[0] for tool in turn.tools]
        prompts = [turn.prompt for turn in read(file)[0]]
        for _ in range(ROUNDS // 2):
            file.path.write_bytes(raw[: chance.randrange(len(raw))])
            turns, flaws = read(file)
            told = [(tool.call, tool.tool) for turn in turns for tool in turn.tools]
            assert told == whole[: len(told)]
            assert [turn.prompt for turn in turns] == prompts[: len(turns)]
            assert flaws.broken <= 1
        file.path.write_bytes(raw)


def test_a_damaged_database_stops_no_reader(home: Path) -> None:
    chance = random.Random(5)
    (file,) = [file for file in found(home) if file.program == "opencode"]
    raw = file.path.read_bytes()
    for _ in range(ROUNDS):
        spoilt = bytearray(raw)
        for _ in range(chance.randint(1, 40)):
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
        file.path.write_bytes(bytes(spoilt[: chance.choice([len(spoilt), chance.randrange(len(spoilt))])]))
        list(reader_of("opencode").find(home, {}, []))
        with contextlib.suppress(Unavailable):  # it may be no database any more
            for turn in read(file)[0]:
                sound(turn)


def test_a_line_that_is_too_long_is_passed_over_and_counted(home: Path) -> None:
    for file in found(home):
        if file.program == "opencode":
            continue
        before, _ = read(file)
        raw = file.path.read_bytes()
        first, rest = raw.split(b"\n", 1)
        with file.path.open("wb") as out:
            out.write(first + b'\n{"type":"user","message":"')
            for _ in range(MAX_LINE // (1 << 20) + 1):
                out.write(b"x" * (1 << 20))
            out.write(b'"}\n' + rest)
        turns, flaws = read(file)
        assert (turns, flaws) == (before, TranscriptFlaws(too_long=1)), file
        file.path.write_bytes(raw)


def test_a_missing_file_is_an_error_that_says_what_to_do(home: Path) -> None:
    for file in found(home):
        file.path.unlink()
        with pytest.raises(Unavailable, match=r"cannot be read") as caught:
            read(file)
        assert caught.value.hint
        if file.program == "opencode":
            break


def test_folders_that_are_missing_closed_or_linked_in_circles_hold_nothing(tmp_path: Path) -> None:
    assert found(tmp_path / "nobody") == []
    home = furnish(tmp_path / "home")
    for folder in (".codex/sessions/2026/loop", ".claude/projects/loop", ".qwen/projects/loop", ".gemini/tmp/loop"):
        (home / folder).symlink_to(home, target_is_directory=True)
    (home / ".claude" / "projects" / "-home-ana-shop" / "x.jsonl").symlink_to("/etc/passwd")
    (home / ".codex" / "sessions" / "rollout-no-id.jsonl").write_text("{}\n")
    assert len(found(home)) == FILES
