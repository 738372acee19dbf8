"""Whether a rule is about a request: generously for rules that hold back, strictly for rules that allow.

Each answer is the field by which the rule does not hold, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from codexmem.codecli.policy import domains as policy_domains
from codexmem.codecli.policy import names as policy_names
from codexmem.codecli.policy import paths as policy_paths
from codexmem.codecli.policy import programs
from codexmem.codecli.policy.domains import Address
from codexmem.codecli.policy.facts import Facts, Thing
from codexmem.codecli.policy.paths import FilePath
from codexmem.codecli.policy.rules import Rule
from codexmem.kernel.model.tool_access import Risk


def missing(rule: Rule, facts: Facts, mode: str) -> str:
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
        if words[: len(rule.command)] != rule.command or programs.does_more(words, len(rule.command)):
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
