"""What agents already know: files that are written for them, section by section, as memories that follow the file.

A section is known by project, file and heading for ever. What the file says otherwise becomes a new version, a section
that is gone expires and comes back with its words, and what a person has changed, deleted or undone here stays so. All
writes of a project share a source, those of one run a delta. Nothing here reads a disk.
"""

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codexmem.agents import agent_of
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import MemoryVersion, Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import (
    MAX_PROJECT,
    MAX_TITLE,
    VISIBLE,
    Kind,
    Memory,
    MemoryDraft,
    Origin,
    State,
    Status,
)
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall.agent_block import JOINT, MAX_SECTIONS, FileSection, rule_line, sections

CONCEPT = "agent-file"
CAUSE = "import"
MAX_FILE = 256 * 1024  # characters of a file
MAX_PATH = 300  # characters of a file's name
MAX_ALIASES = 20
_MARK = "#"  # between file and heading
_OBSERVATIONS = frozenset({Kind.OBSERVATION})
_TYPE = "discovery"
_PAGE = 500
_PAGES = 20  # of memories, when the files of a project are listed
_RULE = 400  # characters of what may be a rule
_LAST = 20  # deltas of a project that are looked at


@dataclass(frozen=True, slots=True)
class AgentFileText:
    """A file as it was read; without text it is gone."""

    file: str  # inside the checkout, or ~/.codex/… for a person's own
    text: str
    at_ms: int  # when it was last changed
    path: str = ""  # of a person's own file: where it really is
    aliases: tuple[str, ...] = ()  # other files by which an agent comes to read this one: links to it, and imports
    folders: tuple[str, ...] = ()  # of the checkout


@dataclass(frozen=True, slots=True)
class FileImported:
    """What became of the sections of one file; `delta` is what the next file of the same run names."""

    source: str
    delta: str | None  # None while nothing was written
    added: int = 0
    updated: int = 0
    hidden: int = 0  # are no longer in the file
    unchanged: int = 0
    kept: int = 0  # a person changed, deleted or undid them here, which holds
    undone: str | None = None  # the delta that undid them, if one did


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of which something is remembered."""

    file: str
    path: str
    sections: int


class AgentFiles:
    """Takes in files that are written for agents."""

    def __init__(self, db: Database, table: MemoryTable, versions: VersionTable, memories: Memories, history: History,
                 clock: Clock) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._versions = versions
        self._memories = memories
        self._history = history
        self._clock = clock

    def take_in(
        self, project: str, file: AgentFileText, by: WriteContext, *, delta: str | None = None, cause: str = CAUSE
    ) -> FileImported:
        """Remember what a file says now, all or nothing of it; `delta` is the run's, if begun."""
        _require_sound(project, file)
        source = source_of(project)
        drafts = {draft.id: draft for draft in self._drafts(project, file) if draft.id is not None}
        with self._db.transaction():
            # Two who take in one project at once would both find a section missing.
            self._table.hold(source)
            if delta is not None:
                self._history.require_run(delta, source)
            there = self._table.named(list(drafts), _OBSERVATIONS)
            gone = [each for each in _of_file(self._memories, project, file.file) if each.id not in drafts]
            other = [each for each in there.values() if _differs(each, drafts[each.id].state)]
            wrote = self._last_writes([*other, *gone], source)
            run = _Run(self._memories, self._history, replace(by, source=source), cause, delta)
            for name, draft in drafts.items():
                if name not in there:
                    run.add(draft)
            for memory in other:
                if wrote[memory.seq]:
                    run.update(memory, drafts[memory.id].state)
            for memory in gone:
                if wrote[memory.seq]:
                    run.expire(memory)
            kept = sum(not each for each in wrote.values())
            return FileImported(
                source, run.delta, run.added, run.updated, run.hidden, unchanged=len(there) - len(other), kept=kept,
                undone=self._history.standing_undo(source) if kept else None,
            )  # fmt: skip

    def is_followed(self, project: str) -> bool:
        """Whether anything of a file is remembered in a project, or was until the file was gone; one seek."""
        wanted = replace(_wanted(project), statuses=VISIBLE | {Status.EXPIRED})
        return bool(self._memories.page(wanted, PageRequest(limit=1)).items)

    def is_known(self, project: str, file: str) -> bool:
        """Whether anything of this file is remembered."""
        return is_known(self._memories, project, file)

    def known(self, project: str) -> list[KnownFile]:
        """The files of which something is remembered, also those that are gone by now, in the order of their names."""
        found: dict[str, list[Memory]] = {}
        wanted = replace(_wanted(project), statuses=VISIBLE | {Status.EXPIRED})
        page = PageRequest(limit=_PAGE)
        for _ in range(_PAGES):
            listing = self._memories.page(wanted, page)
            for memory in listing.items:
                found.setdefault(file_of(memory), []).append(memory)
            if listing.after is None:
                break
            page = replace(page, after=listing.after)
        return [
            KnownFile(file, _path_of(found[file][0]), sum(each.state.status in VISIBLE for each in found[file]))
            for file in sorted(found)
            if file
        ]

    def _last_writes(self, memories: Sequence[Memory], source: str) -> Mapping[int, bool]:
        """Of each memory, whether the file wrote it last."""
        found: dict[int, MemoryVersion] = self._versions.many(
            {each.seq: (each.kind, each.version) for each in memories}
        )
        return {each.seq: each.seq in found and found[each.seq].source == source for each in memories}

    def _drafts(self, project: str, file: AgentFileText) -> list[MemoryDraft]:
        at_ms = min(file.at_ms, self._clock.now_ms())
        return [
            MemoryDraft(
                Kind.OBSERVATION, _state(project, file, section), Origin.IMPORT,
                id=_id(project, file.file, section.heading), created_ms=at_ms,
            )
            for section in sections(file.file, file.text, file.folders)[:MAX_SECTIONS]
        ]  # fmt: skip


class _Run:
    """The writes of one run; its delta is opened with the first of them."""

    def __init__(self, memories: Memories, history: History, by: WriteContext, cause: str, delta: str | None) -> None:
        self._memories = memories
        self._history = history
        self._by = by
        self._cause = cause
        self.delta = delta
        self.added = self.updated = self.hidden = 0

    def add(self, draft: MemoryDraft) -> None:
        self._memories.remember(draft, self._within())
        self.added += 1

    def update(self, memory: Memory, state: State) -> None:
        self._memories.write(memory, state, Op.UPDATE, self._within())
        self.updated += 1

    def expire(self, memory: Memory) -> None:
        if self._memories.is_kept(memory, self._by):
            return  # pinned: whoever wants it told decides when it is told no longer
        by = replace(self._within(), note="no longer in the file")
        self._memories.write(memory, replace(memory.state, status=Status.EXPIRED), Op.ARCHIVE, by)
        self.hidden += 1

    def _within(self) -> WriteContext:
        if self.delta is None:
            self.delta = self._history.open_delta(self._by.source or "", self._cause, self._by).id
        return replace(self._by, delta=self.delta)


def source_of(project: str) -> str:
    """What everything that a project's files wrote goes by."""
    return f"import:agent-files:{project}"


def file_of(memory: Memory) -> str:
    """The file that says what this memory says; empty for a memory of anything else."""
    attrs = memory.state.attrs
    if memory.origin is not Origin.IMPORT or not isinstance(attrs, ObservationAttrs) or CONCEPT not in attrs.concepts:
        return ""
    return attrs.imported.partition(_MARK)[0]


def names_of(memory: Memory) -> tuple[str, ...]:
    """The names of that file: whoever reads one of them has read it."""
    file, attrs = file_of(memory), memory.state.attrs
    if not file or not isinstance(attrs, ObservationAttrs):
        return ()
    return (file, *(name for name in attrs.files_read[1:] if not name.startswith("/")))


def is_known(memories: Memories, project: str, file: str) -> bool:
    """Whether anything of this file is remembered."""
    return bool(_of_file(memories, project, file))


class AgentReading:
    """What the agent that asks has read by itself, in its working directory; one that is not named has read nothing.

    `rules` are those that it read in a block of ours.
    """

    def __init__(self, memories: Memories, project: str, platform: str, cwd: str, rules: frozenset[str]) -> None:
        self.rules = rules
        self._agent = agent_of(platform)
        self._cwd = cwd
        self._is_known = functools.cache(lambda file: is_known(memories, project, file))

    def has(self, memory: Memory) -> bool:
        """Whether it has read what this memory says."""
        if self.rules and len(memory.state.content) <= _RULE and rule_line(memory.state.content) in self.rules:
            return True
        return any(self._agent.reads_itself(name, self._cwd, self._is_known) for name in names_of(memory))


def _of_file(memories: Memories, project: str, file: str) -> list[Memory]:
    """What is remembered of a file and not hidden."""
    wanted = _wanted(project)
    wanted = replace(wanted, facets=(*wanted.facets, ("file", frozenset({file}))))
    return [each for each in memories.page(wanted, PageRequest(limit=_PAGE)).items if file_of(each) == file]


def _path_of(memory: Memory) -> str:
    attrs = memory.state.attrs
    files = attrs.files_read if isinstance(attrs, ObservationAttrs) else ()
    return next((name for name in files if name.startswith("/")), "")


def _wanted(project: str) -> Filter:
    return Filter(_OBSERVATIONS, project=project, facets=(("concept", frozenset({CONCEPT})),))


def _state(project: str, file: AgentFileText, section: FileSection) -> State:
    place = f"{file.file}{_MARK}{section.heading}" if section.heading else file.file
    title = JOINT.join(part for part in (file.file, section.heading) if part)
    files = tuple(filter(None, (file.file, *file.aliases, file.path)))
    attrs = ObservationAttrs(concepts=(CONCEPT,), files_read=files, imported=place)
    return State(section.text, attrs, project=project, type=_TYPE, title=title[:MAX_TITLE])


def _differs(memory: Memory, state: State) -> bool:
    return memory.state != replace(state, links=memory.state.links, confidence=memory.state.confidence)


def _id(project: str, file: str, heading: str) -> str:
    spelled = "".join(f"{len(part)}:{part}" for part in (project, file, heading))
    return f"{CONCEPT}-{hashlib.blake2b(spelled.encode(errors='replace'), digest_size=16).hexdigest()}"


def _require_sound(project: str, file: AgentFileText) -> None:
    if not project or len(project) > MAX_PROJECT:
        raise InvalidArgument(f"a file belongs to a project, whose name has at most {MAX_PROJECT} characters")
    if not file.file or len(file.file) > MAX_PATH or _MARK in file.file:
        raise InvalidArgument(f"a file's name has 1 to {MAX_PATH} characters and no {_MARK}")
    if any(len(name) > MAX_PATH for name in (file.path, *file.aliases)):
        raise InvalidArgument(f"a path of a file is longer than {MAX_PATH} characters")
    if len(file.text) > MAX_FILE:
        raise InvalidArgument(f"{file.file} has {len(file.text):,} characters, at most {MAX_FILE:,} are read")
