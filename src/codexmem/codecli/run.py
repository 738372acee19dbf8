"""One run of an agent with us in between: recall, start, pass everything on, and afterwards tell the memory.

Works with any adapter, gate, gatekeeper and tape, all of which it is given. Whatever they do wrong, the agent runs and
its ending is the run's ending; what a person should know is told in notes, each once.

Watchers at work: whatever they do wrong, the agent's output has passed already and goes on passing.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from codexmem.codecli import programs, surroundings
from codexmem.codecli.agents.json_lines import Lines
from codexmem.codecli.agents.protocol import (
    Happening,
    Injection,
    Launch,
    Noticed,
    OutputWatcher,
    PreflightCheck,
    PreparedAgent,
    Refusal,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Wiring,
)
from codexmem.codecli.child import pump, signals, spawning
from codexmem.codecli.child.lines import DialogueRelay
from codexmem.codecli.child.process import Between, ExitStatus, Eyes, ProcessPlan
from codexmem.codecli.child.pump import See
from codexmem.codecli.child.spawning import NOT_RUNNABLE, NotStarted
from codexmem.codecli.memory_client import MemoryClient
from codexmem.codecli.observed import Observed, ObservedTurn, Ring, confirms
from codexmem.codecli.opening import (
    FIRST_S,
    NO_PROMPT,
    NOT_READ,
    InputKind,
    Opening,
    Typed,
    joined,
    kind_of,
    peek,
    prompt_in,
)
from codexmem.codecli.post_run import Afterwards, PostRunReport, confirmed
from codexmem.codecli.recall import Recalled, Recaller
from codexmem.codecli.run_context import Parts, RunRecorder
from codexmem.codecli.status_line import Strip
from codexmem.codecli.turns import RECENT_MS, RecentTurn
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

_TEXT_BYTES = 1 << 20


class SafeWatcher:
    """A watcher that may fail without harm."""

    def __init__(self, watcher: OutputWatcher, tell: Callable[[Happening], None], note: Callable[[str], None]) -> None:
        self._watcher: OutputWatcher | None = watcher
        self._tell = tell
        self._note = note

    def feed(self, piece: bytes) -> None:
        """Show it a piece; one that fails is shown no more."""
        if self._watcher is None:
            return
        try:
            for happening in self._watcher.feed(piece):
                self._tell(happening)
        except Exception as error:
            self._watcher = None
            self._note(f"the agent's output could not be read ({type(error).__name__}: {error}); it is passed on")


class Listener:
    """Hands on what a person sends, line by line, as it was typed."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._typed = Typed()

    def hear(self, piece: bytes) -> None:
        """They sent this."""
        *lines, rest = piece.replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._typed.add(line, erase=b"\x7f", kill=b"\x15")
            if text := self._typed.line():
                self._heard(text)
        self._typed.add(rest, erase=b"\x7f", kill=b"\x15")


def closed(watcher: OutputWatcher) -> Iterable[Happening]:
    """What a watcher still held."""
    try:
        return list(watcher.close())
    except Exception:
        return []


def text_of(path: str) -> str | None:
    """A file's text, for adapters; None if there is none, or it is none."""
    try:
        with Path(path).expanduser().open("rb") as file:
            return file.read(_TEXT_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError, RuntimeError):
        return None


WAIT_S = 20.0  # an agent starts slowly, and not knowing means not starting it
_MOST = 8 << 20  # bytes of its answer


def passes(check: PreflightCheck, launch: Launch, wait_s: float = WAIT_S) -> bool:
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


def _proven(check: PreflightCheck, source: int, until: float) -> bool:
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


_LEAVING_S = 5.0  # for an agent that should end with its input to do so
_NOT_TOLD = "a tool was refused, and the agent could not be told why: its standard input is closed or not ours"
_STOPPED = "the agent was stopped: it asked for the tool {tool}, which was refused, and cannot be told. {reason}"
STOPPED_CODE = 10  # also what `policies check` answers where a tool is denied
_ENDING_S = 0.5  # for one of which it is known that it does not
RUN_ID = "MEM_CODECLI_RUN_ID"  # in the agent's environment, for our own hooks in it


@dataclass(frozen=True, slots=True)
class Beginning:
    """How the agent's standard input begins."""

    first: bytes = b""  # goes before what the person still sends
    ours: int = 0  # so many bytes of it are ours
    opening: Opening | None = None  # waits for the person's first prompt


class AgentRun:
    """One run; `go` once."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._later: list[str] | None = None  # notes that wait until the terminal is the person's again
        self.recaller = Recaller(
            parts.config, parts.project, parts.launch.cwd, parts.memory, parts.turns, parts.redactor.text, parts.trace,
            self.note,
        )  # fmt: skip
        self.observed = Observed(self._tool_ended, self._tool_started)
        self.out, self.err = Ring(), Ring()
        self.sent = PostRunReport()
        self._between: Between | None = None
        self._strip: Strip | None = None
        self._refusal: Refusal | None = None
        self._refused: tuple[ToolRequest, ToolDecision, float] | None = None  # the last one, and when
        self._told_problem = False
        self._noted: set[str] = set()
        self._by_input: ObservedTurn | None = None  # whose memory goes by standard input alone
        self.connected = parts.connected or spawning.look()
        self._began = surroundings.monotonic()

    def go(self) -> ExitStatus:
        """Run the agent; NotStarted if there is no way to."""
        parts = self.parts
        with parts.trace.span("run", project=parts.project, adapter=parts.adapter.name, argv=list(parts.launch.argv)):
            prepared, beginning = self.prepare()
            for note in prepared.notes:
                self.note(note)
            self._check(prepared)
            with parts.trace.span("agent", argv=list(prepared.launch.argv)) as span:
                ending = self._run(prepared, beginning)
                span.tell(code=ending.code, signal=ending.signal, stdout_bytes=self.out.passed,
                          stderr_bytes=self.err.passed, tools=self.observed.tools)  # fmt: skip
            try:
                self._afterwards(prepared)
            except KeyboardInterrupt:
                self.note("interrupted; the memory was not told about this run")
        return ending

    def note(self, text: str) -> None:
        """Tell a person; after the agent has ended, if it has the terminal now."""
        if self._later is not None:
            self._later.append(text)
        else:
            self.parts.note(text)

    def prepare(self) -> tuple[PreparedAgent, Beginning]:
        """The agent with its memory, and how its input begins."""
        parts, launch = self.parts, self.parts.launch
        launch = replace(launch, environ={**launch.environ, RUN_ID: parts.run_id})
        memory = parts.memory.together() if parts.memory is not None else None
        prompt = parts.adapter.prompt_of(launch)
        if prompt is not None:
            return self._told(launch, prompt, memory), Beginning()
        prepared = parts.adapter.prepare(launch, Injection(), self.wiring())
        if memory is None or not prepared.by_input or not self.connected.is_open[0]:
            return prepared, Beginning()
        opening = Opening(self._recalled_late, self.note)
        if self.connected.terminal[0]:
            return prepared, Beginning(opening=opening)
        peeked = peek(0, min(FIRST_S, parts.config.memory.timeout_ms / 3000))
        if kind_of(peeked.seen) is not InputKind.PROMPT:
            return prepared, Beginning(peeked.taken, opening=opening)
        prompt = prompt_in(peeked.seen)
        prepared = self._told(launch, prompt, memory)
        before = joined(prepared.before_input, prompt, whole=peeked.whole)
        return prepared, Beginning(before + peeked.taken, len(before))

    def _told(self, launch: Launch, prompt: str, memory: MemoryClient | None) -> PreparedAgent:
        """The launch with what memory has for this prompt."""
        prepared = self.parts.adapter.prepare(launch, self._recalled(prompt, memory), self.wiring())
        turn = self.observed.turns[-1]
        turn.delivered = prepared.in_launch
        if prepared.before_input and not prepared.in_launch:
            self._by_input = turn
        return prepared

    def _recalled_late(self, prompt: str, line_bytes: int) -> str:
        """What goes before a prompt that came while the agent was running already."""
        injection = self._recalled(prompt, line_bytes=line_bytes)
        self._by_input = self.observed.turns[-1]
        self._by_input.delivered = False
        return injection.system or injection.user

    def wiring(self) -> Wiring:
        """What the adapter may use."""
        parts = self.parts
        return Wiring(
            self._decide, self._recalled, parts.hook_command, parts.config.inject.mode, holds=parts.gate is not None,
            text_of=text_of, keep=parts.keep,
        )  # fmt: skip

    def _recalled(self, prompt: str, memory: MemoryClient | None = None, line_bytes: int = 0) -> Injection:
        """What memory has for a prompt; never raises."""
        try:
            recalled = self.recaller.recall(prompt, memory, line_bytes)
        except Exception as error:
            self.note(f"the memory could not be asked: {type(error).__name__}: {error}")
            recalled = Recalled()
        self.observed.begin(prompt, recalled)
        self._problem(recalled.problem)
        self._show()
        return recalled.rendered.injection(self.parts.config.inject.mode)

    def _check(self, prepared: PreparedAgent) -> None:
        """An agent that would not hold its tools to policy is not started."""
        if prepared.check is None:
            return
        with self.parts.trace.span("agent.check") as span:
            passed = passes(prepared.check, prepared.launch)
            span.tell(passed=passed)
        if not passed:
            problem = NotStarted(prepared.check.otherwise, details={"reason": "codecli_unguarded"})
            problem.exit_code = NOT_RUNNABLE
            raise problem

    def _run(self, prepared: PreparedAgent, beginning: Beginning) -> ExitStatus:
        # As the person started it: played again, the adapter prepares it anew.
        tape = self.parts.tape(self.parts.launch, self.parts.adapter.name) if self.parts.tape is not None else None
        plan = self._planned(prepared, beginning, tape)
        between = self._between = Between(plan)
        if self.parts.strip:
            self._strip = Strip(1, lambda: between.draws_itself)
            plan.show = self._strip.write
            self._show()
            with signals.shielded():
                self._strip.start()
        if self._strip is not None or spawning.StreamMode.TERMINAL in between.ways:
            self._later = []
        try:
            ending = between.run()
        finally:
            if self._strip is not None:
                self._strip.close()
            later, self._later = self._later or [], None
            for note in later:
                self.note(note)
        self._finish(prepared)
        self._see_whether_told(between)
        if tape is not None:
            tape.ended(ending.number)
        if between.stopped:
            self._tell_of_stop()
            return ExitStatus(STOPPED_CODE)
        if prepared.leads and not ending.signal and ending.code == 0 and self.observed.last_ok is False:
            return ExitStatus(1)  # we spoke for the agent, and it gave up
        if prepared.leads and ending.signal and self.observed.last_ok and between.seen_off:
            return ExitStatus(0)  # it was done, and had to be told to leave
        return ending

    def _tell_of_stop(self) -> None:
        """Say why the agent was stopped, to the person and in the audit log."""
        assert self._refused is not None
        request, decision, since = self._refused
        reason = " ".join(decision.reason.split())
        self.note(_STOPPED.format(tool=request.command or request.tool, reason=reason))
        self.observed.tell(TurnEnded(ok=False, message=reason))
        self._tool_ended(ToolEnded(request.call_id, False, round((surroundings.monotonic() - since) * 1000)))

    def _see_whether_told(self, between: Between) -> None:
        """Only what the agent has read counts as shown to it."""
        if self._by_input is not None:
            self._by_input.delivered = between.ours_read
            if self._by_input.recalled.rendered.items and not between.ours_read:
                self.note(NOT_READ)
        if self.parts.memory is not None and not any(turn.asked.strip() for turn in self.observed.turns):
            self.note(NO_PROMPT)

    def _planned(self, prepared: PreparedAgent, beginning: Beginning, tape: RunRecorder | None) -> ProcessPlan:
        if prepared.dialogue is not None:
            record = tape.wrote if tape is not None else None
            route = DialogueRelay(
                prepared.dialogue, prepared.prompt if prepared.leads else None, self._tell, self.note,
                record=record, see_text=self.out.add,
            )  # fmt: skip
            wants = spawning.Wants(stdin=True, stderr=tape is not None, protocol=True)
            eyes = Eyes(stderr=self._eye(self.err, None, tape, "stderr"))
            leaving_s = (_LEAVING_S if prepared.leads else None) if prepared.ends_with_input else _ENDING_S
            return ProcessPlan(prepared.launch, eyes, wants, self.connected, route=route, leaving_s=leaving_s)
        on_terminal = self.connected.terminal[0] and self.connected.terminal[1]
        eyes = Eyes(
            stdin=self._eye(None, None, tape, "stdin"),
            stdout=self._eye(self.out, prepared.stdout, tape, "terminal" if on_terminal else "stdout"),
            stderr=self._eye(self.err, prepared.stderr, tape, "stderr"),
        )
        # Nobody looks at a standard error that goes to a person's terminal, unless somebody asked for it.
        wanted = prepared.stderr is not None or tape is not None or not self.connected.terminal[2]
        answers = prepared.refusal is not None and self.parts.gate is not None
        self._refusal = prepared.refusal if answers else None
        ours = bool(beginning.first) or beginning.opening is not None
        stops = answers and self.parts.config.audit.untold == "stop"
        wants = spawning.Wants(
            ours or tape is not None or answers, stderr=wanted or self.connected.out_is_err, group=stops
        )
        # Where an agent is known by its text alone, the person's next line may say that its answer was right.
        hears = prepared.refusal is not None and self.parts.memory is not None and self.parts.gatekeeper is not None
        return ProcessPlan(
            prepared.launch,
            eyes,
            wants,
            self.connected,
            beginning.first,
            beginning.ours,
            beginning.opening,
            Listener(self.observed.next_line).hear if hears else pump.unseen,
        )

    def _eye(self, ring: Ring | None, watcher: OutputWatcher | None, tape: RunRecorder | None, stream: str) -> See:
        """Whoever wants to see a stream, in one."""
        if ring is None and watcher is None and tape is None:
            return pump.unseen
        watching = SafeWatcher(watcher, self._tell, self.note) if watcher is not None else None

        def see(piece: bytes) -> None:
            if ring is not None:
                ring.add(piece)
            if tape is not None:
                tape.wrote(stream, piece)
            if watching is not None:
                watching.feed(piece)

        return see

    def decide_for_hook(self, request: ToolRequest) -> ToolDecision:
        """Decide for a hook inside the agent, of which its output says nothing."""
        decision = self._judge(request)
        self.observed.tell(ToolDecided(request, decision))
        self._show()
        return decision

    def _tell(self, happening: Happening) -> None:
        happening = self.parts.renamed(happening)
        self.observed.tell(happening)
        if isinstance(happening, Noticed):
            self._note_once(happening.text)
        self._show()

    def _note_once(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self.note(text)

    def _decide(self, request: ToolRequest) -> ToolDecision:
        """Decide, and see to it that what is denied does not run where the agent only prints what it does."""
        between, refusal = self._between, self._refusal
        if between is None or refusal is None:
            return self._judge(request)
        if self.parts.config.audit.untold == "note":
            decision = self._judge(request)
            if decision.verdict is Verdict.DENY and not between.tell_agent(refusal(request, decision)):
                self._note_once(_NOT_TOLD)
            return decision
        between.hold()
        decision = self._judge(request)
        if decision.verdict is Verdict.DENY:
            self._refused = (request, decision, surroundings.monotonic())
            between.stop()
        else:
            between.go_on()
        return decision

    def _judge(self, request: ToolRequest) -> ToolDecision:
        """Ask the gate, with the person's terminal free for a question."""
        gate = self.parts.gate
        if gate is None:
            return ToolDecision(Verdict.ALLOW, "nothing is held back: audit is off", rule="audit.mode = off")
        lent: AbstractContextManager[None] = self._between.lent_terminal() if self._between else nullcontext()
        with lent, self.parts.trace.span("tool.decide", tool=request.tool, server=request.server) as span:
            decision = gate.decide(request)
            span.tell(verdict=str(decision.verdict), reason=decision.reason, rule=decision.rule, by=decision.by)
        return decision

    def _tool_started(self, started: ToolStarted) -> None:
        self.parts.trace.event("tool.started", tool=started.request.tool, call_id=started.request.call_id)
        if self.parts.gate is not None:
            self.parts.gate.started(started.request)

    def _tool_ended(self, ended: ToolEnded) -> None:
        self.parts.trace.event("tool.ended", call_id=ended.call_id, ok=ended.ok, took_ms=ended.took_ms)
        if self.parts.gate is not None:
            self.parts.gate.ended(ended.call_id, ended.ok, ended.took_ms)

    def _show(self) -> None:
        if self._strip is not None:
            self._strip.tell(self.summary())

    def summary(self) -> str:
        """The run so far, in one line."""
        told = sum(len(turn.items) for turn in self.observed.turns)
        parts = [f"mem-codecli {self.parts.project}", f"memory {told}" if self.parts.memory else "memory off"]
        parts += [f"{name} {count}" for name, count in sorted(self.observed.decisions.items())]
        parts.append(f"{surroundings.monotonic() - self._began:.0f} s")
        return " | ".join(parts)

    def _finish(self, prepared: PreparedAgent) -> None:
        """What the watchers still hold; without any, the agent's output is what it said."""
        for watcher in (prepared.stdout, prepared.stderr):
            if watcher is not None and prepared.dialogue is None:
                for happening in closed(watcher):
                    self._tell(happening)
        if prepared.dialogue is None and prepared.stdout is None and self.observed.turns:
            if not (self._between is not None and self._between.drew_itself):
                self.observed.turns[-1].said.add(self.out.text())

    def _afterwards(self, prepared: PreparedAgent) -> None:
        parts = self.parts
        if parts.turns is not None:
            for turn in self.observed.turns[-3:]:
                if turn.asked.strip():
                    parts.turns.add(RecentTurn(surroundings.now_ms(), parts.run_id, turn.asked, turn.said.text()))
        if parts.memory is None or self._told_problem or not self.observed.turns:
            return
        agent = Path(prepared.launch.argv[0]).name
        afterwards = Afterwards(
            parts.project, parts.run_id, agent, parts.config.inject.mode, parts.gatekeeper, parts.trace,
            parts.redactor.text,
        )  # fmt: skip
        self._confirm(parts.memory)
        self.sent = afterwards.send(parts.memory, self.observed.turns)
        self._problem(self.sent.problem)
        if self.sent.waiting is not None and parts.pending is not None:
            parts.pending.keep(self.sent.waiting)
            self.note(parts.waits(self.sent.why))

    def _confirm(self, memory: MemoryClient) -> None:
        """A run that begins with the person's word about the last one's answer."""
        pending = self.parts.pending
        waiting = pending.waiting() if pending is not None else None
        if pending is None or waiting is None or not confirms(self.observed.turns[0].asked):
            return
        if surroundings.now_ms() - waiting.at_ms <= RECENT_MS:
            try:
                confirmed(memory.together(), self.parts.project, pending, waiting)
            except CodexmemError as error:
                self._problem(error)

    def _problem(self, problem: CodexmemError | None) -> None:
        """One note for a memory that is away, however often it is."""
        if problem is not None and not self._told_problem:
            self._told_problem = True
            self.note(f"without memory: {problem.message}" + (f" ({problem.hint})" if problem.hint else ""))
