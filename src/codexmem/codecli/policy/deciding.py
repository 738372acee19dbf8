"""The tool-access policy: what an agent may do, decided from rules and from nothing else.

Deny beats ask, ask beats allow, and what no rule knows is asked. A rule that denies or asks applies as soon as anything
in the request may be what it is about; a rule that allows applies only where that is certain, and a request that names
several files or addresses is allowed only if each of them is. Looking at a request costs at most the number of rules
times the number of things it names, both bounded. Nothing is asked of anybody here, and nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from codexmem.codecli.policy import matching as policy_matching
from codexmem.codecli.policy.domains import Address
from codexmem.codecli.policy.facts import Facts, Thing
from codexmem.codecli.policy.paths import Around, FilePath
from codexmem.codecli.policy.rules import BUILT_IN, MODES, Rule, parse_risk, parse_rules
from codexmem.kernel.model import redaction
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.tool_access import Cause, Risk, ToolDecision, ToolRequest, Verdict, argument_hash

NO_RISK = "none"  # as `max_risk`: nothing is allowed but by a rule

_OTHERWISE = "Do not try it again; reach the goal another way, or say what you need and stop."


@dataclass(frozen=True, slots=True)
class DecisionStep:
    """One thing that was looked at on the way to a decision."""

    rule: str
    written: str
    holds: bool
    why: str  # applies, covers, or the field that does not hold: mode, tool, server, risk, path, domain, command, class

    def __str__(self) -> str:
        """For people."""
        said = f"{self.rule} {self.written}".strip()
        return f"{said}: {'yes' if self.holds else 'no'} ({self.why})"


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules, and what holds where they are silent."""

    rules: tuple[Rule, ...] = ()
    mode: str = MODES[0]
    max_risk: Risk | None = Risk.READ
    around: Around = field(default_factory=Around)
    problem: str = ""  # why the rules could not be read; then everything is denied

    @classmethod
    def parse(cls, allow: Sequence[object] = (), deny: Sequence[object] = (), ask: Sequence[object] = (),
              mode: str = MODES[0], max_risk: str = "read", *, origin: str = "",
              around: Around | None = None) -> Policy:  # fmt: skip
        """The policy that these rules spell; InvalidArgument says which one cannot be meant."""
        if mode not in MODES:
            raise InvalidArgument(f"{mode[:40]!r} is no mode", hint=f"use one of {', '.join(MODES)}")
        most = None if max_risk == NO_RISK else parse_risk(max_risk)
        return cls((), mode, most, around or Around()).plus(allow, deny, ask, origin=origin)

    @classmethod
    def broken(cls, problem: str) -> Policy:
        """What holds while the rules cannot be read: nothing is allowed."""
        return cls(max_risk=None, problem=problem or "unknown")

    def plus(self, allow: Sequence[object] = (), deny: Sequence[object] = (), ask: Sequence[object] = (), *,
             origin: str) -> Policy:  # fmt: skip
        """The policy with more rules, after those it has."""
        more = [
            rule
            for verdict, given in ((Verdict.DENY, deny), (Verdict.ASK, ask), (Verdict.ALLOW, allow))
            for rule in parse_rules(verdict, given, origin, self.around)
        ]
        return replace(self, rules=(*self.rules, *more))

    def of(self, verdict: Verdict) -> tuple[Rule, ...]:
        """The rules of one list, in order."""
        return tuple(rule for rule in self.rules if rule.list is verdict)

    def decide(self, request: ToolRequest) -> ToolDecision:
        """What the rules say; it may be that a person is to be asked."""
        decision, steps = self.examine(request)
        return replace(decision, steps=tuple(map(str, steps)))

    def examine(self, request: ToolRequest) -> tuple[ToolDecision, tuple[DecisionStep, ...]]:
        """The decision, with every rule that was looked at."""
        facts = Facts.of(request, self.around)
        steps: list[DecisionStep] = []
        decision = self._decided(facts, steps)
        return replace(decision, argument_hash=argument_hash(request)), tuple(steps)

    def _decided(self, facts: Facts, steps: list[DecisionStep]) -> ToolDecision:
        if self.problem:
            said = f"The tool policy cannot be read ({self.problem}), so nothing is allowed. {_OTHERWISE}"
            return ToolDecision(Verdict.DENY, said, cause=Cause.BROKEN)
        for verdict in (Verdict.DENY, Verdict.ASK):
            for rule in self.of(verdict):
                missing = policy_matching.missing(rule, facts, self.mode)
                steps.append(DecisionStep(rule.id, rule.written, not missing, missing or "applies"))
                if not missing:
                    return _by_rule(rule)
        granted = self._granted(facts, steps)
        if granted.verdict is Verdict.ALLOW and (hidden := self._hidden(facts, granted)):
            steps.append(DecisionStep("readable", "", holds=False, why=hidden))
            said = (
                f"This cannot be read with certainty ({hidden}), and there are rules it might break: a person decides."
            )
            return ToolDecision(Verdict.ASK, said, granted.rule, cause=Cause.UNREADABLE)
        if granted.verdict is Verdict.ALLOW and facts.request.from_text:
            steps.append(DecisionStep("text", "", holds=False, why="marker"))
            said = "This was seen as a marker in text, which may raise a question and never grants: a person decides."
            return ToolDecision(Verdict.ASK, said, granted.rule, cause=Cause.FROM_TEXT)
        return granted

    def _granted(self, facts: Facts, steps: list[DecisionStep]) -> ToolDecision:
        """Whether every thing that the request names is allowed."""
        things = facts.things
        rules = self.of(Verdict.ALLOW)
        covering: dict[int, Rule] = {}
        for rule in rules:
            missing = policy_matching.uncovered(rule, facts, self.mode)
            covered = [] if missing else [at for at, thing in enumerate(things) if policy_matching.covers(rule, thing)]
            for at in covered:
                covering.setdefault(at, rule)
            steps.append(
                DecisionStep(rule.id, rule.written, bool(covered), missing or ("covers" if covered else _field(rule)))
            )
        rest = [thing for at, thing in enumerate(things) if at not in covering]
        by_class = self._by_class(facts, rest, steps) if rest or not facts.whole else True
        if not facts.whole or not by_class:
            return ToolDecision(
                Verdict.ASK, f"No rule allows {_described(facts)}: a person decides.", cause=Cause.UNKNOWN
            )
        if covering:
            first = covering[min(covering)]
            return ToolDecision(
                Verdict.ALLOW, f"Allowed by {first.id} {first.written}.", first.id, cause=Cause.RULE_ALLOWS
            )
        assert facts.granted_risk is not None
        said = f"Allowed: no rule names it, and its risk is {facts.granted_risk.name.lower()}."
        return ToolDecision(Verdict.ALLOW, said, "max_risk", cause=Cause.CLASS_ALLOWS)

    def _by_class(self, facts: Facts, rest: Sequence[Thing], steps: list[DecisionStep]) -> bool:
        """Whether what no rule covers may pass by its class of risk."""
        known, most = facts.granted_risk, self.max_risk
        why = ""
        if most is None or known is None:
            why = "class"
        elif known > most:
            why = "risk"
        elif any(rule.narrows and policy_matching.names(rule, facts, self.mode) for rule in self.of(Verdict.ALLOW)):
            why = "narrowed"  # a person allowed this tool for something else
        elif any(isinstance(each, FilePath) and (not each.clear or _holds_secrets(each)) for each in rest):
            why = "secret"
        elif any(isinstance(each, Address) and each.host is None for each in rest):
            why = "domain"
        steps.append(DecisionStep("max_risk", most.name.lower() if most else NO_RISK, not why, why or "applies"))
        return not why

    def _hidden(self, facts: Facts, granted: ToolDecision) -> str:
        """What about the request cannot be read while a rule that holds something back might be about it."""
        exact = any(
            rule.id == granted.rule and rule.command_line is not None for rule in self.of(Verdict.ALLOW)
        )  # a person saw this very command
        if exact:
            return ""
        unplaced = any(not place.clear for place in facts.places)
        unhosted = any(address.host is None for address in facts.addresses)
        for rule in self.rules:
            if (
                rule.list is Verdict.ALLOW
                or rule.origin == BUILT_IN
                or policy_matching.not_about(rule, facts, self.mode)
            ):
                continue
            if not facts.readable and rule.narrows:
                return "command"
            if unplaced and rule.path is not None:
                return "path"
            if unhosted and rule.domain is not None:
                return "domain"
        return ""


def _holds_secrets(place: FilePath) -> bool:
    return any(redaction.is_secret_file(each) for each in place.spellings)


def _field(rule: Rule) -> str:
    return "path" if rule.path is not None else "domain"


def _by_rule(rule: Rule) -> ToolDecision:
    why = f": {rule.reason}" if rule.reason else ""
    if rule.list is Verdict.DENY:
        said = f"Denied by the rule {rule.id} {rule.written}{why}. {_OTHERWISE}"
        return ToolDecision(Verdict.DENY, said, rule.id, cause=Cause.RULE_DENIES)
    said = f"The rule {rule.id} {rule.written} leaves it to a person{why}."
    return ToolDecision(Verdict.ASK, said, rule.id, cause=Cause.RULE_ASKS)


def _described(facts: Facts) -> str:
    known = f"of risk {facts.risk.name.lower()}" if facts.risk is not None else "of unknown risk"
    return f"the tool {facts.request.tool[:80]!r} ({known}) with all that it names"
