"""Asking an agent something before it is started, where starting it blindly would leave its tools unguarded."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess

from codexmem.clients.codecli import programs, surroundings
from codexmem.clients.codecli.agents.json_lines import Lines
from codexmem.clients.codecli.agents.protocol import Check, Launch

WAIT_S = 20.0  # an agent starts slowly, and not knowing means not starting it
_MOST = 8 << 20  # bytes of its answer


def passes(check: Check, launch: Launch, wait_s: float = WAIT_S) -> bool:
    """Whether the agent proves it; silence, failure and lateness are a no. What was started is ended."""
    until = surroundings.monotonic() + wait_s
    place = programs.which(check.argv[0], launch.environ)
    if not place:
        return False
    try:
        asked = subprocess.Popen(
            check.argv, executable=place, env=dict(launch.environ), cwd=launch.cwd or None, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError):
        return False
    with asked:
        try:
            assert asked.stdin is not None
            assert asked.stdout is not None
            with contextlib.suppress(OSError):
                asked.stdin.write(b"".join(check.lines))
                asked.stdin.flush()
            return _proven(check, asked.stdout.fileno(), until)
        finally:
            with contextlib.suppress(OSError):
                os.killpg(asked.pid, 9)


def _proven(check: Check, source: int, until: float) -> bool:
    lines, read = Lines(), 0
    while read < _MOST and (left := until - surroundings.monotonic()) > 0:
        if not select.select([source], [], [], left)[0]:
            return False
        piece = os.read(source, 1 << 16)
        if not piece:
            return False
        read += len(piece)
        for line in lines.feed(piece):
            said = check.proves(line)
            if said is not None:
                return said
    return False
