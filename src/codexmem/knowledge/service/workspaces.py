"""Workspaces: one folder per task, for its files and for nobody else.

Agents write into them by themselves; here they are made, looked through and removed. Looking is bounded in files, bytes
and time, and an answer that is not whole says so. What is not a plain file of ours is passed over.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codexmem.kernel.model import ids
from codexmem.kernel.model.clipping import clip
from codexmem.kernel.model.errors import CodexmemError, Conflict, NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.knowledge.model import task_name
from codexmem.knowledge.service import folders
from codexmem.knowledge.service.folders import FolderEntry, explained
from codexmem.knowledge.service.workspace_root import WorkspaceRoot

MAX_TASKS = 1_000  # looked through by one call
MAX_FILES = 2_000
MAX_DEPTH = 64
MAX_READ = 16 << 20  # bytes of all files together
MAX_FILE = 1 << 20  # bytes of one file
MAX_HITS = 20
_LINE = 500
_FIRST = 8_000  # bytes in which a NUL tells that a file is no text


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A file in which something was found, and the first line that says it."""

    key: str  # task and path
    line: int | None  # None: the path itself says it
    text: str


@dataclass(frozen=True, slots=True)
class WorkspaceMatches:
    """What a search found, and whether it looked at everything."""

    hits: tuple[FileMatch, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFile:
    """One file as told in a dump: its text, or only its size."""

    task: str
    path: str
    text: str | None
    size: int


class Workspaces:
    """The verbs on tasks' folders."""

    def __init__(self, workspace_root: WorkspaceRoot, log: Callable[[NewEvent], object]) -> None:
        self._grounds = workspace_root
        self._log = log

    def init(self, task_id: str) -> str:
        """Make an empty folder for the task; says where it is. One that is there and empty is as good as new."""
        name = task_name(task_id)
        with (
            explained("the workspace cannot be made"), self._grounds.turn(), self._grounds.tasks(make=True) as tasks
        ):  # fmt: skip
            assert tasks is not None
            try:
                os.mkdir(name, 0o700, dir_fd=tasks)
                os.fsync(tasks)
            except FileExistsError:
                with folders.folder(tasks, name) as there:
                    if not folders.is_empty(there):
                        raise Conflict(
                            f"the workspace of {name} exists and is not empty",
                            hint="remove it with memory_cleanup, or choose another task_id",
                        ) from None
        return self._grounds.told_task(name)

    def cleanup(self, task_id: str, by: WriteContext) -> str:
        """Remove the task's folder with all it holds, for good; says where it was."""
        name = task_name(task_id)
        with explained("the workspace cannot be removed"), self._grounds.turn() as turn:
            with self._grounds.tasks() as tasks:
                if tasks is None or not folders.exists(tasks, name):
                    raise NotFound(
                        f"there is no workspace of {name}", hint="memory_init_workspace makes one",
                        details={"reason": "no_workspace", "task": name},
                    )  # fmt: skip
                with folders.folder(tasks, name):
                    pass  # ours, and no link
                gone = ids.prefixed(folders.TRASH)
                os.rename(name, gone, src_dir_fd=tasks, dst_dir_fd=turn.staging)
                os.fsync(tasks)
            folders.remove_tree(turn.staging, gone)
        payload = {"task": name, **by.signature()}
        self._log(NewEvent(EventType.WORKSPACE_ERASED, subject=f"workspace:{name}", payload=payload))
        return self._grounds.told_task(name)

    def active(self) -> bool:
        """Whether any task has a folder."""
        self._grounds.settle()
        with explained("the workspaces cannot be read"), self._grounds.tasks() as tasks:
            return tasks is not None and bool(folders.names(tasks, 1))

    def tasks(self) -> tuple[list[str], bool]:
        """The names of tasks, and whether these are all; so many at most."""
        self._grounds.settle()
        with explained("the workspaces cannot be read"), self._grounds.tasks() as tasks:
            found = folders.names(tasks, MAX_TASKS + 1) if tasks is not None else []
        return found[:MAX_TASKS], len(found) <= MAX_TASKS

    def search(self, query: str, *, late: Callable[[], bool]) -> WorkspaceMatches:
        """The files whose path or text holds the query, or all of its words; `late` ends the search."""
        words = [word for word in query.casefold().split() if word]
        hits: list[FileMatch] = []
        notes: dict[str, None] = {}
        read = 0
        for task, found in self._files(notes):
            if late():
                notes["not every file was looked at: the time was over"] = None
                break
            if read >= MAX_READ:
                notes[f"not every file was looked at: only {MAX_READ >> 20} MiB are read"] = None
                break
            raw = _text_of(found)
            read += len(raw or "")
            hit = _hit(f"{task}/{'/'.join(found.path)}", raw or "", query.casefold().strip(), words)
            if hit is not None:
                hits.append(hit)
            if len(hits) == MAX_HITS:
                notes[f"only the first {MAX_HITS} files are shown; name more words to narrow them"] = None
                break
        return WorkspaceMatches(tuple(hits), tuple(notes))

    def files(self, notes: dict[str, None]) -> Iterator[TaskFile]:
        """The files of all tasks with their text, one after the other; what is left out is added to the notes."""
        for task, found in self._files(notes):
            yield TaskFile(task, "/".join(found.path), _text_of(found), found.size)

    def told_path(self, task: str) -> str:
        """Where a task's folder is, as a caller is told."""
        return self._grounds.told_task(task)

    def _files(self, notes: dict[str, None]) -> Iterator[tuple[str, FolderEntry]]:
        names, whole = self.tasks()
        if not whole:
            notes[f"only the first {MAX_TASKS:,} workspaces were looked at"] = None
        count = 0
        with explained("the workspaces cannot be read"), self._grounds.tasks() as tasks:
            for task in names if tasks is not None else []:
                assert tasks is not None
                try:
                    with folders.folder(tasks, task) as home:
                        for found in folders.walk(home, depth=MAX_DEPTH, entries=100_000):
                            if found.kind != "file":
                                continue
                            if count == MAX_FILES:
                                notes[f"only the first {MAX_FILES:,} files were looked at"] = None
                                return
                            count += 1
                            yield task, found
                except FileNotFoundError:
                    continue  # removed since it was listed
                except Conflict as error:
                    notes[error.message] = None


def _text_of(found: FolderEntry) -> str | None:
    """The beginning of a file, if it is text."""
    try:
        handle = folders.opened_file(found.parent, found.name)
    except (CodexmemError, OSError):
        return None
    with os.fdopen(handle, "rb") as stream:
        raw = stream.read(MAX_FILE)
    if b"\0" in raw[:_FIRST]:
        return None
    try:
        # A cut may fall inside a character.
        text = raw.decode("utf-8", errors="strict" if len(raw) < MAX_FILE else "ignore")
    except UnicodeDecodeError:
        return None
    return text.replace("\0", "")


def _hit(key: str, text: str, phrase: str, words: list[str]) -> FileMatch | None:
    folded = text.casefold()
    if phrase not in folded and not all(word in folded or word in key.casefold() for word in words):
        return None
    for number, line in enumerate(text.splitlines(), 1):
        low = line.casefold()
        if phrase in low or any(word in low for word in words):
            return FileMatch(_told(key), number, clip(line.strip(), _LINE))
    return FileMatch(_told(key), None, _told(key.rpartition("/")[2]))


def _told(name: str) -> str:
    """A file's name as text: bytes that are none become question marks."""
    return name.encode("utf-8", errors="replace").decode()


def shown_files(files: Iterator[TaskFile], budget: int, notes: dict[str, None]) -> dict[str, dict[str, str | int]]:
    """Files by task and path, as many as the budget of characters holds: what each says, else its size."""
    made: dict[str, dict[str, str | int]] = {}
    for file in files:
        cost = len(file.path) + len(file.text or "") + 64
        if cost > budget:
            notes["not every file is shown: the answer would be too large"] = None
            # The first that does not fit is told by its size, so that nobody takes it for missing.
            made.setdefault(file.task, {})[_told(file.path)] = file.size
            break
        budget -= cost
        if file.text is not None and file.size > MAX_FILE:
            notes[f"only the first {MAX_FILE >> 20} MiB of a file are shown"] = None
        made.setdefault(file.task, {})[_told(file.path)] = file.text if file.text is not None else file.size
    return made
