"""Real sessions of coding agents as the set `coding-sessions` has them, and what each session needed from earlier ones.

A project is a file of sessions, oldest first; a session is a list of items: prompts, messages and tool events. What a
session needed is computed, not annotated: the files it edits, the commands that work in it and the errors it meets,
each of them only if an earlier session had it too.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.product import Product

Item = Mapping[str, Any]
CodingSession = Mapping[str, Any]
Question = Mapping[str, Any]
TUNING = ("yuichat", "context-evaluator", "chef-chopsky", "destyler", "minsky", "focuslab")
HELD_OUT = ("cipher-box", "translate", "entire-cli", "alpamayo", "agentv", "league-analyzer", "getspecstory")
PROJECTS = (*TUNING, *HELD_OUT)
FIRST_ASKED = 5  # sessions that pass before one is asked what it needed
CHANGING = frozenset({"edit", "write", "delete"})
REPORTED = CHANGING | {"shell", "read"}  # searches are reported by some agents only
_DAYS_MS = 20 * 86_400_000  # capture takes what is older than some months as of now
_HOUR_MS = 3_600_000
_OUTSIDE = ("/", "~", "C:", "c:", ".claude/", ".specstory/", ".cursor/projects")

_TOOL = re.compile(
    r"(?:npm|npx|pnpm|yarn|bun|bunx|go|cargo|pytest|make|mise|just|uv|uvx|docker|docker-compose|vitest|jest|playwright|"
    r"tsc|eslint|ruff|mypy|golangci-lint|gradle|\./gradlew|mvn|supabase|pip|pip3|poetry|turbo|nx|astro|storybook|"
    r"goreleaser|gh|minsky|flask|uvicorn|chainlit|python3? -m \w+|python3? \S+\.py|node \S+\.m?js|\./\S+|bash \S+\.sh|"
    r"sh \S+\.sh|railway|vercel|netlify|terraform|conda|swift|xcodebuild|deno|php|composer)\b"
)
_DULL = re.compile(r"go version|node -v|npm -v|gh auth|docker ps|pip list|npm list|npm ls")
_JOINED = re.compile(r"&&|\|\||;|\n|\|")
_SET = re.compile(r"(?:[A-Z_][A-Z0-9_]*=\S+\s+)+")
_WRAPPED = re.compile(r"(?:sudo|time|timeout \S+|env|mise exec --)\s+")
_STOPPING = (">", "<", "2>", "&", "$(", "'", '"', "#", "{")
_FLAGS_END = ("go", "cargo", "docker", "pnpm", "npm")  # tools whose words after a flag are arguments of something else
_ALONE = ("pytest", "vitest", "jest", "make", "tsc")
_WORDS = 4
_VARIABLE = re.compile(r"(?<![\w$])([A-Z][A-Z0-9_]{3,}=[\w./:@-]{1,60})")
_KNOWN = 90  # characters by which two errors are the same
_ERROR = re.compile(
    r"^.*?((?:[A-Z]\w*(?:Error|Exception)|error(?: TS\d+|\[\w+\])?|fatal|panic|ERR_\w+|FAIL(?:ED)?|npm ERR!)\b"
    r"[:!(\[ ].{12,160})$",
    re.MULTILINE,
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Needs:
    """What one session will edit, run and meet that was there before."""

    place: int
    session: str
    files: tuple[str, ...]
    commands: tuple[str, ...]
    errors: tuple[str, ...]


@dataclass
class Turn:
    """A prompt with what followed it."""

    prompt: Item
    events: list[Item] = field(default_factory=list)
    messages: list[Item] = field(default_factory=list)

    @property
    def closing(self) -> str:
        """The last message."""
        return str(self.messages[-1]["text"]) if self.messages else ""


def sessions(data: Path, project: str) -> list[CodingSession]:
    """All sessions of a project, oldest first."""
    with gzip.open(data / "coding-sessions" / f"{project}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def questions(data: Path) -> list[Question]:
    """All questions, with and without an answer."""
    lines = (data / "coding-sessions" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def turns(session: CodingSession) -> list[Turn]:
    """The session prompt by prompt; what comes before the first prompt belongs to none."""
    found: list[Turn] = []
    for item in session["items"]:
        if item["k"] == "user":
            found.append(Turn(item))
        elif found:
            (found[-1].events if item["k"] == "tool" else found[-1].messages).append(item)
    return found


def commands(line: str) -> Iterator[str]:
    """The commands of a line that build, test, run or deploy, cut to what tells them apart."""
    for part in _JOINED.split(line):
        said = part.strip().lstrip("(")
        for prefix in (_SET, _WRAPPED):
            if found := prefix.match(said):
                said = said[found.end() :]
        if not _TOOL.match(said) or _DULL.match(said):
            continue
        words: list[str] = []
        for word in said.split():
            flag = word.startswith("-") and word != "-m"
            if word.startswith(_STOPPING) or len(words) == _WORDS:
                break
            if flag and len(words) > 1 and words[0] in _FLAGS_END:
                break
            if not flag:
                words.append(word)
        if len(words) > 1 or (words and words[0] in _ALONE):
            yield " ".join(words)


def variables(line: str) -> set[str]:
    """What a command line sets: `DB_URL=sqlite:///x`."""
    return set(_VARIABLE.findall(line))


def error_line(output: str) -> str | None:
    """The first line of an output that says what went wrong in words."""
    for found in _ERROR.finditer(output):
        line = " ".join(_COLOUR.sub("", found[1]).split())
        if len(re.findall(r"[A-Za-z]{3,}", line)) >= 3:
            return line[:140]
    return None


def touched(item: Item) -> Iterator[str]:
    """Files of the repository that a tool event reads or changes."""
    if item["kind"] in CHANGING | {"read"} and item.get("ok") is not False:
        for path in item.get("paths") or [item.get("path")]:
            if path and not path.startswith(_OUTSIDE) and ".." not in path:
                yield path


def needs(history: Sequence[CodingSession]) -> list[Needs]:
    """For each session but the first ones what it needed, if anything."""
    files: set[str] = set()
    ran: set[str] = set()
    met: set[str] = set()
    found: list[Needs] = []
    for place, session in enumerate(history):
        tools = [item for item in session["items"] if item["k"] == "tool"]
        shells = [item for item in tools if item["kind"] == "shell"]
        edited = {path for item in tools if item["kind"] in CHANGING for path in touched(item)}
        worked = {each for item in shells if item.get("ok") is not False for each in commands(item.get("command", ""))}
        failed = [item for item in shells if item.get("ok") is False]
        wrong = {line for item in failed if (line := error_line(item.get("output", "")))}
        if place >= FIRST_ASKED and any(item["k"] == "user" for item in session["items"]):
            known = {line for line in wrong if without_numbers(line)[:_KNOWN] in met}
            need = Needs(place, session["id"], *(tuple(sorted(each)) for each in (edited & files, worked & ran, known)))
            if need.files or need.commands or need.errors:
                found.append(need)
        files |= {path for item in tools for path in touched(item)}
        ran |= worked
        met |= {without_numbers(line)[:_KNOWN] for line in wrong}
    return found


def without_numbers(line: str) -> str:
    """An error without its numbers and folders, which differ each time."""
    return re.sub(r"\d+", "0", re.sub(r"(?:/[\w.@-]+)+/", "", line)).lower()


def common_names(history: Iterable[CodingSession]) -> set[str]:
    """Names of files that several folders have, which therefore name none."""
    places: dict[str, set[str]] = defaultdict(set)
    for session in history:
        for item in session["items"]:
            if item["k"] == "tool":
                for path in touched(item):
                    places[path.rpartition("/")[2]].add(path)
    return {name for name, paths in places.items() if len(paths) > 1}


def moved(history: Sequence[CodingSession], now_ms: int) -> Callable[[str], int]:
    """From a time of the log to one in the last days, in order and proportion."""
    begun = [_ms(session["started_at"]) for session in history]
    first, last = min(begun), max(begun)
    scale = min(1.0, _DAYS_MS / max(1, last - first))

    def move(said: str) -> int:
        at = min(max(_ms(said), first), last + 24 * _HOUR_MS) if said else first
        return int(now_ms - _HOUR_MS - (last - at) * scale)

    return move


def _ms(said: str) -> int:
    return int(datetime.fromisoformat(said).timestamp() * 1000)


def replay(product: Product, session: CodingSession, move: Callable[[str], int]) -> int:
    """Report the whole session as its hooks would have; returns how many tool events that were."""
    project, key = session["project"], session["id"]
    folder = product.checkout(project)
    at = move(session["started_at"])
    reported = 0
    for turn in turns(session):
        number = turn.prompt["i"]
        at = max(at + 1_000, move(turn.prompt.get("t", "")))
        product.report("session-init", project, key, at, f"{number}", prompt=turn.prompt["text"])
        for item in turn.events:
            told = as_hook(item, folder) if item["kind"] in REPORTED else None
            if told is None:
                continue
            at = max(at + 10, move(item.get("t", "")))
            product.report("observation", project, key, at, f"{item['i']}", **told, tool_use_id=f"{key}/{item['i']}")
            reported += 1
        at += 10
        product.report("summarize", project, key, at, f"{number}-end", last_assistant_message=turn.closing)
    product.report("session-complete", project, key, at + 10, "end")
    return reported


def as_hook(item: Item, folder: str) -> dict[str, Any] | None:
    """A tool event as Claude Code's hook is told of it; None if the log does not say enough."""
    kind, output, failed = item["kind"], item.get("output", ""), item.get("ok") is False
    path = item.get("path")
    if path and not path.startswith(("/", "~")) and path[1:3] != ":/":
        path = f"{folder}/{path}"
    answered: dict[str, Any] = {"error": output or "failed"} if failed else {"filePath": path}
    if kind == "shell":
        said = {"stdout": output, "stderr": "", "interrupted": False}
        return _used("Bash", {"command": item.get("command", "")}, answered if failed else said)
    if not path:
        return None
    if kind == "read":
        said = {"file": {"filePath": path, "content": output}}
        return _used("Read", {"file_path": path}, answered if failed else said)
    if kind == "delete":
        return _used("Bash", {"command": f"rm {path}"}, {"stdout": "", "stderr": "", "interrupted": False})
    if kind == "edit" and ("old" in item or "content" not in item):
        given = {"file_path": path, "old_string": item.get("old", ""), "new_string": item.get("new", "")}
        return _used("Edit", given, answered)
    return _used("Write", {"file_path": path, "content": item.get("content", item.get("new", ""))}, answered)


def _used(tool: str, given: Mapping[str, Any], answered: Mapping[str, Any]) -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": given, "tool_response": answered}
