"""The failover soak in short: one promotion under load, with all of its checks."""

from __future__ import annotations

import pytest

from bench import failover

pytestmark = pytest.mark.postgresql


def test_one_failover_under_load_loses_nothing() -> None:
    found = failover.soak(failovers=1, seconds=60.0, freeze_every=0, seed=1, durable=False)
    assert found["failovers"] == 1
    assert found["acknowledged"] > 20
    for name in ("unknown_left", "refused", "lost", "duplicated", "memories_without_their_version"):
        assert found[name] == 0, found


@pytest.mark.timeout(240)
def test_the_reference_deployment_promotes_by_itself_and_loses_nothing() -> None:
    found = failover.soak(failovers=1, seconds=60.0, freeze_every=0, seed=1, patroni=True)
    assert found["failovers"] == 1
    assert found["acknowledged"] > 20
    assert failover.kept(found), found


def test_the_verdict_can_be_that_it_was_not_kept() -> None:
    good: dict[str, float] = dict.fromkeys(
        ("unknown_left", "refused", "lost", "duplicated", "memories_without_their_version"), 0
    )
    good |= {"frozen_until_not_ready_max_s": 3.0, "longest_request_s": 6.0}
    assert failover.kept(good)
    for name, value in (("lost", 1), ("duplicated", 1), ("unknown_left", 1), ("longest_request_s", 10.1),
                        ("frozen_until_not_ready_max_s", 5.1)):  # fmt: skip
        assert not failover.kept({**good, name: value})
