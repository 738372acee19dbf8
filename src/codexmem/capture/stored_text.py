"""Texts of others in the form in which a memory keeps them: without secrets, and not too long for their place."""

from collections.abc import Iterable

from codexmem.kernel.model import redaction
from codexmem.kernel.model.memory import MAX_LABEL, MAX_TITLE


def stored_line(text: str) -> str:
    """On one line, as a title is."""
    return " ".join(redaction.redact(text).split())[:MAX_TITLE]


def stored_labels(values: Iterable[str]) -> tuple[str, ...]:
    """Each once, without those that no index could hold."""
    return tuple(dict.fromkeys(value for value in values if value and len(value) <= MAX_LABEL))
