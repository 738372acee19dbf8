"""The codexmem command with another agent, and with leases as short as a measurement needs: LAB_AGENT, LAB_LEASE_MS."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module


def main() -> None:
    """Run the command."""
    from codexmem.app import core
    from codexmem.cli import main as command
    from codexmem.kernel.jobs.worker import Worker
    from codexmem.lab import build_feature

    module, _, function = os.environ["LAB_AGENT"].partition(":")
    made = getattr(import_module(module), function)()
    vars(build_feature)["agent_from"] = lambda *_, **__: made
    lease_ms = int(os.environ.get("LAB_LEASE_MS", "0"))
    if lease_ms:
        vars(core)["Worker"] = partial(Worker, lease_ms=lease_ms, look_s=lease_ms / 4000)
    command()


if __name__ == "__main__":
    main()
