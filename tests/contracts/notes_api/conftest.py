"""Notes of a test's own: a domain that no other test writes to."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from tests._support.described import require
from tests._support.server import Reply, Server

_domains = itertools.count(1)


@dataclass(frozen=True)
class Notes:
    """Short words for requests, each answer held against the description."""

    api: Server
    domain: str

    def uri(self, path: str) -> str:
        return f"{self.domain}://{path}"

    def asks(self, path: str, **query: Any) -> Reply:
        return self.api.request("GET", f"/api/notes{path}?{urlencode(query)}")

    def get(self, path: str, **query: Any) -> Any:
        reply = self.asks(path, **query)
        assert reply.status == 200, reply.body
        return require(self.api, "GET", f"/api/notes{path}", reply.json)

    def post(self, path: str, **body: Any) -> Any:
        reply = self.api.post(f"/api/notes{path}", body, {"Sec-Fetch-Site": "same-origin"})  # as our page does
        assert reply.status == 200, reply.body
        return require(self.api, "POST", f"/api/notes{path}", reply.json)

    def refused(self, path: str, status: int, **body: Any) -> Any:
        """What is said about a write that must not be made."""
        reply = self.api.post(f"/api/notes{path}", body)
        assert reply.status == status, reply.body
        return require(self.api, "POST", f"/api/notes{path}", reply.json, status)["error"]

    def create(self, path: str, content: str = "said", **more: Any) -> Any:
        return self.post("", uri=self.uri(path), content=content, **more)

    def read(self, path: str) -> Any:
        return self.get("/read", uri=self.uri(path))

    def pages(self, path: str, **query: Any) -> list[Any]:
        """Every item of a list, page by page."""
        items: list[Any] = []
        page = self.get(path, **query)
        items += page["items"]
        while page["has_more"]:
            page = self.get(path, **query, cursor=page["next_cursor"])
            items += page["items"]
        return items


@pytest.fixture
def notes(api: Server) -> Notes:
    return Notes(api, f"n{next(_domains)}")
