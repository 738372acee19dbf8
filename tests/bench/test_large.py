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


def test_goals_are_missed_by_name() -> None:
    good = {"http_p95_ms": 3.0, "bare_p95_ms": 2.0, "ratio_p95": 1.5}
    idle = {"idle_full_mb": 180.0, "idle_empty_mb": 120.0, "wakeups_full_s": 2.0, "wakeups_empty_s": 1.0}
    found = {"search_all": good, "prompt_project": good, "ready_s": 3.5, "ready_empty_s": 3.0, **idle}
    assert large.missed(found) == []
    worse = {"prompt_project": good | {"ratio_p95": 1.6}, "ready_s": 4.0, "idle_full_mb": 181.0, "wakeups_full_s": 2.1}
    assert large.missed(found | worse) == ["prompt, project", "ready", "idle memory", "wake-ups"]
