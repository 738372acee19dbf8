"""The short form of `just bench-passthrough`: every contender runs, every byte comes, no line is out of its place."""

from __future__ import annotations

from pathlib import Path

from bench import passthrough
from bench.passthrough import Machine, Ran


def test_every_contender_is_measured_and_nothing_is_lost(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    found = passthrough.measure(machine, 1, 2, 5, unmeasured=0)
    assert len(found) == len(passthrough.WAYS) * len(passthrough.STREAMS) * 2
    assert {ran.octets for runs in found.values() for ran in runs} == {2 << 20}
    assert passthrough.ratio(found, "pipe, 1 MiB, bare") == 1
    assert passthrough.disorder(machine, 20_000) == {"bare": 0, "off": 0, "between": 0}


def test_figures_are_those_of_the_rounds() -> None:
    found = {"p, bare": [Ran(10, 1, 5), Ran(20, 2, 5)], "p, off": [Ran(11, 4, 5), Ran(30, 8, 5)]}
    assert passthrough.ratio(found, "p, off") == 1.3
    assert passthrough.delay(found, "p, off") == 4.5
