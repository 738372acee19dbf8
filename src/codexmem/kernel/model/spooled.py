"""The file of one event that waits for the server: its name and its content.

One file per event. Names sort in the order in which events happened, as far as clocks agree; the name also says how
long the content is, so that the size of a spool and the wholeness of a file are known without opening it, and how
often the server has failed on this event while it took others. Who writes such files is not said here.
"""

from __future__ import annotations

SUFFIX = ".event"
UNFINISHED = ".part"  # while it is being written
_HEAD = b"codexmem-event 1 "


def name_of(at_ns: int, pid: int, counter: int, size: int, failures: int = 0) -> str:
    """The name of a file; times are nanoseconds since the epoch."""
    return f"{at_ns:020d}-{pid:07d}-{counter:06d}-{size}-{failures}{SUFFIX}"


def size_in(name: str) -> int:
    """The length of the content, by its name; 0 if it is no name of ours."""
    return _number(name, 3)


def failures_in(name: str) -> int:
    """How often the server failed on it, by its name."""
    return _number(name, 4)


def at_ns_in(name: str) -> int:
    """When it was written, by its name."""
    return _number(name, 0)


def after_failure(name: str) -> str:
    """The name after one more failure; it keeps its place in the order."""
    stem = name.removesuffix(SUFFIX).rpartition("-")[0]
    return f"{stem}-{failures_in(name) + 1}{SUFFIX}"


def content_of(path: str, body: bytes) -> bytes:
    """What the file holds: where the event is to be sent, and what."""
    return _HEAD + path.encode("ascii") + b"\n" + body


def parsed(content: bytes) -> tuple[str, bytes] | None:
    """Path and body, or None if this is no event."""
    head, newline, body = content.partition(b"\n")
    path = head[len(_HEAD) :]
    if not newline or not head.startswith(_HEAD) or not path.startswith(b"/") or not path.isascii():
        return None
    return path.decode("ascii"), body


def _number(name: str, place: int) -> int:
    parts = name.removesuffix(UNFINISHED).removesuffix(SUFFIX).lstrip(".").split("-")
    return int(parts[place]) if len(parts) == 5 and parts[place].isascii() and parts[place].isdigit() else 0
