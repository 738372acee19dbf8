"""Every key of the configuration: what it may be, what it is for, and how far a file in a checkout may set it.

How the values are read that only the wrapper's configuration has; the common ones are in `domain.written`.

A configuration file to start from: every key with its default, commented out, and what it is for.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from codexmem.codecli.configuration import Config
from codexmem.kernel.model import json_text
from codexmem.kernel.model.parse_value import Parse, choice, integer, switch, text, web_url


def name(value: object) -> str:
    """A name on one line."""
    given = text(value)
    if len(given) > 200 or not given.isprintable():
        raise ValueError("a name of at most 200 printable characters")
    return given


def fraction(value: object) -> float:
    """A number from 0 to 1."""
    try:
        given = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except ValueError:
        given = -1.0
    if not 0 <= given <= 1:
        raise ValueError("a number from 0 to 1")
    return given


def command(value: object) -> tuple[str, ...]:
    """A program and its first arguments: a list, or a line as a shell reads it."""
    try:
        parts = shlex.split(value) if isinstance(value, str) else value
    except ValueError:
        parts = None
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(each, str) and each for each in parts):
        raise ValueError("a program and its arguments")
    return tuple(parts)


def texts(value: object) -> tuple[str, ...]:
    """Several texts, as a list or as JSON."""
    found = _decoded(value)
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise ValueError("a list of texts")
    return tuple(found)


def rules(value: object) -> tuple[object, ...]:
    """Rules of the policy: texts or tables; what they say is judged where the policy is read."""
    found = _decoded(value)
    if not isinstance(found, list | tuple) or not all(isinstance(each, str | dict) for each in found):
        raise ValueError("a list of rules, each a text or a table")
    return tuple(found)


def mapping(value: object) -> dict[str, str]:
    """Names and texts, as a table or as JSON."""
    found = _decoded(value)
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise ValueError("a table of texts")
    return dict(found)


def _decoded(value: object) -> object:
    """In the environment a list is JSON, or for short texts with commas between them."""
    if not isinstance(value, str):
        return value
    if value.lstrip()[:1] in {"[", "{"}:
        try:
            return json_text.loads(value)
        except ValueError:
            return None
    return [each.strip() for each in value.split(",") if each.strip()]


PREFIX = "MEM_CODECLI_"


class CheckoutAccess(StrEnum):
    """What a file that came with a checkout may do with a key before a person trusts it."""

    FREE = "yes"  # it labels, or chooses among things that are equally safe
    STRICTER = "stricter only"  # it counts where it holds back more than what is set otherwise
    TRUSTED = "when trusted"  # it could run a program, send memories elsewhere or let an agent do more
    NEVER = "never"  # a secret


# Whether the first value holds back at least as much as the second.
Stricter = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Key:
    """One key."""

    name: str  # section and key, as in `memory.timeout_ms`
    parse: Parse
    example: str  # a line of TOML that is right
    help: str
    reach: CheckoutAccess = CheckoutAccess.FREE
    stricter: Stricter | None = None
    adds: bool = False  # a list that every source adds to, so that none can take away what another says
    variables: tuple[str, ...] = ()  # environment variables beside the usual one, which win over it

    @property
    def env(self) -> str:
        """The environment variable."""
        return PREFIX + self.name.replace(".", "_").upper()

    @property
    def default(self) -> Any:
        """What holds if nobody says anything."""
        return value_of(Config(), self.name)

    @property
    def secret(self) -> bool:
        """Whether it is never shown."""
        return self.reach is CheckoutAccess.NEVER


def value_of(config: Config, name: str) -> Any:
    """The value of a key by its name."""
    found: Any = config
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _at_most(new: Any, old: Any) -> bool:
    return bool(new <= old)


def _off(new: Any, _old: Any) -> bool:
    return not new


def _along(*order: str) -> Stricter:
    """From loose to strict; equal is not looser."""
    return lambda new, old: order.index(new) >= order.index(old)


def _holds_back(new: Any, old: Any) -> bool:
    # Between asking a person and policy alone neither is the stricter in every case.
    return old in {"off", new}


KEYS: tuple[Key, ...] = (
    Key("project_id", name, 'project_id = "shop"', "Project to use.",
        variables=("CODEXMEM_PROJECT_ID",)),
    Key("codecli.command", command, 'command = ["codex"]',
        "Program to run; if it is not on the PATH, the first known agent that is.",
        CheckoutAccess.TRUSTED, variables=(f"{PREFIX}COMMAND",)),
    Key("codecli.adapter", choice("auto", "codex", "codex-app-server", "acp", "claude-json", "generic"),
        'adapter = "codex"', "Adapter for the agent: auto, codex, codex-app-server, acp, claude-json or generic.",
        CheckoutAccess.TRUSTED),
    Key("codecli.stream_format", choice("auto", "text", "jsonl", "sse"), 'stream_format = "jsonl"',
        "How the agent's output is read: auto, text, jsonl or sse.", CheckoutAccess.TRUSTED),
    Key("codecli.mapping", mapping, 'mapping = { text = "delta.text" }', "For generic: which JSON field holds what.",
        CheckoutAccess.TRUSTED),
    Key("codecli.marker", text, 'marker = "TOOL_REQUEST:"', "For plain text: the prefix of a tool request.",
        CheckoutAccess.TRUSTED),
    Key("memory.on", switch, "on = true", "Whether memory is used.", CheckoutAccess.STRICTER, _off),
    Key("memory.base_url", web_url, 'base_url = "https://memory.example.com"',
        "URL of the memory server; empty: the codexmem server of this machine.", CheckoutAccess.TRUSTED),
    Key("memory.timeout_ms", integer(50, 60_000), "timeout_ms = 1500",
        "Maximum time the agent waits for its memory.", CheckoutAccess.STRICTER, _at_most),
    Key("memory.api_key", text, 'api_key = "cm_…"', "API key of the memory server; never shown.", CheckoutAccess.NEVER,
        variables=("MEMORY_API_KEY",)),
    Key("search.limit", integer(1, 20), "limit = 6", "Maximum number of memories."),
    Key("search.min_score", fraction, "min_score = 0.2", "Minimum score of a memory, from 0 to 1."),
    Key("search.query_chars", integer(100, 4_000), "query_chars = 1500", "Maximum length of a query, in characters."),
    Key("search.repository", switch, "repository = false",
        "Whether a query includes the repository's name, its README's first line and changed files.",
        CheckoutAccess.STRICTER, _off),
    Key("inject.mode", choice("system", "user", "both"), 'mode = "user"',
        "Where memories are injected: system, user or both."),
    Key("inject.template", text, 'template = "~/memory.txt"',
        "Template file for injected memories; empty: the built-in one.",
        CheckoutAccess.TRUSTED),
    Key("inject.max_chars", integer(200, 100_000), "max_chars = 8000",
        "Maximum length of all injected memories, in characters.",
        CheckoutAccess.STRICTER, _at_most),
    Key("gatekeeper.mode", choice("off", "soft", "hard"), 'mode = "hard"', "Which answers become candidates: off "
        "(none), soft (with a strong signal) or hard (all that pass the rules).", CheckoutAccess.STRICTER,
        _along("hard", "soft", "off")),
    Key("audit.mode", choice("off", "prompt", "auto"), 'mode = "prompt"',
        "Who decides about tools: off (nobody), prompt (policy, then a person) or auto (policy only).",
        CheckoutAccess.STRICTER, _holds_back),
    Key("audit.ask_timeout_s", integer(1, 3_600), "ask_timeout_s = 120",
        "How long to wait for a person's answer; then the request is denied.", CheckoutAccess.STRICTER, _at_most),
    Key("audit.untold", choice("stop", "note"), 'untold = "stop"',
        "An agent that only prints its calls and is denied one: stop (it is ended, exit code 10) or note (it goes on).",
        CheckoutAccess.STRICTER, _along("note", "stop")),
    Key("audit.push", switch, "push = true", "Whether the audit log is sent to the server.", CheckoutAccess.TRUSTED),
    Key("policy.allowlist", rules, 'allowlist = ["Read"]', "What is allowed; sources add up.", CheckoutAccess.TRUSTED,
        adds=True),
    Key("policy.denylist", rules, 'denylist = ["path:~/.ssh/"]',
        "What is denied, even if it is allowed elsewhere; sources add up.", adds=True),
    Key("policy.asklist", rules, 'asklist = ["Bash"]', "What a person is asked about; sources add up.", adds=True),
    Key("policy.mode", choice("dev", "test", "prod"), 'mode = "prod"', "Kind of work: dev, test or prod.",
        CheckoutAccess.TRUSTED),
    Key("policy.max_risk", choice("none", "read", "write", "network", "execute"), 'max_risk = "write"',
        "Highest risk that is allowed without a rule: none, read, write, network or execute.", CheckoutAccess.STRICTER,
        _along("execute", "network", "write", "read", "none")),
    Key("redact.level", choice("off", "basic", "strict"), 'level = "strict"',
        "How much is masked before anything is stored or sent: off, basic or strict.",
        CheckoutAccess.STRICTER, _along("off", "basic", "strict")),
    Key("redact.patterns", texts, "patterns = ['EMP-\\d{6}']", "More to mask, as RE2 patterns; sources add up.",
        adds=True),
)  # fmt: skip
BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}


_OF_PROJECT = (CheckoutAccess.FREE, CheckoutAccess.STRICTER)


def of_user(project_id: str = "") -> str:
    """The user's file."""
    lines = ["# mem-codecli: a flag beats the environment, which beats a project's file, which beats this one.", ""]
    return "\n".join([*lines, *_keys(KEYS, project_id)])


def of_project(project_id: str) -> str:
    """A project's file: only what counts without being trusted."""
    lines = [
        "# mem-codecli in this project. What is here counts for everybody who works in it; keys that could run a",
        "# program, send memories elsewhere or let an agent do more count only for those who trust this file:",
        "# mem-codecli config trust",
        "",
    ]
    return "\n".join([*lines, *_keys((key for key in KEYS if key.reach in _OF_PROJECT), project_id)])


def _keys(keys: Iterable[Key], project_id: str) -> Iterable[str]:
    for section, of_section in groupby(keys, lambda key: key.name.rpartition(".")[0]):
        if section:
            yield f"[{section}]"
        for key in of_section:
            name = key.name.rpartition(".")[2]
            yield f"# {key.help}" + (f" Better: {key.variables[0]}." if key.secret else "")
            if key.name == "project_id" and project_id:
                yield f"project_id = {_toml(project_id)}"
            else:
                yield f"# {name} = {_toml(key.default)}"
        yield ""


def _toml(value: Any) -> str:
    # JSON's texts, numbers, switches and lists are TOML's; of tables only the empty one is a default.
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
