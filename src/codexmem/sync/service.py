"""Files into memories and memories into files, one file at a time.

A file and its memory are compared by what they say. What decides is the state that both last had in common: what only
one side changed is taken from there, what both changed is merged, and what cannot be merged is left alone and shown. A
text that the memory said before is no edit when somebody checks out an old commit. Every write names the version it was
decided on, is itself a version whose cause is the commit, and belongs to one delta per run, which can be taken back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model import audience, note
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.memory import MAX_PROJECT, Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.note import fit_uri
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor, RowOrder, Seq, Uri
from codexmem.kernel.opened import Kernel
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.sync.document import (
    MAX_FILE,
    MemoryFile,
    kind_of,
    marked,
    of_state,
    parse,
    refusal_of,
    to_state,
    unreviewed,
)
from codexmem.sync.merge import merge, side_by_side
from codexmem.sync.model import GONE, KEPT, KINDS, SHOWN, WRITES, FileReport, FileResult, Outcome, SyncBase

PAGE = 50  # memories of a page
_MOST_TEXT = 2_000_000  # characters of a page
_MOST_VERSIONS = 1_000  # that are looked through for a text
_VERSIONS = 50
_TRIES = 5
_EVERY_KIND = frozenset(Kind)
_LESSONS = frozenset({Kind.LESSON})


@dataclass(frozen=True, slots=True)
class SyncedPage:
    """What became of some files."""

    results: tuple[FileResult, ...]
    delta: str | None


@dataclass(frozen=True, slots=True)
class SyncItem:
    """A memory that has a file."""

    memory: Memory
    file: MemoryFile


@dataclass(frozen=True, slots=True)
class SyncItems:
    """One page of them, and where the next one starts."""

    items: tuple[SyncItem, ...]
    withheld: int  # memories of this page that must not leave the store
    after: tuple[int, RowCursor | None] | None


@dataclass(frozen=True, slots=True)
class _Step:
    """What is to be done for one file."""

    outcome: Outcome
    state: State | None = None  # what the memory is to say
    text: str | None = None  # what the file is to say where that is not what the memory says


class SyncService:
    """The verbs of `codexmem sync`; each acts for the acting tenant."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History) -> None:
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history

    def take(
        self,
        project: str,
        reports: Sequence[FileReport],
        by: WriteContext,
        *,
        write: bool = True,
        delta: str | None = None,
    ) -> SyncedPage:
        """Decide for each file what is to be done, and do it; without `write`, only say so."""
        _require(project)
        run = _Run(self._history, project, replace(by, source=f"sync:{project}"), delta)
        results: list[FileResult] = []
        for report in reports:
            try:
                results.append(self._one(project, report, run, write=write))
            except (InvalidArgument, NotFound) as error:
                reason = f"{error.message}; {error.hint}" if error.hint else error.message
                results.append(FileResult(report.path, Outcome.REFUSED, report.memory, reason=reason))
        return SyncedPage(tuple(results), run.delta)

    def page(self, project: str, *, lessons: bool, after: tuple[int, RowCursor | None] | None = None) -> SyncItems:
        """Memories of the project that have a file, oldest first; with `lessons`, also those of no project."""
        _require(project)
        stages = [(KINDS, project), *([(_LESSONS, "")] if lessons else [])]
        stage, place = after or (0, None)
        if stage >= len(stages):
            return SyncItems((), 0, None)
        kinds, whose = stages[stage]
        with audience.shared():  # files are everybody's who has the checkout
            found = self._memories.page(Filter(kinds, project=whose), PageRequest(PAGE, place, RowOrder.OLDEST))
        items: list[SyncItem] = []
        size = withheld = 0
        for memory in found.items:
            file = of_state(memory.kind, memory.state, memory.id)
            text = file.text()
            if size and size + len(text) > _MOST_TEXT:
                return SyncItems(tuple(items), withheld, (stage, place))
            place, size = RowCursor(memory.created_ms, memory.seq), size + len(text)
            everywhere = any(map(note.is_for_all_projects, memory.state.uris))
            if memory.state.status not in SHOWN[memory.kind] or everywhere:
                continue
            if (
                len(text) > MAX_FILE
                or refusal_of(text) is not None
                or (memory.kind is Kind.NOTE and not memory.state.uris)
            ):
                withheld += 1
            else:
                items.append(SyncItem(memory, file))
        if found.after is not None:
            return SyncItems(tuple(items), withheld, (stage, found.after))
        return SyncItems(tuple(items), withheld, (stage + 1, None) if stage + 1 < len(stages) else None)

    def _one(self, project: str, report: FileReport, run: "_Run", *, write: bool) -> FileResult:
        mine = None
        if report.text is not None:
            if (refused := refusal_of(report.text)) is not None:
                raise refused
            mine = parse(report.text, kind_of(report.path))
        opened = run.delta
        for _ in range(_TRIES):
            try:
                with self._db.transaction() if write else self._db.reading():
                    memory = self._found(project, report, mine)
                    return self._done(project, memory, report, mine, run, write=write)
            except (Conflict, InvalidArgument) as error:
                run.delta = opened  # what was opened in this transaction went with it
                if isinstance(error, InvalidArgument):
                    raise
                if error.details.get("reason") != "changed_since":
                    raise InvalidArgument(error.message, hint=error.hint) from error
        raise InvalidArgument("the memory is being changed by many writers at once", hint="run sync again")

    def _found(self, project: str, report: FileReport, mine: MemoryFile | None) -> Memory | None:
        """The memory that the file is about: by its id, else by the note's address."""
        asked = [each for each in (report.memory, mine.id if mine else "") if each]
        named = self._table.named(asked, _EVERY_KIND)
        memory = next((named[each] for each in asked if each in named), None)
        if memory is None and mine is not None and mine.kind is Kind.NOTE and mine.get("uri"):
            memory = self._table.find(Uri(fit_uri(str(mine.get("uri")))), _EVERY_KIND)
        if memory is None:
            return None
        if memory.kind not in KINDS or (mine is not None and memory.kind is not mine.kind):
            raise InvalidArgument(
                f"{memory.id} is a {memory.kind.value}", hint="take the id out to keep it as a new one"
            )
        if memory.state.project != project and not (memory.kind is Kind.LESSON and not memory.state.project):
            raise InvalidArgument(
                f"{memory.id} belongs to {memory.state.project or 'no project'}, not to {project}",
                hint="take the file out of this repository, or its id to keep it as a new one",
            )
        return memory

    def _done(
        self,
        project: str,
        memory: Memory | None,
        report: FileReport,
        mine: MemoryFile | None,
        run: "_Run",
        *,
        write: bool,
    ) -> FileResult:
        step = self._decided(project, memory, report, mine)
        wrote = step.outcome in WRITES
        if wrote and step.state is not None:
            self._require_free(step.state, memory)
            step.state.check(memory.kind if memory else mine.kind if mine else Kind.NOTE)
        if wrote and write:
            memory = self._written(memory, report, mine, step, run)
        elif wrote and step.state is not None and memory is not None:
            memory = replace(memory, state=step.state)
        if memory is None:
            text = mine.text() if mine is not None and wrote else None
            return FileResult(report.path, step.outcome, digest=mine.digest() if mine and wrote else GONE, text=text)
        now = of_state(memory.kind, memory.state, (mine.id if mine else "") or memory.id)
        live = memory.state.status in KEPT[memory.kind]
        text = step.text if step.text is not None else now.text() if live else None
        digest = now.digest() if live else GONE
        return FileResult(report.path, step.outcome, memory.id, memory.version, digest, text)

    def _written(
        self, memory: Memory | None, report: FileReport, mine: MemoryFile | None, step: _Step, run: "_Run"
    ) -> Memory:
        by = run.context(report.cause)
        if memory is None:
            assert mine is not None
            assert step.state is not None
            return self._memories.remember(MemoryDraft(mine.kind, step.state, Origin.IMPORT, id=mine.id or None), by)
        if step.state is None:
            hide = self._memories.archive if memory.kind is Kind.LESSON else self._memories.delete
            return hide(Seq(memory.seq), KINDS, by, seen=memory.version)
        return self._memories.write(
            memory, step.state, Op.RESTORE if step.outcome is Outcome.REVIVED else Op.UPDATE, by
        )

    def _require_free(self, state: State, memory: Memory | None) -> None:
        taken = self._table.taken_uris(state.uris, memory.seq if memory else 0)
        if taken:
            raise InvalidArgument(
                f"{min(taken)} is the address of another note", hint="choose another uri or file name"
            )

    def _decided(self, project: str, memory: Memory | None, report: FileReport, mine: MemoryFile | None) -> _Step:
        if memory is None:
            if mine is None:
                return _Step(Outcome.SAME)
            _require_resolved(report)
            return _Step(Outcome.CREATED, unreviewed(to_state(mine, None, project), mine.kind))
        live = memory.state.status in KEPT[memory.kind]
        stands = of_state(memory.kind, memory.state, (mine.id if mine else "") or memory.id)
        now = stands.digest() if live else GONE
        file = mine.digest() if mine is not None else GONE
        base = report.base.digest if report.base is not None else None
        if file == now:
            return _Step(Outcome.SAME)
        if file == base:
            return _Step(Outcome.UPDATED if live else Outcome.REMOVED)
        if mine is None:
            return _Step(Outcome.DELETED if now == base else Outcome.RESTORED)
        past = _Past(self._history, memory)
        if not live:
            put_back = report.onward and base == GONE
            if not put_back and past.newest(file) is not None:
                return _Step(Outcome.REMOVED)
            _require_resolved(report)
            # What it stood under before stays where the file tells nothing of it.
            return _Step(Outcome.REVIVED, unreviewed(to_state(mine, memory.state, project), memory.kind))
        return self._edited(project, memory, report, mine, stands, past)

    def _edited(
        self, project: str, memory: Memory, report: FileReport, mine: MemoryFile, stands: MemoryFile, past: "_Past"
    ) -> _Step:
        """The file says something else than the memory and than what both last had in common, if anybody knows that."""
        file, since = mine.digest(), past.of(report.base)
        before = past.newest(file)
        stale = not report.onward or report.replaced
        if before is not None and (stale or since is None or before.version > since.version):
            return _Step(Outcome.UPDATED)  # the memory has said this, and moved on
        _require_resolved(report)
        if report.insisted:
            return _Step(Outcome.TAKEN, to_state(mine, memory.state, project))
        known = [each for each in map(past.of, report.ancestors) if each is not None]
        if (
            since is not None
            and (report.onward or not known)
            and not (report.replaced and _made_from(known, since, mine))
        ):
            known.append(since)
        if not known:
            return _Step(Outcome.CONFLICT, text=side_by_side(mine, stands, _named(memory)).text)
        begun = max(known, key=lambda each: each.version).file
        merged = merge(begun, mine, stands, _named(memory))
        if merged.file is None:
            return _Step(Outcome.CONFLICT, text=merged.text)
        if merged.file.digest() == stands.digest():
            return _Step(Outcome.UPDATED)
        outcome = Outcome.TAKEN if merged.file.digest() == file else Outcome.MERGED
        return _Step(outcome, unreviewed(to_state(merged.file, memory.state, project), memory.kind))


@dataclass(frozen=True, slots=True)
class _Said:
    """What a memory said in one version."""

    version: int
    digest: str
    file: MemoryFile


class _Past:
    """What a memory said, read from the newest version back as far as somebody asks."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._read: list[_Said] = []
        self._more = self._versions(history, memory)

    def newest(self, digest: str) -> _Said | None:
        """The newest version that said this."""
        return next((each for each in self._all() if each.digest == digest), None)

    def of(self, base: SyncBase | None) -> _Said | None:
        """The version that was seen if it still says the same, else the newest that says it."""
        if base is None or base.digest == GONE:
            return None
        if base.version:
            seen = next((each for each in self._all() if each.version <= base.version), None)
            if seen is not None and seen.version == base.version and seen.digest == base.digest:
                return seen
        return self.newest(base.digest)

    def _all(self) -> Iterator[_Said]:
        yield from self._read
        for each in self._more:
            self._read.append(each)
            yield each

    def _versions(self, history: History, memory: Memory) -> Iterator[_Said]:
        below: int | None = None
        left = _MOST_VERSIONS
        while left > 0 and (found := history.versions(Seq(memory.seq), KINDS, limit=_VERSIONS, below=below)):
            left, below = left - len(found), found[-1].version
            for each in found:
                file = of_state(memory.kind, each.state)
                yield _Said(each.version, file.digest(), file)


class _Run:
    """One run of the command: its delta is opened by its first write."""

    def __init__(self, history: History, project: str, by: WriteContext, delta: str | None) -> None:
        self._history = history
        self._project = project
        self._by = by
        self.delta = delta

    def context(self, cause: str) -> WriteContext:
        """Who writes, and why."""
        if self.delta is None:
            self.delta = self._history.open_delta(f"sync:{self._project}", "sync", self._by).id
        # What a file says is not said by whoever takes it in: files of a repository come from anybody.
        return replace(self._by, delta=self.delta, note=cause, origin=Origin.IMPORT)


def build(kernel: Kernel) -> SyncService:
    """The services on an open store."""
    return SyncService(kernel.db, kernel.table, kernel.memories, kernel.history)


def _made_from(ancestors: Sequence[_Said], since: _Said, mine: MemoryFile) -> bool:
    """Whether the file was made from the text of its commit, which somebody had put back in the place of ours."""
    if not ancestors:
        return False
    committed = max(ancestors, key=lambda each: each.version)
    old, new, now = (set(each.body.split("\n")) for each in (committed.file, since.file, mine))
    return bool((old - new) & now) and not new - old <= now


def _named(memory: Memory) -> str:
    return f"memory, version {memory.version}"


def _require(project: str) -> None:
    if not project.strip() or len(project) > MAX_PROJECT:
        raise InvalidArgument("sync needs the name of a project", hint="give it with --project")


def _require_resolved(report: FileReport) -> None:
    line = marked(report.text or "")
    if line is not None:
        raise InvalidArgument(f"line {line}: a conflict is not resolved", hint="edit the file and remove the marks")
