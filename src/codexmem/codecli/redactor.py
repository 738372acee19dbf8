"""What else a person wants masked: the patterns of `redact.patterns`, in RE2's syntax.

They are somebody else's, so they run on an engine whose time is linear for every pattern. It is a library of its own
(`google-re2`) that is loaded only where there are patterns. A text is searched in stretches of whole lines: finding
*every* match of a bad pattern can take a look at the rest of the stretch for each one, and so a pattern that matches
too often masks the rest of its stretch. What is masked already is left as it is.

The one thing the wrapper masks texts with: the level that was chosen, the user's patterns, the keys it knows.

It is for what is stored, logged or sent. What passes between a person and an agent is never changed.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from codexmem.installation import install_command
from codexmem.kernel.model import redaction
from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.model.redaction import masked

MOST = 100  # patterns
LONGEST = 1_000  # characters of one
_STRETCH = 1 << 14  # bytes that are searched at once; a match does not reach beyond
_MATCHES = 250  # of one pattern in one stretch
_MASK = masked("pattern").encode()


class Patterns:
    """Patterns, ready to be used."""

    def __init__(self, written: Sequence[str]) -> None:
        """Refuses a pattern that RE2 does not know, that is too long or that matches the empty text."""
        if len(written) > MOST:
            raise InvalidArgument(
                f"redact.patterns has {len(written)} patterns; {MOST} are allowed",
                hint="join some of them with |",
                details={"reason": "too_many_patterns", "count": len(written), "most": MOST},
            )
        self._compiled = [_compiled(each) for each in written]

    def redact(self, text: str) -> str:
        """The text with everything masked that a pattern matches. Linear in its length."""
        if not self._compiled or not text:
            return text
        whole = text.encode("utf-8", "surrogatepass")
        for pattern in self._compiled:
            whole = b"".join(part if is_mask else _masked(part, pattern) for part, is_mask in _parts(whole))
        return whole.decode("utf-8", "surrogatepass")

    def redact_value(self, value: Any) -> Any:
        """A JSON value with this done to its strings and keys; its depth is bounded by whoever redacted it before."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return {self.redact(str(key)): self.redact_value(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_value(each) for each in value]
        return value


def _compiled(written: str) -> Any:
    try:
        re2: Any = importlib.import_module("re2")
    except ImportError as error:
        raise Unavailable(
            "redact.patterns needs the library google-re2, which is not installed",
            hint=f"install it with: {install_command('patterns')}, or remove redact.patterns",
            details={"reason": "no_re2"},
        ) from error
    options = re2.Options()
    options.log_errors = False  # it would write them to standard error
    options.never_capture = True
    problem = "it is longer than 1,000 characters" if len(written) > LONGEST else ""
    compiled = None
    if not problem:
        try:
            compiled = re2.compile(written, options=options)
        except (re2.error, UnicodeError) as error:
            said = error.args[0] if error.args else "it cannot be read"
            problem = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    if compiled is not None and compiled.match(b""):
        problem = "it matches the empty text"
    if problem:
        raise InvalidArgument(
            f"redact.patterns: {written[:80]!r} is not a usable RE2 pattern: {problem}",
            hint="the syntax is at https://github.com/google/re2/wiki/Syntax; there is no look-ahead and no \\1",
            details={"reason": "bad_pattern", "pattern": written[:80], "problem": problem},
        )
    return compiled


def _parts(whole: bytes) -> Iterator[tuple[bytes, bool]]:
    """What is masked already, and the stretches of lines between."""
    place = 0
    while place < len(whole):
        mask = whole.find(b"[REDACTED:", place)
        stop = mask if mask >= 0 else len(whole)
        while place < stop:
            end = min(place + _STRETCH, stop)
            if end < stop:
                end = max(whole.rfind(b"\n", place, end) + 1, 0) or _between_letters(whole, end)
            yield whole[place:end], False
            place = end
        if mask >= 0:
            close = whole.find(b"]", mask, mask + 64)
            place = close + 1 if close >= 0 else mask + 10
            yield whole[mask:place], True


def _between_letters(whole: bytes, end: int) -> int:
    """Here or a little before, where no letter of several bytes is cut."""
    while whole[end] & 0xC0 == 0x80:
        end -= 1
    return end


def _masked(stretch: bytes, pattern: Any) -> bytes:
    pieces: list[bytes] = []
    place = 0
    for count, match in enumerate(pattern.finditer(stretch)):
        begin, end = match.span()
        if begin == end:
            continue
        pieces += [stretch[place:begin], _MASK]
        place = end
        if count >= _MATCHES:
            return b"".join([*pieces, _MASK]) if place < len(stretch) else b"".join(pieces)
    return b"".join([*pieces, stretch[place:]])


class Redactor:
    """Masks texts and JSON values by one level."""

    def __init__(self, level: str = "basic", patterns: Sequence[str] = (), known: Sequence[str] = ()) -> None:
        """Refuses patterns that cannot be used; with the level `off` they are not even read. `known` are secrets."""
        self.level = level
        self._known = tuple(known)
        self._patterns = Patterns(patterns) if patterns and level != "off" else None

    def text(self, text: str) -> str:
        """The text, masked."""
        made = redaction.redact(text, self._known, self.level)
        return self._patterns.redact(made) if self._patterns else made

    def value(self, value: Any) -> Any:
        """The JSON value, masked."""
        made = redaction.redact_value(value, self._known, self.level)
        return self._patterns.redact_value(made) if self._patterns else made
