"""Which files a patch touches, read from its headers, and what it does to each."""

from dataclasses import dataclass, field
from typing import Literal

Verb = Literal["created", "edited", "deleted", "moved"]
_ACTIONS: tuple[tuple[str, Verb], ...] = (
    ("*** Add File: ", "created"),
    ("*** Update File: ", "edited"),
    ("*** Delete File: ", "deleted"),
)
_MOVE = "*** Move to: "
BEGIN = "*** Begin Patch"


@dataclass(slots=True)
class PatchedFile:
    """One file of a patch."""

    path: str
    verb: Verb
    to: str = ""  # where it was moved
    removed: list[str] = field(default_factory=list)  # lines
    added: list[str] = field(default_factory=list)


def files_of(patch: str) -> list[PatchedFile]:
    """The files in their order: of an apply_patch text, else of a unified diff."""
    return _apply_patch(patch) if BEGIN in patch else _unified(patch)


def _apply_patch(patch: str) -> list[PatchedFile]:
    found: list[PatchedFile] = []
    for line in patch.splitlines():
        for beginning, verb in _ACTIONS:
            if line.startswith(beginning):
                found.append(PatchedFile(line[len(beginning) :].strip(), verb))
                break
        else:
            if not found:
                continue
            if line.startswith(_MOVE):
                found[-1].to = line[len(_MOVE) :].strip()
                found[-1].verb = "moved"
            elif line.startswith("+"):
                found[-1].added.append(line[1:])
            elif line.startswith("-"):
                found[-1].removed.append(line[1:])
    return [each for each in found if each.path]


def _unified(patch: str) -> list[PatchedFile]:
    found: list[PatchedFile] = []
    before = ""
    for line in patch.splitlines():
        if line.startswith("--- "):
            before = _named(line)
        elif line.startswith("+++ ") and before:
            after = _named(line)
            if after == "/dev/null":
                found.append(PatchedFile(before, "deleted"))
            else:
                found.append(PatchedFile(after, "created" if before == "/dev/null" else "edited"))
            before = ""
        elif found and line.startswith("+"):
            found[-1].added.append(line[1:])
        elif found and line.startswith("-"):
            found[-1].removed.append(line[1:])
    return [each for each in found if each.path]


def _named(header: str) -> str:
    name = header[4:].partition("\t")[0].strip()
    return name[2:] if name.startswith(("a/", "b/")) else name
