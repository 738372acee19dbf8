"""The tool-access policy: what an agent may do, decided from rules and from nothing else.

Deny beats ask, ask beats allow, and what no rule knows is asked. A rule that denies or asks applies as soon as anything
in the request may be what it is about; a rule that allows applies only where that is certain, and a request that names
several files or addresses is allowed only if each of them is. Looking at a request costs at most the number of rules
times the number of things it names, both bounded. Nothing is asked of anybody here, and nothing is remembered.

Whether a rule is about a request: generously for rules that hold back, strictly for rules that allow.

Each answer is the field by which the rule does not hold, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from codexmem.codecli.policy import commands
from codexmem.codecli.policy import domains as policy_domains
from codexmem.codecli.policy import names as policy_names
from codexmem.codecli.policy import names as policy_paths
from codexmem.codecli.policy.domains import Address
from codexmem.codecli.policy.facts import Facts, Thing
from codexmem.codecli.policy.names import Around, FilePath
from codexmem.codecli.policy.rules import BUILT_IN, MODES, Rule, parse_risk, parse_rules
from codexmem.kernel.model import redaction
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.own_tools import OTHERWISE
from codexmem.kernel.model.tool_access import Cause, Risk, ToolDecision, ToolRequest, Verdict, argument_hash


def condition_missing(rule: Rule, facts: Facts, mode: str) -> str:
    """The field by which a rule that denies or asks does not apply; empty if it does."""
    if why := not_about(rule, facts, mode):
        return why
    command = bool(facts.request.command)
    if rule.path is not None:
        named = any(policy_paths.touches(rule.path, each) for each in facts.places)
        if not named and not (
            command and any(policy_paths.touches(rule.path, each, wild=True) for each in facts.mentioned_places)
        ):
            return "path"
    if rule.domain is not None:
        named = any(policy_domains.looks_below(rule.domain, host) for each in facts.addresses for host in each.hosts)
        if not named and not (
            command
            and any(
                policy_domains.looks_below(rule.domain, host)
                for each in facts.mentioned_addresses
                for host in each.hosts
            )
        ):
            return "domain"
    if rule.command is not None and not any(_holds_words(part, rule.command) for part in facts.reading.parts):
        return "command"
    if rule.command_line is not None and rule.command_line != facts.request.command:
        return "command"
    return ""


def not_about(rule: Rule, facts: Facts, mode: str) -> str:
    """The field by which a rule that denies or asks is about another tool altogether."""
    if rule.modes is not None and mode not in rule.modes:
        return "mode"
    if rule.tool is not None and not any(rule.tool.touches(each) for each in facts.called.names):
        return "tool"
    if rule.server is not None and not any(rule.server.touches(each) for each in facts.called.servers):
        return "server"
    if rule.risk is not None and (facts.risk is None or facts.risk < rule.risk):
        return "risk"
    return ""


def uncovered(rule: Rule, facts: Facts, mode: str) -> str:
    """The field by which a rule that allows does not cover this tool at all; empty if it does."""
    if rule.modes is not None and mode not in rule.modes:
        return "mode"
    granted, server, known = facts.called.granted, facts.called.server, facts.granted_risk
    if rule.tool is not None and (granted is None or not rule.tool.covers(granted)):
        return "tool"
    if rule.server is not None and (server is None or not rule.server.covers(server)):
        return "server"
    if rule.risk is not None and (known is None or known > rule.risk):
        return "risk"
    if rule.command is not None:
        words = facts.reading.simple or ()
        if words[: len(rule.command)] != rule.command or commands.does_more(words, len(rule.command)):
            return "command"
    if rule.command_line is not None and rule.command_line != facts.request.command:
        return "command"
    if not rule.names:
        # Where something is says nothing about what an unknown tool does to it.
        most = Risk.WRITE if rule.path is not None else Risk.NETWORK
        if known is None or known > most:
            return "class"
    return ""


def covers(rule: Rule, thing: Thing) -> bool:
    """Whether a rule that is about this tool covers this thing."""
    if rule.path is not None:
        return isinstance(thing, FilePath) and policy_paths.covers(rule.path, thing)
    if rule.domain is not None:
        return isinstance(thing, Address) and thing.host is not None and policy_domains.below(rule.domain, thing.host)
    return True


def names(rule: Rule, facts: Facts, mode: str) -> bool:
    """Whether a rule that allows names this tool, whatever else it asks for."""
    if rule.modes is not None and mode not in rule.modes:
        return False
    tool = rule.tool is not None and any(rule.tool.touches(each) for each in facts.called.names)
    return tool or (rule.server is not None and any(rule.server.touches(each) for each in facts.called.servers))


def _holds_words(part: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a command says these words one after the other, its program by any path, with options between them."""
    places = {
        at + 1 for at, said in enumerate(part)
        if _same_word(said.rpartition("/")[2], words[0]) or _same_word(said, words[0])
    }  # fmt: skip
    for wanted in words[1:]:
        reached, places = places, set()
        for at, said in enumerate(part):
            if at not in reached:
                continue
            if _same_word(said, wanted):
                places.add(at + 1)
            if said.startswith("-"):
                reached.add(at + 1)
                if "=" not in said:
                    reached.add(at + 2)  # what follows may be its value
    return bool(places)


@lru_cache(maxsize=1_024)  # a long command says the same few words again and again
def _same_word(said: str, wanted: str) -> bool:
    folded, other = said.casefold(), wanted.casefold()
    if folded == other:
        return True
    wild = not {"*", "?", "["}.isdisjoint(folded)
    return (
        wild
        and len(folded) <= policy_names.LONGEST
        and policy_names.glob(folded.partition("[")[0] + "*" if "[" in folded else folded, other)
    )


NO_RISK = "none"  # as `max_risk`: nothing is allowed but by a rule


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
            said = f"The tool policy cannot be read ({self.problem}), so nothing is allowed. {OTHERWISE}"
            return ToolDecision(Verdict.DENY, said, cause=Cause.BROKEN)
        for verdict in (Verdict.DENY, Verdict.ASK):
            for rule in self.of(verdict):
                missing = condition_missing(rule, facts, self.mode)
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
            missing = uncovered(rule, facts, self.mode)
            covered = [] if missing else [at for at, thing in enumerate(things) if covers(rule, thing)]
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
        elif any(rule.narrows and names(rule, facts, self.mode) for rule in self.of(Verdict.ALLOW)):
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
            if rule.list is Verdict.ALLOW or rule.origin == BUILT_IN or not_about(rule, facts, self.mode):
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
        said = f"Denied by the rule {rule.id} {rule.written}{why}. {OTHERWISE}"
        return ToolDecision(Verdict.DENY, said, rule.id, cause=Cause.RULE_DENIES)
    said = f"The rule {rule.id} {rule.written} leaves it to a person{why}."
    return ToolDecision(Verdict.ASK, said, rule.id, cause=Cause.RULE_ASKS)


def _described(facts: Facts) -> str:
    known = f"of risk {facts.risk.name.lower()}" if facts.risk is not None else "of unknown risk"
    return f"the tool {facts.request.tool[:80]!r} ({known}) with all that it names"
