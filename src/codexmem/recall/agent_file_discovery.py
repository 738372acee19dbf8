"""Finding and reading the files that are written for agents: of a checkout, and of the person whose machine it is.

Nothing is run and nothing outside is read: a link counts only if it leads to another place inside the same folder, two
names of one file count once, and what is large, binary or no plain file is passed over and told. A submodule is a
project of its own.

Following files that are written for agents: when a session starts, what they say now is taken in.

Only files that were imported once, only of the checkout that the session is in and of the person whose server it is,
and only if one of them has changed since they were last looked at. All changes of one look are one delta.
"""

import contextlib
import os
import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from codexmem import agents
from codexmem.agents import NAMES, CodingAgent, InstallableAgent, agent_of
from codexmem.agents.install.targets import UserHome
from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import GiveUp, Job, NewJob
from codexmem.kernel.model.project import identity, working_tree
from codexmem.kernel.model.session import Session
from codexmem.recall.agent_block import DamagedFile, block_text, imported_files, rules_in
from codexmem.recall.agent_files import MAX_ALIASES, MAX_FILE, MAX_PATH, AgentFiles, AgentFileText, KnownFile

MAX_FILES = 200
_MORE = (".cursor/rules/*.md", ".github/copilot-instructions.md")  # that no agent of ours reads by itself
_PRIVATE = frozenset({"CLAUDE.local.md"})  # of a checkout, but the person's own
_FOLDERS = 5_000  # that are looked into for nested files
_DEPTH = 8
_SKIPPED = frozenset({"node_modules", "vendor", "third_party", "dist", "build", "target", "venv", "site-packages"})
_CLAUDE_PROJECTS = "~/.claude/projects/*/memory/*.md"
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file for agents."""

    file: str  # inside the checkout, or ~/.codex/… for a person's own
    path: Path  # without links
    size: int
    changed_ns: int
    aliases: tuple[str, ...] = ()  # links to it

    @property
    def is_personal(self) -> bool:
        """Whether it is the person's own."""
        return self.file.startswith("~/")


@dataclass(slots=True)
class FoundFiles:
    """What was found, and what was passed over for which reason."""

    files: list[FoundFile] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckoutRoot:
    """The folder whose files are looked at."""

    root: Path
    is_repository: bool
    folders: tuple[str, ...]  # its own and, for a worktree, that of the repository


def checkout_of(folder: Path) -> CheckoutRoot:
    """The checkout around a folder; without git, the folder alone."""
    place = folder.resolve()
    found = working_tree(str(place), text_of)
    if found is None:
        return CheckoutRoot(place, False, (str(place),))
    root, git = found
    shared = (text_of(f"{git}/commondir") or "").strip()
    main = Path(git, shared).resolve().parent if shared else Path(root)
    return CheckoutRoot(Path(root), True, tuple(dict.fromkeys((root, str(main)))))


def find(
    checkout: CheckoutRoot, agents: Sequence[CodingAgent], person: UserHome | None, *, nested: bool = True
) -> FoundFiles:
    """The files for these agents; without a person, only what a checkout shares."""
    shared = [each for each in _patterns(agents) if not each.startswith("~/")]
    places = [
        (name, path, checkout.root)
        for name, path in _of_checkout(checkout, shared, nested=nested)
        if person is not None or path.name not in _PRIVATE
    ]
    if person is not None:
        places += _of_person(checkout, agents, person)
    found = FoundFiles()
    numbers: dict[Path, int] = {}
    # A file goes by its own name, links to it are aliases.
    for name, path, folder in sorted(places, key=lambda place: place[1].is_symlink()):
        _note(found, numbers, name, path, folder)
    return found


def find_again(checkout: CheckoutRoot, known: Sequence[KnownFile], person: UserHome) -> FoundFiles:
    """Known files as they are now, and new ones beside them in folders that agents read as a whole.

    A person's own file counts only where it is the one that was read before.
    """
    own = any(each.path or PurePosixPath(each.file).name in _PRIVATE for each in known)
    found = find(checkout, [agent_of(name) for name in NAMES], person if own else None, nested=False)
    numbers = {each.path: number for number, each in enumerate(found.files)}
    for each in known:
        if _is_nested(each.file):
            _note(found, numbers, each.file, checkout.root / each.file, checkout.root)
    paths = {each.file: each.path for each in known}
    folders = {_folder(each.file) for each in known if _folder(each.file) and not _is_nested(each.file)}
    again = [
        each
        for each in found.files
        if (paths.get(each.file) in {str(each.path), ""} if each.file in paths else _folder(each.file) in folders)
    ]
    return FoundFiles(again, found.skipped | {each.file: "elsewhere" for each in found.files if each not in again})


def gone(checkout: CheckoutRoot, agents: Sequence[CodingAgent], known: Iterable[KnownFile], found: FoundFiles, *,
         personal: bool) -> list[str]:  # fmt: skip
    """Those of the known files that are there no longer. Where a person's own files are not the ones that were read,
    nothing is known of them.
    """
    there = {each.file for each in found.files} | set(found.skipped)
    patterns = _patterns(agents)
    return [
        each.file
        for each in known
        if each.sections and each.file not in there and _is_meant(each.file, patterns)
        and (personal or not (each.path or PurePosixPath(each.file).name in _PRIVATE))
        and not (each.path and os.path.lexists(each.path))
        and not (_is_nested(each.file) and os.path.lexists(checkout.root / each.file))
    ]  # fmt: skip


def read(found: FoundFiles, folders: Sequence[str]) -> list[AgentFileText]:
    """What the files say now; one that cannot be read as text is passed over."""
    texts: dict[str, AgentFileText] = {}
    for each in found.files:
        data = _bytes_of(each.path)
        if data is None or b"\0" in data:
            found.skipped[each.file] = "unreadable"
            continue
        path = str(each.path) if each.is_personal else ""
        text = data.decode("utf-8", "replace")
        changed_ms = each.changed_ns // 1_000_000
        texts[each.file] = AgentFileText(each.file, text, changed_ms, path, each.aliases, tuple(folders))
    for file in list(texts.values()):
        for name in imported_files(file.text):
            # Whoever reads a file that imports another reads both.
            other = texts.get(os.path.normpath(PurePosixPath(file.file).parent / name))
            if other is not None and other.file != file.file:
                aliases = tuple(dict.fromkeys((*other.aliases, file.file)))[:MAX_ALIASES]
                texts[other.file] = replace(other, aliases=aliases)
    return list(texts.values())


def rules_read_by(platform: str, cwd: str) -> frozenset[str]:
    """The rules that codexmem wrote into files of a checkout which this agent reads by itself."""
    agent = agent_of(platform)
    if not agent.reads or not cwd.startswith("/") or not Path(cwd).is_dir():
        return frozenset()
    checkout = checkout_of(Path(cwd))
    rules: set[str] = set()
    for each in find(checkout, [agent], None, nested=False).files:
        names = (each.file, *each.aliases)
        if any(agent.reads_itself(name, cwd, lambda file: os.path.lexists(checkout.root / file)) for name in names):
            with contextlib.suppress(DamagedFile):
                rules |= rules_in(block_text(_bytes_of(each.path) or b""))
    return frozenset(rules)


def text_of(path: str) -> str | None:
    """A small file of git's; None if there is none."""
    data = _bytes_of(Path(path))
    return data.decode("utf-8", "replace") if data is not None else None


def _patterns(agents: Sequence[CodingAgent]) -> list[str]:
    """What these agents read and, if they are all of them, what others read."""
    read = (each for agent in agents for each in agent.reads)
    return list(dict.fromkeys((*read, *(_MORE if len(agents) == len(NAMES) else ()))))


def _is_meant(file: str, patterns: Sequence[str]) -> bool:
    own = file.startswith("~/")
    return any(each.startswith("~/") == own and PurePosixPath(file).match(each) for each in patterns)


def _folder(file: str) -> str:
    """The folder of a file that an agent reads as a whole; empty where it reads single files."""
    agents = (agent_of(name) for name in NAMES)
    whole = [each for agent in agents for each in agent.reads if "*" in each]
    return file.rpartition("/")[0] if _is_meant(file, [*whole, *_MORE]) else ""


def _is_nested(file: str) -> bool:
    return "/" in file and not file.startswith(("~/", "."))


def _of_checkout(checkout: CheckoutRoot, patterns: Sequence[str], *, nested: bool) -> Iterator[tuple[str, Path]]:
    """The root first, so that a nested name of the same file is the second."""
    for pattern in patterns:
        for path in _matching(checkout.root, pattern):
            yield path.relative_to(checkout.root).as_posix(), path
    # Outside of a repository nobody knows where the project ends.
    if nested and checkout.is_repository:
        names = frozenset(each for each in patterns if "/" not in each)
        for path in _nested(checkout.root, names):
            yield path.relative_to(checkout.root).as_posix(), path


def _of_person(
    checkout: CheckoutRoot, agents: Sequence[CodingAgent], person: UserHome
) -> Iterator[tuple[str, Path, Path]]:
    """Names as everybody has them, where the files are here, and the folder that they must lie in."""
    usual = UserHome(Path("~"), {})
    for agent in agents:
        if not isinstance(agent, InstallableAgent):
            continue
        name, folder = agent.folder(usual).as_posix(), agent.folder(person)
        for pattern in agent.reads:
            if not pattern.startswith(f"{name}/"):
                continue  # another agent's, which has it too
            inside = pattern.removeprefix(f"{name}/")
            if pattern == _CLAUDE_PROJECTS:
                mangled = dict.fromkeys(_NOT_A_NAME.sub("-", each) for each in checkout.folders)
                insides = [inside.replace("projects/*", f"projects/{each}", 1) for each in mangled]
            else:
                insides = [inside]
            for each in insides:
                for path in _matching(folder, each):
                    yield f"{name}/{path.relative_to(folder).as_posix()}", path, folder


def _matching(folder: Path, pattern: str) -> list[Path]:
    """The paths below a folder that a pattern names, in the order of their names."""
    paths = [folder]
    for part in PurePosixPath(pattern).parts:
        if "*" not in part:
            paths = [path / part for path in paths]
            continue
        paths = [entry for path in paths for entry in _listed(path) if PurePosixPath(entry.name).match(part)]
    return [path for path in paths if os.path.lexists(path)]


def _nested(root: Path, names: frozenset[str]) -> Iterator[Path]:
    """Files of these names below the root, nearest first."""
    level, looked = [root], 0
    for depth in range(_DEPTH):
        below: list[Path] = []
        for folder in level:
            looked += 1
            if looked > _FOLDERS:
                return
            for entry in _listed(folder):
                if entry.is_symlink():
                    continue
                if depth and entry.name in names and entry.is_file():
                    yield entry
                elif entry.is_dir() and not _is_skipped(entry):
                    below.append(entry)
        level = below


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or os.path.lexists(folder / ".git")


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _note(found: FoundFiles, numbers: dict[Path, int], name: str, path: Path, within: Path) -> None:
    try:
        real = path.resolve(strict=True)
        looked = real.stat()
    except OSError:
        return
    if stat.S_ISDIR(looked.st_mode):
        return
    reason = _reason(name, looked, real, within) or ("many" if len(found.files) == MAX_FILES else "")
    if reason:
        found.skipped[name] = reason
    elif real not in numbers:
        numbers[real] = len(found.files)
        found.files.append(FoundFile(name, real, looked.st_size, looked.st_mtime_ns))
    elif (same := found.files[numbers[real]]).file != name and len(same.aliases) < MAX_ALIASES:
        found.files[numbers[real]] = replace(same, aliases=tuple(dict.fromkeys((*same.aliases, name))))


def _reason(name: str, looked: os.stat_result, real: Path, within: Path) -> str:
    """Why a file is passed over; empty if it is not."""
    if not real.is_relative_to(within.resolve()):
        return "outside"
    if not stat.S_ISREG(looked.st_mode):
        return "no_file"
    if looked.st_size > MAX_FILE:
        return "large"
    return "name" if len(name) > MAX_PATH or len(str(real)) > MAX_PATH or "#" in name else ""


def _bytes_of(path: Path) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(MAX_FILE + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    return data if len(data) <= MAX_FILE else None


FOLLOW = "recall.follow_files"
CAUSE = "follow"
TIMEOUT_S = 60.0
_ACTOR = "agent-files"
_CHECKOUTS = 200  # of which it is known how their files were
_Looks = tuple[tuple[str, int, int], ...]  # name, size and time of each file


class AgentFileFollower:
    """The job that looks at the files of a session's checkout; without a person it never does."""

    def __init__(self, files: AgentFiles, queue: Queue, person: UserHome | None) -> None:
        self._files = files
        self._queue = queue
        self._person = person
        self._seen: OrderedDict[tuple[str, str, str], _Looks] = OrderedDict()
        self._lock = threading.Lock()

    def begun(self, session: Session) -> None:
        """A session has started: look at the files of its project soon, if any were imported."""
        if self._person is None or not session.cwd.startswith("/") or not self._files.is_followed(session.project):
            return
        payload = {"project": session.project, "cwd": session.cwd}
        self._queue.enqueue(
            NewJob(FOLLOW, payload, subject=session.subject, dedupe_key=f"{FOLLOW}:{session.project}", max_attempts=2)
        )

    def follow(self, job: Job, context: JobContext) -> Done:
        """Read what has changed; it is remembered as the job ends."""
        project, cwd = job.payload.get("project"), job.payload.get("cwd")
        if not isinstance(project, str) or not isinstance(cwd, str):
            raise GiveUp(f"job {job.id} names no project or no folder")
        if self._person is None or not Path(cwd).is_dir():
            return Done({"files": 0})
        checkout = checkout_of(Path(cwd))
        if identity(str(checkout.root), text_of) != project:
            return Done({"files": 0})
        known = self._files.known(project)
        found = find_again(checkout, known, self._person)
        looks = tuple((each.file, each.size, each.changed_ns) for each in found.files)
        key = (job.tenant, project, str(checkout.root))
        every = [agents.agent_of(name) for name in agents.NAMES]
        lost = gone(checkout, every, known, found, personal=True)
        if self._seen.get(key) == looks and not lost:
            return Done({"files": 0})
        context.check()
        texts = [*read(found, checkout.folders), *(AgentFileText(file, "", 0) for file in lost)]

        def effect() -> None:
            self._take_in(project, texts)
            self._note(key, looks)

        return Done({"files": len(texts)}, effect)

    def _take_in(self, project: str, texts: Sequence[AgentFileText]) -> None:
        delta: str | None = None
        for text in texts:
            delta = self._files.take_in(project, text, WriteContext(_ACTOR), delta=delta, cause=CAUSE).delta

    def _note(self, key: tuple[str, str, str], looks: _Looks) -> None:
        with self._lock:
            self._seen[key] = looks
            self._seen.move_to_end(key)
            if len(self._seen) > _CHECKOUTS:
                self._seen.popitem(last=False)
