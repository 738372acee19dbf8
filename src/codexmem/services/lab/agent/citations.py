"""Citations in an answer: `[C12]` for a piece of the knowledge base, `mem:<id>` for a lesson.

A pair of brackets may hold several, of either sort, apart by commas or semicolons; Chinese brackets count as well. A
bare C12 is no citation: it may be a chain of carbon atoms.
"""

import re
from collections.abc import Iterator
from typing import Any

_BRACKETS = re.compile(r"[\[【]([^\[\]【】]{1,400})[\]】]")
_APART = re.compile(r"[\s,;，；、]+")  # noqa: RUF001
_ALIAS = re.compile(r"C[0-9]{1,9}")
# An id ends where a sentence, a bracket or a list goes on.
_LESSON = re.compile(r"(?<![\w])mem:([^\s\[\]【】()（）,，;；。、!！?？\"'“”]{1,200})")  # noqa: RUF001


def aliases(value: Any) -> list[str]:
    """Every piece that is cited anywhere in the value, by its number."""
    found = {
        part
        for text in _texts(value)
        for group in _BRACKETS.findall(text)
        for part in _APART.split(group)
        if _ALIAS.fullmatch(part)
    }
    return sorted(found, key=lambda alias: (int(alias[1:]), alias))


def lessons(value: Any) -> list[str]:
    """The id of every lesson that is cited anywhere in the value, in order of appearance."""
    found = (match.rstrip(".:*_`<>") for text in _texts(value) for match in _LESSON.findall(text))
    return list(dict.fromkeys(each or "?" for each in found))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += reversed(each.values())
        elif isinstance(each, list):
            waiting += reversed(each)
