"""The least that starts a prepared agent and speaks for a person's program: what `mem-codecli run` does, in a loop.

Only for tests of adapters; the program itself is driven elsewhere.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from codexmem.codecli.agents.protocol import AgentMessage, Happening, LineEffects, PreparedAgent

ENDS_WITHIN_S = 60

Message = dict[str, Any]
# What a person's program sends when it receives this; None at the beginning.
Program = Callable[[Message | None], Iterable[Message]]


@dataclass
class Driven:
    """What came of it."""

    code: int = 0
    happenings: list[Happening] = field(default_factory=list)
    shown: bytes = b""  # what the person's program, or the person, got

    @property
    def said(self) -> str:
        """What the agent said."""
        return "".join(each.text for each in self.happenings if isinstance(each, AgentMessage))

    def of(self, kind: type) -> list[Any]:
        """The happenings of one kind."""
        return [each for each in self.happenings if isinstance(each, kind)]


def drive(prepared: PreparedAgent, program: Program | None = None) -> Driven:
    """Run the agent to its end."""
    driven = Driven()
    # Whoever reads nothing must not be waited for; a person's program that never hears from the agent gives up.
    agent = subprocess.Popen(
        prepared.launch.argv, cwd=prepared.launch.cwd, env=dict(prepared.launch.environ), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    timer = threading.Timer(ENDS_WITHIN_S, os.killpg, (agent.pid, signal.SIGKILL))
    timer.start()
    with agent:
        try:
            if prepared.dialogue is None:
                _watch(agent, prepared, driven)
            else:
                _converse(agent, prepared, program, driven)
            driven.code = agent.wait()
        finally:
            timer.cancel()
            if agent.poll() is None:
                os.killpg(agent.pid, signal.SIGKILL)
    return driven


def _watch(agent: subprocess.Popen[bytes], prepared: PreparedAgent, driven: Driven) -> None:
    assert agent.stdin is not None
    assert agent.stdout is not None
    assert prepared.stdout is not None
    agent.stdin.close()
    while piece := os.read(agent.stdout.fileno(), 1 << 16):
        driven.shown += piece
        driven.happenings += prepared.stdout.feed(piece)
    driven.happenings += prepared.stdout.close()


def _converse(agent: subprocess.Popen[bytes], prepared: PreparedAgent, program: Program | None, driven: Driven) -> None:
    dialogue, source, target = prepared.dialogue, agent.stdout, agent.stdin
    assert dialogue is not None
    assert source is not None
    assert target is not None

    def follow(moves: LineEffects) -> None:
        for line in moves.to_agent:
            target.write(line)
            target.flush()
        driven.happenings += moves.happenings
        for line in moves.to_person:
            driven.shown += line
            if program is not None:
                answer(json.loads(line))
        if moves.done:
            target.close()

    def answer(message: Message | None) -> None:
        assert program is not None
        for each in program(message):
            if each.get("method") == "hang up":
                target.close()
            else:
                follow(dialogue.from_person(json.dumps(each, ensure_ascii=False).encode() + b"\n"))

    follow(dialogue.open(prepared.prompt if prepared.leads else None))
    if program is not None:
        answer(None)
    for line in source:
        follow(dialogue.from_agent(line))
