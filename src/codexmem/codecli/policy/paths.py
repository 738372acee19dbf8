"""Which file a path names, in one spelling, so that a rule by path means what it says.

A path has up to two spellings: as written (absolute, without `.`, `..` and doubled slashes) and as the file system
resolves it, which the caller's `resolve` tells, because nothing here touches the disk. A rule that denies or asks
applies if either lies under its path, in any case of letters; one that allows only if both do, to the letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from codexmem.codecli.policy.names import glob

LONGEST = 4_096
_GLOB = frozenset("*?[")
# A process's own view of the files; the last of several is the one that counts.
_PROCESS = re.compile(r"(?:.*/)?proc/[^/]+(?:/task/[^/]+)?/(root|cwd)(/.*)?", re.DOTALL)

Resolve = Callable[[str], str]  # the absolute path behind links; as far as it exists; never raises


@dataclass(frozen=True, slots=True)
class Around:
    """Where paths are read from: what a relative one is relative to, whose home `~` is, and what links lead to."""

    cwd: str = ""
    home: str = ""
    resolve: Resolve | None = None


@dataclass(frozen=True, slots=True)
class FilePath:
    """A file or folder, by every spelling that is known."""

    spellings: tuple[str, ...]
    clear: bool  # False: nobody can be sure which file is meant
    written: str = ""


def read(text: str, around: Around) -> FilePath:
    """Which file this is; unclear without a folder to start from, or with signs that programs read differently."""
    whole = _absolute(text.removeprefix("file://"), around)
    odd = "\0" in text or "\\" in text or len(text) > LONGEST or any(unicodedata.category(c) == "Cs" for c in text)
    if whole is None:
        loose = text.replace("\\", "/")
        return FilePath(tuple({lexical(loose)} if loose.startswith("/") else ()), clear=False, written=text)
    spellings = {lexical(whole): None, lexical(whole.replace("\\", "/")): None}
    if around.resolve is not None and "\0" not in whole:
        spellings[lexical(around.resolve(whole))] = None
    # Links of the system that no other program can follow as this one would.
    for each in tuple(spellings):
        if (inside := _PROCESS.fullmatch(each)) is not None:
            odd |= inside[1] != "root"
            spellings[lexical((inside[2] or "/") if inside[1] == "root" else f"{around.cwd}{inside[2] or ''}")] = None
    return FilePath(tuple(spellings), clear=not odd, written=text)


def lexical(path: str) -> str:
    """An absolute path without `.`, `..`, doubled slashes and a slash at its end."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/" + "/".join(parts)


def covers(rule: FilePath, place: FilePath) -> bool:
    """Whether the place surely lies at or below the rule's path."""
    return place.clear and all(any(_under(root, each) for root in rule.spellings) for each in place.spellings)


def touches(rule: FilePath, place: FilePath, *, wild: bool = False) -> bool:
    """Whether the place may lie at or below the rule's path; `wild` ones may hold the signs of a shell's patterns."""
    pairs = [(_same(root), _same(each)) for root in rule.spellings for each in place.spellings]
    return any(_under(root, each) or (wild and _may_match(each, root)) for root, each in pairs)


def _absolute(text: str, around: Around) -> str | None:
    if not text:
        return None
    if text == "~" or text.startswith("~/"):
        return around.home + text[1:] if around.home.startswith("/") else None
    if text.startswith("~"):
        return None  # another user's home
    if text.startswith("/"):
        return text
    return f"{around.cwd}/{text}" if around.cwd.startswith("/") else None


def _under(root: str, path: str) -> bool:
    return path == root or path.startswith(root if root.endswith("/") else f"{root}/")


def _same(path: str) -> str:
    """One spelling for what a file system may take for the same name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _may_match(pattern: str, root: str) -> bool:
    """Whether a pattern of a shell can stand for something at or below the root."""
    if not _GLOB & set(pattern):
        return False
    parts, wanted = pattern.strip("/").split("/"), root.strip("/").split("/")
    if any("**" in part for part in parts):
        return True
    if len(parts) < len(wanted):
        return False
    return all(glob(_widened(part), name) for part, name in zip(parts, wanted, strict=False))


def _widened(part: str) -> str:
    """A set of letters stands for anything: what matters is what may match."""
    return part.partition("[")[0] + "*" if "[" in part else part
