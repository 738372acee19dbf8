"""A connection that is kept answers at once."""

from __future__ import annotations

import http.client
import time
from pathlib import Path

from tests._support.server import Server


def test_answers_do_not_wait_for_an_acknowledgement(tmp_path: Path) -> None:
    # Head and body are two packets; without TCP_NODELAY the second waits 40 ms for the first to be acknowledged.
    with Server(tmp_path, settings={"CODEXMEM_EMBEDDER": "none"}) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        took = []
        for _ in range(10):
            began = time.monotonic()
            line.request("GET", "/api/health")
            line.getresponse().read()
            took.append(time.monotonic() - began)
        line.close()
    assert sorted(took)[5] < 0.030
