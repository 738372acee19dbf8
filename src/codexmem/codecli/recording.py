"""A run written down as it passes, to be played again: what came from whom, when, and how it ended.

A recording is a file of JSON lines. The first says what it is and how the agent was started; then follows one line per
piece of bytes in the order in which they passed, with seconds since the start; the last says how the agent ended. Bytes
are kept exactly: as `text` where they are UTF-8, else as `base64`.

The environment is kept by name only, except for variables that say nothing about the person; arguments are redacted.
What the agent and the person *say* is kept as it is: a recording is as private as the run was, and only its owner may
read the file. Writing costs one line per piece and never fails a run: a full disk ends the recording, not the agent.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from codexmem.codecli import surroundings
from codexmem.codecli.agents.protocol import Launch
from codexmem.kernel.model import json_text
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.redaction import masked, redact

FORMAT = "mem-codecli-recording"
VERSION = 1
# person: what the person's program sent; stdin: what the agent was given; the rest is the agent's. A terminal has one
# stream for all that is shown on it.
STREAMS = ("person", "stdin", "stdout", "stderr", "terminal")
MOST_BYTES = 256 << 20  # a recording that is forgotten does not fill the disk
_BUFFER = 1 << 16
_FLUSH_S = 1.0
_LONGEST_LINE = 16 << 20
_LEAST_SECRET = 12
_TELLING = ("key", "token", "secret", "password", "passwd", "credentials")
_HARMLESS = frozenset(
    ("TERM", "COLORTERM", "COLUMNS", "LINES", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "FORCE_COLOR", "TZ", "CI")
)


class Tape(Protocol):
    """What whoever moves the bytes tells, from any thread; neither call raises or waits for anything but the disk."""

    def wrote(self, stream: str, piece: bytes) -> None:
        """These bytes passed on this stream, one of STREAMS."""
        ...

    def ended(self, code: int) -> None:
        """The agent ended; minus the number of the signal if one killed it. Nothing is told afterwards."""
        ...


class Recorder:
    """Writes a recording. The file is made at once, so that a place that cannot be written is told before the run.

    `launch` is how the person started the agent, before an adapter added to it: so memories are not in it, and whoever
    plays it prepares it anew.
    """

    def __init__(self, path: Path, launch: Launch, *, adapter: str = "", most_bytes: int = MOST_BYTES,
                 note: Callable[[str], None] = lambda _: None) -> None:  # fmt: skip
        self.problem = ""  # why the recording ends before the run did; noted when that has ended
        self._note = note
        self._path = path
        self._lock = threading.Lock()
        self._left = most_bytes
        self._start = self._flushed = surroundings.monotonic()
        try:
            path.unlink(missing_ok=True)  # an older file keeps its own, perhaps wider, mode
            self._file: IO[bytes] | None = path.open("xb", buffering=_BUFFER)
            path.chmod(0o600)
        except OSError as error:
            raise InvalidArgument(
                f"the recording {path} cannot be written: {error.strerror}",
                hint="use a file in a folder you can write to: --record run.jsonl",
                details={"reason": "recording_unwritable", "path": str(path), "problem": str(error.strerror)},
            ) from error
        self._write(
            {
                "format": FORMAT,
                "version": VERSION,
                "argv": _shown_arguments(launch),
                "cwd": launch.cwd,
                "environ": {name: _shown(name, value) for name, value in sorted(launch.environ.items())},
                "adapter": adapter,
                "started_ms": surroundings.now_ms(),
            }
        )

    def wrote(self, stream: str, piece: bytes) -> None:
        """These bytes passed."""
        with self._lock:
            self._write({"at": self._at(), "stream": stream, **_spelled(piece)})

    def ended(self, code: int) -> None:
        """The agent ended; closes the file."""
        with self._lock:
            if self._file is not None:
                self._write({"at": self._at(), "ended": code}, last=True)
                self._close("")
            if self.problem:
                self._note(self.problem)

    def _at(self) -> float:
        return round(surroundings.monotonic() - self._start, 6)

    def _write(self, entry: Mapping[str, object], *, last: bool = False) -> None:
        if self._file is None:
            return
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
        try:
            if len(line) > self._left and not last:
                self._file.write(json.dumps({"at": self._at(), "truncated": True}).encode() + b"\n")
                self._close(f"the recording {self._path} is full; the rest of the run is not in it")
                return
            self._left -= len(line)
            self._file.write(line)
            now = surroundings.monotonic()
            if now - self._flushed >= _FLUSH_S:
                self._flushed = now
                self._file.flush()
        except OSError as error:
            self._close(f"the recording {self._path} ends here: {error.strerror}")

    def _close(self, problem: str) -> None:
        if self._file is None:
            return
        self.problem = self.problem or problem
        file, self._file = self._file, None
        try:
            file.close()
        except OSError as error:  # the last of it did not get onto the disk
            self.problem = self.problem or f"the recording {self._path} ends early: {error.strerror}"


@dataclass(frozen=True, slots=True)
class RecordedBytes:
    """Bytes that passed, so many seconds after the start."""

    at: float
    stream: str
    piece: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """How the recording ends; None if it was cut off."""

    at: float
    code: int | None


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording whose first line was read. The rest is read as it is played, one line at a time."""

    path: Path
    argv: tuple[str, ...]
    cwd: str
    environ: Mapping[str, str] = field(default_factory=dict)
    adapter: str = ""
    started_ms: int = 0

    @property
    def launch(self) -> Launch:
        """How the agent was started, as far as the recording tells."""
        return Launch(self.argv, self.environ, self.cwd)

    def play(self) -> Iterator[RecordedBytes | Ended]:
        """Everything that passed, in order; always ends with `Ended`."""
        at = 0.0
        with self.path.open("rb") as file:
            file.readline(_LONGEST_LINE)
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=2):
                try:
                    entry = json_text.loads(line)
                    at = float(entry["at"])
                    if "ended" in entry:
                        yield Ended(at, int(entry["ended"]))
                        return
                    if entry.get("truncated"):
                        break
                    yield RecordedBytes(at, str(entry["stream"]), _bytes_of(entry))
                except (ValueError, KeyError, TypeError) as error:
                    if not line.endswith(b"\n"):
                        break  # a run that was killed leaves half a line
                    raise _unreadable(self.path, f"line {number}: {error}") from error
        yield Ended(at, None)


def read(path: Path) -> Recording:
    """Open a recording; NotFound or InvalidArgument say what is wrong with the file."""
    try:
        with path.open("rb") as file:
            head = json_text.loads(file.readline(_LONGEST_LINE))
    except FileNotFoundError as error:
        raise NotFound(
            f"there is no recording {path}", hint="record one with: mem-codecli run --record FILE",
            details={"reason": "no_recording", "path": str(path)},
        ) from error  # fmt: skip
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise _unreadable(path, "its first line is not that of a recording")
    if head.get("version") != VERSION:
        raise _unreadable(path, f"version {str(head.get('version'))[:20]}, and this program reads {VERSION}")
    try:
        return Recording(
            path=path,
            argv=tuple(str(each) for each in head["argv"]),
            cwd=str(head["cwd"]),
            environ={str(name): str(value) for name, value in head["environ"].items() if value is not None},
            adapter=str(head.get("adapter") or ""),
            started_ms=int(head.get("started_ms") or 0),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(path, f"its first line: {error}") from error


def _unreadable(path: Path, problem: str) -> InvalidArgument:
    return InvalidArgument(
        f"{path} is not a recording that can be replayed: {problem}",
        hint="record one with: mem-codecli run --record FILE",
        details={"reason": "bad_recording", "path": str(path), "problem": problem},
    )


def _shown_arguments(launch: Launch) -> list[str]:
    """The arguments without secrets: those that look like one, stand in the environment, or follow a telling option."""
    known = [value for name, value in launch.environ.items() if _tells(name) and len(value) >= _LEAST_SECRET]
    shown = [redact(argument, known) for argument in launch.argv]
    for place, option in enumerate(launch.argv[:-1]):
        if option.startswith("-") and "=" not in option and _tells(option):
            shown[place + 1] = masked("argument")
    return shown


def _tells(name: str) -> bool:
    return name.lower().endswith(_TELLING)


def _shown(name: str, value: str) -> str | None:
    return value if name in _HARMLESS else None


def _spelled(piece: bytes) -> dict[str, str]:
    try:
        return {"text": piece.decode("utf-8")}
    except UnicodeDecodeError:  # also where a piece ends within a character
        return {"base64": base64.b64encode(piece).decode("ascii")}


def _bytes_of(entry: Mapping[str, object]) -> bytes:
    if "text" in entry:
        return str(entry["text"]).encode()
    return base64.b64decode(str(entry["base64"]), validate=True)
