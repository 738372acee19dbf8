"""A memory's name on the command line; one such as `note project://config` needs no quotes."""

import shlex
from collections.abc import Sequence
from urllib.parse import quote


def path_of(path: str, name: Sequence[str]) -> str:
    """Where a server tells of the memory."""
    return f"{path}/{quote(' '.join(name), safe='')}"


def spelled(name: Sequence[str]) -> str:
    """The name as it can be typed into a shell."""
    return shlex.join(name)
