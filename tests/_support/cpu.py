"""Processor time of a program beside that of a plain one, in turns, so that both meet the same machine."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def spent(command: Sequence[str | Path], env: Mapping[str, str]) -> float:
    """Seconds of user and system time of a program that ends well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def ratio(
    command: Sequence[str | Path], plain: Sequence[str | Path], env: Mapping[str, str], bar: float, rounds: int = 6
) -> float:
    """How many times the least that the plain one took; the first round, which compiles, is not counted. Where that is
    above the bar, four times as many rounds follow: a busy machine only adds, so the least of more rounds is truer."""
    pairs = [(spent(command, env), spent(plain, env)) for _ in range(rounds + 1)][1:]
    if _least(pairs) > bar:
        pairs += [(spent(command, env), spent(plain, env)) for _ in range(4 * rounds)]
    return _least(pairs)


def _least(pairs: Sequence[tuple[float, float]]) -> float:
    return min(own for own, _ in pairs) / min(other for _, other in pairs)
