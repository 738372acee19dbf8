"""The gate in front of an agent's tools: policy first, a person where it says ask, and a record of everything.

`decide` answers allow or deny, never raises and never leaves a question open. A request that cannot be recorded is
denied unless it only reads: what changes something without a trace is not let through because a disk is full.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codexmem.audit import chain as audit_row
from codexmem.codecli import remembered_permissions, surroundings
from codexmem.codecli.asking_person import ApprovalAnswer, ApprovalQuestion, Person, TerminalPerson
from codexmem.codecli.audit_log import AuditLog
from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.facts import Facts
from codexmem.codecli.remembered_permissions import Always, rules_for
from codexmem.kernel.model import redaction
from codexmem.kernel.model.own_tools import DENIED_BY_PERSON, OTHERWISE
from codexmem.kernel.model.tool_access import Cause, Risk, ToolDecision, ToolRequest, Verdict, argument_hash

if TYPE_CHECKING:
    from codexmem.codecli.configuration import Config

OFF, PROMPT, AUTO = "off", "prompt", "auto"
_REMEMBERED = 1_000  # calls whose end is waited for

Note = Callable[[str], None]


class Gate:
    """Decides about the tools of one run; any thread may ask."""

    def __init__(self, policy: Policy, mode: str = PROMPT, person: Person | None = None, audit: AuditLog | None = None,
                 *, run_id: str = "", project_id: str = "", always: Always | None = None,
                 redact: Callable[[Any], Any] = redaction.redact_value, note: Note | None = None) -> None:  # fmt: skip
        self._policy = policy
        self._mode = mode
        self._person = person
        self._audit = audit
        self._run_id = run_id
        self._project_id = project_id
        self._always = always
        self._redact = redact
        self._note = note or (lambda _: None)
        self._told: set[str] = set()
        self._lock = threading.Lock()
        self._calls: OrderedDict[str, tuple[str, float, bool]] = OrderedDict()  # call → tool, when, whether allowed

    def decide(self, request: ToolRequest) -> ToolDecision:
        """Allow or deny, perhaps after asking a person."""
        try:
            decision = self._decided(request)
        except Exception as error:  # whatever went wrong, nothing passes by it
            said = f"The policy could not be applied ({type(error).__name__}). {OTHERWISE}"
            decision = ToolDecision(Verdict.DENY, said, cause=Cause.BROKEN, argument_hash=argument_hash(request))
        return self._recorded(request, decision)

    def started(self, request: ToolRequest) -> None:
        """A tool is at work; if nobody asked before, that is recorded."""
        with self._lock:
            known = request.call_id and self._calls.get(request.call_id)
        if known and known[2]:
            return
        self._remember(request)
        try:
            self._append(audit_row.request_fields(request, None, self._risk(request), self._key(), self._redact))
        except Exception as error:
            self._tell("audit", f"the audit log was not written: {error}")

    def ended(self, call_id: str, ok: bool, took_ms: int | None = None) -> None:
        """A tool came to its end; without its own word it is measured from when it was decided."""
        with self._lock:
            tool, began, _ = self._calls.pop(call_id, ("", None, False))
        if took_ms is None and began is not None:
            took_ms = round((surroundings.monotonic() - began) * 1000)
        try:
            self._append(audit_row.result_fields(call_id, tool, ok, took_ms))
        except Exception as error:
            self._tell("audit", f"the audit log was not written: {error}")

    def _decided(self, request: ToolRequest) -> ToolDecision:
        if self._mode == OFF:
            said = "Nothing is held back: audit.mode is off."
            return ToolDecision(
                Verdict.ALLOW, said, "audit.mode", cause=Cause.OFF, argument_hash=argument_hash(request)
            )
        decision = self._policy.decide(request)
        if decision.verdict is not Verdict.ASK:
            return decision
        if self._mode == AUTO:
            said = f"{decision.reason} Nobody is asked here (audit.mode = auto), so it is denied. {OTHERWISE}"
            return replace(decision, verdict=Verdict.DENY, reason=said, cause=Cause.NOBODY_ASKED)
        if self._person is None:
            return _unasked(decision)
        return self._asked(request, decision, self._person)

    def _asked(self, request: ToolRequest, decision: ToolDecision, person: Person) -> ToolDecision:
        rules = self._rules(request)
        answer = person.ask(_question(request, decision, self._risk(request), rules))
        if answer.absent:
            return _unasked(decision)
        if not answer.allowed:
            return _refused(decision, answer)
        if answer.always:
            self._allow_always(rules)
        said = "A person allowed it" + (" from now on in this project." if answer.always else " this once.")
        return replace(decision, verdict=Verdict.ALLOW, reason=said, by="person", cause=Cause.PERSON_ALLOWS)

    def _rules(self, request: ToolRequest) -> list[dict[str, object]]:
        # A marker in text never grants anything, so there is nothing to remember by it.
        if self._always is None or request.from_text:
            return []
        rules = rules_for(request, self._always.root, self._policy.around)
        widened = self._policy.plus(allow=rules, origin=remembered_permissions.ALWAYS)
        # Only offered where it would help: a rule that asks is asked about again.
        return rules if widened.decide(request).verdict is Verdict.ALLOW else []

    def _allow_always(self, rules: list[dict[str, object]]) -> None:
        assert self._always is not None
        try:
            for rule in rules:
                self._always.add(rule)
            self._policy = self._policy.plus(allow=rules, origin=remembered_permissions.ALWAYS)
        except Exception as error:
            self._tell("always", f"what you always allow could not be kept: {error}")

    def _recorded(self, request: ToolRequest, decision: ToolDecision) -> ToolDecision:
        self._remember(request, decision.verdict is Verdict.ALLOW)
        try:
            risk = self._risk(request)
            self._append(audit_row.request_fields(request, decision, risk, self._key(), self._redact))
        except Exception as error:
            self._tell("audit", f"the audit log was not written: {error}")
            if decision.verdict is Verdict.ALLOW and self._mode != OFF and self._risk(request) is not Risk.READ:
                said = f"It cannot be recorded, so it is denied: the audit log cannot be written. {OTHERWISE}"
                return replace(decision, verdict=Verdict.DENY, reason=said, by="policy", cause=Cause.NOT_RECORDED)
        return decision

    def _append(self, fields: Mapping[str, object]) -> None:
        if self._audit is not None:
            now = surroundings.now_ms()
            self._audit.append(audit_row.stamped(fields, now, self._run_id, self._project_id))

    def _key(self) -> bytes:
        return self._audit.key() if self._audit is not None else b""

    def _risk(self, request: ToolRequest) -> Risk | None:
        return Facts.of(request, self._policy.around).risk

    def _remember(self, request: ToolRequest, allowed: bool = True) -> None:
        with self._lock:
            self._calls[request.call_id] = (request.tool, surroundings.monotonic(), allowed)
            while len(self._calls) > _REMEMBERED:
                self._calls.popitem(last=False)

    def _tell(self, about: str, text: str) -> None:
        """Once is enough."""
        if about not in self._told:
            self._told.add(about)
            self._note(text)


def audit_log() -> AuditLog:
    """The audit log of this user."""
    return AuditLog(Path(surroundings.state_dir()) / "audit")


def gate_of(config: Config, *, cwd: str, run_id: str, project_id: str = "", language: str = "en",
            may_ask: bool = True, redact: Callable[[Any], Any] = redaction.redact_value,
            note: Note | None = None) -> Gate:  # fmt: skip
    """The gate that the configuration asks for. Rules that cannot be read make one that lets nothing through."""
    state = Path(surroundings.state_dir())
    always = Always(remembered_permissions.root_of(cwd), state)
    policy = remembered_permissions.policy_or_nothing(config, cwd, always)
    if policy.problem and note is not None and config.audit.mode != OFF:
        note(f"the tool policy cannot be read, so every tool is denied: {policy.problem}")
    asks = may_ask and config.audit.mode == PROMPT
    person = TerminalPerson(config.audit.ask_timeout_s, language=language) if asks else None
    log = audit_log() if config.audit.mode != OFF else None
    return Gate(
        policy, config.audit.mode, person, log, run_id=run_id,
        project_id=project_id or config.project_id, always=always, redact=redact, note=note,
    )  # fmt: skip


def _question(
    request: ToolRequest, decision: ToolDecision, risk: Risk | None, rules: list[dict[str, object]]
) -> ApprovalQuestion:
    name = f"{request.server}/{request.tool}" if request.server and request.server not in request.tool else request.tool
    about = request.command or " ".join((*request.paths, *request.urls))
    if not about and request.arguments is not None:
        about = str(request.arguments)
    return ApprovalQuestion(
        what=f"{name}: {about}" if about else name, risk=risk.name.lower() if risk is not None else "",
        reason=decision.reason, details=(("agent", request.agent), ("folder", request.cwd)),
        always=[_shown(rule) for rule in rules],
    )  # fmt: skip


def _shown(rule: Mapping[str, object]) -> str:
    return ", ".join(f'{name} = "{value}"' for name, value in rule.items())


def _unasked(decision: ToolDecision) -> ToolDecision:
    said = f"{decision.reason} There is no terminal to ask at (no terminal), so it is denied. {OTHERWISE}"
    return replace(decision, verdict=Verdict.DENY, reason=said, by="no-terminal", cause=Cause.NO_TERMINAL)


def _refused(decision: ToolDecision, answer: ApprovalAnswer) -> ToolDecision:
    if answer.late:
        said = f"{decision.reason} Nobody answered in time, so it is denied. {OTHERWISE}"
        return replace(decision, verdict=Verdict.DENY, reason=said, by="person", cause=Cause.TIMED_OUT)
    said = f"{DENIED_BY_PERSON}: {answer.reason}" if answer.reason else f"{DENIED_BY_PERSON}. {OTHERWISE}"
    return replace(decision, verdict=Verdict.DENY, reason=said, by="person", cause=Cause.PERSON_DENIES)
