"""What the documented rules of the policy say, worked out the long way round from things whose meaning is known.

Nothing is parsed here. Whoever makes a request up knows what it means and says so (`Known…`); the evaluator goes
through every rule and every thing and writes down who is about what. It shares no code with the policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

CLASSES = ("read", "write", "network", "execute")


@dataclass(frozen=True)
class KnownName:
    """A tool as it is called: what it looks like, and by which name it may be granted, if by any."""

    looks: frozenset[str]
    granted: str | None
    server_looks: frozenset[str]
    sure_server: str | None
    foreign: bool  # a tool of an MCP server
    listed: str | None = None  # the class that the table of agents' own tools gives it


@dataclass(frozen=True)
class KnownPath:
    """A path: the parts of every spelling, and whether it is certain which file is meant."""

    spellings: tuple[tuple[str, ...], ...]
    clear: bool = True


@dataclass(frozen=True)
class KnownUrl:
    """An address: the host that everybody agrees on, and all that somebody may take it for, by their looks."""

    host: str | None
    looks: frozenset[str]
    file: KnownPath | None = None


@dataclass(frozen=True)
class KnownCommand:
    """A command: the words of its parts, whether it is one plain command, and what its words name."""

    text: str
    parts: tuple[tuple[str, ...], ...] = ()
    simple: bool = False
    clear: bool = True
    paths: tuple[KnownPath, ...] = ()
    urls: tuple[KnownUrl, ...] = ()


@dataclass(frozen=True)
class KnownRequest:
    """A request with its meaning."""

    name: KnownName
    paths: tuple[KnownPath, ...] = ()
    urls: tuple[KnownUrl, ...] = ()
    command: KnownCommand | None = None
    cwd: tuple[str, ...] = ()
    told_class: str | None = None
    from_text: bool = False


@dataclass(frozen=True)
class KnownRule:
    """A rule with its meaning."""

    verdict: str
    tool: str | None = None
    server: str | None = None
    path: tuple[str, ...] | None = None
    domain: str | None = None
    domain_looks: str | None = None
    domain_is_number: bool = False
    risk: str | None = None
    command: tuple[str, ...] | None = None
    modes: frozenset[str] | None = None


def verdict(rules: Iterable[KnownRule], mode: str, max_risk: str | None, request: KnownRequest) -> str:
    """allow, ask or deny."""
    live = [rule for rule in rules if rule.modes is None or mode in rule.modes]
    held = {rule.verdict for rule in live if rule.verdict != "allow" and _about(rule, request)}
    if "deny" in held:
        return "deny"
    if "ask" in held:
        return "ask"
    granting = [rule for rule in live if rule.verdict == "allow"]
    table = {
        (at, id(rule))
        for at, thing in enumerate(_things(request))
        for rule in granting
        if _grants(rule, request, thing)
    }
    left = [thing for at, thing in enumerate(_things(request)) if not any(row == at for row, _ in table)]
    if left and not _by_class(left, granting, max_risk, request):
        return "ask"
    if request.from_text or any(rule.verdict != "allow" and _might_be_hidden(rule, request) for rule in live):
        return "ask"
    return "allow"


def _files(request: KnownRequest) -> list[KnownPath]:
    return [*request.paths, *(url.file for url in request.urls if url.file is not None)]


def _machines(request: KnownRequest) -> list[KnownUrl]:
    return [url for url in request.urls if url.file is None]


def _things(request: KnownRequest) -> list[KnownPath | KnownUrl | None]:
    things: list[KnownPath | KnownUrl | None] = [*_files(request), *_machines(request)]
    return [*things, None] if not things or _worst(request) == "execute" else things


def _worst(request: KnownRequest) -> str | None:
    seen = {request.name.listed, request.told_class}
    seen |= {"network"} if _machines(request) else set()
    seen |= {"execute"} if request.command is not None else set()
    return next((each for each in reversed(CLASSES) if each in seen), None)


def _class_for_granting(request: KnownRequest) -> str | None:
    if request.name.foreign or request.name.granted is None:
        return None
    return _worst(request) if request.name.listed or request.told_class else None


def _same_tool(rule: KnownRule, request: KnownRequest) -> bool:
    tool = rule.tool is None or any(_like(rule.tool, name) for name in request.name.looks)
    server = rule.server is None or any(_like(rule.server, name) for name in request.name.server_looks)
    worst = _worst(request)
    risky = rule.risk is None or (worst is not None and CLASSES.index(worst) >= CLASSES.index(rule.risk))
    return tool and server and risky


def _about(rule: KnownRule, request: KnownRequest) -> bool:
    if not _same_tool(rule, request):
        return False
    command = request.command
    if rule.path is not None:
        named = [*_files(request), *(command.paths if command else ())]
        # Each word of a command is also taken for a file in the working directory.
        words = [(*request.cwd, word) for part in (command.parts if command else ()) for word in part]
        spelled = [spelling for path in named for spelling in path.spellings] + (words if request.cwd else [])
        if not any(
            _starts([p.casefold() for p in spelling], [p.casefold() for p in rule.path]) for spelling in spelled
        ):
            return False
    if rule.domain is not None:
        looks = [each for url in (*_machines(request), *(command.urls if command else ())) for each in url.looks]
        assert rule.domain_looks is not None
        if not any(_within(each, rule.domain_looks, rule) or _within(each, rule.domain, rule) for each in looks):
            return False
    if rule.command is not None:
        parts = command.parts if command else ()
        if not any(_contains([w.casefold() for w in part], [w.casefold() for w in rule.command]) for part in parts):
            return False
    return True


def _grants(rule: KnownRule, request: KnownRequest, thing: KnownPath | KnownUrl | None) -> bool:
    known = _class_for_granting(request)
    checks = [
        rule.tool is None or (request.name.granted is not None and _like(rule.tool, request.name.granted)),
        rule.server is None or (request.name.sure_server is not None and _like(rule.server, request.name.sure_server)),
        rule.risk is None or (known is not None and CLASSES.index(known) <= CLASSES.index(rule.risk)),
        rule.command is None
        or (
            request.command is not None
            and request.command.simple
            and request.command.parts[-1][: len(rule.command)] == rule.command
        ),
    ]
    if rule.path is not None:
        checks.append(
            isinstance(thing, KnownPath) and thing.clear and all(_starts(each, rule.path) for each in thing.spellings)
        )
    if rule.domain is not None:
        checks.append(isinstance(thing, KnownUrl) and thing.host is not None and _within(thing.host, rule.domain, rule))
    if not (rule.tool or rule.server or rule.risk or rule.command):
        allowed = ("read", "write") if rule.path is not None else ("read", "write", "network")
        checks.append(known in allowed)
    return all(checks)


def _by_class(left: list[KnownPath | KnownUrl | None], granting: list[KnownRule], max_risk: str | None,
              request: KnownRequest) -> bool:  # fmt: skip
    known = _class_for_granting(request)
    if known is None or max_risk is None or CLASSES.index(known) > CLASSES.index(max_risk):
        return False
    for rule in granting:
        narrowed = rule.path is not None or rule.domain is not None or rule.command is not None
        tool = rule.tool is not None and any(_like(rule.tool, name) for name in request.name.looks)
        server = rule.server is not None and any(_like(rule.server, name) for name in request.name.server_looks)
        if narrowed and (tool or server):
            return False
    for thing in left:
        if isinstance(thing, KnownPath):
            if not thing.clear or any(
                spelling and spelling[-1].lower() in {".env", "id_rsa"} for spelling in thing.spellings
            ):
                return False
        elif isinstance(thing, KnownUrl) and thing.host is None:
            return False
    return True


def _might_be_hidden(rule: KnownRule, request: KnownRequest) -> bool:
    if not _same_tool(rule, request):
        return False
    narrowed = rule.path is not None or rule.domain is not None or rule.command is not None
    unread = request.command is not None and not request.command.clear
    unplaced = any(not path.clear for path in _files(request))
    unhosted = any(url.host is None for url in _machines(request))
    return (unread and narrowed) or (unplaced and rule.path is not None) or (unhosted and rule.domain is not None)


def _like(pattern: str, text: str) -> bool:
    wild = {"*": ".*", "?": "."}
    return (
        re.fullmatch("".join(wild.get(each, re.escape(each)) for each in pattern.lower()), text, re.DOTALL) is not None
    )


def _starts(parts: Iterable[str], root: Iterable[str]) -> bool:
    parts, root = list(parts), list(root)
    return parts[: len(root)] == root


def _within(host: str, domain: str, rule: KnownRule) -> bool:
    if rule.domain_is_number:
        return host == domain
    return host.split(".")[-len(domain.split(".")) :] == domain.split(".")


def _contains(words: list[str], wanted: list[str]) -> bool:
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words)))
