"""`--tui`: one line under what the agent prints, with what we are doing; gone when the agent ends.

It is drawn below the line on which the agent will write next, and only while that line is empty and the agent is
silent; before the agent's next byte it is erased. So the scrollback holds the agent's bytes and nothing else, and
copying works as ever. No other screen, no scroll region and no saved cursor: each of those belongs to the agent, which
may use it itself. An agent that moves the cursor or reads single keys draws a screen of its own; the line then stays
away for good, since there is no place on such a screen that is ours.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable

from codexmem.codecli import surroundings
from codexmem.codecli.child import pump, terminals

_IDLE_S = 0.15
_TICK_S = 0.1
_ERASE = b"\x1b[B\x1b[2K\x1b[A"
# Moves of the cursor, erasing below, scroll regions, the other screen: a screen of the agent's own.
_DRAWS = re.compile(rb"\x1b(?:\[[0-9;?]*[ABCDEFGHIJLMSTXZ`adefrsu]|\[\?(?:47|1047|1049)[hl]|[78DEHMc])")
_LONGEST_MOVE = 24


class Strip:
    """The line. Everything that is written to the terminal while it lives must go through `write`."""

    def __init__(self, terminal: int, draws_itself: Callable[[], bool]) -> None:
        self._terminal = terminal
        self._draws_itself = draws_itself
        self._lock = threading.Lock()
        self._text = ""
        self._drawn = ""  # what stands there now
        self._at_start = True  # of a line, where the agent writes next
        self._away = False  # for good
        self._before = b""  # the last bytes, in which a move may have begun
        self._wrote = surroundings.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="codecli-strip", daemon=True)

    def start(self) -> None:
        """Begin to draw."""
        self._thread.start()

    def tell(self, text: str) -> None:
        """What the line says from now on."""
        with self._lock:
            self._text = text

    def write(self, descriptor: int, piece: bytes) -> None:
        """Pass on what the agent, or we, have to say."""
        with self._lock:
            self._erase()
            self._wrote = surroundings.monotonic()
            pump.write(descriptor, piece)
            self._look(piece)

    def close(self) -> None:
        """Leave nothing behind."""
        self._over.set()
        with self._lock:
            self._erase()
            self._away = True

    def _look(self, piece: bytes) -> None:
        self._at_start = piece.endswith(b"\n")
        if not self._away:
            recent = self._before + piece
            self._away = b"\x1b" in recent and _DRAWS.search(recent) is not None
            self._before = recent[-_LONGEST_MOVE:]

    def _watch(self) -> None:
        while not self._over.wait(_TICK_S):
            with self._lock:
                idle = surroundings.monotonic() - self._wrote >= _IDLE_S
                if self._over.is_set() or self._away or not idle or not self._at_start:
                    continue
                if self._draws_itself():
                    self._erase()
                    continue
                shown = clipped(self._text, terminals.columns(self._terminal) - 1)
                if shown and shown != self._drawn:
                    self._erase()
                    self._draw(shown)

    def _draw(self, text: str) -> None:
        # A new line below, scrolling if need be; then back to the empty line that the cursor was on.
        self._put(b"\n\r\x1b[2m" + text.encode("utf-8", "replace") + b"\x1b[0m\x1b[K\r\x1b[A")
        self._drawn = text

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = ""
            self._put(_ERASE)

    def _put(self, piece: bytes) -> None:
        try:
            pump.write(self._terminal, piece)
        except pump.Gone:
            self._away = True


def clipped(text: str, cells: int) -> str:
    """The text within so many cells, without anything that a terminal would act on."""
    kept, used = [], 0
    for each in text:
        if not each.isprintable():
            continue
        wide = 0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        if used + wide > cells:
            break
        kept.append(each)
        used += wide
    return "".join(kept)
