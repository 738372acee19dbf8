"""Does the evidence reach the author, and what does asking cost?

Real coding sessions (`coding-sessions`) go through the whole intake; rules run after each turn, and the author is asked
when the product's plan says so, with the time between turns that people take. A model that has nothing to say records
what it is asked. For each question about those sessions: does what the author was shown of the deciding session hold
the answer? Cost grows with the number of events.

`--batches` asks the same of the way that 0.1.0 had: five tool events of a turn for each question, once as they were
alone and once below the person's request. Nothing is stored for it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench import coding_log, report
from bench.coding_log import CodingSession
from bench.told import holds
from codexmem.app import Core, open_core
from codexmem.capture.author import TurnAuthor
from codexmem.capture.author_queue import AUTHOR, AuthorQueue
from codexmem.capture.authoring import Authoring
from codexmem.capture.extraction import Extraction
from codexmem.capture.job_log import JobLog, TokenBudget
from codexmem.capture.service import EXTRACT, SUMMARIZE, CaptureService, Rules, cleaned, cleaned_prompt
from codexmem.kernel.jobs.job_kind import JobContext
from codexmem.kernel.llm.clip import clip, rendered, shares
from codexmem.kernel.llm.model import Check, Completion, ModelPrompt
from codexmem.kernel.model.capture import HookReport, skip_of
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.model.text_size import tokens
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from codexmem.settings import Settings

SOON_MS = 10_000  # as in the product: who waits no longer is asked before the next turn
LEAST_CONTAINED = 0.98
MOST_MEDIAN = 6_000
MOST_CALLS = 0.15
_PAGE = 500
# Of a question of 0.1.0: events, characters from outside, of one input or response, of the request.
_BATCH, _BATCH_CHARS, _BATCH_FIELD, _BATCH_REQUEST = 5, 60_000, 16_000, 4_000


@dataclass
class SilentModel:
    """Has nothing to say, and records what it is asked."""

    name: str = "silent"
    asked: list[str] = field(default_factory=list)

    def answer(self, prompt: ModelPrompt, check: Check) -> Completion:
        """That there is nothing."""
        check()
        self.asked.append(prompt.text)
        return Completion('{"reason": "", "memories": []}', tokens(prompt.text), 10)


@dataclass
class Asked:
    """What the author was asked about one project."""

    project: str
    events: int = 0
    questions: dict[str, list[str]] = field(default_factory=dict)  # by session


class Replay:
    """Capture, rules and author on one store, each job run by hand when it would be due."""

    def __init__(self, core: Core) -> None:
        clock = SystemClock()
        sessions, captures, tallies = Sessions(core.db), Captures(core.db), Tallies(core.db)
        plan = AuthorQueue(core.queue, sessions, captures, asked=True, soon_ms=SOON_MS)
        log = JobLog(sessions, captures, tallies, TokenBudget(tallies, clock, 0), core.log, clock)
        extracting = Extraction(sessions, captures, core.memories, plan, log)
        self.model = SilentModel()
        authors = Authoring(
            sessions, captures, core.memories, core.queue, plan, TurnAuthor(self.model), core.recall.search, log,
            core.consolidation, core.history,
        )  # fmt: skip
        self.intake = CaptureService(
            core.db, sessions, captures, core.memories, core.queue, core.log, clock, Rules(), plan
        )
        self._core = core
        self._clock = clock
        self._handlers = {EXTRACT: extracting.observations, SUMMARIZE: extracting.summaries, AUTHOR: authors.write}

    def run(self) -> None:
        """Everything that would be done before the next turn."""
        while due := [job for job in self._waiting() if job.run_at_ms <= self._clock.now_ms() + SOON_MS]:
            for job in due:
                done = self._handlers[job.kind](job, JobContext(job, 60.0))
                with self._core.db.transaction():
                    if done.effect is not None:
                        done.effect()
                self._core.queue.cancel(job.id)

    def _waiting(self) -> list[Job]:
        found = self._core.queue.list(JobStatus.QUEUED, limit=_PAGE)[::-1]
        return [job for job in found if job.kind in self._handlers]


@contextmanager
def replaying() -> Iterator[Replay]:
    """A store of its own, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        settings = Settings(
            data_dir=home, database_url=f"sqlite:///{home / 'codexmem.db'}", provider="rules", embedder="none"
        )
        core = open_core(settings)
        try:
            yield Replay(core)
        finally:
            core.close()


def ask_all(given: tuple[Path, str, int | None]) -> Asked:
    """Replay a project, and keep what the author was asked."""
    data, project, sample = given
    found = Asked(project)
    with acting_as(LOCAL), replaying() as replay:
        for session in coding_log.sessions(data, project)[:sample]:
            before = len(replay.model.asked)
            found.events += _replay(replay, session)
            found.questions[session["id"]] = replay.model.asked[before:]
    return found


def _replay(replay: Replay, session: CodingSession) -> int:
    """Report a session turn by turn; how many events were captured."""
    key, project = session["id"], session["project"]
    cwd = f"/home/me/{project}"
    captured = 0
    for turn in coding_log.turns(session):
        replay.intake.init(HookReport(key, project=project, cwd=cwd, prompt=turn.prompt["text"]))
        for item in turn.events:
            told = coding_log.as_hook(item, cwd) if item["kind"] in coding_log.REPORTED else None
            if told is None:
                continue
            replay.intake.observe(HookReport(
                key, project=project, cwd=cwd, tool=told["tool_name"], input=told["tool_input"],
                response=told["tool_response"], call=f"{key}/{item['i']}",
            ))  # fmt: skip
            captured += 1
        replay.intake.summarize(HookReport(key, project=project, cwd=cwd, message=turn.closing))
        captured += 2
        replay.run()
    replay.intake.complete(key)
    replay.run()
    return captured


def batches(given: tuple[Path, str, int | None]) -> tuple[Asked, Asked]:
    """What 0.1.0 asked about a project: the batches alone, and with the request above them."""
    data, project, sample = given
    alone, requested = Asked(project), Asked(project)
    for session in coding_log.sessions(data, project)[:sample]:
        texts = [each for turn in coding_log.turns(session) for each in _batched(turn, project)]
        alone.questions[session["id"]] = [events for _, events in texts]
        requested.questions[session["id"]] = [f"{request}\n{events}" for request, events in texts]
        captured = sum(len(_reports(turn, project)) + 2 for turn in coding_log.turns(session))
        alone.events, requested.events = alone.events + captured, requested.events + captured
    return alone, requested


def _batched(turn: coding_log.Turn, project: str) -> Iterator[tuple[str, str]]:
    """The request and the events of each question about a turn."""
    reports = _reports(turn, project)
    request = clip(cleaned_prompt(HookReport("", prompt=turn.prompt["text"]))[0], _BATCH_REQUEST)
    for first in range(0, len(reports), _BATCH):
        fields = [rendered(part) for each in reports[first : first + _BATCH] for part in (each.input, each.response)]
        limits = shares([len(text) for text in fields], _BATCH_CHARS - len(request), _BATCH_FIELD)
        yield request, "\n".join(clip(text, limit) for text, limit in zip(fields, limits, strict=True))


def _reports(turn: coding_log.Turn, project: str) -> list[HookReport]:
    """The tool events of a turn as they are captured."""
    cwd = f"/home/me/{project}"
    told = (coding_log.as_hook(item, cwd) for item in turn.events if item["kind"] in coding_log.REPORTED)
    reports = (
        HookReport("", cwd=cwd, tool=each["tool_name"], input=each["tool_input"], response=each["tool_response"])
        for each in told
        if each is not None
    )
    return [cleaned(each) for each in reports if skip_of(each, Rules().skipped_tools) is None]


def figures(found: Sequence[Asked], questions: Sequence[Any]) -> dict[str, Any]:
    """How many answers stand in what the author was shown, and what that took."""
    shown = {asked.project: asked.questions for asked in found}
    of = [each for each in questions if each.get("answers") and each["project"] in shown]
    missed = [
        each["id"]
        for each in of
        if not any(
            holds(each["answers"], text)
            for evidence in each["evidence"]
            for text in shown[each["project"]].get(evidence["session"], ())
        )
    ]
    sizes = sorted(tokens(text) for asked in found for texts in asked.questions.values() for text in texts)
    events = sum(asked.events for asked in found)
    return {
        "questions about the sessions": len(of), "their answer was shown": len(of) - len(missed),
        "share": round((len(of) - len(missed)) / len(of), 4) if of else 0.0, "not shown": missed,
        "captured events": events, "calls": len(sizes), "calls per event": round(len(sizes) / max(events, 1), 4),
        "tokens, median": statistics.median(sizes) if sizes else 0,
        "tokens, 90 %": report.percentile(sizes, 0.9) if sizes else 0, "tokens, most": sizes[-1] if sizes else 0,
    }  # fmt: skip


def kept(made: dict[str, Any]) -> bool:
    """Whether the evidence is there and asking stays cheap."""
    return bool(
        made["share"] >= LEAST_CONTAINED
        and made["tokens, median"] <= MOST_MEDIAN
        and made["calls per event"] <= MOST_CALLS
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Replay every project and print."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--project", nargs="+", choices=coding_log.PROJECTS, default=coding_log.PROJECTS)
    parser.add_argument("--sample", type=int, help="so many sessions of each project")
    parser.add_argument("--jobs", type=int, default=2, help="projects at the same time")
    parser.add_argument("--batches", action="store_true", help="how 0.1.0 asked, instead")
    given = parser.parse_args(argv)
    projects = [(given.data, project, given.sample) for project in given.project]
    asked = coding_log.questions(given.data)
    with get_context("spawn").Pool(given.jobs) as pool:
        if given.batches:
            return _conclude_batches(pool.map(batches, projects, chunksize=1), asked, as_json=given.json)
        found = pool.map(ask_all, projects, chunksize=1)
    made = figures(found, asked)
    return report.conclude("evidence for the author", made, report.lines(made), kept=kept(made), as_json=given.json)


def _conclude_batches(found: Sequence[tuple[Asked, Asked]], asked: Sequence[Any], *, as_json: bool) -> int:
    """Print both columns."""
    columns = zip(("events alone", "with the request"), zip(*found, strict=True), strict=True)
    made = {
        f"{name}: {key}": value
        for name, column in columns
        for key, value in figures(column, asked).items()
        if key != "not shown"
    }
    return report.conclude("evidence in batches of 0.1.0", made, report.lines(made), kept=True, as_json=as_json)


if __name__ == "__main__":
    sys.exit(main())
