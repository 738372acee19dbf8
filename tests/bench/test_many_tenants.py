"""The benchmark of many tenants in short: a real group of servers, a worker and real kills."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from bench import many_tenants
from bench.processor_share import ProcessorShares, available
from bench.unit_costs import processor_s

STORM = {
    "acknowledged": 10, "lost": 0, "twice": 0, "memories_made": 5, "memories_made_twice": 0,
    "jobs_failed_otherwise": 0, "unindexed_when_tenants_came_again": 0,
}  # fmt: skip


@pytest.mark.postgresql
@pytest.mark.timeout(240)
def test_servers_are_killed_and_nothing_is_lost() -> None:
    given = many_tenants.arguments().parse_args([
        "--only", "storm", "--memories", "120", "--tenants", "4", "--questions", "12", "--embedder", "none",
        "--processes", "2", "--workers", "1", "--minutes", "0.1", "--every", "3",
        "--capturing", "2", "--searching", "1",
    ])  # fmt: skip
    found = many_tenants.run(given, 5, durable=False)  # kills no worker, whose job would wait for its lease
    storm = found["storm"]
    assert sum(storm["killed"].values()) >= 2
    assert storm["acknowledged"] > 20
    assert storm["memories_made"] > 0
    assert storm["ms"]["bare"]["p50"] > 0
    assert many_tenants.kept(found), found


def test_the_verdict_can_be_that_it_was_not_kept() -> None:
    def kept(rate: float = 1.0, **changed: Any) -> bool:
        return many_tenants.kept({"scaling": [{"of_n_times_one": rate}], "storm": {**STORM, **changed}})

    assert kept()
    assert not kept(rate=0.79)
    for name, value in (("acknowledged", 0), ("lost", 1), ("twice", 1), ("memories_made_twice", 1),
                        ("jobs_failed_otherwise", 1), ("unindexed_when_tenants_came_again", 1)):  # fmt: skip
        assert not kept(**{name: value}), name


@pytest.mark.skipif(not available(), reason="control groups of processors cannot be made here")
def test_a_process_has_its_share_of_a_core_and_no_more() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            with ProcessorShares(0.1) as shares:
                shares.limit([busy.pid])
                before = processor_s(busy.pid)
                time.sleep(1.0)
                assert 0.0 < processor_s(busy.pid) - before < 0.3
                busy.kill()
                busy.wait()
        finally:
            busy.kill()
