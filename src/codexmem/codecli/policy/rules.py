"""Rules of the tool-access policy as people write them, read once and checked.

A rule is a text (`Bash`, `mcp__github__*`, `server:github`, `domain:example.com`, `path:/etc`, `risk:execute`,
`command:git status`) or a table of such fields, which must all hold. A rule that could never apply, or that would grant
more than it seems to, is refused where it is read, with what to write instead.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codexmem.codecli.policy import commands as policy_commands
from codexmem.codecli.policy import domains as policy_domains
from codexmem.codecli.policy import names as policy_paths
from codexmem.codecli.policy.domains import Host
from codexmem.codecli.policy.names import Around, FilePath, Pattern
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.tool_access import Risk, Verdict

MODES = ("dev", "test", "prod")
RISKS: Mapping[str, Risk] = {risk.name.lower(): risk for risk in Risk}
MOST_RULES = 2_000  # of one list
LONGEST = 4_096  # characters of one field
BUILT_IN = "built-in"
_FIELDS = ("tool", "server", "domain", "path", "risk", "command", "command_line", "mode", "reason")
_IN_TEXT = ("tool", "server", "domain", "path", "risk", "command")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; a field that is None asks for nothing."""

    list: Verdict
    index: int
    origin: str  # where it was written
    written: str  # as a person would write it
    tool: Pattern | None = None
    server: Pattern | None = None
    domain: Host | None = None
    path: FilePath | None = None
    risk: Risk | None = None
    command: tuple[str, ...] | None = None  # the first words
    command_line: str | None = None  # the whole, to the letter
    modes: frozenset[str] | None = None
    reason: str = ""

    @property
    def id(self) -> str:
        """What decisions, `explain` and the audit log call it."""
        return f"{self.list.value}[{self.index}]" + (f" ({self.origin})" if self.origin else "")

    @property
    def names(self) -> bool:
        """Whether it says which tool is meant, and not only what is done with one."""
        return any(each is not None for each in (self.tool, self.server, self.command, self.command_line, self.risk))

    @property
    def narrows(self) -> bool:
        """Whether it holds for some uses of a tool only."""
        return any(each is not None for each in (self.path, self.domain, self.command, self.command_line))


def parse_rules(verdict: Verdict, given: Sequence[object], origin: str, around: Around) -> tuple[Rule, ...]:
    """The rules of one list; InvalidArgument says which one cannot be meant."""
    if len(given) > MOST_RULES:
        raise InvalidArgument(f"{len(given):,} rules in one list, at most {MOST_RULES:,}")
    return tuple(_Written(verdict, index, origin, each).rule(around) for index, each in enumerate(given))


def parse_risk(text: str) -> Risk:
    """A class of risk by its name."""
    if text not in RISKS:
        raise InvalidArgument(f"{text[:40]!r} is no risk class", hint=f"use one of {', '.join(RISKS)}")
    return RISKS[text]


class _Written:
    """A rule as it stands in a file, being read."""

    def __init__(self, verdict: Verdict, index: int, origin: str, given: object) -> None:
        self._verdict = verdict
        self._index = index
        self._origin = origin
        self._given = given
        self._fields = self._split()

    def rule(self, around: Around) -> Rule:
        """The rule."""
        fields = self._fields
        self._require_sense()
        risk = self._text("risk")
        if risk is not None and risk not in RISKS:
            raise self._wrong(f"{risk[:40]!r} is no risk class", f"use one of {', '.join(RISKS)}")
        return Rule(
            self._verdict, self._index, self._origin, self._shown(),
            tool=self._pattern("tool"), server=self._pattern("server"), domain=self._domain(),
            path=self._path(around), risk=RISKS[risk] if risk is not None else None, command=self._command(),
            command_line=self._text("command_line"), modes=self._modes(),
            reason=str(fields.get("reason", ""))[:LONGEST],
        )  # fmt: skip

    def _split(self) -> Mapping[str, object]:
        if isinstance(self._given, str):
            kind, sign, rest = self._given.partition(":")
            known = sign and kind in _IN_TEXT
            return {kind: rest.strip()} if known else {"tool": self._given.strip()}
        if isinstance(self._given, Mapping):
            unknown = [str(name) for name in self._given if name not in _FIELDS]
            if unknown:
                raise self._wrong(f"{unknown[0][:40]!r} is no field of a rule", f"fields are {', '.join(_FIELDS)}")
            return self._given
        raise self._wrong("it is neither a text nor a table", 'for example "Bash" or {tool = "Write", path = "/etc"}')

    def _require_sense(self) -> None:
        """Refuse what cannot be meant."""
        given = set(self._fields)
        if not given - {"mode", "reason"} and (self._verdict is Verdict.ALLOW or not given):
            raise self._wrong("it names nothing", 'to mean every tool write {tool = "*"}')
        if self._verdict is not Verdict.ALLOW:
            return
        if {"path", "domain"} <= given:
            raise self._wrong("nothing is both a path and an address", "write two rules")
        if given & {"command", "command_line"} and given & {"path", "domain"}:
            raise self._wrong(
                "what a command touches cannot be told from its words",
                "allow the command alone, and deny or ask by path or domain",
            )

    def _text(self, name: str) -> str | None:
        value = self._fields.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
            raise self._wrong(f"{name} is not a text", f'for example {name} = "…"')
        return value

    def _pattern(self, name: str) -> Pattern | None:
        text = self._text(name)
        if text is None:
            return None
        if self._verdict is Verdict.ALLOW and not unicodedata.normalize("NFKC", text).isascii():
            raise self._wrong(
                f"{name} {text[:40]!r} is not plain ASCII, and only such names are ever granted",
                f"write it with * in the place of other characters' names, or allow the {name}'s server",
            )
        return Pattern.of(text)

    def _domain(self) -> Host | None:
        text = self._text("domain")
        if text is None:
            return None
        host = policy_domains.host_of(text.strip().removeprefix("."))
        if host is None:
            raise self._wrong(
                f"{text[:80]!r} is no domain", "write example.com, which means its subdomains too, or an IP address"
            )
        return host

    def _path(self, around: Around) -> FilePath | None:
        text = self._text("path")
        if text is None:
            return None
        place = policy_paths.read(text, around)
        if not place.clear or not place.spellings:
            raise self._wrong(f"{text[:80]!r} is no path that can be placed", "write an absolute path, or ~/…")
        return place

    def _command(self) -> tuple[str, ...] | None:
        value = self._fields.get("command")
        if isinstance(value, Sequence) and not isinstance(value, str) and value and all(
            isinstance(each, str) and each for each in value
        ):  # fmt: skip
            return tuple(value)
        text = self._text("command")
        if text is None:
            return None
        words = policy_commands.read(text).simple
        if words is None:
            raise self._wrong(
                f"{text[:80]!r} is more than plain words", "name the first words of a command, such as git status"
            )
        return words

    def _modes(self) -> frozenset[str] | None:
        value = self._fields.get("mode")
        if value is None:
            return None
        modes = [value] if isinstance(value, str) else value
        if not isinstance(modes, Sequence) or not modes or not all(each in MODES for each in modes):
            raise self._wrong("mode is not known", f"use one or several of {', '.join(MODES)}")
        return frozenset(map(str, modes))

    def _shown(self) -> str:
        if isinstance(self._given, str):
            return self._given
        inside = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in self._fields.items())
        return f"{{{inside}}}"

    def _wrong(self, problem: str, hint: str) -> InvalidArgument:
        where = f"{self._verdict.value}list[{self._index}]" + (f" of {self._origin}" if self._origin else "")
        return InvalidArgument(f"policy rule {where}: {problem}", hint=hint)
