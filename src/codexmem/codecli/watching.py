"""Watchers at work: whatever they do wrong, the agent's output has passed already and goes on passing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from codexmem.codecli.agents.protocol import Happening, OutputWatcher
from codexmem.codecli.opening import Typed

_TEXT_BYTES = 1 << 20


class SafeWatcher:
    """A watcher that may fail without harm."""

    def __init__(self, watcher: OutputWatcher, tell: Callable[[Happening], None], note: Callable[[str], None]) -> None:
        self._watcher: OutputWatcher | None = watcher
        self._tell = tell
        self._note = note

    def feed(self, piece: bytes) -> None:
        """Show it a piece; one that fails is shown no more."""
        if self._watcher is None:
            return
        try:
            for happening in self._watcher.feed(piece):
                self._tell(happening)
        except Exception as error:
            self._watcher = None
            self._note(f"the agent's output could not be read ({type(error).__name__}: {error}); it is passed on")


class Listener:
    """Hands on what a person sends, line by line, as it was typed."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._typed = Typed()

    def hear(self, piece: bytes) -> None:
        """They sent this."""
        *lines, rest = piece.replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._typed.add(line, erase=b"\x7f", kill=b"\x15")
            if text := self._typed.line():
                self._heard(text)
        self._typed.add(rest, erase=b"\x7f", kill=b"\x15")


def closed(watcher: OutputWatcher) -> Iterable[Happening]:
    """What a watcher still held."""
    try:
        return list(watcher.close())
    except Exception:
        return []


def text_of(path: str) -> str | None:
    """A file's text, for adapters; None if there is none, or it is none."""
    try:
        with Path(path).expanduser().open("rb") as file:
            return file.read(_TEXT_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError, RuntimeError):
        return None
