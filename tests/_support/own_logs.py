"""The process's logging put back as it was: `serve` and `worker` send it where a test's streams no longer are."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logging_restored() -> Iterator[None]:
    """Handlers and levels after the block are those from before it."""
    root, server = logging.getLogger(), logging.getLogger("uvicorn.error")
    handlers, level, server_level = list(root.handlers), root.level, server.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        server.setLevel(server_level)
