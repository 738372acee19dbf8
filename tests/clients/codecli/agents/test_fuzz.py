"""Whatever an agent or a person's program sends, nothing raises, and how bytes are cut into pieces changes nothing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from codexmem.codecli.agents.acp import AcpDialogue
from codexmem.codecli.agents.claude_json import ClaudeDialogue, StreamWatcher
from codexmem.codecli.agents.codex_app_server import AppServer
from codexmem.codecli.agents.codex_exec import ExecWatcher
from codexmem.codecli.agents.generic import EventsWatcher, LinesWatcher, Mapped
from codexmem.codecli.agents.json_lines import value_of
from codexmem.codecli.agents.protocol import Dialogue, Happening, Injection, OutputWatcher
from codexmem.codecli.agents.text import TextWatcher
from tests.clients.codecli.agents import samples, wired

WATCHERS: dict[str, tuple[Callable[[], OutputWatcher], list[Any]]] = {
    "codex exec": (lambda: ExecWatcher("/repo"), samples.EXEC),
    "stream-json": (lambda: StreamWatcher("qwen", "/repo"), samples.CLAUDE),
    "json lines": (lambda: LinesWatcher(Mapped({}, agent="a", cwd="/", decide=wired.decide)), samples.GENERIC),
    "sse": (lambda: EventsWatcher(Mapped({}, agent="a", cwd="/repo", decide=None)), samples.GENERIC),
    "text": (lambda: TextWatcher(agent="a", cwd="/repo", decide=wired.decide), samples.GENERIC),
}
DIALOGUES: dict[str, tuple[Callable[[], Dialogue], list[Any]]] = {
    "app-server": (lambda: AppServer({"cwd": "/"}, Injection("S", "U"), wired.WIRING, "own"), samples.APP_SERVER),
    "acp": (lambda: AcpDialogue("qwen", "/repo", Injection("S", "U"), wired.WIRING), samples.ACP),
    "claude": (lambda: ClaudeDialogue("qwen", "/repo", Injection("S", "U"), wired.WIRING), samples.CLAUDE),
}
SEEDS = st.integers(0, 2**32)


def of_pieces(watcher: OutputWatcher, stream: bytes, cuts: list[int]) -> list[Happening]:
    found: list[Happening] = []
    for start, end in itertools.pairwise([0, *cuts, len(stream)]):
        found += watcher.feed(stream[start:end])
    return [*found, *watcher.close()]


@pytest.mark.parametrize("name", WATCHERS)
@settings(max_examples=120)
@given(seed=SEEDS)
@pytest.mark.slow
def test_a_watcher_takes_anything_in_any_pieces(name: str, seed: int) -> None:
    make, said = WATCHERS[name]
    chance = random.Random(seed)
    before = b"data: " if name == "sse" else b""
    end = chance.choice([b"\n", b"\r\n", b"\n\n"])
    stream = b"".join(before + line + end for line in samples.lines(said, chance))
    cuts = sorted(chance.randint(0, len(stream)) for _ in range(chance.randint(0, 9)))
    assert repr(of_pieces(make(), stream, cuts)) == repr(of_pieces(make(), stream, []))


@pytest.mark.parametrize("name", WATCHERS)
@given(stream=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300), max_size=5))
def test_a_watcher_takes_any_bytes(name: str, stream: bytes, cuts: list[int]) -> None:
    make, _ = WATCHERS[name]
    ends = sorted(min(cut, len(stream)) for cut in cuts)
    assert repr(of_pieces(make(), stream, ends)) == repr(of_pieces(make(), stream, []))


@pytest.mark.parametrize("prompt", [None, "go"])
@pytest.mark.parametrize("name", DIALOGUES)
@settings(max_examples=120)
@given(seed=SEEDS)
@pytest.mark.slow
def test_a_dialogue_takes_anything(name: str, prompt: str | None, seed: int) -> None:
    make, said = DIALOGUES[name]
    chance = random.Random(seed)
    dialogue = make()
    dialogue.open(prompt)
    for line in samples.lines(said, chance):
        take = dialogue.from_agent if chance.random() < 0.7 else dialogue.from_person
        moves = take(line + b"\n")
        for sent in (*moves.to_agent, *(() if prompt else moves.to_person)):
            assert (sent[-1:], sent.count(b"\n")) == (b"\n", 1)


@pytest.mark.parametrize("name", DIALOGUES)
@given(line=st.binary(max_size=100).map(lambda line: line.replace(b"\n", b"") + b"\n"))
def test_what_is_no_json_object_passes_unchanged(name: str, line: bytes) -> None:
    make, _ = DIALOGUES[name]
    if value_of(line) is None:
        assert make().from_person(line).to_agent == (line,)
        assert make().from_agent(line).to_person == (line,)
