"""Blob stamps: which content of a file a memory rests on, as text that an event and a memory can carry.

A stamp is `<blob id> <path>`, the path as seen from the root of the checkout. The id is git's own: the digest of the
content, with line ends as git stores text. Where it is known which lines were read or written, they stand behind the
id, `<blob id>:<first>+<count>:<digest>`, so that they can be found again in a file that has changed elsewhere. A file
with the line ends of Windows has a second id, `<blob id>~<id as it is>`: git may keep it either way.

The hook uses this, so it loads next to nothing.
"""

from __future__ import annotations

try:
    from _sha1 import sha1  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # other Pythons than CPython
    from hashlib import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_STAMPS = 50  # of one memory
MAX_STAMP = 800  # characters
MAX_BYTES = 1 << 20  # of a file that is looked at
MAX_LINES = 400  # of one passage
MAX_PASSAGES = 4  # of one file
# Under these names agents tell which file or folder a tool is about.
PATH_FIELDS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "filename", "file",
               "dir_path", "directory")  # fmt: skip
_LEAST = 12  # characters of a passage that tell it from others
_HEX = frozenset("0123456789abcdef")
_BINARY = 8_000  # bytes at the beginning, in which git looks for a zero


class Stamp:
    """A stamp, read."""

    __slots__ = ("blob", "passages", "path", "raw")

    def __init__(self, blob: str, path: str, passages: tuple[tuple[int, int, str], ...] = (), raw: str = "") -> None:
        self.blob = blob
        self.raw = raw  # of the file as it is, if that is another
        self.path = path
        self.passages = passages  # first line, how many, digest

    def __str__(self) -> str:
        """As it is stored."""
        marks = "".join(f":{first}+{count}:{digest}" for first, count, digest in self.passages)
        return f"{self.blob}{'~' if self.raw else ''}{self.raw}{marks} {self.path}"

    def about(self, passages: tuple[tuple[int, int, str], ...]) -> Stamp:
        """The same content, of which these passages count."""
        return Stamp(self.blob, self.path, passages, self.raw)

    @property
    def ids(self) -> tuple[str, ...]:
        """Under which git may keep the content."""
        return (self.blob, self.raw) if self.raw else (self.blob,)


def parsed(text: str) -> Stamp | None:
    """A stamp from its text; None for what is none, or names a place outside of the checkout."""
    head, space, path = text.partition(" ")
    whole, *marks = head.split(":")
    blob, tilde, raw = whole.partition("~")
    if not space or len(text) > MAX_STAMP or not _is_id(blob) or (tilde and not _is_id(raw)):
        return None
    if not is_inside(path) or len(marks) % 2 or len(marks) > 2 * MAX_PASSAGES:
        return None
    passages = []
    for place, digest in zip(marks[::2], marks[1::2], strict=True):
        first, plus, count = place.partition("+")
        if not (plus and _number(first) and _number(count) and len(digest) == 20 and _HEX.issuperset(digest)):
            return None
        passages.append((int(first), int(count), digest))
    return Stamp(blob, path, tuple(passages), raw)


def stamp_of(path: str, content: bytes, places: Iterable[tuple[int, int]] = ()) -> Stamp:
    """The stamp of a file; `places` are the first line and the number of lines of what was read or written."""
    kept = as_stored(content)
    found = (passage(kept, first, count) for first, count in places)
    passages = tuple(each for each in found if each is not None)[:MAX_PASSAGES]
    return Stamp(blob_id(kept), path, passages, "" if kept is content else blob_id(content))


def is_inside(path: str) -> bool:
    """Whether a path stays below the folder that it is seen from."""
    if not path or path.startswith("/") or "\\" in path or not path.isprintable() or path[1:2] == ":":
        return False
    return not any(part in {"", ".", "..", ".git"} for part in path.split("/"))


def blob_id(content: bytes) -> str:
    """The id under which git keeps a file of this content."""
    return str(sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest())


def as_stored(content: bytes) -> bytes:
    """A text with the line ends that git keeps where it converts them; anything else as it is."""
    if b"\r\n" in content and b"\0" not in content[:_BINARY]:
        return content.replace(b"\r\n", b"\n")
    return content


def lines_of(content: bytes) -> list[bytes]:
    """The lines of a file, without the blanks at their ends."""
    return [line.rstrip() for line in content.split(b"\n")]


def passage(content: bytes, first: int, count: int) -> tuple[int, int, str] | None:
    """How to find these lines again, counted from 1; None if they tell too little or are too many."""
    first = max(1, first)
    chosen = [line.rstrip() for line in content.split(b"\n", first - 1 + count)[first - 1 : first - 1 + count]]
    while chosen and not chosen[0]:
        del chosen[0]
        first += 1
    while chosen and not chosen[-1]:
        del chosen[-1]
    if len(chosen) > MAX_LINES or sum(len(line.strip()) for line in chosen) < _LEAST:
        return None
    return first, len(chosen), _digest(chosen)


def stands(lines: Sequence[bytes], count: int, digest: str) -> bool:
    """Whether lines with this digest stand anywhere in the file; as many steps as it has lines."""
    sums, wanted, place = list(map(sum, lines)), int(digest[:8], 16), 0
    while wanted in sums[place:]:
        place = sums.index(wanted, place)
        if _digest(lines[place : place + count]) == digest:
            return True
        place += 1
    return False


def stored(given: object, most: int = MAX_STAMPS) -> tuple[str, ...]:
    """Those of what somebody sent that are stamps, each file once; the last one of a file counts."""
    if not isinstance(given, list | tuple):
        return ()
    return latest([each for each in given[: 4 * most] if isinstance(each, str)])[:most]


def latest(stamps: Iterable[str]) -> tuple[str, ...]:
    """The last stamp of each file, in the order in which the files were met."""
    found: dict[str, str] = {}
    for text in stamps:
        stamp = parsed(text)
        if stamp is not None:
            found[stamp.path] = text
    return tuple(found.values())


def renewed(old: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    """The stamps of a memory after its files were seen again, with the passages it had; empty if nothing changes."""
    now = {stamp.path: stamp for stamp in map(parsed, seen) if stamp is not None}
    known = [stamp for stamp in map(parsed, old) if stamp is not None]
    made = tuple(str(now.get(each.path, each).about(each.passages)) for each in known)
    return made if made != tuple(old) else ()


def about(stamps: Iterable[str], files: Iterable[str]) -> tuple[str, ...]:
    """Those stamps whose file is one of these, which may be named from a folder below the root, or as a whole."""
    ends = {f"/{path}" for path in files}
    names = {end.rpartition("/")[2] for end in ends}
    chosen = []
    for text in stamps:
        path = text.partition(" ")[2]
        if path.rpartition("/")[2] not in names:
            continue
        whole = f"/{path}"
        if any(whole.endswith(end) or end.endswith(whole) for end in ends):
            chosen.append(text)
    return tuple(chosen)


def _digest(lines: Sequence[bytes]) -> str:
    if not lines:
        return ""
    whole = sha1(b"\n".join(lines), usedforsecurity=False).hexdigest()
    return f"{sum(lines[0]) & 0xFFFFFFFF:08x}{whole[:12]}"


def _is_id(text: str) -> bool:
    return len(text) in {40, 64} and _HEX.issuperset(text)


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 9
