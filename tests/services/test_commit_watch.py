"""New commits as they are seen: after an import, where sessions work, and nowhere else; on every engine."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from codexmem.app import open_core
from codexmem.capture.service import excluded
from codexmem.kernel.jobs.job_kind import JobContext
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.import_row import GIT, ForeignMemory, commit_id
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.query import Id
from codexmem.kernel.model.session import Session, SessionStatus
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.tallies import Tallies
from codexmem.recall.commit_watch import CommitWatch
from codexmem.recall.git_history import GitHistory
from codexmem.recall.importing import Importing
from codexmem.recall.undoing import Undoing, Whose
from tests._support import capturing
from tests._support.git import Repository
from tests._support.waiting import eventually
from tests.services.test_importing import ALL, BY, Here
from tests.test_app import local

pytestmark = pytest.mark.process

WHY = "\n\nThe upstream resets its window after 13 seconds, so an eighth attempt always fails."


class Watching:
    """A store, a repository, and the watch between them."""

    def __init__(self, database: Database, path: Path) -> None:
        self.made = Repository(path / "shop")
        self.made.commit(f"Choose SQLite{WHY}", "a")
        whole = capturing.build(database)
        self.queue, base, table = whole.queue, whole.base, MemoryTable(database)
        importing = Importing(
            database, table, base.memories, base.history, Tallies(database), base.clock, whole.sessions
        )
        self.here = Here(base, importing, Undoing(database, table, VersionTable(database), base.history))
        self.watch = CommitWatch(self.queue, importing, partial(excluded, ("*/secret",)), local=True)

    def import_all(self, project: str) -> None:
        history = GitHistory(self.made.path, project_name=project)
        rows = [row for row in history.rows() if isinstance(row, ForeignMemory)]
        self.here.importing.take_in(history.fingerprint(), rows, BY, program=GIT)
        self.source = f"import:git:{history.fingerprint()}"
        history.close()

    def session(self, cwd: Path | str, number: int = 1) -> None:
        self.watch.seen(Session(number, f"s{number}", "shop", "codex", str(cwd), SessionStatus.ACTIVE, 1, False, 1, 1))

    def waiting(self) -> int:
        return self.queue.counts()[JobStatus.QUEUED]

    def run(self, cwd: Path | str) -> int:
        self.session(cwd)
        (job,) = [job for job in self.queue.list(JobStatus.QUEUED) if job.payload["cwd"] == str(cwd)]
        done = self.watch.take_in(job, JobContext(job, 60))
        self.queue.cancel(job.id)
        count = done.result["commits"]
        assert isinstance(count, int)
        return count


@pytest.fixture
def watching(database: Database, tmp_path: Path) -> Watching:
    return Watching(database, tmp_path)


def test_nothing_is_looked_for_before_an_import(watching: Watching) -> None:
    watching.session(watching.made.path)
    assert watching.waiting() == 0


def test_new_commits_come_into_the_project_of_the_import(watching: Watching, tmp_path: Path) -> None:
    watching.import_all("acme")
    commit = watching.made.commit(f"Choose WAL{WHY}", "a")
    watching.made.commit("wip", "a")
    assert watching.run(watching.made.path) == 1
    memory = watching.here.base.memories.get(Id(commit_id(commit)), ALL)
    assert (memory.state.project, memory.source) == ("acme", watching.source)
    assert watching.run(watching.made.path) == 0
    watching.made.git("clone", "-q", str(watching.made.path), str(tmp_path / "clone"))
    assert watching.run(tmp_path / "clone") == 0


def test_another_repository_and_no_repository_are_left(watching: Watching, tmp_path: Path) -> None:
    watching.import_all("acme")
    other = Repository(tmp_path / "other")
    other.commit(f"Choose PostgreSQL{WHY}", "b")
    (tmp_path / "plain").mkdir()
    assert watching.run(other.path) == 0
    assert watching.run(tmp_path / "plain") == 0
    assert watching.run("/nonexistent") == 0


def test_an_import_that_was_undone_is_not_followed_until_it_is_brought_back(watching: Watching) -> None:
    watching.import_all("acme")
    undone = watching.here.undo(Whose(source=watching.source))
    watching.made.commit(f"Choose WAL{WHY}", "a")
    assert watching.run(watching.made.path) == 0
    watching.here.undo(Whose(delta=undone.delta))
    assert watching.run(watching.made.path) == 1


def test_sessions_of_one_folder_take_turns_and_excluded_ones_have_no_job(watching: Watching) -> None:
    watching.import_all("acme")
    for number in (1, 2, 3):
        watching.session(watching.made.path, number)
    watching.session("/home/ada/secret")
    watching.session("relative")
    watching.session("")
    lanes = [job.lane for job in watching.queue.list(JobStatus.QUEUED)]
    assert (len(lanes), len(set(lanes))) == (3, 1)
    assert lanes[0] is not None


@pytest.mark.sqlite
def test_a_running_server_takes_in_what_a_session_commits(tmp_path: Path) -> None:
    made = Repository(tmp_path / "shop")
    made.commit(f"Choose SQLite{WHY}", "a")
    core = open_core(local(tmp_path / "data"))
    try:
        with closing(GitHistory(made.path)) as history:
            rows = [row for row in history.rows() if isinstance(row, ForeignMemory)]
            core.importing.take_in(history.fingerprint(), rows, BY, program=GIT)
        core.begin()
        core.intake.init(HookReport("s1", prompt="use the write-ahead log", project="shop", cwd=str(made.path)))
        commit = made.commit(f"Choose WAL{WHY}", "a")
        core.intake.complete("s1")
        eventually(lambda: commit_id(commit) in MemoryTable(core.db).statuses([commit_id(commit)]))
        core.stop(5.0)
    finally:
        core.close()


def test_a_server_far_away_does_not_look(watching: Watching) -> None:
    watching.import_all("acme")
    watching.watch = CommitWatch(watching.queue, watching.here.importing, lambda *_: False, local=False)
    watching.session(watching.made.path)
    assert watching.waiting() == 0
