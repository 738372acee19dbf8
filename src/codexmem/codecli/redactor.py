"""The one thing the wrapper masks texts with: the level that was chosen, the user's patterns, the keys it knows.

It is for what is stored, logged or sent. What passes between a person and an agent is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codexmem.codecli.patterns import Patterns
from codexmem.kernel.model import redaction


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
