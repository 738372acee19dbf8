"""JSON-RPC calls to a running server, by name or by position."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from tests._support.server import Server

_numbers = itertools.count(1)


class Rpc:
    """Somebody who calls methods of one server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def answer(self, method: str, params: object = None, **headers: str) -> dict[str, Any]:
        """The response object to one call."""
        number = next(_numbers)
        message = {"jsonrpc": "2.0", "method": method, "id": number} | ({} if params is None else {"params": params})
        reply = self.server.post("/rpc", message, headers)
        assert reply.status == 200, reply.body
        found: dict[str, Any] = reply.json
        assert (found["jsonrpc"], found["id"]) == ("2.0", number)
        assert ("result" in found) != ("error" in found)
        return found

    def result(self, method: str, params: object = None, **headers: str) -> Any:
        """The result of one call."""
        found = self.answer(method, params, **headers)
        assert "result" in found, found
        return found["result"]

    def error(self, method: str, params: object = None) -> tuple[int, str]:
        """Number and message of the error that one call is answered with."""
        found = self.answer(method, params)
        assert "error" in found, found
        return found["error"]["code"], found["error"]["message"]

    def raw(self, body: object) -> Any:
        """What is answered to this body."""
        return self.server.post("/rpc", body).json

    def folder(self, path: str) -> Path:
        """Where a folder lies that was answered; a team's server answers within its data directory."""
        if Path(path).is_absolute():
            return Path(path)
        first, *rest = Path(path).parts
        place = {"workspaces": ("workspaces",), "backups": ("backups", "memory")}[first]
        return self.server.data_dir.joinpath(*place, self._tenant, *rest[len(place) - 1 :])

    _tenant = "knowledge"
