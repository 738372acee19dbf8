"""Taking in what another program remembered, batch by batch, so that it can be repeated and taken back.

Every row has an id of its own for ever: what is here already, hidden or not, is passed over, so an import may be broken
off and begun again, and what a person has deleted or undone stays so. (What was forgotten for good left nothing to know
it by and would come again.) All rows of one database share a source, those of one run a delta. Private regions and
secrets are taken out on the way in, because the other program may have kept them.

A commit that takes back another supersedes it, in the same delta: the other is deprecated, and what that one had itself
superseded holds again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from codexmem.kernel.model import file_blobs, privacy, redaction
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.errors import Forbidden, InvalidArgument
from codexmem.kernel.model.history import DeltaStatus, Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.import_row import CLAUDE_MEM, GIT, KINDS, MAX_LIST, ForeignMemory, commit_id, source_of
from codexmem.kernel.model.memory import (
    MAX_CONTENT,
    MAX_KEY,
    MAX_LABEL,
    MAX_PROJECT,
    MAX_TITLE,
    VISIBLE,
    Kind,
    Memory,
    MemoryDraft,
    Origin,
    State,
    Status,
    is_manual_session,
    manual_session,
)
from codexmem.kernel.model.session import SessionStatus
from codexmem.kernel.model.statement import SUPERSEDES
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies

MAX_ROWS = 500  # of one batch: other writers wait behind it
CAUSE = "import"
_OBSERVATIONS = frozenset({Kind.OBSERVATION})
_LAST = 20  # deltas of an import that are looked at
_TURNS = 1_000_000  # of a session, at most
_PLATFORM = "claude-code"  # that claude-mem remembers for
_HEADLINE = 60  # characters of a title that is made from the text


class ImportRefusal(StrEnum):
    """Why a row was not taken in."""

    PRIVATE = "private"  # nothing is left without what is private
    UNFIT = "unfit"  # no engine should be asked to store it


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one batch; `delta` is what the next batch of the same run names."""

    source: str
    delta: str | None  # None while nothing was written
    imported: dict[str, int] = field(default_factory=dict)  # by kind
    known: int = 0  # were here already
    hidden: int = 0  # were here already, and deleted or undone since
    refused: dict[str, int] = field(default_factory=dict)  # by reason
    undone: str | None = None  # the delta that hid them, where an undoing did: taking it back brings them back


class Importing:
    """The verb that takes in."""

    def __init__(
        self, db: Database, table: MemoryTable, memories: Memories, history: History, tallies: Tallies, clock: Clock,
        sessions: Sessions,
    ) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._tallies = tallies
        self._clock = clock
        self._sessions = sessions

    def take_in(
        self,
        fingerprint: str,
        rows: Sequence[ForeignMemory],
        by: WriteContext,
        *,
        program: str = CLAUDE_MEM,
        delta: str | None = None,
    ) -> Imported:
        """Remember those of these rows that are not here yet, all or none of them; `delta` is the run's, if begun."""
        if len(rows) > MAX_ROWS:
            raise InvalidArgument(f"{len(rows):,} rows in one batch, at most {MAX_ROWS}")
        if any(row.program != program for row in rows):
            raise InvalidArgument(f"not every row is one of {program}")
        source = source_of(program, fingerprint)
        named = {row.id: row for row in rows}
        there = self._table.statuses(list(named))
        drafts, refused = self._drafts(row for name, row in named.items() if name not in there)
        imported: Counter[str] = Counter()
        with self._db.transaction():
            # Two imports of one database at once would both find a row missing.
            self._table.hold(source)
            if delta is not None:
                self._history.require_run(delta, source)
            there |= self._table.statuses(list(drafts))
            hidden = sum(status is Status.DELETED for status in there.values())
            undone = self._history.standing_undo(source) if hidden else None
            run = _Run(self._history, replace(by, source=source, delta=delta))
            commits = _Commits(self._table, self._memories, rows)
            for name, row in named.items():
                if name in drafts and name not in there:
                    commits.add(name, self._memories.remember(drafts[name], run.write()))
                    imported[row.kind.value] += 1
                commits.revert(row, run)
            gone = {name for name, status in there.items() if status is Status.DELETED}
            self._make_sessions([row for name, row in named.items() if name in drafts or name in there.keys() - gone])
            if imported:
                self._tallies.add({_tally(program): imported.total()})
        return Imported(source, run.by.delta, dict(imported), len(there) - hidden, hidden, dict(refused), undone)

    def _make_sessions(self, rows: Sequence[ForeignMemory]) -> None:
        """The conversations of these rows as sessions that are over; one that an agent goes on with here stays open."""
        by_key: dict[str, list[ForeignMemory]] = {}
        for row in rows:
            if row.program == CLAUDE_MEM and row.session and not is_manual_session(row.session):
                by_key.setdefault(row.session[:MAX_KEY], []).append(row)
        now = self._clock.now_ms()
        known = self._sessions.known(list(by_key))
        for key, said in by_key.items():
            if key in known and known[key].status is SessionStatus.ACTIVE:
                continue
            said.sort(key=lambda row: row.at_ms)
            touch = partial(self._sessions.touch, key, project=_project(said[0]), platform=_PLATFORM, cwd="")
            try:
                touch(now_ms=min(said[0].at_ms, now))
                session = touch(now_ms=min(said[-1].at_ms, now)).session
            except Forbidden:  # somebody else's, or of a project that is not this member's
                continue
            self._sessions.reach(session, min(_TURNS, max(row.prompt_number or 0 for row in said)))
            self._sessions.complete(key, now_ms=session.last_ms)

    def has_imported(self, program: str) -> bool:
        """Whether anything was ever imported from this program."""
        return self._tallies.get(_tally(program)) > 0

    def project_of(self, program: str, fingerprint: str) -> str | None:
        """The project that this database or repository was imported into; None if it was not, or all was undone."""
        source = source_of(program, fingerprint)
        standing = [
            delta for delta in self._history.deltas_of(source, limit=_LAST) if delta.status is DeltaStatus.APPLIED
        ]
        if not any(delta.cause == CAUSE for delta in standing) or any(delta.reverts == source for delta in standing):
            return None
        first = self._table.many(self._history.some(1, source=source), KINDS)
        return next((memory.state.project for memory in first.values()), None)

    def _drafts(self, rows: Iterable[ForeignMemory]) -> tuple[dict[str, MemoryDraft], Counter[str]]:
        drafts: dict[str, MemoryDraft] = {}
        refused: Counter[str] = Counter()
        now = self._clock.now_ms()
        for row in rows:
            if row.kind not in KINDS:
                raise InvalidArgument(f"a {row.kind.value} cannot be imported")
            state = _STATES[row.kind](row)
            if state is None:
                refused[ImportRefusal.PRIVATE.value] += 1
                continue
            origin = Origin.GIT if row.program == GIT else Origin.IMPORT
            draft = MemoryDraft(
                row.kind, state, origin, session=_session(row, state.project), id=row.id, created_ms=min(row.at_ms, now)
            )
            try:
                draft.check()
            except InvalidArgument:
                refused[ImportRefusal.UNFIT.value] += 1
                continue
            drafts[row.id] = draft
        return drafts, refused


def _tally(program: str) -> str:
    return f"imported.{program}"


class _Run:
    """One run of an import: its delta is opened by the first write."""

    def __init__(self, history: History, by: WriteContext) -> None:
        self._history = history
        self.by = by

    def write(self) -> WriteContext:
        if self.by.delta is None:
            delta = self._history.open_delta(self.by.source or "", CAUSE, replace(self.by, source=None))
            self.by = replace(self.by, delta=delta.id)
        return self.by


class _Commits:
    """The commits of one batch that take others back, and those others, as they are now; read at once."""

    def __init__(self, table: MemoryTable, memories: Memories, rows: Iterable[ForeignMemory]) -> None:
        self._memories = memories
        reverting = [row for row in rows if row.reverts]
        self._wanted = {row.id for row in reverting} | {commit_id(each) for row in reverting for each in row.reverts}
        self._known = table.named(list(self._wanted), _OBSERVATIONS) if self._wanted else {}

    def add(self, name: str, memory: Memory) -> None:
        """One that was just remembered."""
        if name in self._wanted:
            self._known[name] = memory

    def revert(self, row: ForeignMemory, run: _Run) -> None:
        """Deprecate what a commit takes back, once: what somebody has brought back since stays."""
        new = self._known.get(row.id) if row.reverts else None
        if new is None or new.state.status not in VISIBLE:
            return
        links = new.state.links
        for name in map(commit_id, row.reverts):
            old = self._known.get(name)
            if old is None or old.seq == new.seq or (SUPERSEDES, old.seq) in links:
                continue
            if old.state.status in VISIBLE and not self._memories.is_kept(old, run.by):
                links = (*links, (SUPERSEDES, old.seq))
                self._write(name, old, Status.DEPRECATED, run)
                self._restore(old, run)
        if links != new.state.links:
            self._known[row.id] = self._memories.write(new, replace(new.state, links=links), Op.UPDATE, run.write())

    def _restore(self, gone: Memory, run: _Run) -> None:
        """What only this one had superseded holds again."""
        seqs = [seq for relation, seq in gone.state.links if relation == SUPERSEDES]
        for seq, memory in self._memories.many(seqs, _OBSERVATIONS).items():
            others = [each for relation, each in self._memories.linked_to(seq) if relation == SUPERSEDES]
            by_others = self._memories.many([each for each in others if each != gone.seq], _OBSERVATIONS).values()
            if memory.state.status is Status.DEPRECATED and not any(m.state.status in VISIBLE for m in by_others):
                self._write(memory.id, memory, Status.ACTIVE, run)

    def _write(self, name: str, memory: Memory, status: Status, run: _Run) -> None:
        written = self._memories.write(memory, replace(memory.state, status=status), Op.UPDATE, run.write())
        if name in self._wanted:
            self._known[name] = written


def _observation(row: ForeignMemory) -> State | None:
    text, title, facts = _clean(row.text), _line(row.title), _cleaned(row.facts)
    if not (text or title or facts):
        return None
    attrs = ObservationAttrs(
        subtitle=_line(row.subtitle),
        facts=facts,
        concepts=_labels(row.concepts),
        files_read=_labels(row.files_read),
        files_modified=_labels(row.files_modified),
        prompt_number=row.prompt_number,
        discovery_tokens=row.tokens,
        imported=row.place,
        blobs=tuple(each for each in file_blobs.stored(row.blobs) if _line(path := each.partition(" ")[2]) == path),
    )
    kind = _line(row.type)[:MAX_LABEL]
    return State(text, attrs, project=_project(row), type=kind, title=title or _headline(text or facts[0]))


def _summary(row: ForeignMemory) -> State | None:
    attrs = SummaryAttrs(
        request=_clean(row.request),
        investigated=_clean(row.investigated),
        learned=_clean(row.learned),
        completed=_clean(row.completed),
        next_steps=_clean(row.next_steps),
        notes=_clean(row.notes),
        prompt_number=row.prompt_number,
        discovery_tokens=row.tokens,
        imported=row.place,
    )
    if not (attrs.request or attrs.text()):
        return None
    return State(attrs.text()[:MAX_CONTENT], attrs, project=_project(row), title=_line(attrs.request))


def _prompt(row: ForeignMemory) -> State | None:
    # As in capture: a private turn leaves its number and nothing else.
    private = privacy.is_private(row.text)
    text = _clean(row.text)
    if not (text or private):
        return None
    attrs = PromptAttrs(prompt_number=row.prompt_number or 1, private=private, imported=row.place)
    return State("" if private else text, attrs, project=_project(row))


_STATES: dict[Kind, Callable[[ForeignMemory], State | None]] = {
    Kind.OBSERVATION: _observation,
    Kind.SUMMARY: _summary,
    Kind.PROMPT: _prompt,
}


def _session(row: ForeignMemory, project: str) -> str | None:
    if is_manual_session(row.session):  # there as here
        return manual_session(project)
    return row.session[:MAX_KEY] or None


def _project(row: ForeignMemory) -> str:
    return " ".join(row.project.split())[:MAX_PROJECT]


def _clean(text: str) -> str:
    return redaction.redact(privacy.strip(text)).strip()[:MAX_CONTENT]


def _line(text: str) -> str:
    return " ".join(_clean(text).split())[:MAX_TITLE]


def _headline(text: str) -> str:
    line = " ".join(text[: 4 * _HEADLINE].split())
    return line if len(line) <= _HEADLINE else f"{line[:_HEADLINE].rstrip()}..."


def _cleaned(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for each in texts[:MAX_LIST] if (text := _clean(each)))


def _labels(values: Sequence[str]) -> tuple[str, ...]:
    lines = dict.fromkeys(_line(value) for value in values[:MAX_LIST])
    return tuple(line for line in lines if 0 < len(line) <= MAX_LABEL)
