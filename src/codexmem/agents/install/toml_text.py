"""TOML, edited with what is not ours left to the byte.

Our entries go to the end of the file as tables of their own, so that the person's text is the beginning of the new one.
Where the person has written a list or a table in one line, TOML allows no such addition; tomlkit puts ours in place.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Table

from codexmem.agents.install.entries import Element, Entry, Member, with_entries

Place = tuple[str | int, ...]


class MalformedToml(ValueError):
    """The text is not TOML."""


def value_of(text: str) -> dict[str, object]:
    """What the text means."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise MalformedToml(str(error)) from None


def added(text: str, entries: Sequence[Entry]) -> str:
    """The text with our entries, which it has none of yet."""
    wanted = with_entries(value_of(text), entries)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    made = text + gap + _block(entries).replace("\n", newline)
    try:
        if tomllib.loads(made.removeprefix("\ufeff")) == wanted:
            return made
    except ValueError:
        pass
    return _in_place(text, entries)


def cut(text: str, paths: Sequence[Place], wanted: Any) -> str:
    """The text without what stands at these paths, which then means what is wanted; Malformed if that cannot be.

    Tables with a heading of their own are cut as lines. tomlkit does the rest; it cannot cut from a list whose tables
    stand apart in the file.
    """
    for way in (_without_sections, _without):
        try:
            made = way(text, paths)
            if value_of(made) == wanted:
                return made
        except (ValueError, KeyError, IndexError, TypeError, TOMLKitError):
            continue
    raise MalformedToml("it is laid out in a way that cannot be edited without changing what it means")


def _without_sections(text: str, paths: Sequence[Place]) -> str:
    kept: list[str] = []
    counts: dict[Place, int] = {}
    dropping = False
    for line in text.splitlines(keepends=True):
        heading = _heading(line)
        if heading is not None:
            names, is_list = heading
            here = _place(names, counts, is_list=is_list)
            dropping = any(here[: len(path)] == tuple(path) for path in paths)
        # Among our lines there is no comment; one that stands there is the person's.
        if not dropping or line.lstrip().startswith("#"):
            kept.append(line)
    return "".join(kept)


def _heading(line: str) -> tuple[tuple[str, ...], bool] | None:
    """The names in a table's heading, and whether the table is one of a list."""
    if not line.lstrip().startswith("["):
        return None
    try:
        value: Any = tomllib.loads(line)
    except ValueError:
        return None
    names = []
    while isinstance(value, dict) and value:
        ((name, value),) = value.items()
        names.append(name)
    return tuple(names), isinstance(value, list)


def _place(names: tuple[str, ...], counts: dict[Place, int], *, is_list: bool) -> Place:
    """Where a table stands; of a list, names mean its last table so far."""
    here: Place = ()
    for depth, name in enumerate(names):
        here = (*here, name)
        if is_list and depth == len(names) - 1:
            counts[here] = counts.get(here, -1) + 1
        if here in counts:
            here = (*here, counts[here])
    return here


def _without(text: str, paths: Iterable[Sequence[str | int]]) -> str:
    document = tomlkit.parse(text)
    for path in paths:
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
    return tomlkit.dumps(document)


def _block(entries: Sequence[Entry]) -> str:
    document = tomlkit.document()
    for entry in entries:
        _put(document, entry)
    return tomlkit.dumps(document)


def _in_place(text: str, entries: Sequence[Entry]) -> str:
    try:
        document = tomlkit.parse(text)
        for entry in entries:
            _put(document, entry)
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise MalformedToml(str(error)) from None


def _put(document: Any, entry: Entry) -> None:
    holder = document
    for name in entry.path[:-1]:
        if name not in holder:
            holder[name] = tomlkit.inline_table() if isinstance(holder, InlineTable) else tomlkit.table(True)
        holder = holder[name]
    last = entry.path[-1]
    if isinstance(entry, Member):
        if not entry.shared or last not in holder:
            made = _inline if isinstance(holder, InlineTable) else _table
            holder[last] = made(entry.value) if isinstance(entry.value, dict) else entry.value
        return
    assert isinstance(entry, Element)
    if last not in holder:
        holder[last] = tomlkit.array() if isinstance(holder, InlineTable) else tomlkit.aot()
    listed = holder[last]
    listed.append(_table(entry.value) if isinstance(listed, AoT) else _inline(entry.value))


def _table(value: Mapping[str, object]) -> Table:
    """Plain values first: what follows a table belongs to it."""
    made = tomlkit.table()
    for name, each in sorted(value.items(), key=lambda pair: _is_tables(pair[1])):
        if isinstance(each, list) and _is_tables(each):
            listed = tomlkit.aot()
            for table in each:
                listed.append(_table(table))
            made[name] = listed
        else:
            made[name] = each
    return made


def _inline(value: Any) -> Any:
    """The same on one line."""
    if isinstance(value, dict):
        made = tomlkit.inline_table()
        made.update({name: _inline(each) for name, each in value.items()})
        return made
    if isinstance(value, list):
        listed = tomlkit.array()
        listed.extend(map(_inline, value))
        return listed
    return value


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
