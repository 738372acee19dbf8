"""The Python client: what a program of your own says to codexmem, blocking or awaited.

    from codexmem.client import Client

    with Client() as memory:  # the server of this machine
        memory.save("Deploys go through staging first", project="shop")
        print(memory.context("how do we deploy?", project="shop"))

`AsyncClient` has the same methods, to be awaited. Errors are those of the server, as exceptions with a `code`, a
`message` and a `hint`. The client speaks HTTP and nothing else: it never opens a store and starts no server.
"""

from codexmem.client.awaiting import AsyncClient
from codexmem.client.blocking import Client
from codexmem.client.exchange import Patience
from codexmem.domain.errors import (
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
