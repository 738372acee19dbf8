"""A program that reads one PDF from standard input and writes what its pages say, one JSON line each.

It runs in a process of its own with bounds on memory and time, because a file can be made to cost more than it shows.
It knows nothing of us and holds no secret. Not imported by anything.
"""

import contextlib
import io
import json
import logging
import sys
from typing import Any


def main(memory: int, seconds: int, pages: int, characters: int) -> None:
    """Read, within these bounds."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    logging.disable(logging.CRITICAL)
    try:
        import pypdf
    except ImportError:
        say(problem="missing")
        return
    try:
        reader = pypdf.PdfReader(io.BytesIO(sys.stdin.buffer.read()), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            say(problem="encrypted")
            return
        count = len(reader.pages)
        if count > pages:
            say(problem="pages", count=count)
            return
        say(title=str(reader.metadata.get("/Title") or "") if reader.metadata else "", pages=count)
        for number in range(count):
            text = reader.pages[number].extract_text()[: characters + 1]
            characters -= len(text)
            if characters < 0:
                say(problem="long")
                return
            say(text=text)
        say(done=True)
    except MemoryError:
        say(problem="memory")
    except Exception as error:  # whatever a broken file brings about
        name = type(error).__name__
        say(problem="library" if name == "DependencyError" else "memory" if "Limit" in name else "broken", why=name)


def say(**fields: Any) -> None:
    """One line."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]))
