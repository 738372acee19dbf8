"""A server on a large store: what is filled can be asked over HTTP, and waiting jobs wait."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from bench import large, report
from bench.search_latency import Bare
from bench.stores import stores
from bench.victim import Victim
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as


@pytest.mark.timeout(180)
def test_what_was_filled_is_asked_over_http(tmp_path: Path) -> None:
    with acting_as(LOCAL), stores("sqlite", durable=False) as made:
        url = made.fresh()
        asked = large.filled(url, 600, 30, 4, 3, report.Progress("test"))
        within = [each for each in asked if each.scope == "equal"]
        everywhere = [each for each in asked if each.scope == "all"]
        assert {each.scope for each in asked} == set(large.SCOPES)
        assert all(each.question.project == large.EQUAL for each in within)
        assert all(overheard.statements for each in asked for overheard in each.heard)
        victim = Victim(tmp_path, url, environment={"CODEXMEM_EMBEDDER": "local"})
        victim.start()
        bare = Bare(url)
        try:
            with closing(victim.connect()) as connection:
                connection.request("GET", "/api/ops/system", headers=victim.headers())
                told = connection.getresponse().read().decode()
            assert '"queued":30' in told.replace(" ", ""), told
            assert large.waits(victim, bare, within, large._search)["ratio_p95"] > 1.0
            assert large.waits(victim, bare, everywhere, large._prompt)["http_p50_ms"] > 0.0
        finally:
            bare.close()
            assert victim.stop() == 0
