"""A recording played again: what a person saw, and what today's adapter reads in it. No agent, no memory, no person.

The adapter is prepared as for a run and then fed what was recorded, piece by piece. What it would send to the agent is
let go; what it asks about tools is decided by whoever plays. One piece is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codexmem.codecli.agents.protocol import (
    Adapter,
    Decide,
    Dialogue,
    Happening,
    Injection,
    LineEffects,
    OutputWatcher,
    PreparedAgent,
    Wiring,
)
from codexmem.codecli.child.lines import Splitter
from codexmem.codecli.observed import Observed
from codexmem.codecli.recall import Recalled
from codexmem.codecli.recording import Ended, RecordedBytes, Recording


@dataclass(frozen=True, slots=True)
class ReplayMoment:
    """One moment: what was shown on which stream (`stdout` or `stderr`), and what happened."""

    at: float
    stream: str = ""
    shown: bytes = b""
    happenings: tuple[Happening, ...] = ()


class Replay:
    """A recording on its way through an adapter; `observed` collects its turns as a run does."""

    def __init__(self, recording: Recording, adapter: Adapter, decide: Decide) -> None:
        self.recording = recording
        self.observed = Observed()
        self.code: int | None = None  # how the agent ended; None if the recording was cut off
        self.seconds = 0.0
        prompt = adapter.prompt_of(recording.launch)
        self._prepared = adapter.prepare(recording.launch, Injection(), Wiring(decide, self._recalled))
        if prompt is not None and self._prepared.dialogue is None:
            self._recalled(prompt)

    def seen(self) -> Iterator[ReplayMoment]:
        """Every moment, in order."""
        reader = _reader(self._prepared)
        for entry in self.recording.play():
            self.seconds = entry.at
            if isinstance(entry, Ended):
                self.code = entry.code
                moments: Iterable[ReplayMoment] = reader.ended(entry.at)
            else:
                moments = reader.passed(entry)
            for moment in moments:
                for happening in moment.happenings:
                    self.observed.tell(happening)
                yield moment

    def _recalled(self, prompt: str) -> Injection:
        self.observed.begin(prompt, Recalled())
        return Injection()


def _reader(prepared: PreparedAgent) -> _Listening | _Watching:
    if prepared.dialogue is not None:
        return _Listening(prepared.dialogue, prepared.prompt if prepared.leads else None)
    return _Watching(prepared.stdout, prepared.stderr)


class _Watching:
    """Output that passed as it was, read on the side."""

    def __init__(self, stdout: OutputWatcher | None, stderr: OutputWatcher | None) -> None:
        self._watchers = {"stdout": stdout, "terminal": stdout, "stderr": stderr}
        self._open = [watcher for watcher in (stdout, stderr) if watcher is not None]

    def passed(self, piece: RecordedBytes) -> Iterator[ReplayMoment]:
        if piece.stream not in self._watchers:
            return  # what the person typed is echoed by a terminal, and else was not shown
        watcher = self._watchers[piece.stream]
        happenings = tuple(watcher.feed(piece.piece)) if watcher is not None else ()
        stream = "stderr" if piece.stream == "stderr" else "stdout"
        yield ReplayMoment(piece.at, stream, piece.piece, happenings)

    def ended(self, at: float) -> Iterator[ReplayMoment]:
        for watcher in self._open:
            yield ReplayMoment(at, happenings=tuple(watcher.close()))


class _Listening:
    """A conversation, in which a person saw what the dialogue let through."""

    def __init__(self, dialogue: Dialogue, prompt: str | None) -> None:
        self._dialogue = dialogue
        self._prompt = prompt
        self._begun = False
        self._person, self._agent = Splitter(), Splitter()

    def passed(self, piece: RecordedBytes) -> Iterator[ReplayMoment]:
        yield from self._opening(piece.at)
        if piece.stream == "stderr":
            yield ReplayMoment(piece.at, "stderr", piece.piece)
        elif piece.stream == "person":
            for line, whole in self._person.feed(piece.piece):
                if whole:
                    yield _seen(piece.at, self._dialogue.from_person(line))
        elif piece.stream == "stdout":
            for line, whole in self._agent.feed(piece.piece):
                yield (
                    _seen(piece.at, self._dialogue.from_agent(line))
                    if whole
                    else ReplayMoment(piece.at, "stdout", line)
                )

    def ended(self, at: float) -> Iterator[ReplayMoment]:
        yield from self._opening(at)
        rest = self._agent.rest()
        if rest:
            yield _seen(at, self._dialogue.from_agent(rest))

    def _opening(self, at: float) -> Iterator[ReplayMoment]:
        if not self._begun:
            self._begun = True
            yield _seen(at, self._dialogue.open(self._prompt))


def _seen(at: float, moves: LineEffects) -> ReplayMoment:
    return ReplayMoment(at, "stdout", b"".join(moves.to_person), moves.happenings)
