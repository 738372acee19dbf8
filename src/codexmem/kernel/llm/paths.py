"""Paths as memories name them: relative to the working directory where they are inside it."""

import ntpath
import posixpath
import re
from types import ModuleType

MAX_PATH = 400  # characters, which a label may have
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE = re.compile(r"\A[A-Za-z]:[\\/]")


def relative(path: str, cwd: str) -> str | None:
    """The path as a memory names it; None for what is no path that can be named."""
    path = path.strip().removeprefix("file://")
    if not path or len(path) > MAX_PATH or _CONTROL.search(path) or path in {".", ".."}:
        return None
    flavour: ModuleType = ntpath if _DRIVE.match(path) or _DRIVE.match(cwd) else posixpath
    whole = flavour.normpath(flavour.join(cwd, path) if cwd else path)
    if cwd:
        base = flavour.normpath(cwd)
        if whole == base:
            return None
        beginning = base if base.endswith(("/", "\\")) else base + flavour.sep
        if flavour.normcase(whole).startswith(flavour.normcase(beginning)):
            whole = whole[len(beginning) :]
    found = whole.replace("\\", "/") if flavour is ntpath else whole
    return found if found and len(found) <= MAX_PATH else None


def folder_of(paths: list[str]) -> str:
    """The deepest folder that holds all of them; empty if that is the working directory or there is none."""
    folders = [path.split("/")[:-1] for path in paths]
    common: list[str] = []
    for names in zip(*folders, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return "/".join(common)
