"""Which project a working directory belongs to, by the name that people use for it.

A project is a repository. Its name is the last part of the address of the remote `origin` (`git@host:owner/my-app.git`
and `https://host/owner/my-app` are both `my-app`), else the name of the folder that holds the repository. All worktrees
of a repository are one project; a submodule is a project of its own; without git it is the folder's name.

Two repositories of one name (`acme/api`, `initech/api`) are one project unless they are told apart: what
`git config codexmem.project acme-api` says wins over everything, holds for all worktrees of that clone, and cannot come
with a checkout, because git does not clone its configuration. `origin` gives the whole address in one spelling,
`host/owner/api`, to see that two projects of one name are not the same.

Nothing here touches the disk: the caller passes `read`, which returns a file's text or None.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[str], str | None]

UNNAMED = "unnamed"  # for a working directory that has no name, such as the root
LONGEST = 200
_HIGHEST = 64  # levels to climb in search of a repository


def identity(cwd: str, read: Read) -> str:
    """The project of this working directory."""
    place = _tidy(cwd)
    found = _enclosing(place, read)
    if found is None:
        return _fit(_last(place))
    root, config = found
    chosen = _configured(config, "codexmem", "project").strip()
    if chosen:
        return _fit(chosen)
    url = _configured(config, 'remote "origin"', "url")
    return _fit(_last(normalised(url)) or _last(root))


def origin(cwd: str, read: Read) -> str:
    """Where the repository comes from, in one spelling; its folder if it has no origin, the directory without git."""
    place = _tidy(cwd)
    found = _enclosing(place, read)
    if found is None:
        return place
    root, config = found
    return normalised(_configured(config, 'remote "origin"', "url")) or root


def normalised(url: str) -> str:
    """One spelling for all addresses of a repository: `host/owner/name`, without user, port, scheme and `.git`."""
    text = url.strip().replace("\\", "/")
    scheme, sign, rest = text.partition("://")
    if sign:
        if scheme == "file":
            return _bare(rest)
        host, _, path = rest.partition("/")
    elif ":" in text and "/" not in text.partition(":")[0] and not _drive(text):
        host, _, path = text.partition(":")  # git@host:owner/name
    else:
        return _bare(text)
    host = host.rpartition("@")[2]
    if not host.startswith("["):
        host = host.partition(":")[0]
    return f"{host.lower()}/{_bare(path).lstrip('/')}".rstrip("/")


def working_tree(cwd: str, read: Read) -> tuple[str, str] | None:
    """The working tree around this place, and git's folder for it: a linked worktree and a submodule have their own."""
    place = _tidy(cwd)
    for _ in range(_HIGHEST):
        pointer = read(f"{place}/.git")
        if pointer is not None and pointer.startswith("gitdir:"):
            return place, _joined(place, pointer[7:].strip())
        # A HEAD makes it a repository; an empty folder of that name does not.
        if read(f"{place}/.git/HEAD") is not None:
            return place, f"{place}/.git"
        if not place or place.endswith("/") or _last(place) == "":
            return None
        place = _parent(place)
    return None


def _enclosing(place: str, read: Read) -> tuple[str, str] | None:
    """The folder of the repository around this place, and the text of its configuration."""
    found = working_tree(place, read)
    if found is None:
        return None
    root, folder = found
    # A worktree shares a repository with others.
    shared = (read(f"{folder}/commondir") or "").strip()
    if not shared:
        return root, read(f"{folder}/config") or ""
    common = _joined(folder, shared)
    root = _parent(common) if _last(common) == ".git" else _bare(common)
    return root, read(f"{common}/config") or ""


def _configured(config: str, section: str, key: str) -> str:
    """A value of git's configuration; the last one counts, as with git."""
    inside, value = False, ""
    for raw in config.splitlines():
        line = raw.strip()
        if line.startswith("["):
            name, _, rest = line[1:].partition("]")
            word, space, label = name.strip().partition(" ")
            inside = f"{word.lower()}{space}{label}" == section
            line = rest.strip()
        name, equals, text = line.partition("=")
        if inside and equals and name.strip().lower() == key:
            value = _unquoted(text.strip())
    return value


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        text = text[1:].partition('"')[0]
    else:
        for mark in (" #", " ;", "\t#", "\t;"):
            text = text.partition(mark)[0]
    return text.strip().replace("\\\\", "\\")


def _tidy(path: str) -> str:
    """With forward slashes and none at the end; a drive and the root keep theirs."""
    text = path.strip()
    if _drive(text) or text.startswith("\\\\") or ("\\" in text and "/" not in text):
        text = text.replace("\\", "/")
    return text.rstrip("/")


def _drive(text: str) -> bool:
    return text[1:2] == ":" and text[:1].isascii() and text[:1].isalpha() and text[2:3] in {"", "/", "\\"}


def _last(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return "" if _drive(name) or name in {".", ".."} else name


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _bare(path: str) -> str:
    return path.rstrip("/").removesuffix(".git").rstrip("/")


def _joined(folder: str, path: str) -> str:
    """A path as seen from a folder, with `..` resolved."""
    text = _tidy(path)
    if not (text.startswith("/") or _drive(text)):
        text = f"{folder}/{text}"
    parts: list[str] = []
    for part in text.split("/"):
        if part == ".." and parts and parts[-1] not in {"", ".."}:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _fit(name: str) -> str:
    printable = "".join(each if each.isprintable() else " " for each in name).strip()
    return printable[:LONGEST] or UNNAMED
