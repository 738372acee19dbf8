"""JSON with comments, edited as text: what is not ours stays to the byte, comments and layout included.

Reads what agents read: JSON, `//` and `/* */` comments, commas before a closing bracket. It finds where each value
stands; an edit inserts or cuts text there. Whether the result means what was intended is checked by whoever asked for
it, with `value_of`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_MAX_DEPTH = 200
_SPACE = " \t\r\n"
_WIDTH = 120
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')


class MalformedJsonc(ValueError):
    """The text is not JSON, not even with comments."""


@dataclass(slots=True)
class JsoncNode:
    """A value and where it stands: `text[start:end]`."""

    start: int
    end: int
    value: Any
    children: list[JsoncMember] = field(default_factory=list)


@dataclass(slots=True)
class JsoncMember:
    """What a container holds, from the beginning of its key."""

    key: str | int
    start: int
    node: JsoncNode
    comma: int | None = None  # after it


def value_of(text: str, *, comments: bool = True, commas: bool = True) -> Any:
    """What the text means; empty text is an empty object. Malformed says where it is not JSON.

    Without `comments`, or `commas` before a closing bracket, it is read as an agent reads it whose parser takes none.
    """
    return parse(text, comments=comments, commas=commas).value if text.strip() else {}


def parse(text: str, *, comments: bool = True, commas: bool = True) -> JsoncNode:
    """The whole document."""
    reader = _Reader(text, comments=comments, commas=commas)
    try:
        node = reader.value(reader.space(0), 0)
        at = reader.space(node.end)
    except IndexError:
        raise MalformedJsonc(reader.where(len(text), "it ends too early")) from None
    if at != len(text):
        raise MalformedJsonc(reader.where(at, "something follows the end"))
    return node


def insert(text: str, path: Sequence[str], value: Any) -> str:
    """Put a member at this path, where there is none yet; missing objects on the way are made."""
    if not text.strip():
        text = "{}" + (text or "\n")
    node, rest = _reached(parse(text), path)
    if not isinstance(node.value, dict) or not rest:
        raise MalformedJsonc(f"{'.'.join(path[: len(path) - len(rest)])} is not an object")
    for name in reversed(rest[1:]):
        value = {name: value}
    return _inserted(text, node, rest[0], value)


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Put one more element into the list at this path, which is made if there is none."""
    node, rest = _reached(parse(text), path) if text.strip() else (None, path)
    if node is None or rest:
        return insert(text, path, [value])
    if not isinstance(node.value, list):
        raise MalformedJsonc(f"{'.'.join(path)} is not a list")
    return _inserted(text, node, None, value)


def remove(text: str, path: Sequence[str | int]) -> str:
    """Cut the member or element at this path."""
    holder, _ = _reached(parse(text), path[:-1])
    place = next(number for number, child in enumerate(holder.children) if child.key == path[-1])
    child = holder.children[place]
    begin = len(text[: child.start].rstrip(_SPACE))
    if len(holder.children) == 1:
        end = child.node.end if child.comma is None else child.comma + 1
        inside = text[holder.start + 1 : begin] + text[end : holder.end - 1]
        return text[: holder.start + 1] + (inside if inside.strip(_SPACE) else "") + text[holder.end - 1 :]
    if child.comma is not None:
        return text[:begin] + text[child.comma + 1 :]
    before = holder.children[place - 1].comma
    assert before is not None
    return text[:before] + text[before + 1 : begin] + text[child.node.end :]


def _reached(node: JsoncNode, path: Sequence[str | int]) -> tuple[JsoncNode, list[Any]]:
    """As far as the path exists, and what is left of it. Of a key that is there twice the last one counts."""
    for depth, key in enumerate(path):
        found = next((child.node for child in reversed(node.children) if child.key == key), None)
        if found is None:
            return node, list(path[depth:])
        node = found
    return node, []


def _inserted(text: str, holder: JsoncNode, key: str | None, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    close = holder.end - 1
    unit = _unit(text)
    outer = _indent(text, holder.start)
    spread = newline[-1] in text[holder.start : close] or not holder.children
    inner = outer + unit
    if holder.children and spread and newline[-1] in text[holder.start : holder.children[0].start]:
        inner = _indent(text, holder.children[0].start)
    said = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    said += _rendered(value, inner, unit, newline, len(inner) + len(said)) if spread else _line(value)
    lead = newline + inner if spread else " "
    if not holder.children:
        at = len(text[:close].rstrip(_SPACE))
        tail = "" if newline[-1] in text[at:close] else newline + outer
        return text[:at] + lead + said + tail + text[at:]
    last = holder.children[-1]
    after = last.node.end if last.comma is None else last.comma + 1
    # Behind a comment that belongs to what was last so far.
    at = max(after, len(text[:close].rstrip(_SPACE)))
    if last.comma is not None:
        return text[:at] + lead + said + "," + text[at:]
    return text[:after] + "," + text[after:at] + lead + said + text[at:]


def _rendered(value: Any, indent: str, unit: str, newline: str, used: int) -> str:
    """A value on one line if it fits there, else with its parts on lines of their own."""
    line = _line(value)
    if used + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + unit
    keys = [f"{_line(name)}: " for name in value] if isinstance(value, dict) else [""] * len(value)
    parts = value.values() if isinstance(value, dict) else value
    lines = [
        inner + key + _rendered(part, inner, unit, newline, len(inner) + len(key) + 1)
        for key, part in zip(keys, parts, strict=True)
    ]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return newline.join([opening, f",{newline}".join(lines), indent + closing])


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unit(text: str) -> str:
    """What one level is indented by."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _indent(text: str, at: int) -> str:
    """What the line of this place begins with."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


class _Reader:
    """Recursive descent over one text."""

    def __init__(self, text: str, *, comments: bool, commas: bool) -> None:
        self._text = text
        self._comments = comments
        self._commas = commas

    def where(self, at: int, problem: str) -> str:
        """A problem with its line and column."""
        line = self._text.count("\n", 0, at) + 1
        return f"line {line}, column {at - self._text.rfind(chr(10), 0, at)}: {problem}"

    def space(self, at: int) -> int:
        """Past white space and comments."""
        text = self._text
        while at < len(text):
            if text[at] in _SPACE or (at == 0 and text[at] == "\ufeff"):
                at += 1
            elif not self._comments and text.startswith(("//", "/*"), at):
                raise MalformedJsonc(self.where(at, "a comment, which the agent's parser does not take"))
            elif text.startswith("//", at):
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                if end < 0:
                    raise MalformedJsonc(self.where(at, "a comment does not end"))
                at = end + 2
            else:
                break
        return at

    def value(self, at: int, depth: int) -> JsoncNode:
        """The value that begins here."""
        if depth > _MAX_DEPTH:
            raise MalformedJsonc(self.where(at, "nested too deeply"))
        if self._text[at] in "{[":
            return self._container(at, depth)
        return self._scalar(at)

    def _scalar(self, at: int) -> JsoncNode:
        found = _SCALAR.match(self._text, at)
        try:
            if found is not None:
                return JsoncNode(at, found.end(), json.loads(found.group()))
        except ValueError:
            pass
        raise MalformedJsonc(self.where(at, "a value was expected"))

    def _container(self, at: int, depth: int) -> JsoncNode:
        text, is_object = self._text, self._text[at] == "{"
        close = "}" if is_object else "]"
        children: list[JsoncMember] = []
        name: str | int
        start, at = at, self.space(at + 1)
        while text[at] != close:
            if children and children[-1].comma is None:
                raise MalformedJsonc(self.where(at, f"a comma or {close} was expected"))
            begin, name = at, len(children)
            if is_object:
                if text[at] != '"':
                    raise MalformedJsonc(self.where(at, "a key in quotes was expected"))
                said = self._scalar(at)
                name, at = said.value, self.space(said.end)
                if text[at] != ":":
                    raise MalformedJsonc(self.where(at, "a colon was expected"))
                at = self.space(at + 1)
            child = JsoncMember(name, begin, self.value(at, depth + 1))
            at = self.space(child.node.end)
            if text[at] == ",":
                child.comma, at = at, self.space(at + 1)
            children.append(child)
        if children and children[-1].comma is not None and not self._commas:
            raise MalformedJsonc(
                self.where(children[-1].comma, "a comma before the end, which the agent's parser does not take")
            )
        value: Any = dict(_pairs(children)) if is_object else [child.node.value for child in children]
        return JsoncNode(start, at + 1, value, children)


def _pairs(children: list[JsoncMember]) -> Iterator[tuple[str, Any]]:
    for child in children:
        yield str(child.key), child.node.value
