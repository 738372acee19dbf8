"""The shipped encoder for tests: loaded once in a process, on for SQLite and off for PostgreSQL unless told otherwise.

`CODEXMEM_TEST_ENCODER` (`on` or `off`, set by `just contracts --encoder`) says it for both engines.
"""

from __future__ import annotations

import functools
import os

from codexmem.kernel.embed import local
from codexmem.kernel.embed.local import LocalEmbedder

CHOICE = "CODEXMEM_TEST_ENCODER"


def is_on(engine_name: str) -> bool:
    """Whether contracts are tested with the encoder on this engine."""
    asked = os.environ.get(CHOICE)
    assert asked in {None, "on", "off"}, f"{CHOICE} is on or off"
    return asked == "on" if asked else engine_name == "sqlite"


def setting(engine_name: str) -> str:
    """The same as the setting `embedder` of a server."""
    return "local" if is_on(engine_name) else "none"


@functools.cache
def shipped() -> LocalEmbedder:
    """The encoder of the extra `embed`; it must be installed, or a test of it would pass without it."""
    encoder = local.small()
    assert encoder.installed
    return encoder
