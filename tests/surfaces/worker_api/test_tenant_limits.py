"""A tenant that has spent its quota is told so, and nobody else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.server import Server, create_key
from tests._support.waiting import eventually


@pytest.mark.postgresql
def test_a_spent_quota_is_refused_shown_and_no_business_of_others(tmp_path: Path, postgres_url: str) -> None:
    spending, sparing = (create_key(tmp_path, postgres_url, tenant) for tenant in ("spending", "sparing"))
    settings = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_DAILY_EVENTS": "3", "CODEXMEM_DAILY_REQUESTS": "20"}
    soon = {"codexmem.kernel.services.usage._SETTLE_S": 0.5}
    with Server(tmp_path, database_url=postgres_url, key=spending, settings=settings, constants=soon) as server:

        def begin(number: int, key: str = spending) -> tuple[int, dict[str, str], object]:
            body = {"contentSessionId": f"s{number}", "project": "p", "prompt": "hello"}
            reply = server.post("/api/sessions/init", body, {"Authorization": f"Bearer {key}"})
            return reply.status, dict(reply.headers), reply.json

        assert [begin(number)[0] for number in range(3)] == [200, 200, 200]
        status, headers, told = begin(3)
        assert status == 429
        assert 0 < int(headers["retry-after"]) <= 86_400
        assert isinstance(told, dict)
        assert "3 events of today" in told["error"]
        assert (told["details"]["reason"], told["details"]["limit"]) == ("events", 3)
        assert begin(3, sparing)[0] == 200
        assert server.request("GET", "/api/search?query=hello").status == 200  # reading is another quota
        (shown,) = (
            each for each in server.request("GET", "/api/ops/system").json["quotas"] if each["name"] == "events"
        )
        assert shown == {"name": "events", "used": 3, "limit": 3, "spent": True}
        server.stop()  # what this process counted is in the store
        server.start()
        assert begin(4)[0] == 200  # a server that has just begun has not asked the store
        eventually(lambda: begin(5)[0] == 429)
