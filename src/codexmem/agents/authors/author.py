"""What the author of each agent is asked for, and what all of them share: the text of a prompt, and reading trouble.

Troubles are told in the program's own words, which change with its versions. They are looked for only where it says
that it failed, never in an answer, and what it said is not passed on: it may repeat the prompt.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codexmem.agents import CodingAgent
from codexmem.agents.authors.process import ProgramRun
from codexmem.agents.install.json_settings import table
from codexmem.kernel.llm.model import ModelPrompt, Trouble

ROLE = "You answer one question from a program with one JSON object and nothing else. You look nothing up."
LIMIT_WAIT_S = 900.0  # where a program whose limit is reached does not say for how long
LONGEST_WAIT_S = 86_400.0
_UNITS_S = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LENGTH = r"(\d{1,6}(?:\.\d+)?)\s*(d|h|m(?!s)|s)[a-z]*"
_WAIT = re.compile(rf"\b(?:in|after)\s+((?:{_LENGTH}[\s,]*(?:and\s+)?)+)", re.IGNORECASE)
_LENGTHS = re.compile(_LENGTH, re.IGNORECASE)
_UNTIL = re.compile(r"\|(\d{10})\b")  # seconds since the epoch, as Claude Code ends its message

# What any program needs of the environment: where things are, the language, and the way to the network.
_NEEDED_TEXT = """
PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP DBUS_SESSION_BUS_ADDRESS SSL_CERT_FILE SSL_CERT_DIR
NODE_EXTRA_CA_CERTS NVM_DIR VOLTA_HOME FNM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR PNPM_HOME BUN_INSTALL
HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
"""
_NEEDED = frozenset(_NEEDED_TEXT.split())
_NEEDED_PREFIXES = ("LC_", "XDG_")

# What a failure says, the first that fits; in small letters.
_TROUBLES: tuple[tuple[Trouble, re.Pattern[str]], ...] = tuple(
    (trouble, re.compile(pattern))
    for trouble, pattern in (
        (Trouble.QUOTA_EXHAUSTED, r"insufficient_quota|credit balance|billing|exceeded your current quota|"
                                  r"out of credits|payment required|\b402\b|spend(?:ing)? limit"),
        (Trouble.RATE_LIMIT, r"usage limit|hit your [\w ]{0,20}limit|limit reached|reached your [\w ]{0,30}limit|"
                             r"rate.?limit|quota|too many requests|\b429\b|resource.?exhausted|overloaded|\b529\b"),
        (Trouble.AUTH_INVALID, r"not logged in|log in|/login|codex login|auth login|invalid api key|incorrect api key|"
                               r"api key not valid|no api key|missing api key|api key[\w ]{0,30}not (?:found|set)|"
                               r"unauthorized|\b401\b|\b403\b|authenticat|auth (?:method|type)|oauth|"
                               r"missing environment variable|signed? in|token (?:has )?expired"),
        (Trouble.UNRECOVERABLE, r"prompt is too long|context[ _](?:window|length)|maximum context|input is too long|"
                                r"exceeds the maximum number of tokens"),
        (Trouble.SETUP_REQUIRED, r"unknown (?:argument|option)|unexpected argument|unrecognized (?:option|argument)|"
                                 r"unknown model|model[\w\s:/.'\"-]{0,80}(?:not found|does not exist|not supported)|"
                                 r"\b404\b|error loading config"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The folders of one run, both empty and gone after it."""

    work: Path  # where the program works
    aside: Path  # for files that it is given and leaves

    def written(self, name: str, text: str) -> Path:
        """A file that the program is given."""
        path = self.aside / name
        path.write_text(text, encoding="utf-8")
        return path


@dataclass(frozen=True, slots=True)
class Invocation:
    """How the program is started for one prompt."""

    words: tuple[str, ...]
    given: str  # on its input
    environ: Mapping[str, str] = field(default_factory=dict)  # besides the person's own


@dataclass(frozen=True, slots=True)
class Said:
    """What the program printed, understood."""

    answer: str | None = None
    failure: str = ""  # its own words
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Author(ABC):
    """How one agent answers prompts."""

    takes_schema = False  # whether the program keeps its model to a schema
    prefixes: tuple[str, ...] = ()  # of the variables that are the program's own, its login among them
    kept: frozenset[str] = frozenset()  # other variables that it needs
    dropped: tuple[str, ...] = ()  # variables that would tell the program that it runs inside another

    def __init__(self, agent: CodingAgent) -> None:
        self.agent = agent

    def needs(self, name: str) -> bool:
        """Whether the program gets this variable of the server's environment."""
        if name in self.dropped:
            return False
        return name in _NEEDED or name in self.kept or name.startswith((*_NEEDED_PREFIXES, *self.prefixes))

    def login(self, environ: Mapping[str, str]) -> frozenset[str]:
        """Name the variables that hold the login, where the program's settings choose them."""
        return frozenset()

    @abstractmethod
    def invocation(self, prompt: ModelPrompt, files: RunFiles, environ: Mapping[str, str]) -> Invocation:
        """The words after the program's name, and what else it gets."""

    @abstractmethod
    def said(self, run: ProgramRun, files: RunFiles) -> Said:
        """What a run came to; of one that was ended, why that may have been."""

    def tidy(self, files: RunFiles, environ: Mapping[str, str]) -> None:  # noqa: B027 (most keep nothing)
        """Take away what the program keeps of a run elsewhere than in its folders; here it keeps nothing."""


def asked(prompt: ModelPrompt, *, with_schema: bool) -> str:
    """The whole prompt as one text; where the program knows no schemas, with the schema."""
    if len(prompt.messages) <= 2 and all(each.role != "assistant" for each in prompt.messages):
        parts = [each.content for each in prompt.messages]
    else:
        first, *rest = prompt.messages
        titles = {"assistant": "# Your answer", "user": "# What you are asked", "system": "# Rules"}
        parts = [first.content, *(f"{titles.get(each.role, each.role)}\n\n{each.content}" for each in rest)]
    if with_schema:
        wanted = json.dumps(prompt.schema, separators=(",", ":"))
        parts.append(f"Answer with one JSON object that fits this JSON schema, and nothing else:\n{wanted}")
    return "\n\n".join(parts)


def trouble_of(failure: str) -> Trouble:
    """What class of trouble these words are; one that we do not know may pass."""
    words = failure.lower().replace("\u2019", "'")
    return next((trouble for trouble, pattern in _TROUBLES if pattern.search(words)), Trouble.TRANSIENT)


def wait_of(failure: str, now_s: float) -> float:
    """How long a program whose limit is reached says that it will last; `now_s` is since the epoch."""
    if until := _UNTIL.search(failure):
        return min(max(0.0, float(until.group(1)) - now_s), LONGEST_WAIT_S) or LIMIT_WAIT_S
    if told := _WAIT.search(failure):
        lengths = _LENGTHS.findall(told.group(1))
        return min(sum(float(count) * _UNITS_S[unit.lower()] for count, unit in lengths), LONGEST_WAIT_S)
    return LIMIT_WAIT_S


def json_lines(text: str) -> Iterator[dict[str, object]]:
    """The objects that a program printed, one a line; what is no object is passed over."""
    for line in text.splitlines():
        if line.startswith("{"):
            found = whole(line)
            if isinstance(found, dict):
                yield found


def whole(text: str) -> Any:
    """A JSON document; None if this is none, or not all of one."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def settings_over(usual: Path, given: str, changes: Mapping[str, object]) -> str:
    """The machine's own settings file with changes for one run; `given` is the path that the person has set, if any."""
    try:
        found = whole(Path(given or usual).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    return json.dumps(_merged(table(found), changes))


def _merged(under: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    both = {name: _merged(below, value) for name, value in over.items()
            if isinstance(value, Mapping) and isinstance(below := under.get(name), Mapping)}  # fmt: skip
    return {**under, **over, **both}


def count(value: object) -> int | None:
    """A number of tokens; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
