"""Files for agents are followed: at a session's start changes come in, once, and nothing else is read; both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.agents.install.targets import UserHome
from codexmem.kernel.jobs.job_kind import JobContext
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall import agent_file_discovery as discovery
from codexmem.recall.agent_file_discovery import FOLLOW, AgentFileFollower
from codexmem.recall.agent_files import AgentFiles
from codexmem.recall.undoing import Undoing, Whose
from tests._support import capturing
from tests.services.test_agent_file_discovery import EVERY, write

BY = WriteContext("test")


class Story:
    """A person with a checkout, and sessions in it."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.here = capturing.build(db)
        base = self.here.base
        table, versions = MemoryTable(db), VersionTable(db)
        self.files = AgentFiles(db, table, versions, base.memories, base.history, base.clock)
        self.undoing = Undoing(db, table, versions, base.history)
        self.person = UserHome(folder / "home", {})
        self.root = folder / "shop"
        write(self.root / ".git/HEAD", "ref: refs/heads/main\n")
        self.follower = AgentFileFollower(self.files, self.here.queue, self.person)
        self.sessions = 0

    def import_all(self, *, personal: bool = True) -> None:
        checkout = discovery.checkout_of(self.root)
        found = discovery.find(checkout, EVERY, self.person if personal else None)
        for text in discovery.read(found, checkout.folders):
            self.files.take_in("shop", text, BY)

    def session(self, cwd: Path | None = None, project: str = "shop") -> int | None:
        """A session begins; how many files its job read, None if there was no job."""
        self.sessions += 1
        key = f"s{self.sessions}"
        cwd = cwd or self.root
        self.here.intake.init(HookReport(key, project=project, cwd=str(cwd), prompt="begin, please"))
        begun = self.here.sessions.named(key)
        assert begun is not None
        self.follower.begun(begun)
        jobs = [job for job in self.here.queue.list(JobStatus.QUEUED) if job.kind == FOLLOW]
        if not jobs:
            return None
        done = self.follower.follow(jobs[0], JobContext(jobs[0], 60.0))
        with self.here.db.transaction():
            if done.effect is not None:
                done.effect()
        self.here.queue.cancel(jobs[0].id)
        count = done.result["files"]
        assert isinstance(count, int)
        return count

    def said(self) -> dict[str, str]:
        return {each.state.title: each.state.content for each in self.here.memories(Kind.OBSERVATION)}


@pytest.fixture
def story(database: Database, tmp_path: Path) -> Story:
    return Story(database, tmp_path)


def test_a_change_is_taken_in_at_the_next_session_and_once(story: Story) -> None:
    file = write(story.root / "AGENTS.md", "# Port\n8080\n")
    nested = write(story.root / "docs/AGENTS.md", "plain words\n")
    assert story.session() is None  # nothing was imported
    story.import_all()
    story.session()
    assert story.session() == 0  # nothing has changed
    file.write_text("# Port\nit is 8081 now\n")
    nested.write_text("plain and short words\n")
    assert story.session(story.root / "docs") == 2
    assert story.said() == {"AGENTS.md > Port": "it is 8081 now", "docs/AGENTS.md": "plain and short words"}
    deltas = story.here.base.history.deltas_of("import:agent-files:shop")
    assert [delta.cause for delta in deltas].count("follow") == 1
    assert story.session() == 0


def test_a_file_that_is_gone_is_hidden_and_comes_back(story: Story) -> None:
    file = write(story.root / "AGENTS.md", "8080\n")
    story.import_all()
    file.unlink()
    assert story.session() == 1
    assert story.said() == {}
    file.write_text("8080\n")
    assert story.session() == 1
    assert story.said() == {"AGENTS.md": "8080"}


def test_what_was_undone_is_followed_no_longer(story: Story) -> None:
    file = write(story.root / "AGENTS.md", "8080\n")
    story.import_all()
    story.undoing.take_back(Whose("import:agent-files:shop"), Mode.SAFE, BY)
    file.write_text("8081\n")
    assert story.session() is None
    assert story.said() == {}


def test_new_files_count_only_in_folders_that_are_read_as_a_whole(story: Story) -> None:
    write(story.root / ".cursor/rules/a.mdc", "tabs\n")
    story.import_all()
    write(story.root / ".cursor/rules/b.mdc", "no tabs\n")
    write(story.root / "AGENTS.md", "never imported\n")
    assert story.session() == 2
    assert set(story.said()) == {".cursor/rules/a.mdc", ".cursor/rules/b.mdc"}


def test_a_persons_own_files_are_followed_where_they_were_read(story: Story, tmp_path: Path) -> None:
    own = write(story.person.home / ".codex/AGENTS.md", "be brief\n")
    story.import_all()
    own.write_text("be very brief\n")
    assert story.session() == 1
    assert story.said() == {"~/.codex/AGENTS.md": "be very brief"}
    # A server that looks elsewhere for them knows nothing of them.
    write(tmp_path / "moved/AGENTS.md", "of somebody else\n")
    moved = UserHome(tmp_path / "home", {"CODEX_HOME": str(tmp_path / "moved")})
    story.follower = AgentFileFollower(story.files, story.here.queue, moved)
    assert story.session() == 0
    assert story.said() == {"~/.codex/AGENTS.md": "be very brief"}


def test_nothing_is_read_for_other_projects_missing_folders_and_links(story: Story, tmp_path: Path) -> None:
    file = write(story.root / "AGENTS.md", "8080\n")
    story.import_all()
    assert story.session(tmp_path / "nowhere") == 0
    write(tmp_path / "other/.git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path / "other/AGENTS.md", "of another project\n")
    assert story.session(tmp_path / "other") == 0
    file.unlink()
    file.symlink_to(write(tmp_path / "secret.md", "secret\n"))
    story.session()
    assert "secret" not in story.said().values()


def test_a_server_for_others_never_looks(story: Story) -> None:
    write(story.root / "AGENTS.md", "8080\n")
    story.import_all()
    story.follower = AgentFileFollower(story.files, story.here.queue, None)
    assert story.session() is None
