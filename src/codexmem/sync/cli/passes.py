"""One pass over a checkout: what its files say, what the store makes of that, and what is written back.

The store decides; this module finds out what it must know. A file that is gone was deleted only if somebody deleted it
here or by a commit that lies ahead: another branch or an earlier commit that does not have it deletes nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from codexmem.console.backend import Backend
from codexmem.kernel.model import redaction
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Kind
from codexmem.sync import wire
from codexmem.sync.cli.checkout_history import CheckoutHistory, PathHistory
from codexmem.sync.cli.ledger import Ledger, LedgerEntry
from codexmem.sync.cli.tree import FileRead, MemoryFolder
from codexmem.sync.document import MemoryFile, kind_of, marked, parse, path_of, refusal_of, resolved, uri_of
from codexmem.sync.model import GONE, FileReport, Outcome, SyncBase

_MOST_TEXT = 1_500_000  # characters of a request
_FEW = 10  # files of which any number may be deleted at once
_NAMED = re.compile(r"^id:[ \t]*([A-Za-z0-9][A-Za-z0-9_.:-]{0,199})[ \t]*\r?$", re.MULTILINE)
WORKING_TREE = "working tree"


@dataclass(frozen=True, slots=True)
class SyncWish:
    """How a pass is to be made."""

    project: str
    write_files: bool = True
    dry_run: bool = False
    lessons: bool = False  # also those that belong to no project
    resolve: str = ""  # file or memory: which side every conflict is decided for
    many_deletions: bool = False  # a person has said that most files were meant to go


@dataclass(frozen=True, slots=True)
class SyncLine:
    """What became of one file, for people."""

    path: str
    outcome: Outcome
    cause: str = ""
    reason: str = ""


@dataclass
class SyncSummary:
    """What a pass did, or would do."""

    lines: list[SyncLine] = field(default_factory=list)
    same: int = 0
    absent: int = 0  # not on this branch
    withheld: int = 0  # must not leave the store
    busy: int = 0  # written by somebody else meanwhile
    delta: str | None = None

    def counts(self) -> Counter[Outcome]:
        """How many files had which outcome."""
        return Counter(line.outcome for line in self.lines)

    @property
    def troubled(self) -> list[SyncLine]:
        """What a person must look at."""
        return [line for line in self.lines if line.outcome in (Outcome.CONFLICT, Outcome.REFUSED)]


@dataclass(frozen=True, slots=True)
class _Present:
    """A file that can be read, and the entry of the ledger that is about it."""

    read: FileRead
    file: MemoryFile
    entry: LedgerEntry | None
    insisted: bool = False
    base: SyncBase | None = None
    decided: bool = False  # one side of its conflict was chosen, which the file does not say yet


class SyncPass:
    """A pass over one checkout."""

    def __init__(
        self, store: Backend, folder: MemoryFolder, ledger: Ledger, git: CheckoutHistory | None, wish: SyncWish
    ) -> None:
        self._store = store
        self._folder = folder
        self._ledger = ledger
        self._git = git
        self._wish = wish
        self._summary = SyncSummary()
        self._onward = self._moved_onward()
        self._by_id = {each.id: each for each in ledger.entries.values() if each.id}
        self._reads: dict[str, FileRead] = {}
        self._present: dict[str, _Present] = {}

    def run(self) -> SyncSummary:
        """Make it."""
        there = self._folder.exists()
        self._read_files(self._folder.files() if there else [])
        gone = self._missing(there)
        self._require_few(gone)
        histories = self._histories(gone)
        news = self._compare(gone)
        reports = [*self._reports(histories), *self._deletions(gone, histories)]
        if self._wish.write_files and not self._wish.dry_run and not there:
            self._folder.make()
        for page in _pages(reports):
            body = wire.SyncFiles(
                project=self._wish.project, files=tuple(map(wire.SyncFileSent.of, page)),
                dry_run=self._wish.dry_run, delta=self._summary.delta,
            )  # fmt: skip
            sent = self._store.post("/api/sync/files", body.model_dump(mode="json"))
            answer = wire.SyncFilesAnswer.model_validate(sent)
            self._summary.delta = answer.delta
            causes = {report.path: report for report in page}
            for result in answer.results:
                self._apply(result, causes[result.path])
            self._save()
        for item in news:
            self._add(item)
        if self._git is not None and not self._wish.dry_run:
            self._ledger.head, self._ledger.branch = self._git.head, self._git.branch
            self._ledger.moved = self._git.moves[-1] if self._git.moves else ""
        self._save()
        return self._summary

    def _moved_onward(self) -> bool:
        git, ledger = self._git, self._ledger
        if git is None or not ledger.head:
            return True
        # Somewhere ahead in the meantime, and back: the files are older than they were.
        between = git.left_since(ledger.moved)
        if between is not None:
            return all(git.is_ancestor(each, git.head) for each in dict.fromkeys(between))
        if git.is_ancestor(ledger.head, git.head):
            return True
        # The same branch on another line of commits was rebased or amended; an earlier commit of it was gone back to.
        same = bool(git.branch) and git.branch == ledger.branch
        return same and not git.is_ancestor(git.head, ledger.head)

    def _read_files(self, reads: Sequence[FileRead]) -> None:
        parsed: list[tuple[FileRead, MemoryFile]] = []
        by_path = {each.path: each for each in self._ledger.entries.values()}
        for read in reads:
            self._reads[read.path] = read
            if read.problem:
                self._refuse(read.path, read.problem)
                continue
            text = read.text
            if marked(text) is not None and self._wish.resolve:
                text = resolved(text, mine=self._wish.resolve == "file")
            try:
                file = parse(text, kind_of(read.path))
            except InvalidArgument as error:
                self._unreadable(read, error)
                continue
            if (line := marked(text)) is not None and not self._is_known(file, by_path.get(read.path)):
                self._tell(read.path, Outcome.CONFLICT, reason=f"line {line}")
            elif (refused := refusal_of(text)) is not None:
                self._refuse(read.path, f"{refused.message}; {refused.hint}")
            else:
                parsed.append((read, file))
        for read, file in self._own_ids(parsed):
            self._recognise(read, file, by_path)

    def _unreadable(self, read: FileRead, error: InvalidArgument) -> None:
        if (line := marked(read.text)) is not None:
            self._tell(read.path, Outcome.CONFLICT, reason=f"line {line}")
        else:
            self._refuse(read.path, f"{error.message}; {error.hint}" if error.hint else error.message)

    def _is_known(self, file: MemoryFile, entry: LedgerEntry | None) -> bool:
        return entry is not None and entry.digest == file.digest()

    def _own_ids(self, parsed: list[tuple[FileRead, MemoryFile]]) -> Iterator[tuple[FileRead, MemoryFile]]:
        """The files, of which copies have lost the id of what they are copies of."""
        groups: dict[str, list[tuple[FileRead, MemoryFile]]] = {}
        for read, file in parsed:
            groups.setdefault(file.id or f"/{read.path}", []).append((read, file))
        for name, group in groups.items():
            usual = {self._by_id[name].path} if name in self._by_id else set()
            keeper = next((each for each in group if each[0].path in usual), None)
            keeper = keeper or next((each for each in group if each[0].path == path_of(each[1])), group[0])
            for read, file in group:
                if read is keeper[0]:
                    yield read, file
                elif file.kind is not Kind.NOTE:
                    yield read, replace(file, id="")
                elif (uri := uri_of(read.path)) and uri != keeper[1].get("uri"):
                    yield read, replace(file, id="", fields={**file.fields, "uri": uri, "aliases": ()})
                else:
                    self._refuse(
                        read.path,
                        f"a copy of {keeper[0].path} without an address of its own; change uri, and take the id out",
                    )

    def _recognise(self, read: FileRead, file: MemoryFile, by_path: dict[str, LedgerEntry]) -> None:
        entry = (self._by_id.get(file.id) or self._ledger.entries.get(file.id)) if file.id else by_path.get(read.path)
        if file.kind is Kind.NOTE:
            file = self._addressed(read, file, entry)
            if not file.get("uri"):
                self._refuse(read.path, "no address; put it below notes/<domain>/ or add a line uri: …")
                return
        base, insisted = (entry.base if entry is not None else None), False
        if entry is not None and entry.mine:
            if self._wish.resolve == "file" or self._is_answer(read.path, file, entry):
                base = SyncBase(entry.shown_digest, entry.shown_version)  # a person has seen both
                insisted = self._wish.resolve == "file"
            elif self._wish.resolve == "memory":
                base = SyncBase(file.digest())
        decided = bool(self._wish.resolve) and marked(read.text) is not None
        self._present[read.path] = _Present(read, file, entry, insisted, base, decided)

    def _is_answer(self, path: str, file: MemoryFile, entry: LedgerEntry) -> bool:
        """Whether this is what a person made of the two texts, and not one that was checked out or pulled instead."""
        git, digest = self._git, file.digest()
        if digest == entry.digest:
            return False
        if git is None or not entry.shown_head:
            return True
        name = self._tracked("").rstrip("/")
        before = git.histories(name, [path], entry.shown_head)[path]
        if digest in {each.digest for each in self._ancestors(before, file.kind)}:
            return False  # git can bring it back without anybody having looked at the two
        if git.blob_at(git.head, self._tracked(path)) == git.blob_at(entry.shown_head, self._tracked(path)):
            return True
        commit = git.histories(name, [path])[path].commit
        return commit is not None and git.was_made_here(commit.sha)

    def _addressed(self, read: FileRead, file: MemoryFile, entry: LedgerEntry | None) -> MemoryFile:
        """The note with the address that its place gives it, where it has none or was moved."""
        here, own = uri_of(read.path), file.get("uri")
        if not own:
            return replace(file, fields={**file.fields, "uri": here})
        moved = (
            entry is not None and self._onward and entry.path != read.path and own == entry.uri == uri_of(entry.path)
        )
        if not moved or not here or here == own:
            return file
        aliases = file.get("aliases")
        kept = tuple(each for each in (str(own), *(aliases if isinstance(aliases, tuple) else ())) if each != here)
        return replace(file, fields={**file.fields, "uri": here, "aliases": kept})

    def _missing(self, there: bool) -> list[LedgerEntry]:
        """Files that were here in step, and were deleted since."""
        held = {each.entry.memory for each in self._present.values() if each.entry is not None}
        # A file that cannot be read is there, wherever it was moved to.
        named, unread = self._unread()
        gone: list[LedgerEntry] = []
        for entry in list(self._ledger.entries.values()):
            if entry.digest == GONE or entry.absent or entry.memory in held:
                continue
            if entry.path in unread or named & {entry.id, entry.memory}:
                continue
            if self._was_deleted(entry, there):
                gone.append(entry)
            elif there:
                self._ledger.put(replace(entry, absent=True))
        self._summary.absent = sum(each.absent for each in self._ledger.entries.values() if each.memory not in held)
        return gone

    def _unread(self) -> tuple[set[str], set[str]]:
        """The ids that stand in files which could not be taken, and where these lie."""
        left = [read for path, read in self._reads.items() if path not in self._present]
        return {match for read in left for match in _NAMED.findall(read.text)}, {read.path for read in left}

    def _was_deleted(self, entry: LedgerEntry, there: bool) -> bool:
        git, ledger = self._git, self._ledger
        if not there:
            # Whoever removes the whole folder wants no files. git removes it with the last one, by a commit.
            if git is None or not self._onward or git.blob_at(git.head, self._tracked(entry.path)):
                return False
            return bool(git.histories(self._tracked("").rstrip("/"), [entry.path])[entry.path].blobs)
        if git is None or not ledger.head:
            return True
        path = self._tracked(entry.path)
        if git.blob_at(git.head, path):
            return True  # the commit has it, the checkout does not
        if not self._onward:
            return False
        if git.is_ancestor(ledger.head, git.head):
            return True
        begun = git.common_ancestor(ledger.head, git.head)
        return bool(begun and git.blob_at(begun, path))

    def _require_few(self, gone: list[LedgerEntry]) -> None:
        live = sum(1 for each in self._ledger.entries.values() if each.digest != GONE and not each.absent)
        if len(gone) > _FEW and len(gone) * 2 > live and not self._wish.many_deletions:
            raise InvalidArgument(
                f"{len(gone)} of {live} files are gone at once",
                hint="bring them back (git checkout), or run it with --yes to hide their memories",
                details={"reason": "sync_many_deletions", "gone": len(gone), "live": live},
            )

    def _tracked(self, path: str) -> str:
        assert self._git is not None
        try:
            inside = self._folder.path.resolve().relative_to(self._git.root).as_posix()
        except ValueError:
            return path
        return f"{inside}/{path}"

    def _histories(self, gone: list[LedgerEntry]) -> dict[str, PathHistory]:
        if self._git is None:
            return {}
        changed = [
            path
            for path, each in self._present.items()
            if each.entry is None or each.entry.digest != each.file.digest()
        ]
        folder = self._tracked("").rstrip("/")
        return self._git.histories(folder, sorted({*changed, *(each.path for each in gone)}))

    def _compare(self, gone: list[LedgerEntry]) -> list[wire.SyncMemory]:
        """Look through the memories: what is in step needs no further question; what has no file is returned."""
        by_memory = {key: each for each in self._present.values() for key in _keys(each)}
        named, unread = self._unread()
        left = {each.memory for each in gone} | {key for key, each in self._ledger.entries.items() if each.absent}
        news: list[wire.SyncMemory] = []
        cursor: str | None = None
        while True:
            asked = {"project": self._wish.project, "cursor": cursor, "lessons": str(self._wish.lessons).lower()}
            page = wire.SyncMemories.model_validate(self._store.get("/api/sync/memories", **asked))
            self._summary.withheld += page.withheld
            for item in page.items:
                found = by_memory.get(item.id) or by_memory.get(_uri(item))
                entry = self._ledger.entries.get(item.id)
                if found is not None:
                    if found.file.digest() == item.digest and found.file.id and not found.decided:
                        self._in_step(found, item)
                elif item.id not in left and item.id not in named and not (entry and entry.path in unread):
                    news.append(item)
            cursor = page.next_cursor
            if cursor is None:
                return news if self._wish.write_files else []

    def _in_step(self, found: _Present, item: wire.SyncMemory) -> None:
        self._summary.same += 1
        del self._present[found.read.path]
        replaced = found.entry is not None and found.entry.replaced and found.entry.digest == item.digest
        self._note(found.read.path, found.file, item.id, item.version, item.digest, replaced=replaced)

    def _reports(self, histories: dict[str, PathHistory]) -> Iterator[FileReport]:
        for path, each in sorted(self._present.items()):
            history = histories.get(path)
            memory = each.entry.memory if each.entry is not None else ""
            ancestors = self._ancestors(history, each.file.kind)
            known = {ancestor.digest for ancestor in ancestors}
            replaced = each.entry is not None and each.entry.replaced and bool(known) and each.entry.digest not in known
            yield FileReport(
                path, each.file.text(), memory, each.base, ancestors, self._onward, replaced,
                self._cause(each, history), each.insisted,
            )  # fmt: skip

    def _deletions(self, gone: list[LedgerEntry], histories: dict[str, PathHistory]) -> Iterator[FileReport]:
        for entry in gone:
            history = histories.get(entry.path)
            tracked = self._git is not None and self._git.blob_at(self._git.head, self._tracked(entry.path))
            cause = WORKING_TREE if tracked or history is None else _told(history)
            yield FileReport(entry.path, None, entry.memory, entry.base, onward=self._onward, cause=cause)

    def _ancestors(self, history: PathHistory | None, kind: Kind) -> tuple[SyncBase, ...]:
        found: list[SyncBase] = []
        for blob in history.blobs if history is not None and self._git is not None else ():
            content = self._git.content(blob) if self._git is not None else None
            try:
                found.append(SyncBase(parse((content or b"").decode(), kind).digest()))
            except (InvalidArgument, UnicodeDecodeError):
                continue
        return tuple(dict.fromkeys(found))[: wire.MAX_ANCESTORS]

    def _cause(self, each: _Present, history: PathHistory | None) -> str:
        if self._git is None or history is None or not history.blobs:
            return WORKING_TREE
        blob = self._git.blob_at(self._git.head, self._tracked(each.read.path))
        committed = self._git.content(blob) if blob else None
        if committed is None or committed.replace(b"\r\n", b"\n") != each.read.content.replace(b"\r\n", b"\n"):
            return WORKING_TREE
        return _told(history)

    def _apply(self, result: wire.SyncFileAnswer, report: FileReport) -> None:
        """Let the file say what it is to say, and note what it is in step with."""
        each = self._present.get(result.path)
        if result.outcome is Outcome.SAME:
            self._summary.same += 1
        else:
            self._tell(
                result.path,
                result.outcome,
                report.cause if result.outcome is not Outcome.REFUSED else "",
                result.reason,
            )
        if self._wish.dry_run or result.outcome is Outcome.REFUSED:
            return
        if result.outcome is Outcome.CONFLICT:
            self._show_conflict(result, each)
        elif result.text is None:
            self._take_away(result, each)
        else:
            self._bring_in_step(result, each, result.text)

    def _show_conflict(self, result: wire.SyncFileAnswer, each: _Present | None) -> None:
        if each is None or result.text is None or not self._wish.write_files:
            return
        entry = each.entry or LedgerEntry(
            each.read.path, each.file.id, result.memory, 0, GONE, str(each.file.fields.get("uri", ""))
        )
        shown = {"mine": each.file.digest(), "shown_version": result.version, "shown_digest": result.digest}
        shown["shown_head"] = self._git.head if self._git is not None else ""
        # Only what was really shown can be answered.
        if self._put(each.read.place, result.text, each.read.content):
            self._ledger.put(replace(entry, path=each.read.path, absent=False, **shown))  # type: ignore[arg-type]
            self._ledger.save()

    def _take_away(self, result: wire.SyncFileAnswer, each: _Present | None) -> None:
        entry = each.entry if each is not None else self._ledger.entries.get(result.memory)
        if each is not None and (not self._wish.write_files or not self._take(each.read)):
            return
        if entry is not None or result.memory:
            kept = entry or LedgerEntry(result.path, each.file.id if each else "", result.memory, 0, GONE)
            self._ledger.put(replace(kept.settled(), digest=GONE, version=result.version, absent=False))

    def _bring_in_step(self, result: wire.SyncFileAnswer, each: _Present | None, text: str) -> None:
        file = parse(text, kind_of(result.path))
        place, expected = (each.read.place, each.read.content) if each is not None else (result.path, None)
        said = each is not None and each.file.digest() == result.digest  # before anything is written
        if text.encode() != expected and self._wish.write_files and not self._put(place, text, expected) and not said:
            return  # somebody has written it since: what it was in step with before still counts
        if self._wish.write_files or said:
            old = each is not None and (each.entry is None or not self._onward or each.entry.replaced)
            replaced = result.outcome is Outcome.UPDATED and old
            self._note(result.path, file, result.memory, result.version, result.digest, replaced=replaced)

    def _add(self, item: wire.SyncMemory) -> None:
        """A file for a memory that has none."""
        file = parse(item.text)
        place = path_of(file)
        if self._folder.exists() and self._folder.occupied(place):
            place = f"{place.removesuffix('.md')}-{item.id[-8:].lower()}.md"
        self._tell(place, Outcome.UPDATED)
        if not self._wish.dry_run and self._put(place, item.text, None):
            self._note(place, file, item.id, item.version, item.digest)

    def _note(
        self, path: str, file: MemoryFile, memory: str, version: int, digest: str, *, replaced: bool = False
    ) -> None:
        if not self._wish.dry_run:
            uri = str(file.fields.get("uri", ""))
            self._ledger.put(LedgerEntry(path, file.id, memory, version, digest, uri, replaced=replaced))

    def _put(self, place: str, text: str, expected: bytes | None) -> bool:
        done = self._folder.write(place, text, expected)
        self._summary.busy += not done
        return done

    def _take(self, read: FileRead) -> bool:
        done = self._folder.remove(read.place, read.content)
        self._summary.busy += not done
        return done

    def _tell(self, path: str, outcome: Outcome, cause: str = "", reason: str = "") -> None:
        self._summary.lines.append(SyncLine(path, outcome, cause, reason))

    def _refuse(self, path: str, reason: str) -> None:
        self._tell(path, Outcome.REFUSED, reason=reason)

    def _save(self) -> None:
        if not self._wish.dry_run:
            self._ledger.save()


def _keys(each: _Present) -> Iterator[str]:
    """What the memory of a file may be found by."""
    yield from (key for key in (each.entry.memory if each.entry else "", each.file.id) if key)
    if each.file.kind is Kind.NOTE and each.entry is None:
        yield f"uri {each.file.get('uri')}"


def _uri(item: wire.SyncMemory) -> str:
    return f"uri {parse(item.text).get('uri')}" if item.kind is Kind.NOTE else ""


def _told(history: PathHistory) -> str:
    if history.commit is None:
        return WORKING_TREE
    return redaction.redact(f"commit {history.commit.sha} by {history.commit.author[:80]}")


def _pages(reports: Iterable[FileReport]) -> Iterator[list[FileReport]]:
    page: list[FileReport] = []
    size = 0
    for report in reports:
        page.append(report)
        size += len(report.text or "")
        if len(page) == wire.MAX_FILES or size > _MOST_TEXT:
            yield page
            page, size = [], 0
    if page:
        yield page
