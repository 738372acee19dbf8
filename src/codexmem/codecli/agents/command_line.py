"""An agent's command line: which agent it is, and where in it options, their values and the prompt stand.

Agents are recognised by name also where a runtime starts them (`node …/codex.js`, `npx @openai/codex`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from codexmem import agents
from codexmem.agents import claude_code, codex, qwen_code

CODEX, QWEN, CLAUDE = codex.AGENT.program, qwen_code.AGENT.program, claude_code.AGENT.program
# Only of those that speak a protocol does it matter who they are.
_KNOWN = tuple(agent.program for agent in agents.startable() if agent.adapter or agent.acp)
_RUNTIMES = {"node", "nodejs", "bun", "deno", "npx", "bunx"}
_SCRIPT = re.compile(r"\.(?:exe|cmd|ps1|js|mjs|cjs)$")
_WORDS = re.compile(r"[^A-Za-z0-9]+")
# The kernel takes no longer word; what is longer is better left out than the whole run.
LONGEST_WORD = 120_000
TOO_LONG = "what memory found is too long for a command line and was left out"


@dataclass(frozen=True, slots=True)
class Program:
    """Which agent a command line starts, and how many of its words only do that."""

    name: str  # the agent's usual program, else the program's own name
    words: int


def program_of(argv: Sequence[str]) -> Program:
    """The agent that these words start."""
    if not argv:
        return Program("", 0)
    name = _stem(argv[0])
    if name in _RUNTIMES:
        for at, word in enumerate(argv[1:], 2):
            if word.startswith("-") or (name == "bun" and word in {"run", "x"}):
                continue
            return Program(_known(word), at)
    return Program(_known(argv[0], name), 1)


def _known(path: str, otherwise: str = "") -> str:
    stem = _stem(path)
    if stem in _KNOWN:
        return stem
    # A launcher is often named after nothing; then its package tells. A folder that only mentions an agent does not.
    parts = re.split(r"[\\/]", path)
    for part in reversed(parts[-4:]):
        words = _WORDS.split(part.lower())
        found = next((name for name in _KNOWN if words[:1] == [name] or (part.startswith("@") and name in words)), None)
        if found and (stem in {"cli", "index", "main", "cli-entry", found} or part == parts[-1]):
            return found
    return otherwise or stem


def _stem(path: str) -> str:
    name = re.split(r"[\\/]", path)[-1].lower()
    return _SCRIPT.sub("", name.split("@")[0] or name)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Which options of an agent take a value. Options that are not named here take none."""

    short: str = ""  # letters
    long: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()  # take every word up to the next option


@dataclass(slots=True)
class Scanned:
    """Where things stand among the words that were scanned."""

    positions: list[int] = field(default_factory=list)  # of the words that are neither options nor their values
    options: list[tuple[str, str, int]] = field(default_factory=list)  # name, value, where the option stands
    end: int = 0  # where further options can be put

    def has(self, *names: str) -> bool:
        """Whether one of these options is there."""
        return any(name in names for name, _, _ in self.options)

    def value(self, *names: str) -> str | None:
        """The last value of an option."""
        return next((value for name, value, _ in reversed(self.options) if name in names), None)


def scan(words: Sequence[str], grammar: Grammar) -> Scanned:
    """Tell options, values and other words apart, as common libraries for command lines do."""
    found = Scanned(end=len(words))
    at = 0
    while at < len(words):
        word = words[at]
        start = at
        at += 1
        if word == "--":
            found.end = start
            found.positions += range(at, len(words))
            break
        if not word.startswith("-") or word == "-":
            found.positions.append(start)
            continue
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            name, value = word[:2], word[2:].removeprefix("=")
            equals = value
        if name in grammar.many and not equals:
            while at < len(words) and not words[at].startswith("-"):
                at += 1
        elif not equals and (name in grammar.long or (len(name) == 2 and name[1] in grammar.short)) and at < len(words):
            value = words[at]
            at += 1
        found.options.append((name, value, start))
    return found


def fits(words: Sequence[str]) -> bool:
    """Whether the kernel takes each of these words."""
    return all(len(word.encode("utf-8", "replace")) <= LONGEST_WORD for word in words)


def merged(theirs: str, ours: str) -> str:
    """Two texts as one, theirs first."""
    return "\n\n".join(text for text in (theirs.strip("\n"), ours) if text)
