"""Which files were read and changed, proven by what tools did.

A model may name further files that were read; what was changed is known from tools alone. A failed call changed
nothing. Of a shell command only what plainly reads or writes a named file counts.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from codexmem.kernel.llm import shell
from codexmem.kernel.llm.material import MAX_MODIFIED, MAX_READ
from codexmem.kernel.llm.patch import BEGIN, files_of
from codexmem.kernel.llm.paths import relative
from codexmem.kernel.llm.tools import Family, command_of, family_of, fields, first, path_of, response_of
from codexmem.kernel.model.capture import CapturedEvent

_READERS = frozenset({"cat", "head", "tail", "less", "more", "bat", "batcat", "nl", "tac"})
_COUNTED = frozenset({"head", "tail"})  # programs whose first operand after -n is a number
_MATCH = re.compile(r"^(?P<path>[^\s:][^:\n]{0,300}):\d+[:-]", re.MULTILINE)
_BARE = re.compile(r"^(?:\./)?(?P<path>[\w@.+-]+(?:/[\w@.+ -]+)*\.[A-Za-z]\w{0,9})$", re.MULTILINE)
_GEMINI = re.compile(r"^File: (?P<path>\S.{0,300})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Files:
    """Paths, each once, in the order in which they were met."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


def files(events: Iterable[CapturedEvent]) -> Files:
    """What these calls together read and changed."""
    read: dict[str, None] = {}
    modified: dict[str, None] = {}
    for event in events:
        found = files_of_call(event)
        read |= dict.fromkeys(found.read)
        modified |= dict.fromkeys(found.modified)
    return Files(tuple(read)[:MAX_READ], tuple(modified)[:MAX_MODIFIED])


def files_of_call(event: CapturedEvent) -> Files:
    """What one call read and changed."""
    response = response_of(event)
    named = relative(path_of(event), event.cwd)
    kind = family_of(event)
    if kind is Family.SHELL:
        return files_of_command(command_of(event), event.cwd, failed=response.failed)
    if response.failed:
        return Files()
    match kind:
        case Family.READ:
            several = fields(event.input).get("paths") or fields(event.input).get("include")
            listed = [path for path in several if isinstance(path, str)] if isinstance(several, list) else []
            return Files(read=_kept([named, *(relative(p, event.cwd) for p in listed if not set(p) & set("*?["))]))
        case Family.EDIT | Family.WRITE:
            return Files(modified=_kept([named]))
        case Family.PATCH:
            return Files(modified=patched(patch_text(event), event.cwd))
        case Family.SEARCH | Family.LIST:
            return Files(read=_kept(relative(path, event.cwd) for path in found_files(event)))
    return Files()


def patch_text(event: CapturedEvent) -> str:
    """The patch of an apply_patch call."""
    given = fields(event.input)
    return first(given, ("command", "input", "patch", "patchText", "diff")) or (
        event.input if isinstance(event.input, str) else ""
    )


def patched(patch: str, cwd: str) -> tuple[str, ...]:
    """The files that a patch touched, under their old and new names."""
    names = (name for each in files_of(patch) for name in (each.path, each.to) if name)
    return _kept(relative(name, cwd) for name in names)


def found_files(event: CapturedEvent) -> list[str]:
    """The files that a search found, by name or by content."""
    given = fields(event.response)
    listed = given.get("filenames") or given.get("files")
    if isinstance(listed, list):
        return [path for path in listed if isinstance(path, str)][:MAX_READ]
    return found_in(response_of(event).text)


def found_in(text: str) -> list[str]:
    """The files that a search's printed result names."""
    for pattern in (_GEMINI, _MATCH, _BARE):
        if found := list(dict.fromkeys(each.group("path") for each in pattern.finditer(text[:20_000]))):
            return found[:MAX_READ]
    return []


def files_of_command(line: str, cwd: str, *, failed: bool) -> Files:
    """What a command line plainly read and changed; nothing is known to be changed if it failed."""
    read: list[str | None] = []
    modified: list[str | None] = []
    here = cwd
    for command in shell.commands(line):
        if command.name == "cd" and command.operands:
            here = _moved(here, command.operands[0])
            continue
        at = _named_from(here, cwd)
        modified += [at(word) for word in command.writes]
        if command.name == "apply_patch":
            text = command.heredoc or next((word for word in command.texts[1:] if BEGIN in word), "")
            modified += patched(text, here)
        else:
            reads, writes = _operands(command)
            read += [at(word) for word in reads]
            modified += [at(word) for word in writes]
    return Files(_kept(read), () if failed else _kept(modified))


def _operands(command: shell.ShellCommand) -> tuple[list[shell.Word], list[shell.Word]]:
    """The words of a command that are files it reads, and files it writes."""
    words = command.operands
    name = command.name
    if name in _READERS:
        return ([word for word in words if not (name in _COUNTED and word.text.lstrip("+").isdigit())], [])
    if name == "sed":
        in_place = any(text.startswith(("-i", "--in-place")) for text in command.texts[1:])
        given = "-e" in command.texts or "-f" in command.texts
        targets = [word for word in words[0 if given else 1 :] if not word.text.startswith(("s/", "s|", "s#"))]
        return ([], targets) if in_place else (targets, [])
    if name == "git" and words and words[0].text in {"mv", "rm"}:
        return [], words[1:]
    if name == "cp" and len(words) == 2:
        return words[:1], words[1:]
    if name in {"mv", "rm", "tee", "touch", "truncate", "unlink"}:
        return [], [word for word in words if not word.text.isdigit()]
    return [], []


def _moved(here: str, word: shell.Word) -> str:
    if not word.literal or not here:
        return ""
    return word.text if word.text.startswith("/") else f"{here.rstrip('/')}/{word.text}"


def _named_from(here: str, cwd: str) -> Callable[[shell.Word], str | None]:
    def at(word: shell.Word) -> str | None:
        text = word.text
        if not word.literal or text.startswith("/dev/") or text.endswith("/"):
            return None  # a pattern, no file, or a folder
        if text.startswith("/"):
            return relative(text, cwd)
        if not here and cwd:
            return None  # nobody knows from where
        return relative(f"{here.rstrip('/')}/{text}" if here else text, cwd)

    return at


def _kept(paths: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if path))
