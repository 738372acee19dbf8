"""A run that is interrupted goes on from its journal and repeats nothing that was recorded."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from codexmem.kernel.jobs.job_kind import JobContext
from codexmem.kernel.model.event import EventType
from codexmem.lab.model import RunStatus
from codexmem.lab.service.journal import Journal
from codexmem.lab.service.profiles import load
from tests._support.chat_server import streamed
from tests._support.model_server import Asked, Reply, rate_limited, refused
from tests.services.lab.agent.conftest import PROFILES, Make
from tests.services.lab.agent.lines import PLAN, QUERY, SEARCH, changed, submit


class Killed(BaseException):
    """As if the process ended here."""


@pytest.mark.parametrize("at", range(1, 7))
def test_after_a_crash_no_recorded_step_is_done_again(make: Make, at: int) -> None:
    """The process dies right after the n-th reply was recorded, and the rest is done by another."""
    bench = make()
    cast = bench.play(
        orchestrator=[[PLAN, QUERY, SEARCH], [("delegate", {"role": "mof_expert", "task": "框架？"})],
                      [changed(M1="x")], [submit()]],
        mof_expert=[[("kb_query", {"namespace": "kb_modulation", "query": "酸"})], "可以 [C3]。"],
    )  # fmt: skip
    _, (run,) = bench.lab.order(1, "铜钼", recipes_per_run=1)
    (job,) = bench.lab.dispatch.claim("doomed", limit=1, lease_ms=20_000, now_ms=bench.lab.clock.now_ms())
    real, left = Journal.record, [at]

    def dying(journal: Journal, key: str, result: dict[str, Any], *events: Any) -> dict[str, Any]:
        kept = real(journal, key, result, *events)
        left[0] -= key.startswith("model:")
        if not left[0]:
            raise Killed
        return kept

    with mock.patch.object(Journal, "record", dying), pytest.raises(Killed):
        bench.lab.lab.execution.run(job, JobContext(job, 60))
    assert bench.server.count == at
    queries = len(bench.library.queries)
    bench.finish()
    assert bench.lab.lab.runs.run(run.id).status is RunStatus.COMPLETED
    assert cast.asked == ["orchestrator"] * 2 + ["mof_expert"] * 2 + ["orchestrator"] * 2
    assert len(bench.library.queries) == 2
    assert queries <= 2
    types = bench.lab.types(run.id)
    assert (types.count("llm_request"), types.count("llm_response"), types.count("recap_info")) == (6, 6, 6)
    assert (types.count("kb_query"), types.count("run_resumed")) == (2, 1)


def test_a_run_keeps_the_profile_it_began_with(make: Make) -> None:
    bench = make()
    bench.play(orchestrator=[[QUERY], refused(503), [submit()]])
    _, (run,) = bench.lab.order(1, "铜", recipes_per_run=1)
    (job,) = bench.lab.dispatch.claim("doomed", limit=1, lease_ms=20_000, now_ms=bench.lab.clock.now_ms())
    real = Journal.record

    def dying(journal: Journal, key: str, *rest: Any) -> dict[str, Any]:
        real(journal, key, *rest)
        raise Killed

    with mock.patch.object(Journal, "record", dying), pytest.raises(Killed):
        bench.lab.lab.execution.run(job, JobContext(job, 60))
    bench.lab.lab.execution._agent._profile = load(str(PROFILES / "bakery.toml"))  # type: ignore[attr-defined]
    bench.play(orchestrator=[[QUERY], [submit()]])
    bench.finish()
    assert bench.lab.lab.runs.run(run.id).status is RunStatus.COMPLETED
    assert {each["agent"] for each in bench.payloads(run, EventType.RECAP_INFO)} == {"orchestrator"}


def test_what_may_pass_waits_and_goes_on(make: Make) -> None:
    bench = make()
    troubles = [refused(500), refused(500), rate_limited("1")]

    def flaky(asked: Asked) -> Reply:
        return troubles.pop(0) if troubles else streamed("", submit())

    bench.play(orchestrator=[[QUERY], flaky])
    run = bench.run()
    assert (run.status, run.error) == (RunStatus.COMPLETED, None)
    told = [each["trouble"] for each in bench.payloads(run, EventType.LLM_RESPONSE) if "trouble" in each]
    assert told == ["transient"]  # the second try inside a call is not the run's business
    assert bench.lab.types(run).count("run_resumed") == 1
    assert len(bench.library.queries) == 1
