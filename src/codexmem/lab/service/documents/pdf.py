"""PDF by way of pypdf, in a process of its own: a file that is made to exhaust us exhausts only that.

A page is a section. Pictures of pages say nothing here: such a file is told, not taken for an empty one.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from codexmem.installation import install_command
from codexmem.kernel.model import ids
from codexmem.lab.service.documents.document import MAX_CHARS, Check, UnreadError
from codexmem.lab.service.documents.texts import Section, plain

MAX_PAGES = 2_000
MAX_SECONDS = 120  # of one file
MAX_MEMORY = 1 << 30
_CHILD = Path(__file__).with_name("pdf_child.py")
_LINE = 8 * MAX_CHARS  # bytes; a page is one line
_LOOK_S = 0.02
_PROBLEMS = {
    "encrypted": "it is encrypted; save it without a password",
    "pages": f"it has more than {MAX_PAGES:,} pages; split it",
    "long": f"it has more than {MAX_CHARS:,} characters; split it",
    "memory": "reading it takes more memory or time than we give it",
    "library": "it is encrypted in a way that needs the package cryptography",
    "broken": "it is no PDF that can be read",
}
PICTURES = "its pages are pictures without text; run it through OCR first"


def no_library() -> str:
    """Render the problem of a server without the library that reads PDF."""
    return f"reading PDF needs pypdf: {install_command('lab')}"


def read(raw: bytes, check: Check, *, seconds: float = MAX_SECONDS) -> tuple[str, list[Section]]:
    """The title that the file gives itself, and its pages; UnreadError for one that gives nothing."""
    if importlib.util.find_spec("pypdf") is None:
        raise UnreadError(no_library())
    title = ""
    pages: list[Section] = []
    for said in _said(raw, check, seconds):
        if "problem" in said:
            problem = str(said["problem"])
            raise UnreadError(no_library() if problem == "missing" else _PROBLEMS.get(problem, _PROBLEMS["broken"]))
        title = plain(str(said.get("title", title))).strip()
        if "text" in said:
            pages.append(Section((f"p. {len(pages) + 1}",), plain(str(said["text"]))))
    if not any(page.text.strip() for page in pages):
        raise UnreadError(PICTURES)
    return title, pages


def _said(raw: bytes, check: Check, seconds: float) -> Iterator[dict[str, object]]:
    """What the child says, until it has done its work; UnreadError if it did not come to that."""
    arguments = (MAX_MEMORY, max(1, int(seconds)), MAX_PAGES, MAX_CHARS)
    command = [sys.executable, "-P", "-E", "-X", "utf8", str(_CHILD), *map(str, arguments)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer:
        given.write(raw)
        given.seek(0)
        child = subprocess.Popen(command, stdin=given, stdout=answer, stderr=subprocess.DEVNULL, env={}, cwd="/")
        try:
            _await(child, check, seconds)
        finally:
            if child.poll() is None:
                child.kill()
            child.wait()
        answer.seek(0)
        done = False
        for line in _lines(answer):
            done = done or "done" in line or "problem" in line
            yield line
    if not done:
        raise UnreadError(_PROBLEMS["memory"] if child.returncode else _PROBLEMS["broken"])


def _await(child: "subprocess.Popen[bytes]", check: Check, seconds: float) -> None:
    until, pause = ids.monotonic() + seconds, threading.Event()
    while child.poll() is None:
        check()
        if ids.monotonic() > until:
            raise UnreadError(f"reading it takes longer than {seconds:g} s")
        pause.wait(_LOOK_S)


def _lines(answer: IO[bytes]) -> Iterator[dict[str, object]]:
    while line := answer.readline(_LINE):
        try:
            yield json.loads(line)
        except ValueError:  # cut off with the child
            return
