"""What a project is worked on with: the files most often changed, the commands that work there, the errors met.

Counted by session, not by use, and a session counts half as much when some more have followed it: what was done in
several sessions of late will be done again. It is read from the newest turns, so its cost does not grow with the
project, and what is forgotten is counted no longer. Names and words of others are quoted, and those that read like an
instruction left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from codexmem.kernel.llm.activity import command_name
from codexmem.kernel.model import quoting, text_size
from codexmem.kernel.model.attrs import SummaryAttrs
from codexmem.kernel.model.instructions import looks_like_instruction
from codexmem.kernel.model.memory import Memory

TURNS = 500  # that are read
_FILES_HALVE = 10.0  # sessions
_REST_HALVES = 20.0
_READ = 0.1  # of what a change counts
_FAILED = 0.2  # of what a success counts
_TYPED = 50  # characters of a command as it was typed; a longer one is named only, unless it sets variables
_WITH_VARIABLES = 120
_FORMS = 12  # of a command, that are looked at
_SETS = re.compile(r"(?:env )?[A-Z][A-Z0-9_]+=")
_LEAST = 5  # tokens that are left: nothing more will fit


@dataclass(slots=True)
class _Command:
    weight: float = 0.0
    forms: list[str] = field(default_factory=list)  # newest first
    worked: bool = False
    fails: bool = False  # the newest run did


@dataclass(frozen=True, slots=True)
class ProjectDigest:
    """Each list best first."""

    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def digest(turns: Iterable[Memory]) -> ProjectDigest:
    """Count what these turns did; they come newest first."""
    files: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    commands: dict[str, _Command] = {}
    shown: dict[str, str] = {}
    for age, session in enumerate(_sessions(turns)):
        recent, since = 0.5 ** (age / _FILES_HALVE), 0.5 ** (age / _REST_HALVES)
        changed = {path for turn in session for path in turn.files_modified}
        read = {path for turn in session for path in turn.files_read}
        for path in filter(_inside, changed | read):
            files[quoting.name(path)] += recent * ((path in changed) + _READ * (path in read))
        for key, line in {_same(line): line for turn in reversed(session) for line in turn.errors}.items():
            errors[key] += since
            shown.setdefault(key, line)
        _count(commands, session, since)
    ranked = sorted(commands, key=lambda name: (-commands[name].weight, name))
    return ProjectDigest(
        _ranked(files), tuple(_typed(name, commands[name]) for name in ranked),
        tuple(quoting.line(line) for key in _ranked(errors) if not looks_like_instruction(line := shown[key])),
    )  # fmt: skip


def files_by_folder(paths: Sequence[str], tokens: int) -> list[str]:
    """As many as fit, a line for each folder: names cost less than paths."""

    def parts(path: str) -> tuple[str, str]:
        folder, slash, name = path.rpartition("/")
        return folder + slash, name

    return _grouped(paths, tokens, parts, "{}: {}")


def commands_by_program(commands: Sequence[str], tokens: int) -> list[str]:
    """As many as fit, a line for each program and what it is to do."""

    def parts(command: str) -> tuple[str, str]:
        words = command.split(" ")
        cut = 2 if len(words) > 2 else 1
        return " ".join(words[:cut]), " ".join(words[cut:])

    return _grouped(commands, tokens, parts, "{} {}", several="{}: {}")


def lines_within(lines: Iterable[str], tokens: int) -> list[str]:
    """As many as fit, each a line."""
    return _grouped(tuple(lines), tokens, lambda line: (line, ""), "{}{}")


def _grouped(items: Sequence[str], tokens: int, parts: Callable[[str], tuple[str, str]], one: str,
             several: str = "") -> list[str]:  # fmt: skip
    groups: dict[str, list[str]] = {}
    left = tokens
    for item in items:
        if left < _LEAST:
            break
        if looks_like_instruction(item):
            continue
        head, name = parts(item)
        cost = text_size.tokens(f"{name}, ") if name else 0
        cost += 0 if head in groups else text_size.tokens(f"- {head}: ")
        if cost <= left:
            left -= cost
            groups.setdefault(head, []).append(name)
    lines = []
    for head, names in groups.items():
        form = several if several and len(names) > 1 else one
        text = form.format(head, ", ".join(names)).strip() if head else ", ".join(names)
        lines.append(f"- {quoting.quoted(text)}")
    return lines


def _sessions(turns: Iterable[Memory]) -> Iterator[list[SummaryAttrs]]:
    """The turns of each session, newest first; a session is as new as its newest turn."""
    by_session: dict[str, list[SummaryAttrs]] = {}
    for turn in turns:
        if isinstance(turn.state.attrs, SummaryAttrs):
            by_session.setdefault(turn.session or "", []).append(turn.state.attrs)
    yield from by_session.values()


def _count(commands: dict[str, _Command], session: Sequence[SummaryAttrs], weight: float) -> None:
    worked: set[str] = set()
    failed: set[str] = set()
    for turn in session:
        for typed, ok in [*((each, True) for each in turn.commands), *((each, False) for each in turn.failed_commands)]:
            name = command_name(typed)
            if not name:
                continue
            if name not in commands:
                commands[name] = _Command(fails=not ok)
            command = commands[name]
            if ok and not command.worked:
                command.forms.clear()
            command.worked |= ok
            if ok or not command.worked:
                command.forms.append(typed)
            (worked if ok else failed).add(name)
    for name in worked | failed:
        commands[name].weight += weight * (1.0 if name in worked else _FAILED)


def _typed(name: str, command: _Command) -> str:
    """The commonest form of late, one with variables if there is any; with a mark if it failed last."""
    short = [each for each in command.forms[:_FORMS] if len(each) <= (_WITH_VARIABLES if "=" in each else _TYPED)]
    short = [each for each in short if _SETS.match(each)] or short
    form = Counter(short).most_common(1)[0][0] if short else name
    return quoting.line(form) + (" ✗" if command.fails else "")


def _inside(path: str) -> bool:
    """Whether a file belongs to the project; a path is relative to it if it does."""
    return not path.startswith(("/", "~", "../", ".git/")) and path[1:2] != ":"


def _ranked(counted: "Counter[str]") -> tuple[str, ...]:
    return tuple(sorted(counted, key=lambda each: (-counted[each], each)))


def _same(line: str) -> str:
    """An error without what differs each time: numbers."""
    return "".join("0" if character.isdigit() else character for character in line.lower())
