"""The policy against a reference that works its answers out another way, on requests that try to look like others."""

from __future__ import annotations

from collections import Counter

import pytest

from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.names import Around
from codexmem.kernel.model.tool_access import Verdict
from tests.domain.policy_reference import CLASSES, verdict
from tests.domain.policy_world import HOME, World, resolve

REQUESTS = 10_000
PER_POLICY = 10


def disagreements(seed: int, count: int) -> tuple[Counter[str], list[str]]:
    world = World(seed)
    seen: Counter[str] = Counter()
    wrong = []
    for number in range(count // PER_POLICY):
        written, known = world.rules()
        mode = world.dice.choice(("dev", "test", "prod"))
        most = world.dice.choice((*CLASSES, "none"))
        policy = Policy.parse(
            written["allow"], written["deny"], written["ask"], mode, most, around=Around("", HOME, resolve)
        )
        for _ in range(PER_POLICY):
            made = world.request()
            decision = policy.decide(made.request)
            expected = verdict(known, mode, None if most == "none" else most, made.known)
            seen[expected] += 1
            if decision.verdict != expected:
                wrong.append(f"{number}: {made.request} under {written} {mode} {most}: {decision}, not {expected}")
            elif decision.verdict is Verdict.ALLOW:
                assert not made.request.from_text, "a marker in text was granted"
    return seen, wrong


@pytest.mark.clause("001 §5.3", "rules by name, server, domain, path, risk and mode: 10,000 requests, no disagreement")
@pytest.mark.slow
def test_ten_thousand_requests_are_decided_as_the_reference_decides_them() -> None:
    seen, wrong = disagreements(seed=20261115, count=REQUESTS)
    assert wrong[:3] == []
    assert sum(seen.values()) == REQUESTS
    assert min(seen["allow"], seen["ask"], seen["deny"]) > REQUESTS // 20, seen  # each of the three is really tried
