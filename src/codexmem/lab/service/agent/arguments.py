"""Arguments that a model wrote for a tool: read once, checked, and refused in words that help the model."""

import json
from typing import Any

from codexmem.kernel.llm.clip import clean

MAX_CHARS = 20_000


class Unusable(Exception):
    """A call that cannot be executed, and why, in words for the model."""


class CallArguments:
    """The arguments of one call."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARS:
            raise Unusable(f"the arguments have more than {MAX_CHARS:,} characters")
        try:
            given = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError):
            raise Unusable("the arguments are not one JSON object") from None
        if not isinstance(given, dict):
            raise Unusable("the arguments are not one JSON object")
        self._given: dict[str, Any] = given

    def text(self, name: str, most: int) -> str:
        """A text that must be there."""
        found = self.optional(name, most)
        if not found:
            raise Unusable(f"{name} must be a text that is not empty")
        return found

    def optional(self, name: str, most: int) -> str:
        """A text, or nothing."""
        found = self._given.get(name)
        if found is None:
            return ""
        if not isinstance(found, str):
            raise Unusable(f"{name} must be a text")
        return clean(found, most)

    def one_of(self, name: str, known: tuple[str, ...], default: str = "") -> str:
        """One of some names; the default, or the only one there is, if none is given."""
        found = self._given.get(name)
        if found is None and (default or len(known) == 1):
            return default or known[0]
        if not isinstance(found, str) or found not in known:
            raise Unusable(f"{name} must be one of: {', '.join(known)}")
        return found

    def count(self, name: str, default: int, most: int) -> int:
        """A number from 1 on; more than the most means the most."""
        found = self._given.get(name)
        if found is None:
            return default
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise Unusable(f"{name} must be a whole number from 1 to {most}")
        return min(found, most)

    def texts(self, name: str, most: int, each_most: int) -> tuple[str, ...]:
        """A list of texts; one text alone counts as such."""
        found = self._given.get(name, [])
        found = [found] if isinstance(found, str) else found
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise Unusable(f"{name} must be a list of texts")
        return tuple(text for each in found[:most] if (text := clean(each, each_most)))
