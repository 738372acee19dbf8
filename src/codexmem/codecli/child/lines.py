"""A two-way protocol of lines: each is shown to the adapter's dialogue, which says what goes on to whom.

The dialogue has no locks of its own, so one line is dealt with at a time, also while a person is asked about a tool. A
line that no protocol would send, because it is longer than anything, passes as it is and is not looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from codexmem.codecli.agents.protocol import Dialogue, Happening, LineEffects
from codexmem.codecli.child.pump import Deliver, Gone, See, unseen

LONGEST = 64 << 20


class Splitter:
    """Bytes into lines, ends included; what is too long comes out in pieces, marked as no line."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._held = 0
        self._passing = False  # within a line that is too long

    def feed(self, piece: bytes) -> Iterable[tuple[bytes, bool]]:
        """Everything that is complete, and whether it is a line."""
        start = 0
        while start < len(piece):
            end = piece.find(b"\n", start) + 1
            part = piece[start : end or len(piece)]
            start += len(part)
            if self._passing:
                yield part, False
                self._passing = not end
                continue
            self._parts.append(part)
            self._held += len(part)
            if self._held > self._longest:
                yield self._taken(), False
                self._passing = not end
            elif end:
                yield self._taken(), True

    def rest(self) -> bytes:
        """What came after the last end of a line."""
        return self._taken()

    def _taken(self) -> bytes:
        whole = b"".join(self._parts)
        self._parts, self._held = [], 0
        return whole


class DialogueRelay:
    """A dialogue on its way between a person's program, or ourselves, and the agent."""

    def __init__(self, dialogue: Dialogue, prompt: str | None, tell: Callable[[Happening], None],
                 note: Callable[[str], None], *, record: Callable[[str, bytes], None] | None = None,
                 see_text: See = unseen, longest: int = LONGEST) -> None:  # fmt: skip
        self.leads = prompt is not None
        self._dialogue = dialogue
        self._prompt = prompt
        self._tell = tell
        self._note = note
        self._record = record
        self._see_text = see_text  # what a person gets to see
        self._person, self._agent = Splitter(longest), Splitter(longest)
        self._lock = threading.Lock()
        self._noted = False
        self._to_agent: Deliver = unseen
        self._to_person: Deliver = unseen
        self._hang_up: Callable[[], None] = lambda: None

    def begin(self, to_agent: Deliver, to_person: Deliver, hang_up: Callable[[], None]) -> None:
        """The agent runs: say the first lines."""
        self._to_agent, self._to_person, self._hang_up = to_agent, to_person, hang_up
        with self._lock:
            self._follow(self._dialogue.open(self._prompt))

    def person(self, piece: bytes) -> None:
        """The person's program sent this."""
        self._keep("person", piece)
        for part, is_line in self._person.feed(piece):
            with self._lock:
                self._one(part, is_line, self._dialogue.from_person, self._send)

    def agent(self, piece: bytes) -> None:
        """The agent wrote this."""
        self._keep("stdout", piece)
        for part, is_line in self._agent.feed(piece):
            with self._lock:
                self._one(part, is_line, self._dialogue.from_agent, self._show)

    def person_ended(self) -> None:
        """No more comes from the person's program; neither does it for the agent."""
        with self._lock:
            if rest := self._person.rest():
                with suppress(Gone):
                    self._one(rest, True, self._dialogue.from_person, self._send)
            self._hang_up()

    def agent_ended(self) -> None:
        """No more comes from the agent."""
        with self._lock:
            if rest := self._agent.rest():
                with suppress(Gone):
                    self._one(rest, True, self._dialogue.from_agent, self._show)

    def _one(self, part: bytes, is_line: bool, take: Callable[[bytes], LineEffects], on: Deliver) -> None:
        if is_line:
            try:
                moves = take(part)
            except Exception as error:
                # An adapter that fails must not take the agent with it; the line is what its sender meant.
                self._say(f"a line could not be read ({type(error).__name__}: {error}); it was passed on as it is")
                on(part)
                return
            self._follow(moves)
            return
        self._say(f"a line of more than {LONGEST >> 20} MiB was passed on unread")
        on(part)

    def _follow(self, moves: LineEffects) -> None:
        for line in moves.to_agent:
            self._send(line)
        for line in moves.to_person:
            self._show(line)
        for happening in moves.happenings:
            self._tell(happening)
        if moves.done:
            self._hang_up()

    def _send(self, line: bytes) -> None:
        self._to_agent(line)
        self._keep("stdin", line)

    def _show(self, line: bytes) -> None:
        self._to_person(line)
        self._see_text(line)

    def _keep(self, stream: str, piece: bytes) -> None:
        if self._record is not None:
            self._record(stream, piece)

    def _say(self, text: str) -> None:
        if not self._noted:
            self._noted = True
            self._note(text)
