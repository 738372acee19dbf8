"""Clients that save over HTTP whatever happens to the server, and know what was acknowledged."""

from __future__ import annotations

import http.client
import threading
import time

import psycopg

from tests._support.server import Server


class Clients:
    """Save under keys of their own, each until it is acknowledged, and ask whether the server is ready."""

    def __init__(self, server: Server, count: int) -> None:
        self._server = server
        self.acknowledged: dict[str, int] = {}
        self.failed: list[str] = []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._save, args=(number,)) for number in range(count)]
        self._threads.append(threading.Thread(target=self._look))

    def __enter__(self) -> Clients:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for each in self._threads:
            each.join(90)

    def wait_for(self, more: int, within_s: float = 90.0) -> None:
        """Until so many more were acknowledged."""
        wanted, deadline = len(self.acknowledged) + more, time.monotonic() + within_s
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline, f"{self.failed[-3:]}"
            time.sleep(0.02)

    def _save(self, number: int) -> None:
        made = 0
        while not self._ended.is_set():
            made += 1
            text = f"Fact {made} of client {number}"
            sent = {"text": text, "project": "group"}
            while (status := self._tried("POST", "/api/memory/save", sent, text)) != 200:
                if status not in {0, 429, 503}:
                    return
                time.sleep(0.05)

    def _look(self) -> None:
        while not self._ended.is_set():
            self._tried("GET", "/api/readiness", None, "")
            time.sleep(0.02)

    def _tried(self, method: str, path: str, sent: object, key: str) -> int:
        try:
            reply = self._server.request(method, path, sent, {"Idempotency-Key": key.replace(" ", "-")} if key else {})
        except (OSError, http.client.HTTPException) as error:
            self.failed.append(f"{method} {path}: {error!r}")
            return 0
        if reply.status != 200:
            self.failed.append(f"{method} {path}: {reply.status} {reply.body[:200]!r}")
        elif key:
            self.acknowledged[key] = reply.json["id"]
        return reply.status


def stored(url: str) -> dict[str, int]:
    """How often each text is there."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT content, count(*) FROM memories WHERE kind = 'observation' GROUP BY 1")
        return dict(rows.fetchall())
