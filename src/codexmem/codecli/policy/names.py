"""Names of tools and MCP servers in one spelling, so that a rule cannot be passed by writing a name another way.

A name has two canonical forms. `folded` is what compatible characters and letter case come down to; `skeleton` also
drops what cannot be seen and takes look-alikes of other scripts for the Latin letters they resemble. A rule that denies
or asks compares both, a rule that allows compares the first alone, and only for names that are plain ASCII: whoever
needs odd characters to be called something is not granted what that something is.

Which file a path names, in one spelling, so that a rule by path means what it says.

A path has up to two spellings: as written (absolute, without `.`, `..` and doubled slashes) and as the file system
resolves it, which the caller's `resolve` tells, because nothing here touches the disk. A rule that denies or asks
applies if either lies under its path, in any case of letters; one that allows only if both do, to the letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 256  # characters of a name that may be granted anything

# Look-alikes that survive compatibility decomposition: Cyrillic, Greek, Armenian, Cherokee, small capitals, signs.
_LOOKS: dict[str, str] = {
    "a": "\u0430\u0251\u03b1\u1d00\u0410\u0391\u13aa", "b": "\u0432\u044c\u03b2\u0299\u0184\u0412\u0392\u13f4\u0253",
    "c": "\u0441\u03f2\u1d04\u0421\u03f9\u13df\u03c2", "d": "\u0501\u1d05\u13a0\u0111\u0256\u0257\u0110",
    "e": "\u0435\u03b5\u1d07\u0415\u0395\u13ac\u0454\u0259", "f": "\u0192\ua730", "g": "\u0261\u0262\u13c0\u0581",
    "h": "\u04bb\u0570\u029c\u041d\u0397\u13bb\u0127\u043d", "i": "\u0456\u0131\u03b9\u026a\u0406\u0399\u13a5\u0269",
    "j": "\u0458\u0575\u1d0a\u0408\u13ab\u03f3", "k": "\u043a\u03ba\u1d0b\u041a\u039a\u13e6",
    "l": "\u04cf\u04c0\u029f\u056c\u13de\u0142\u0141\u01c0", "m": "\u043c\u1d0d\u041c\u039c\u13b7",
    "n": "\u0438\u03b7\u0274\u0578\u057c\u039d\u043f",
    "o": "\u043e\u03bf\u03c3\u1d0f\u0585\u041e\u039f\u0555\u00f8\u00d8",
    "p": "\u0440\u03c1\u1d18\u0420\u03a1\u13e2\u0584", "q": "\u051b\u0566\u051a", "r": "\u0433\u0280\u13a1\u0550",
    "s": "\u0455\ua731\u0405\u13da\u054f", "t": "\u0442\u03c4\u1d1b\u0422\u03a4\u13a2\u0167",
    "u": "\u057d\u03c5\u1d1c\u03bc\u054d", "v": "\u03bd\u0475\u1d20\u0474\u13d9",
    "w": "\u0461\u03c9\u1d21\u051d\u13d4\u0448",
    "x": "\u0445\u03c7\u0425\u03a7", "y": "\u0443\u03b3\u028f\u0423\u03a5\u04ae\u04af", "z": "\u1d22\u0396\u13c3\u0290",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u30fc\u4e00", ".": "\u3002\ua4f8\u06d4\u0701",
    "/": "\u2044\u2215\u29f8", ":": "\u2236\ua789\u05c3", "_": "\u02cd",
}  # fmt: skip
_LATIN = {ord(each): latin for latin, looks in _LOOKS.items() for each in looks}
_UNSEEN = {"Cf", "Cc", "Cs", "Mn", "Me", "Zs", "Zl", "Zp"}
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")  # letters by category, and nothing to be seen


@dataclass(frozen=True, slots=True)
class CanonicalName:
    """A name in its canonical forms."""

    folded: str
    skeleton: str
    plain: bool  # visible ASCII, once compatible characters are replaced

    @classmethod
    def of(cls, text: str) -> CanonicalName:
        """The canonical forms of a name."""
        compatible = unicodedata.normalize("NFKC", text)
        plain = 0 < len(text) <= LONGEST and compatible.isascii() and compatible.isprintable()
        return cls(_folded(compatible), skeleton(text), plain)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A name with `*` for any characters and `?` for one."""

    folded: str
    skeleton: str

    @classmethod
    def of(cls, text: str) -> Pattern:
        """The pattern, canonical as names are."""
        return cls(_folded(unicodedata.normalize("NFKC", text)), skeleton(text))

    def covers(self, name: CanonicalName) -> bool:
        """Whether the name may be granted by this pattern."""
        return name.plain and glob(self.folded, name.folded)

    def touches(self, name: CanonicalName) -> bool:
        """Whether the name is, or looks as if it were, what this pattern is about."""
        return glob(self.folded, name.folded) or glob(self.skeleton, name.skeleton)


@dataclass(frozen=True, slots=True)
class Called:
    """What a request calls: every name it may be known by, and the one it can be granted by."""

    names: tuple[CanonicalName, ...]
    granted: CanonicalName | None  # None: what it says of itself contradicts itself
    servers: tuple[CanonicalName, ...]  # every MCP server that it may belong to
    server: CanonicalName | None  # the one that it surely belongs to
    of_server: bool  # whether it is a tool of some MCP server


def called(tool: str, server: str) -> Called:
    """What a tool is called and where it belongs. Agents write `mcp__server__tool`, `mcp_server_tool`, `server_tool`,
    `MCP:tool`, or the bare tool beside the server; only the first and the last say for sure which server is meant.
    """
    own = CanonicalName.of(tool)
    seen = [own]
    maybe = [CanonicalName.of(each) for text in {own.folded, own.skeleton} for each in _servers_in(text)]
    sure = _surely(own.folded)
    if not server:
        of_server = own.skeleton.startswith(("mcp_", "mcp:"))
        seen += [CanonicalName.of(each) for each in _written_out(own.skeleton)]
        return Called(tuple(seen), own, tuple(maybe), CanonicalName.of(sure) if sure and own.plain else None, of_server)
    named = CanonicalName.of(server)
    whole = own if own.folded.startswith(f"mcp__{named.folded}__") else CanonicalName.of(f"mcp__{server}__{tool}")
    agrees = not own.folded.startswith("mcp__") or whole is own
    granted = whole if agrees and named.plain and whole.plain else None
    # `mcp__a__b__c` may be of the server `a` or `a__b`, whatever somebody took it for.
    split = whole is not own or sure == named.folded
    return Called((own, whole), granted, (named, *maybe), named if granted and split else None, of_server=True)


def glob(pattern: str, text: str) -> bool:
    """Whether the whole text is as the pattern says; time is at most the product of their lengths."""
    if "?" not in pattern:
        return _in_order(pattern.split("*"), text)
    at = star = 0
    place, resume = 0, -1
    while place < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in {"?", text[place]}:
            at += 1
            place += 1
        elif resume >= 0:
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return all(each == "*" for each in pattern[at:])


def _in_order(pieces: list[str], text: str) -> bool:
    """Whether the text begins with the first piece, ends with the last, and has the others between them in order."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    end = len(text) - len(last)
    if end < len(first) or not (text.startswith(first) and text.endswith(last)):
        return False
    at = len(first)
    for piece in pieces[1:-1]:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def skeleton(text: str) -> str:
    """What a reader takes the text for: nothing unseen, no accents, look-alikes as Latin letters, in lower case."""
    if text.isascii() and text.isprintable():
        return text[: 4 * LONGEST].lower().replace(" ", "")
    # Look-alikes first: a capital may resemble another letter than its small form does.
    looks = unicodedata.normalize("NFKC", text[: 4 * LONGEST]).translate(_LATIN)
    apart = unicodedata.normalize("NFKD", looks.casefold()).translate(_LATIN)
    return "".join(each for each in apart if unicodedata.category(each) not in _UNSEEN and each not in _FILLERS)


def _folded(compatible: str) -> str:
    return unicodedata.normalize("NFKC", compatible.casefold())


def _surely(folded: str) -> str:
    """The server that `mcp__server__tool` names; empty if the name can be split in more than one way."""
    parts = folded.removeprefix("mcp__").split("__") if folded.startswith("mcp__") else []
    return parts[0] if len(parts) == 2 and all(parts) else ""


def _servers_in(text: str) -> list[str]:
    rest = text.removeprefix("mcp").lstrip("_") if text.startswith("mcp_") else text
    words = rest.split("_")[:32]
    return [joined for count in range(1, len(words)) if (joined := "_".join(words[:count]).strip("_"))]


def _written_out(text: str) -> list[str]:
    """`mcp_server_tool` in the form that names the server for sure, for each server that it may mean."""
    if not text.startswith("mcp_") or text.startswith("mcp__"):
        return []
    words = text.removeprefix("mcp_").split("_")[:32]
    return [f"mcp__{'_'.join(words[:count])}__{'_'.join(words[count:])}" for count in range(1, len(words))]


LONGEST_PATH = 4_096
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
    odd = "\0" in text or "\\" in text or len(text) > LONGEST_PATH or any(unicodedata.category(c) == "Cs" for c in text)
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
