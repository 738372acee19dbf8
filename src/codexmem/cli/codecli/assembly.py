"""A run put together from what is configured: adapter, memory, gate, gatekeeper, trace and recording."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from codexmem.cli.messages import language, say
from codexmem.clients.codecli import surroundings, trace, whereabouts
from codexmem.clients.codecli.agents.choosing import choose
from codexmem.clients.codecli.agents.protocol import Launch
from codexmem.clients.codecli.child import signals
from codexmem.clients.codecli.configuration import Config
from codexmem.clients.codecli.memory_client import MemoryClient
from codexmem.clients.codecli.parts import Parts, Tape
from codexmem.clients.codecli.pending import Pending
from codexmem.clients.codecli.redactor import Redactor
from codexmem.clients.codecli.run import Run
from codexmem.clients.codecli.turns import Turns
from codexmem.clients.codecli.worth import gatekeeper_of
from codexmem.clients.hook import surroundings as machine


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of one run beside its configuration."""

    tui: bool = False
    trace: str = ""
    record: str = ""
    may_ask: bool = True


@contextmanager
def assembled(config: Config, command: tuple[str, ...], wishes: Wishes, note: Callable[[str], None]) -> Iterator[Run]:
    """The run, ready to go; what it needs beside it is gone afterwards."""
    environ, cwd, run_id = surroundings.environ(), surroundings.cwd(), surroundings.fresh_id()
    launch = Launch(command, environ, cwd)
    project, derived = whereabouts.project(config, cwd)
    if derived and config.memory.on:
        note(say("codecli.notice_derived", project=project))
    redactor = Redactor(config.redact.level, config.redact.patterns, machine.look(environ).secrets)
    strip = wishes.tui and surroundings.is_terminal(1)
    if wishes.tui and not strip:
        note(say("codecli.run.no_terminal"))
    made: list[Run] = []

    def during(text: str) -> None:
        """While an agent has the terminal, the run knows when a note may be shown."""
        (made[0].note if made else note)(text)

    with ExitStack() as stack:
        gate = door = None
        if config.audit.mode != "off":
            # Loaded where it is wanted only: an agent is waiting to be started.
            from codexmem.clients.codecli.gate import audit_log, gate_of
            from codexmem.clients.codecli.hook_door import hook_door

            gate = gate_of(config, cwd=cwd, run_id=run_id, project_id=project, language=language(),
                           may_ask=wishes.may_ask, redact=redactor.value, note=during)  # fmt: skip
            if config.audit.push:
                from codexmem.clients.codecli.audit_push import push_quietly

                server = MemoryClient(whereabouts.place(config, environ), config.memory.timeout_ms)
                stack.callback(push_quietly, audit_log(), server, note)
            with signals.shielded():
                door = stack.enter_context(hook_door())
        parts = Parts(
            config, run_id, project, launch, choose(config, launch), note, redactor,
            trace.Trace(run_id, trace.opened(wishes.trace, note, _to_error), redactor.value),
            memory=MemoryClient(whereabouts.place(config, environ), config.memory.timeout_ms)
            if config.memory.on else None,
            gatekeeper=gatekeeper_of(config, redactor, language()), gate=gate, tape=_tape(wishes.record, during),
            turns=Turns(surroundings.state_dir(), project, cwd, redactor.text) if config.memory.on else None,
            pending=Pending(surroundings.state_dir(), project, cwd) if config.memory.on else None,
            waits=lambda why: say("codecli.run.waits", why=why), strip=strip,
        )  # fmt: skip
        if door is not None:
            parts = replace(parts, hook_command=door.command, keep=door.keep, renamed=door.matching.of)
        run = Run(parts)
        made.append(run)
        if door is not None:
            door.decides(run.decide_for_hook)
        yield run


def _tape(path: str, note: Callable[[str], None]) -> Callable[[Launch, str], Tape] | None:
    if not path:
        return None
    from codexmem.clients.codecli.recording import Recorder

    return lambda launch, adapter: Recorder(Path(path), launch, adapter=adapter, note=note)


def _to_error(text: bytes) -> None:
    os.write(2, text)
