"""A share of a core for each of some processes, by the kernel's own control groups: root only, version 1 or 2.

Two cores cannot show how four servers scale. Four servers that may each use a quarter of a core can: what they have
then grows with their number as on a machine with more cores, while nobody waits for a core that another one has.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

_PERIOD_US = 20_000
_ROOT = Path("/sys/fs/cgroup")
_END_S = 10.0


def available() -> bool:
    """Whether groups can be made here."""
    return os.access(_parent(), os.W_OK) and (_version_1() or "cpu" in (_ROOT / "cgroup.subtree_control").read_text())


def _version_1() -> bool:
    return (_ROOT / "cpu").is_dir()


def _parent() -> Path:
    return _ROOT / "cpu" if _version_1() else _ROOT


class ProcessorShares:
    """Each process that is limited gets a group of its own; all groups are removed when the block ends."""

    def __init__(self, share: float) -> None:
        self._quota_us = round(share * _PERIOD_US)
        self._groups: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        deadline = time.monotonic() + _END_S
        for group in self._groups:
            while group.exists() and time.monotonic() < deadline:
                with suppress(OSError):  # while a process in it is still ending
                    group.rmdir()
                    break
                time.sleep(0.05)

    def limit(self, pids: Iterable[int]) -> None:
        """From now on each of these may use its share of a core, all of its threads together."""
        for pid in pids:
            group = _parent() / f"codexmem-bench-{pid}"
            group.mkdir()
            self._groups.append(group)
            if _version_1():
                (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
                (group / "cpu.cfs_quota_us").write_text(str(self._quota_us))
            else:
                (group / "cpu.max").write_text(f"{self._quota_us} {_PERIOD_US}")
            (group / "cgroup.procs").write_text(str(pid))
