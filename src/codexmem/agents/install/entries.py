"""What we put into a configuration file, as values: members and elements of lists.

Here is said what a file means with and without our entries; the formats change its text, and what they made is compared
with this before anything is written. An entry is ours by what it says, not by where it stands, so that entries written
by hand from our own guide are known as well and never doubled.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Path = tuple[str, ...]
_MARKS = ("codexmem-hook", "codexmem hook ", "codexmem.hook", "codexmem.cli hook ")
_WHOLE = frozenset(("mcp__codexmem", "mcp__codexmem__*"))
_LISTS_IN = ("hooks", "permissions", "permission")  # elsewhere, texts that name our hook are somebody's own words
_INNER = "hooks"  # a group of hooks holds them under this name


class EntryMismatch(ValueError):
    """Something of the person's stands where our entry belongs, and is of another kind."""


@dataclass(frozen=True, slots=True)
class Member:
    """A key with its value. Whatever has this key is ours, unless it is `shared`: then it is only to be there."""

    path: Path
    value: Any
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """One of the elements of a list that others use too."""

    path: Path
    value: Any


Entry = Member | Element


def is_ours(value: Any) -> bool:
    """Whether our hook is called anywhere in it."""
    return any(text in _WHOLE or any(mark in text for mark in _MARKS) for text in _texts(value))


def is_complete(document: Any, entries: Sequence[Entry]) -> bool:
    """Whether the document says all this, and nothing else that is ours."""
    return all(_has(document, entry) for entry in entries) and _ours_in_lists(document) == [
        entry.value for entry in sorted((e for e in entries if isinstance(e, Element)), key=lambda e: e.path)
    ]


def with_entries(document: Any, entries: Sequence[Entry]) -> Any:
    """The document with our entries added; it has none of them yet. Unfit says what is in the way."""
    made = copy.deepcopy(document)
    for entry in entries:
        holder = made
        for depth, name in enumerate(entry.path[:-1]):
            holder = _object(holder.setdefault(name, {}), entry.path[: depth + 1])
        last = entry.path[-1]
        if isinstance(entry, Element):
            found = holder.setdefault(last, [])
            if not isinstance(found, list):
                raise EntryMismatch(f"{'.'.join(entry.path)} is not a list")
            found.append(copy.deepcopy(entry.value))
        elif not entry.shared or last not in holder:
            holder[last] = copy.deepcopy(entry.value)
    return made


def ours_at(document: Any, entries: Sequence[Entry], kept: Any = None) -> Iterator[tuple[str | int, ...]]:
    """Where our entries stand, in an order in which they can be cut one after the other.

    Containers that only held ours come after them, unless `kept`, what was there before us, has them too.
    """
    made = copy.deepcopy(document)
    for path in _found(made, entries):
        yield path
        _cut(made, path)
        for holder in (path[:depth] for depth in range(len(path) - 1, 0, -1)):
            if _at(made, holder) not in ({}, []) or _at(kept, holder) is not None:
                break
            yield holder
            _cut(made, holder)


def without_entries(document: Any, entries: Sequence[Entry], kept: Any = None) -> Any:
    """The document without anything of ours."""
    made = copy.deepcopy(document)
    for path in ours_at(document, entries, kept):
        _cut(made, path)
    return made


def _found(document: Any, entries: Sequence[Entry]) -> list[tuple[str | int, ...]]:
    members = [
        entry.path for entry in entries
        if isinstance(entry, Member) and not entry.shared and _at(document, entry.path) is not None
    ]  # fmt: skip
    # From the end, so that cutting one does not move the next.
    return [*members, *reversed([path for path, _ in _ours_listed(document)])]


def _ours_in_lists(document: Any) -> list[Any]:
    """Ours among the elements of lists, whole groups; part of a group counts as something else."""
    found: list[tuple[Path, Any]] = []
    for path, value in _ours_listed(document):
        found.append((tuple(map(str, path[:-1])), value))
    return [value for _, value in sorted(found, key=lambda each: each[0])]


def _ours_listed(document: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every element of ours in the lists that agents have hooks and permissions in."""
    for root in _LISTS_IN:
        below = _at(document, (root,))
        named: list[tuple[Path, Any]] = [((root,), below)]
        if isinstance(below, dict):
            named = [((root, name), value) for name, value in below.items()]
        for path, value in named:
            for number, each in enumerate(value if isinstance(value, list) else ()):
                if is_ours(each):
                    yield from _ours_in_group((*path, number), each)


def _ours_in_group(path: tuple[str | int, ...], value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The group itself, or ours in it if others are in it too."""
    inner = value.get(_INNER) if isinstance(value, dict) else None
    if isinstance(inner, list) and not all(map(is_ours, inner)):
        yield from (((*path, _INNER, number), each) for number, each in enumerate(inner) if is_ours(each))
    else:
        yield path, value


def _has(document: Any, entry: Entry) -> bool:
    found = _at(document, entry.path)
    if isinstance(entry, Element):
        return isinstance(found, list) and entry.value in found
    return found is not None if entry.shared else bool(found == entry.value)


def _object(value: Any, path: Path) -> dict[str, object]:
    if not isinstance(value, dict):
        raise EntryMismatch(f"{'.'.join(path)} is not a table of settings")
    return value


def _at(document: Any, path: Sequence[str | int]) -> Any:
    for key in path:
        try:
            document = document[key]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _cut(document: Any, path: Sequence[str | int]) -> None:
    del _at(document, path[:-1])[path[-1]]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
