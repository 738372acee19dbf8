"""A run put together from what is configured: adapter, memory, gate, gatekeeper, trace and recording."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from codexmem.codecli import project_context, surroundings, trace
from codexmem.codecli.agents.choosing import choose
from codexmem.codecli.agents.protocol import Launch
from codexmem.codecli.child import signals
from codexmem.codecli.configuration import Config
from codexmem.codecli.memory_client import MemoryClient
from codexmem.codecli.post_run import gatekeeper_of
from codexmem.codecli.redactor import Redactor
from codexmem.codecli.run import AgentRun
from codexmem.codecli.run_context import Parts, RunRecorder
from codexmem.codecli.turns import Pending, RecentTurns
from codexmem.console.messages import language, say
from codexmem.hook import surroundings as machine


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of one run beside its configuration."""

    tui: bool = False
    trace: str = ""
    record: str = ""
    may_ask: bool = True


@contextmanager
def assembled(
    config: Config, command: tuple[str, ...], wishes: Wishes, note: Callable[[str], None]
) -> Iterator[AgentRun]:
    """The run, ready to go; what it needs beside it is gone afterwards."""
    environ, cwd, run_id = surroundings.environ(), surroundings.cwd(), surroundings.fresh_id()
    launch = Launch(command, environ, cwd)
    project, derived = project_context.project(config, cwd)
    if derived and config.memory.on:
        note(say("codecli.notice_derived", project=project))
    redactor = Redactor(config.redact.level, config.redact.patterns, machine.look(environ).secrets)
    strip = wishes.tui and surroundings.is_terminal(1)
    if wishes.tui and not strip:
        note(say("codecli.run.no_terminal"))
    made: list[AgentRun] = []

    def during(text: str) -> None:
        """While an agent has the terminal, the run knows when a note may be shown."""
        (made[0].note if made else note)(text)

    with ExitStack() as stack:
        gate = hook_socket = None
        if config.audit.mode != "off":
            # Loaded where it is wanted only: an agent is waiting to be started.
            from codexmem.codecli.gate import audit_log, gate_of
            from codexmem.codecli.hook_socket import open_hook_socket

            gate = gate_of(config, cwd=cwd, run_id=run_id, project_id=project, language=language(),
                           may_ask=wishes.may_ask, redact=redactor.value, note=during)  # fmt: skip
            if config.audit.push:
                from codexmem.codecli.audit_push import push_quietly

                server = MemoryClient(project_context.place(config, environ), config.memory.timeout_ms)
                stack.callback(push_quietly, audit_log(), server, note)
            with signals.shielded():
                hook_socket = stack.enter_context(open_hook_socket())
        parts = Parts(
            config, run_id, project, launch, choose(config, launch), note, redactor,
            trace.RunTracer(run_id, trace.opened(wishes.trace, note, _to_error), redactor.value),
            memory=MemoryClient(project_context.place(config, environ), config.memory.timeout_ms)
            if config.memory.on else None,
            gatekeeper=gatekeeper_of(config, redactor, language()), gate=gate, tape=_tape(wishes.record, during),
            turns=RecentTurns(surroundings.state_dir(), project, cwd, redactor.text) if config.memory.on else None,
            pending=Pending(surroundings.state_dir(), project, cwd) if config.memory.on else None,
            waits=lambda why: say("codecli.run.waits", why=why), strip=strip,
        )  # fmt: skip
        if hook_socket is not None:
            parts = replace(
                parts, hook_command=hook_socket.command, keep=hook_socket.keep, renamed=hook_socket.matching.of
            )
        run = AgentRun(parts)
        made.append(run)
        if hook_socket is not None:
            hook_socket.decides(run.decide_for_hook)
        yield run


def _tape(path: str, note: Callable[[str], None]) -> Callable[[Launch, str], RunRecorder] | None:
    if not path:
        return None
    from codexmem.codecli.recording import Recorder

    return lambda launch, adapter: Recorder(Path(path), launch, adapter=adapter, note=note)


def _to_error(text: bytes) -> None:
    os.write(2, text)
