"""The busy tenant of `bench.fairness`: a process of its own that loads nothing else, so many searches at once.

It reads one line (port, number of clients and key), says that it has begun, searches until its input ends and then
prints what it saw. Clients honour Retry-After, each with a connection of its own for every request.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import threading
import time
from collections import Counter
from urllib.parse import quote

WORDS = ("port", "login", "token", "cache", "retry", "deadline", "index", "worker", "schema", "登录", "端口", "缓存")
_ANSWER_S = 60.0


def query(number: int) -> str:
    """A question, another for each number."""
    return f"how does {WORDS[number % 12]} {number} use {WORDS[number // 12 % 12]}"


class Load:
    """Searches at one server, and what came of them."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key
        self.statuses: Counter[str] = Counter()
        self.longest_s = 0.0

    async def ask(self, number: int) -> float:
        """One search; returns how long to stay away."""
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            path = f"/api/search?limit=5&query={quote(query(number))}"
            head = (f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}", f"Authorization: Bearer {self._key}")
            writer.write("\r\n".join((*head, "Connection: close", "", "")).encode())
            reply = await asyncio.wait_for(reader.read(-1), _ANSWER_S)
        finally:
            writer.close()
        self.statuses[reply[9:12].decode() or "none"] += 1
        self.longest_s = max(self.longest_s, time.monotonic() - began)
        for line in reply.partition(b"\r\n\r\n")[0].split(b"\r\n"):
            if line.lower().startswith(b"retry-after:"):
                return float(line.split(b":")[1])
        return 0.0

    async def client(self, number: int, step: int) -> None:
        """Search for ever."""
        while True:
            try:
                away_s = await self.ask(number)
            except (OSError, TimeoutError) as error:
                self.statuses[type(error).__name__] += 1
                away_s = 1.0
            await asyncio.sleep(away_s * random.uniform(1, 1.5))
            number += step

    async def run(self, clients: int, ended: threading.Event) -> None:
        """Until nobody wants more."""
        tasks = [asyncio.create_task(self.client(number, clients)) for number in range(clients)]
        while not ended.is_set():
            await asyncio.sleep(0.1)
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def main() -> None:
    """Begin, search, report."""
    port, clients, key = sys.stdin.readline().split()
    ended, load = threading.Event(), Load(int(port), key)

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    print("begun", flush=True)
    asyncio.run(load.run(int(clients), ended))
    print(json.dumps({"statuses": load.statuses, "longest_s": round(load.longest_s, 2)}))


if __name__ == "__main__":
    main()
