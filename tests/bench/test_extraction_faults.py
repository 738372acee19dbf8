"""The short form of `just soak-extraction`: a server that fails half of the time, and every job ends once."""

from __future__ import annotations

import pytest

from bench import extraction_faults
from bench.extraction_faults import CAPTURED, TOOLS, Figures
from bench.report import ENGINES
from bench.stores import stores
from bench.writes import wired
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as


@pytest.mark.parametrize("engine", [pytest.param(each, marks=getattr(pytest.mark, each)) for each in ENGINES])
def test_every_job_ends_once_whatever_the_server_does(engine: str) -> None:
    with (
        stores(engine, durable=False) as made,
        wired(made) as core,
        acting_as(LOCAL),
        extraction_faults.serving(seed=11) as server,
    ):
        calm = extraction_faults.run(core, server, jobs=5, faulty=0.0, name="calm", show=lambda _: None)
        faulty = extraction_faults.run(core, server, jobs=18, faulty=0.5, name="faulty", show=lambda _: None)
    assert extraction_faults.kept(calm, faulty), (calm, faulty)
    assert calm["requests"] == calm["jobs"] == 5
    assert calm["requests per event"] == 1 / CAPTURED
    assert faulty["results"] == 18
    assert faulty["faulty replies"] > 3
    assert faulty["answered by"]["rules"] > 0
    assert faulty["answered by"]["model"] > 0
    assert faulty["outcomes"]["success"] + faulty["outcomes"]["fallback_used"] == 18


def figures(**more: object) -> Figures:
    good: Figures = {
        "jobs": 2, "captured events": 16, "stuck": 0, "results twice": 0, "ended": {"completed": 6}, "results": 2,
        "extracted events": 2 * TOOLS, "requests per event": 0.125, "answered by": {"model": 2},
    }  # fmt: skip
    return good | more


@pytest.mark.parametrize(
    "wrong",
    [{"stuck": 1}, {"results twice": 1}, {"ended": {"completed": 5, "failed": 1}}, {"results": 1},
     {"extracted events": 11}],
)  # fmt: skip
def test_a_broken_promise_is_noticed(wrong: dict[str, object]) -> None:
    assert extraction_faults.kept(figures(), figures())
    assert not extraction_faults.kept(figures(), figures(**wrong))
    assert not extraction_faults.kept(figures(**wrong), figures())
    assert not extraction_faults.kept(figures(**{"requests per event": 0.16}), figures())
