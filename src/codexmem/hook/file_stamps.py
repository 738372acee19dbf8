"""Which content the files of a tool call have, for memories that rest on it: `file_blobs` says what a stamp is.

Only files of the checkout that the agent works in are looked at, regular ones up to a mebibyte and few of them, so that
a call costs a fraction of a millisecond. Content never leaves the machine, only its digest; a file that is there to
hold secrets has not even that.
"""

from __future__ import annotations

import os

from codexmem.kernel.model import file_blobs, project, redaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

MOST = 8  # files of one call
_TRIED = 24  # names of files that are looked for
_WORDS = 200  # of a command line
_COMMANDS = ("command", "cmd", "script")
_PATCHES = ("patch", "patchText", "diff", "input", *_COMMANDS)
_LISTS = ("paths", "file_paths")
_NEW = ("new_string", "newString", "new_str", "new_text", "new_source")
_HEADERS = ("*** Add File: ", "*** Update File: ", "*** Move to: ", "+++ b/")
_APART = str.maketrans(dict.fromkeys("\"'`;|&<>()=,", " "))
_BLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def stamps(record: Mapping[str, object], read: Callable[[str], str | None]) -> list[str]:
    """The stamps of the files that this tool call names; none outside of a checkout."""
    given, cwd = record.get("tool_input"), str(record.get("cwd") or "")
    if not cwd or not isinstance(given, dict | str):
        return []
    wanted: dict[str, list[Any]] = {}
    for path, passages in _named(given, record.get("tool_response")):
        wanted.setdefault(path, []).extend(passages)
        if len(wanted) >= _TRIED:
            break
    tree = project.working_tree(cwd, read) if wanted else None
    if tree is None:
        return []
    found: dict[str, str] = {}
    for path, passages in wanted.items():
        inside = _inside(path, cwd, tree[0])
        if inside and inside not in found and not redaction.is_secret_file(inside):
            content = _content(f"{tree[0]}/{inside}")
            if content is not None:
                found[inside] = _stamp(inside, content, passages)
        if len(found) >= MOST:
            break
    return [text for text in found.values() if len(text) <= file_blobs.MAX_STAMP]


def _stamp(path: str, content: bytes, passages: list[Any]) -> str:
    kept = file_blobs.as_stored(content) if passages else content
    places = [each if isinstance(each, tuple) else _place(kept, each) for each in passages[: file_blobs.MAX_PASSAGES]]
    return str(file_blobs.stamp_of(path, content, [each for each in places if each[1]]))


def _place(content: bytes, text: str) -> tuple[int, int]:
    """First line and number of lines of a text in the file; nothing if it is not there."""
    sought = text.replace("\r\n", "\n").strip("\n").encode("utf-8", "replace")
    at = content.find(sought) if sought else -1
    return (content.count(b"\n", 0, at) + 1, sought.count(b"\n") + 1) if at >= 0 else (0, 0)


def _named(given: dict[str, Any] | str, response: Any) -> Iterator[tuple[str, list[Any]]]:
    """The names of files in a call, each with the passages that it is about.

    One that was written is a text, one that was read its first line and the number of lines.
    """
    if isinstance(given, str):
        yield from _in_text(given)
        return
    name = next((given[each] for each in file_blobs.PATH_FIELDS if _is_text(given.get(each))), "")
    if not name and isinstance(response, dict):
        name = next((response[each] for each in ("filePath", "file_path") if _is_text(response.get(each))), "")
    if name:
        yield name, [*_written(given), *_lines_read(given)]
    for field in _LISTS:
        if isinstance(given.get(field), list):
            yield from ((each, []) for each in given[field] if _is_text(each))
    for field in _PATCHES:
        value = given.get(field)
        if isinstance(value, list):
            value = " ".join(each for each in value if isinstance(each, str))
        if isinstance(value, str) and value.strip():
            yield from _in_text(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _written(given: dict[str, Any]) -> Iterator[str]:
    several = given.get("edits")
    for each in several if isinstance(several, list) else [given]:
        if isinstance(each, dict):
            yield from (each[name] for name in _NEW if _is_text(each.get(name)))


def _lines_read(given: dict[str, Any]) -> Iterator[tuple[int, int]]:
    first, count = given.get("offset"), given.get("limit")
    if type(first) is not int and type(given.get("start_line")) is int and type(given.get("end_line")) is int:
        first, count = given["start_line"], given["end_line"] - given["start_line"] + 1
    if type(count) is int and 0 < count <= file_blobs.MAX_LINES:
        yield (first if type(first) is int else 1), count


def _in_text(text: str) -> Iterator[tuple[str, list[Any]]]:
    """The files of a patch, with what it added; else the words of a command that may be files."""
    if "*** Begin Patch" in text or "\n+++ b/" in text or text.startswith("+++ b/"):
        yield from _patched(text)
        return
    folder = before = ""
    for word in text[:20_000].translate(_APART).split()[:_WORDS]:
        place = word if word.startswith("/") else folder + word
        if before == "cd":
            folder = place.rstrip("/") + "/"
        elif ("." in word or "/" in word) and not word.startswith("-") and "://" not in word:
            yield place, []
        before = word


def _patched(text: str) -> Iterator[tuple[str, list[Any]]]:
    name, passages, added = "", [], []
    for line in [*text.splitlines(), "*** End"]:
        header = next((each for each in _HEADERS if line.startswith(each)), "")
        if line.startswith("+") and not header:
            added.append(line[1:])
            continue
        if added:
            passages.append("\n".join(added))
            added = []
        if header or line == "*** End":
            if name:
                # The longest say most about where the change stands.
                yield name, sorted(passages, key=len, reverse=True)[: file_blobs.MAX_PASSAGES]
            if header != "*** Move to: ":
                passages = []
            name = line[len(header) :].partition("\t")[0].strip() if header else ""


def _inside(path: str, cwd: str, root: str) -> str:
    """The path as seen from the root; empty if it is elsewhere."""
    path = path.strip().removeprefix("file://")
    whole = os.path.normpath(os.path.join(cwd, path))
    top = root.rstrip("/") + "/"
    if os.sep != "/":
        whole = whole.replace(os.sep, "/")
    if not whole.startswith(top):
        # One of the two may be spelled by way of a link.
        whole, top = os.path.realpath(whole), os.path.realpath(root) + "/"
        if not whole.startswith(top):
            return ""
    inside = whole[len(top) :]
    return inside if file_blobs.is_inside(inside) else ""


def _content(path: str) -> bytes | None:
    """What is in a regular file; None for anything else, and for one that is too large."""
    try:
        file = os.open(path, os.O_RDONLY | _BLOCKING)
    except (OSError, ValueError):
        return None
    try:
        seen = os.fstat(file)
        if seen.st_mode & 0o170000 != 0o100000 or seen.st_size > file_blobs.MAX_BYTES:
            return None
        content = os.read(file, file_blobs.MAX_BYTES + 1)
        return content if len(content) == seen.st_size else None
    except OSError:
        return None
    finally:
        os.close(file)
