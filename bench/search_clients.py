"""Searches over HTTP by many clients at once, with the shipped encoder on: how many a second, and what one costs.

A real server on SQLite, filled by its own save endpoint. Sixteen clients search, every query different, then again with
few queries that repeat. What the server spent is read from the kernel, so clients do not count in it.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

from bench import report
from tests._support.server import Server

_WORDS = ("port", "login", "token", "cache", "retry", "deadline", "登录", "端口", "缓存", "index", "worker", "schema")


def _text(number: int) -> str:
    chosen = [_WORDS[(number // (len(_WORDS) ** place)) % len(_WORDS)] for place in range(3)]
    return f"how does {chosen[0]} {number} use {chosen[1]} and {chosen[2]}"


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(server: Server, *, clients: int, seconds: float, distinct: int | None) -> list[object]:
    """One round: searches a second, milliseconds of the server's CPU for each, and how long they took."""
    numbers, took, failed = itertools.count(), list[float](), list[int]()
    end = time.monotonic() + seconds

    def client() -> None:
        while time.monotonic() < end:
            number = next(numbers)
            query = _text(number if distinct is None else number % distinct)
            began = time.monotonic()
            reply = server.request("GET", f"/api/search?limit=5&project=bench&query={quote(query)}")
            took.append(time.monotonic() - began)
            if reply.status != 200:
                failed.append(reply.status)

    began, spent = time.monotonic(), _cpu_s(server.pid)
    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall, cpu = time.monotonic() - began, _cpu_s(server.pid) - spent
    return [
        "all different" if distinct is None else f"{distinct} that repeat",
        round(len(took) / wall, 1),
        round(1000 * cpu / max(1, len(took)), 1),
        round(1000 * report.percentile(took, 0.5)),
        round(1000 * report.percentile(took, 0.95)),
        len(failed),
    ]


def main(argv: list[str] | None = None) -> int:
    """Measure and print; fails if a search failed."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--memories", type=int, default=400)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder), settings={"CODEXMEM_EMBEDDER": "local"}) as up:
        for number in range(given.memories):
            body = {"text": f"Memory {number}: {_text(number)}.", "project": "bench"}
            saved = up.post("/api/memory/save", body)
            assert saved.status == 200, saved.body
        while up.request("GET", "/api/ops/index-status").json["waiting"]:
            time.sleep(0.2)
        rounds = [
            measure(up, clients=given.clients, seconds=given.seconds, distinct=distinct) for distinct in (None, 20)
        ]
    text = report.table(["queries", "searches/s", "server CPU ms", "p50 ms", "p95 ms", "failed"], rounds)
    kept = all(each[-1] == 0 for each in rounds)
    return report.conclude("search-clients", {"rounds": rounds}, text, kept=kept, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
