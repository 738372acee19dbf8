"""Configuration files by their format: reading them, adding our entries, taking them out.

Whatever an edit made is read again and compared with what it should mean. A text that does not pass is not returned:
better no installation than a damaged file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from codexmem.agents.install import jsonc, toml_text
from codexmem.agents.install.entries import Element, Entry, is_complete, ours_at, with_entries, without_entries

Form = Literal["json", "toml"]


class UneditableFile(ValueError):
    """The file cannot be edited; says what is wrong with it. It was not touched."""


def value_of(form: Form, text: str) -> dict[str, object]:
    """What the text means; Refused if it is malformed."""
    try:
        value = toml_text.value_of(text) if form == "toml" else jsonc.value_of(text)
    except (toml_text.MalformedToml, jsonc.MalformedJsonc) as error:
        raise UneditableFile(str(error)) from None
    if not isinstance(value, dict):
        raise UneditableFile("line 1, column 1: an object was expected")
    return value


def edited(form: Form, text: str, entries: Sequence[Entry]) -> str:
    """The text with exactly these entries of ours; the same text if it has them already."""
    if is_complete(value_of(form, text), entries):
        return text
    return _added(form, stripped(form, text, entries), entries)


def stripped(form: Form, text: str, entries: Sequence[Entry], kept: Any = None) -> str:
    """The text without anything of ours. Containers that `kept` has, what was there before us, stay though empty."""
    value = value_of(form, text)
    paths = list(ours_at(value, entries, kept))
    if not paths:
        return text
    wanted = without_entries(value, entries, kept)
    if form == "toml":
        try:
            return toml_text.cut(text, paths, wanted)
        except toml_text.MalformedToml as error:
            raise UneditableFile(str(error)) from None
    for path in paths:
        text = jsonc.remove(text, path)
    return _checked(form, text, wanted)


def _added(form: Form, text: str, entries: Sequence[Entry]) -> str:
    value = value_of(form, text)
    try:
        wanted = with_entries(value, entries)
        if form == "toml":
            made = toml_text.added(text, entries)
        else:
            made = text
            for entry in entries:
                if isinstance(entry, Element):
                    made = jsonc.append(made, entry.path, entry.value)
                elif not (entry.shared and _has(value, entry)):
                    made = jsonc.insert(made, entry.path, entry.value)
    except ValueError as error:  # something of another kind stands in the way
        raise UneditableFile(str(error)) from None
    return _checked(form, made, wanted)


def _has(value: Any, entry: Entry) -> bool:
    for name in entry.path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True


def _checked(form: Form, made: str, wanted: Any) -> str:
    if value_of(form, made) != wanted:
        raise UneditableFile("it is laid out in a way that cannot be edited without changing what it means")
    return made
