"""The Python client: what a program of your own says to codexmem, blocking or awaited.

    from codexmem.client import Client

    with Client() as memory:  # the server of this machine
        memory.save("Deploys go through staging first", project="shop")
        print(memory.context("how do we deploy?", project="shop"))

`AsyncClient` has the same methods, to be awaited. Errors are those of the server, as exceptions with a `code`, a
`message` and a `hint`. The client speaks HTTP and nothing else: it never opens a store and starts no server.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from codexmem.kernel.model.errors import (
    CodexmemError,
    Conflict,
    InvalidArgument,
    NotFound,
    NotReady,
    RateLimited,
    StorageFull,
    Unauthorized,
    Unavailable,
)

if TYPE_CHECKING:
    from codexmem.client.awaiting import AsyncClient
    from codexmem.client.blocking import Client
    from codexmem.client.exchange import Patience

__all__ = [
    "AsyncClient",
    "Client",
    "CodexmemError",
    "Conflict",
    "InvalidArgument",
    "NotFound",
    "NotReady",
    "Patience",
    "RateLimited",
    "StorageFull",
    "Unauthorized",
    "Unavailable",
]

# Loaded when asked for: commands that only look for a server import this package too, and HTTP and models cost 0.4 s.
_HOMES = {"AsyncClient": "awaiting", "Client": "blocking", "Patience": "exchange"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
