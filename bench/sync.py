"""Random edits of files and memories against a plain model: no edit is lost, and none is overwritten in silence.

Each life has a project and two checkouts with folders of their own. People edit, add, move and delete files, agents
edit, add and delete memories, and in between either checkout is brought in step; conflicts are resolved for one side or
both. Every edit writes a word that stands nowhere else. The plain model knows which words somebody took out on purpose;
all others must be in the memory when everything is in step, and in its history.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench import report
from bench.stores import folder, stores
from codexmem.console.backend import Answer, Backend
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest, Seq
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.opening import open_database
from codexmem.sync import wire
from codexmem.sync.cli.ledger import Ledger
from codexmem.sync.cli.passes import SyncPass, SyncWish
from codexmem.sync.cli.tree import MemoryFolder
from codexmem.sync.document import marked, of_state, parse, resolved
from codexmem.sync.http import _page
from codexmem.sync.model import KINDS, Outcome
from codexmem.sync.service import SyncService
from tests._support import services

ME = WriteContext("agent")
_NOTES = frozenset({Kind.NOTE})
_ROUNDS = 8  # until everything must be in step


class DirectStore(Backend):
    """The routes without a server around them: the same documents in and out."""

    def __init__(self, sync: SyncService) -> None:
        self._sync = sync

    def post(self, path: str, body: Any, *, timeout_s: float | None = None) -> Answer:
        """Files."""
        sent = wire.SyncFiles.model_validate(body)
        page = self._sync.take(
            sent.project,
            [each.report() for each in sent.files],
            WriteContext("cli"),
            write=not sent.dry_run,
            delta=sent.delta,
        )
        return wire.SyncFilesAnswer.of(page).document()

    def get(self, path: str, **query: Any) -> Answer:
        """Memories."""
        return _page(self._sync, query["project"], query["lessons"] == "true", query["cursor"] or "").document()

    def _answer(self, method: str, target: str, body: bytes | None, timeout_s: float | None) -> tuple[int, Answer]:
        raise AssertionError(f"{method} {target} is asked in no other way than those above")


class Stores:
    """One open store and its services."""

    def __init__(self, db: Database) -> None:
        self.base = services.build(db)
        self.sync = SyncService(db, MemoryTable(db), self.base.memories, self.base.history)


@dataclass
class Person:
    """A checkout and what is noted about it."""

    folder: MemoryFolder
    ledger: Ledger = field(default_factory=Ledger)


class Life:
    """One sequence."""

    def __init__(self, here: Stores, home: Path, seed: int, number: int) -> None:
        self.here = here
        self.chance = random.Random(seed)
        self.project = f"life-{number}"
        self.number = number
        self.words = 0
        self.said: set[str] = set()  # every word that somebody wrote
        self.dropped: set[str] = set()  # every word that somebody took out on purpose
        self.seen: set[str] = set()  # every word that stood in a file or memory when it was brought in step
        self.people = [Person(MemoryFolder(home / f"{number}-{each}", "m")) for each in range(2)]
        self.outcomes: dict[Outcome, int] = {}
        for person in self.people:
            person.folder.root.mkdir()

    def run(self) -> list[str]:
        """Live; returns what went wrong."""
        verbs = [self._edit_memory] * 4 + [self._edit_file] * 6 + [self._sync_one] * 5
        verbs += [
            self._add_memory,
            self._add_file,
            self._delete_memory,
            self._delete_file,
            self._move_file,
            self._resolve,
        ]
        self._add_memory()
        self._sync(self.people[0])
        for _ in range(self.chance.randint(8, 20)):
            self.chance.choice(verbs)()
        return self._settled()

    def _word(self) -> str:
        self.words += 1
        word = f"w{self.number}x{self.words}"
        self.said.add(word)
        return word

    def _changed(self, body: str) -> str:
        """The text with one edit."""
        lines = body.split("\n")
        at, how = self.chance.randrange(len(lines)), self.chance.random()
        if how < 0.5:
            lines.insert(at, self._word())
        elif how < 0.8 or len(lines) == 1:
            self.dropped |= set(lines[at].split())
            lines[at] = self._word()
        else:
            self.dropped |= set(lines.pop(at).split())
        return "\n".join(lines)

    def _memories(self, *statuses: Status) -> list[Memory]:
        wanted = Filter(_NOTES, project=self.project, statuses=frozenset(statuses))
        return list(self.here.base.memories.page(wanted, PageRequest(limit=100)).items)

    def _edit_memory(self) -> None:
        if standing := self._memories(Status.ACTIVE):
            memory = self.chance.choice(standing)
            self._write(memory, replace(memory.state, content=self._changed(memory.state.content)))

    def _write(self, memory: Memory, state: State) -> None:
        self.here.base.memories.change(Seq(memory.seq), KINDS, lambda _: state, ME, seen=memory.version)

    def _add_memory(self) -> None:
        body = "\n".join(self._word() for _ in range(self.chance.randint(1, 6)))
        name = f"l{self.number}://a/m{self.words}"
        state = State(body, NoteAttrs(), project=self.project, uris=(name,))
        self.here.base.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), ME)

    def _delete_memory(self) -> None:
        if standing := self._memories(Status.ACTIVE):
            memory = self.chance.choice(standing)
            self.dropped |= set(memory.state.content.split())
            self.here.base.memories.delete(Seq(memory.seq), KINDS, ME)

    def _files(self, person: Person) -> list[Path]:
        return sorted(person.folder.path.rglob("*.md")) if person.folder.exists() else []

    def _edit_file(self) -> None:
        person = self.chance.choice(self.people)
        paths = [path for path in self._files(person) if marked(path.read_text()) is None]
        if paths:
            path = self.chance.choice(paths)
            file = parse(path.read_text())
            path.write_text(replace(file, body=self._changed(file.body)).text())

    def _add_file(self) -> None:
        person = self.chance.choice(self.people)
        path = person.folder.path / "notes" / f"l{self.number}" / "a" / f"f{self.words}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{self._word()}\n{self._word()}\n")

    def _delete_file(self) -> None:
        person = self.chance.choice(self.people)
        if paths := self._files(person):
            path = self.chance.choice(paths)
            self.dropped |= self._words_in(path.read_text())
            path.unlink()

    def _move_file(self) -> None:
        person = self.chance.choice(self.people)
        if paths := [path for path in self._files(person) if marked(path.read_text()) is None]:
            path = self.chance.choice(paths)
            path.rename(path.with_name(f"moved{self.words}-{path.name}"))

    def _resolve(self) -> None:
        for person in self.people:
            for path in self._files(person):
                self._decide(path)

    def _decide(self, path: Path) -> None:
        text = path.read_text()
        if marked(text) is None:
            return
        how = self.chance.choice(("file", "memory", "both", "both"))
        if how == "both":
            lines = [each for each in text.split("\n") if not each.startswith(("<<<<<<< ", "=======", ">>>>>>> "))]
            head = [line for at, line in enumerate(lines) if line not in lines[:at] or not line.startswith("uri:")]
            made = "\n".join(_one_uri(head))
        else:
            made = resolved(text, mine=how == "file")
        self.dropped |= self._words_in(text) - self._words_in(made)
        if _readable(made):
            path.write_text(made)
        else:
            self.dropped |= self._words_in(made)
            path.unlink()

    def _words_in(self, text: str) -> set[str]:
        return set(text.split()) & self.said

    def _sync_one(self) -> None:
        self._sync(self.chance.choice(self.people))

    def _sync(self, person: Person, *, writes: bool | None = None) -> int:
        for path in self._files(person):
            self.seen |= self._words_in(path.read_text())
        wish = SyncWish(
            self.project, write_files=self.chance.random() < 0.8 if writes is None else writes, many_deletions=True
        )
        summary = SyncPass(DirectStore(self.here.sync), person.folder, person.ledger, None, wish).run()
        for line in summary.lines:
            self.outcomes[line.outcome] = self.outcomes.get(line.outcome, 0) + 1
        return len(summary.lines)

    def _settled(self) -> list[str]:
        """Bring everything in step, and compare."""
        for _ in range(_ROUNDS):
            self._resolve()
            if sum(self._sync(person, writes=True) for person in self.people) == 0:
                break
        else:
            return [f"{self.project}: not in step after {_ROUNDS} rounds"]
        standing = self._memories(Status.ACTIVE)
        texts = sorted(of_state(Kind.NOTE, each.state).digest() for each in standing)
        wrong = [
            f"{self.project}: checkout {number} differs from the memory"
            for number, person in enumerate(self.people)
            if sorted(parse(path.read_text()).digest() for path in self._files(person)) != texts
        ]
        now = {word for each in standing for word in each.state.content.split()}
        lost = self.said - self.dropped - now
        kept = {
            word
            for memory in self._memories(*Status)
            for version in self.here.base.history.versions(Seq(memory.seq), KINDS, limit=500)
            for word in version.state.content.split()
        }
        shown = self.said - kept - self.dropped
        if lost:
            wrong.append(f"{self.project}: lost or overwritten {sorted(lost)[:3]}")
        if shown:
            wrong.append(f"{self.project}: never in the history {sorted(shown)[:3]}")
        return wrong


def _one_uri(lines: list[str]) -> list[str]:
    """The lines with the first of several lines of one field."""
    found, kept = set(), []
    for line in lines:
        name = line.partition(":")[0]
        if name in ("uri", "title", "priority") and name in found:
            continue
        found.add(name)
        kept.append(line)
    return kept


def _readable(text: str) -> bool:
    try:
        parse(text)
    except InvalidArgument:
        return False
    return True


def play(url: str, seed: int, first: int, count: int, progress: report.Progress | None = None) -> dict[str, Any]:
    """So many lives on one store; what was wrong, and how often each outcome came."""
    wrong: list[str] = []
    outcomes: dict[str, int] = {}
    with folder(durable=False) as home, acting_as(LOCAL):
        db = open_database(url)
        try:
            here = Stores(db)
            for number in range(first, first + count):
                life = Life(here, home, seed + number, number)
                wrong += [f"seed {seed + number}: {each}" for each in life.run()]
                for outcome, times in life.outcomes.items():
                    outcomes[outcome.value] = outcomes.get(outcome.value, 0) + times
                for person in life.people:
                    shutil.rmtree(person.folder.root)
                if progress is not None:
                    progress.tell(f"{number - first + 1:,} of {count:,}, {len(wrong)} wrong")
        finally:
            db.close()
    return {"sequences": count, "wrong": len(wrong), "first": wrong[:5], **dict(sorted(outcomes.items()))}


def main(argv: Sequence[str] | None = None) -> int:
    """Live on each engine, and print."""
    parser = report.arguments(__doc__)
    parser.add_argument("--sequences", type=int, default=10_000, help="per engine")
    given = parser.parse_args(argv)
    seed = report.chosen_seed(given.seed)
    document: dict[str, Any] = {"seed": seed}
    for engine in report.chosen_engines(given.engine):
        with stores(engine, durable=False) as made:
            began, progress = time.monotonic(), report.Progress(engine)
            document[engine] = play(made.fresh(), seed, 0, given.sequences, progress)
            progress.close()
        document[engine]["seconds"] = round(time.monotonic() - began, 1)
    good = all(not document[engine]["wrong"] for engine in document if engine != "seed")
    return report.conclude(
        "files and memories in step", document, report.lines(document), kept=good, as_json=given.json
    )


if __name__ == "__main__":
    sys.exit(main())
