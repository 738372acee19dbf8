"""An agent that was chosen as the author and fails: rules have written the turn, the job ends, and it is told.

A real server finds a small script under the agent's name. Only the program that hangs is shown without a server, whose
patience of two minutes no setting shortens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pysqlite3 import dbapi2 as sqlite

from codexmem.agents.authors.model import agent_model
from codexmem.kernel.jobs.job_kind import JobContext
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.model.job import RetryLater
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database
from tests._support import capturing, warm
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.agents.story import get
from tests.agents.test_author_programs import LIMITS, LOGINS

SAID = "The dev server listens on port 5179 because Grafana has 5173."
# Half of what Codex prints: its model has begun to answer, and the turn was not completed.
HALF = """echo '{"type":"item.completed","item":{"type":"agent_message","text":"{\\"memories\\": ["}}'"""


@pytest.fixture(autouse=True)
def alone() -> bool:
    """The scripts reach nobody, so that the servers can be the quick ones."""
    return False


@dataclass(frozen=True)
class Author:
    """A server whose author is a script."""

    server: Server
    runs: Path
    environ: dict[str, str]

    def turn(self, session: str = "s1") -> None:
        """One turn of an agent, to its end."""
        about = {"contentSessionId": session, "project": "shop", "platform": "codex"}
        for path, body in (("init", {"prompt": "Which port?"}), ("summarize", {"last_assistant_message": SAID})):
            assert self.server.post(f"/api/sessions/{path}", about | body).status == 200

    def newest(self) -> dict[str, Any]:
        """The newest question to the author, whether or not it has been tried; empty if there is none."""
        columns = ("status", "attempts", "error_class", "run_at_ms - created_ms")
        with sqlite.connect(f"file:{self.server.data_dir / 'codexmem.db'}?mode=ro", uri=True) as db:
            found = db.execute(f"SELECT {', '.join(columns)} FROM jobs WHERE kind = 'capture.author' ORDER BY id DESC")
            row = found.fetchone()
        return dict(zip((*columns[:3], "waits_ms"), row or (), strict=False))

    def job(self) -> dict[str, Any] | None:
        """The same once it has been tried and does not run."""
        job = self.newest()
        return job if job and job["attempts"] and job["status"] != "running" else None

    def ended(self) -> dict[str, Any] | None:
        """The same once nothing more comes of it."""
        job = self.job()
        return job if job is not None and job["status"] != "queued" else None

    @property
    def failing(self) -> dict[str, Any] | None:
        """What the server says of it."""
        found: dict[str, Any] | None = get(self.server, "/api/ops/system")["model"]["failing"]
        return found

    def doctor(self) -> str:
        """What a person is told."""
        return warm.run(["doctor"], env=self.environ).stdout.decode()

    def by_rules(self) -> list[str]:
        """What is remembered of the turns."""
        return [each["learned"] for each in get(self.server, "/api/summaries?limit=9")["items"]]


@pytest.fixture
def author(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Author]:
    """The script is the test's parameter; None for an agent that is not installed."""
    programs, runs, home = tmp_path / "bin", tmp_path / "runs", tmp_path / "home"
    programs.mkdir()
    home.mkdir()
    if request.param is not None:
        (programs / "codex").write_text(f'#!/bin/sh\necho run >> "{runs}"\n{request.param}\n')
        (programs / "codex").chmod(0o755)
    settings = {"HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "OPENAI_API_KEY": "", "CODEXMEM_LANG": "en",
                "CODEXMEM_EMBEDDER": "none", "CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_PROVIDER": "codex"}  # fmt: skip
    with Server(tmp_path, settings=settings) as server:
        yield Author(server, runs, server._env)


@pytest.mark.parametrize("author, trouble, told", [
    pytest.param(None, "setup_required", "its program is not found by the server", id="not installed"),
    pytest.param(f"{LOGINS['codex']}; exit 1", "auth_invalid", "it is not logged in", id="not logged in"),
], indirect=["author"])  # fmt: skip
def test_where_somebody_must_act_one_failure_is_told(author: Author, trouble: str, told: str) -> None:
    author.turn()
    failing = eventually(lambda: author.failing)
    # The turn is asked about once more when somebody may have acted.
    waiting = author.newest()
    assert (waiting["status"], waiting["attempts"], waiting["waits_ms"]) == ("queued", 0, 3_600_000)
    assert (failing["errorClass"], failing["count"]) == (trouble, 1)
    assert told in author.doctor()
    assert author.by_rules() == [SAID]
    context = author.server.request("GET", "/api/context?project=shop&session=next").body.decode()
    assert told in context


@pytest.mark.parametrize("author", [
    pytest.param("echo panicked >&2; exit 101", id="crash"), pytest.param(HALF, id="half an answer"),
], indirect=True)  # fmt: skip
def test_a_program_that_breaks_is_tried_three_times_and_then_left(author: Author) -> None:
    author.turn()
    job = eventually(author.ended)
    assert (job["status"], job["attempts"]) == ("completed", 3)
    assert author.runs.read_text() == "run\n" * 3
    assert author.by_rules() == [SAID]
    # Once may be chance: it is told when it has come three times in a row.
    assert author.failing is None
    (failure,) = get(author.server, "/api/ops/failure-summary")["failures"]
    assert (failure["fallback"], "gave no answer" in failure["error"]) == ("rules", True)


@pytest.mark.parametrize("author", [pytest.param(f"{LIMITS['codex']}; exit 1", id="limit")], indirect=True)
def test_a_program_whose_limit_is_reached_is_asked_when_that_is_over(author: Author) -> None:
    author.turn()
    job = eventually(author.job)
    assert (job["status"], job["error_class"]) == ("queued", "rate_limit")
    assert job["waits_ms"] > 7_000_000
    author.turn("s2")
    assert eventually(lambda: len(author.by_rules()) == 2)
    assert eventually(author.job)["status"] == "queued"
    assert author.runs.read_text() == "run\n"
    assert author.failing is None


@pytest.mark.sqlite
@pytest.mark.process
def test_a_program_that_hangs_is_ended_and_rules_have_written(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "codex").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "codex").chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    here = capturing.build(database, asked=True)
    monkeypatch.setattr(here.model, "answer", agent_model("codex", environ, timeout_s=0.3).answer)
    here.say("Which port?")
    here.intake.summarize(HookReport("s1", message=SAID))
    here.run(all_of_them=True)
    (job,) = here.waiting()
    with pytest.raises(RetryLater, match="Codex did not answer within"):
        here.authoring.write(job, JobContext(job, 60.0))
    done = here.authoring.write(replace(job, attempts=job.max_attempts), JobContext(job, 60.0))
    assert done.result == {"by": "rules", "events": 0, "questions": 1}
    (summary,) = here.memories(Kind.SUMMARY)
    assert SAID in str(summary.state)
