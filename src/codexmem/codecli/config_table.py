"""Every key of the configuration: what it may be, what it is for, and how far a file in a checkout may set it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from codexmem.codecli.config_values import command, fraction, mapping, name, rules, texts
from codexmem.codecli.configuration import Config
from codexmem.kernel.model.parse_value import Parse, choice, integer, switch, text, web_url

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
