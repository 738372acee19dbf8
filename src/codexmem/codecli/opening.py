"""Memory before the first prompt that comes by standard input, from a program or from a person at a terminal.

Only the first one: what an agent is answered later ("y", "2") is not always a prompt. A single word is taken for none:
it is as likely a token, a password or an answer. What is no text, and what is JSON, belongs to whatever the agent and
the program before it have agreed on, and passes to the byte.

The prompt that comes by standard input: looked at before the agent is started, and then given to it.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import select
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from codexmem.codecli import surroundings

LOOKED_AT = 64 << 10  # bytes of a prompt
_SPOKEN = re.compile(r"\S\s+\S|[\u2e80-\U0003ffff]")  # more than a word, or a script that writes without spaces

NO_TEXT = "standard input is not UTF-8 text: memory was not put before it"
IS_JSON = "standard input is JSON, not a prompt in words: memory was not put before it"
NOT_READ = "the agent did not read its standard input: what memory found did not reach it"
NO_PROMPT = "no prompt was found, neither on the command line nor on standard input: memory was not used"

Recall = Callable[[str, int], str]  # a prompt → the block; on one line of at most so many bytes, unless that is 0


class InputKind(Enum):
    """What a piece of input is."""

    PROMPT = auto()
    NO_PROMPT = auto()  # too little to be one; the next may be
    NO_TEXT = auto()
    JSON = auto()


def spoken(text: str) -> bool:
    """Whether somebody says something, rather than naming a thing or answering a question."""
    return _SPOKEN.search(text) is not None and not text.lstrip().startswith("/")


def text_of(piece: bytes) -> str | None:
    """As text, without what a cut left of its last character; None if it is none."""
    if b"\0" in piece:
        return None
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(piece)
    except UnicodeDecodeError:
        return None


def prompt_in(piece: bytes) -> str:
    """The beginning of an input as a prompt."""
    return text_of(piece[:LOOKED_AT]) or ""


def kind_of(piece: bytes) -> InputKind:
    """What the beginning of an input is."""
    text = text_of(piece[:LOOKED_AT])
    if text is None:
        return InputKind.NO_TEXT
    if not spoken(text):
        return InputKind.NO_PROMPT
    return InputKind.JSON if _is_json(text) else InputKind.PROMPT


def _is_json(text: str) -> bool:
    text = text.strip()
    if text[:1] not in ("{", "["):
        return False
    for candidate in (text.partition("\n")[0], text):
        try:
            json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return True
    return False


def joined(block: str, prompt: str, *, whole: bool) -> bytes:
    """The block as it goes before the beginning of a prompt; `whole` if nothing follows that."""
    if not block:
        return b""
    # Whoever sends one line and waits may have an agent that takes each line for a prompt.
    if not whole and len(prompt.strip().splitlines()) == 1:
        return " ".join(block.split()).encode() + b" "
    return f"{block}\n\n".encode()


class Opening:
    """Waits for the first prompt; `pending` until it has come, or will not come."""

    def __init__(self, recall: Recall, note: Callable[[str], None]) -> None:
        self._recall = recall
        self._note = note
        self.pending = True
        self._first = True

    def before(self, piece: bytes) -> bytes:
        """What goes before this piece of input."""
        kind, first = kind_of(piece), self._first
        self._first = False
        if kind is InputKind.NO_PROMPT:
            return b""
        self.pending = False
        if kind is InputKind.PROMPT:
            text = prompt_in(piece)
            return joined(self._recall(text, 0), text, whole=False)
        if first:
            self._note(NO_TEXT if kind is InputKind.NO_TEXT else IS_JSON)
        return b""

    def before_line(self, line: str, most: int) -> bytes:
        """What goes before a line that a person typed, on that line and of at most so many bytes."""
        if not spoken(line):
            return b""
        self.pending = False
        block = self._recall(line, most - 1)
        return f"{block} ".encode() if block else b""


class Typed:
    """A line as a person types it at a terminal that edits lines; None where it cannot be known."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._clear = True

    def add(self, keys: bytes, *, erase: bytes, kill: bytes) -> None:
        """More keys, none of which ends the line."""
        for at in range(len(keys)):
            key = keys[at : at + 1]
            if key == erase:
                while self._held and self._held[-1] & 0xC0 == 0x80:
                    del self._held[-1]
                del self._held[-1:]
            elif key == kill:
                self._held.clear()
                self._clear = True
            elif (key < b" " and key != b"\t") or key == b"\x7f":
                self._clear = False  # a key that moves, signals or completes
            else:
                self._held += key

    def line(self) -> str | None:
        """What was typed, and nothing is from now on."""
        text = text_of(bytes(self._held)) if self._clear else None
        self._held.clear()
        self._clear = True
        return text


FIRST_S, MORE_S = 0.1, 0.02  # for the first byte, and after each piece
_MOST = 64 << 10


@dataclass(frozen=True, slots=True)
class Peeked:
    """What was there. `taken` must still be given to the agent; a file was put back to where it stood."""

    seen: bytes = b""
    taken: bytes = b""
    whole: bool = False  # nothing follows


def peek(descriptor: int = 0, first_s: float = FIRST_S) -> Peeked:
    """What can be read at once, up to the first 64 KiB; a program that speaks only later is not waited for."""
    try:
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        read = os.pread(descriptor, _MOST, start)
        return Peeked(read, whole=len(read) < _MOST)
    except OSError:
        pass  # a pipe or a socket
    got, whole = b"", False
    until = surroundings.monotonic() + first_s
    while len(got) < _MOST:
        left = max(0.0, until - surroundings.monotonic())
        try:
            if not select.select([descriptor], [], [], left)[0]:
                break
            piece = os.read(descriptor, _MOST - len(got))
        except (OSError, ValueError):
            break
        if not piece:
            whole = True
            break
        got += piece
        until = surroundings.monotonic() + MORE_S
    return Peeked(got, got, whole)
