"""One large JSON object, entry by entry: memory for the largest entry, not for the file."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from codexmem.lab.service.documents.document import Check, UnreadError

MAX_ENTRY = 8 << 20  # characters
_BLOCK = 1 << 18  # bytes read at a time
_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def entries(file: IO[bytes], check: Check) -> Iterator[tuple[str, Any]]:
    """The names and values of the object that the file holds; UnreadError for anything else."""
    text = _Text(file, check)
    if text.next() != "{":
        raise UnreadError("it is no JSON object")
    text.skip()
    if text.next() == "}":
        return
    while True:
        name = text.value()
        if not isinstance(name, str) or text.next() != ":":
            raise UnreadError("it is no JSON object")
        text.skip()
        yield name, text.value()
        mark = text.next()
        text.skip()
        if mark == "}":
            return
        if mark != ",":
            raise UnreadError("its JSON is broken or cut off")


class _Text:
    """What was read and not yet used."""

    def __init__(self, file: IO[bytes], check: Check) -> None:
        self._file = file
        self._check = check
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._ended = False

    def next(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            self._at = _end(_SPACE.match(self._buffer, self._at), self._at)
            if self._at < len(self._buffer) or not self._more(_BLOCK):
                return self._buffer[self._at : self._at + 1]

    def skip(self) -> None:
        """Past one character."""
        self._at += 1

    def value(self) -> Any:
        """The next value."""
        self.next()
        size = _BLOCK
        while True:
            try:
                found, end = _decode(self._buffer, self._at)
                # What reaches the end of what was read may go on behind it.
                if end < len(self._buffer) or self._ended:
                    self._at = end
                    return found
            except (ValueError, RecursionError) as error:
                if self._ended or isinstance(error, RecursionError):
                    raise UnreadError("its JSON is broken or cut off") from None
            if len(self._buffer) - self._at > MAX_ENTRY:
                raise UnreadError(f"one of its entries has more than {MAX_ENTRY:,} characters")
            self._more(size)
            size *= 2  # so that a large entry is tried a few times only

    def _more(self, size: int) -> bool:
        """Read on; False at the end."""
        self._check()
        raw = self._file.read(size)
        self._ended = not raw
        try:
            added = self._bytes.decode(raw, final=self._ended)
        except UnicodeDecodeError:
            raise UnreadError("it is not JSON in UTF-8") from None
        self._buffer, self._at = self._buffer[self._at :] + added, 0
        return not self._ended


def _end(match: "re.Match[str] | None", at: int) -> int:
    return match.end() if match is not None else at
