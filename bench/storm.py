"""A storm while people search: Chroma is killed, the embedding server goes, both come back; every search is answered.

Eight threads search without pause, through the product as its settings wire it, with a real Chroma server and a
scripted embedding server. Each answer and its trace must say what was true at that moment: hybrid while vectors can be
had, words alone with the reason while they cannot, and hybrid again as soon as the breaker's pause allows.
"""

from __future__ import annotations

import functools
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from bench import drafts, report
from bench.stores import stores
from codexmem import settings
from codexmem.app.core import Core, open_core
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.breaker import FIRST_S, LONGEST_S, Breaker
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchMode, SearchQuery
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.events import EventTable
from tests._support.chroma import ChromaServer
from tests._support.embedding_server import EmbeddingServer

BACKENDS = ("hybrid", "chroma")
SEARCHERS = 8
PROJECTS = 4
CHROMA, EMBEDDER = "Chroma at", "the embedding server"  # how a note begins to name them
_LONGEST = LONGEST_S / FIRST_S
_SLACK_S = 3.0  # a busy machine may be late to notice that a pause is over
_PATIENCE_S = 60.0
_OBSERVATIONS = frozenset({Kind.OBSERVATION})


@dataclass(frozen=True)
class Phase:
    """A stretch of the storm: what is up, and how long it may take until that is noticed."""

    name: str
    chroma: bool
    embedder: bool
    notice_s: float = 0.0

    def truth(self, backend: str) -> tuple[SearchMode, str]:
        """The mode of an answer, and what its note must speak of; empty if there must be none."""
        if not self.embedder:
            return SearchMode.LEXICAL, EMBEDDER
        if self.chroma:
            return SearchMode.HYBRID, ""
        return (SearchMode.HYBRID if backend == "hybrid" else SearchMode.LEXICAL), CHROMA


@dataclass(frozen=True)
class Asked:
    """One search: when, and what came back."""

    text: str
    phase: int | None  # None where the phase changed meanwhile
    began_s: float
    took_s: float
    mode: SearchMode | None = None  # None: it failed
    notes: tuple[str, ...] = ()
    sources: Mapping[str, int] = field(default_factory=dict)
    error: str = ""


def is_true(asked: Asked, mode: SearchMode, about: str) -> bool:
    """Whether an answer says this of itself."""
    notes = " ".join(asked.notes)
    return asked.mode is mode and (about in notes if about else not notes)


def is_consistent(asked: Asked) -> bool:
    """Whether mode, sources and notes say the same."""
    by_vectors = bool(asked.sources.keys() - {"lexical", "neighbours"})
    return by_vectors == (asked.mode is SearchMode.HYBRID) and (by_vectors or bool(asked.notes))


class Searchers:
    """Threads that search until they are stopped."""

    def __init__(self, core: Core, seed: int) -> None:
        self._core = core
        self._phase: int | None = None
        self._ending = threading.Event()
        self.asked: list[list[Asked]] = [[] for _ in range(SEARCHERS)]
        self._threads = [threading.Thread(target=self._run, args=(n, seed), daemon=True) for n in range(SEARCHERS)]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Until the block ends."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._ending.set()
            for thread in self._threads:
                thread.join(60)

    def turn(self, phase: int | None) -> None:
        """From here on everything is as this phase says; None while it is changing."""
        self._phase = phase

    def newest(self) -> list[Asked]:
        """The last answer of each who has one."""
        return [asked[-1] for asked in self.asked if asked]

    def _run(self, number: int, seed: int) -> None:
        chance = random.Random(f"{seed} {number}")
        with acting_as(LOCAL):
            while not self._ending.is_set():
                self.asked[number].append(self._ask(chance, f"searcher{number}x{len(self.asked[number])}"))

    def _ask(self, chance: random.Random, mark: str) -> Asked:
        text = f"{drafts.text(chance, 20)} {mark}"
        wanted = Filter(_OBSERVATIONS, project=chance.choice((None, drafts.project(chance.randrange(PROJECTS)))))
        phase, began = self._phase, time.monotonic()
        try:
            answer = self._core.recall.search(SearchQuery(text, wanted, limit=10))
        except BaseException as error:
            failed = f"{type(error).__name__}: {str(error)[:200]}"
            return Asked(text, None, began, time.monotonic() - began, error=failed)
        took = time.monotonic() - began
        return Asked(text, phase if phase == self._phase else None, began, took, answer.mode, answer.notes,
                     answer.sources)  # fmt: skip


class Storm:
    """One run on one store."""

    def __init__(self, core: Core, backend: str, chroma: ChromaServer, api: EmbeddingServer, *, seconds: float,
                 pause_s: float, seed: int) -> None:  # fmt: skip
        self._core = core
        self._backend = backend
        self._chroma = chroma
        self._api = api
        self._seconds = seconds
        self._pause_s = pause_s
        self.searchers = Searchers(core, seed)
        self.phases: list[Phase] = []
        self.begun_s: list[float] = []
        self.noticed_s: dict[str, float] = {}

    def blow(self) -> None:
        """From calm to calm."""
        progress = report.Progress(f"{self._core.db.engine.name}, {self._backend}")
        with self.searchers.running():
            self._pass(Phase("calm", chroma=True, embedder=True), progress)
            self.searchers.turn(None)
            killed = time.monotonic()
            self._chroma.kill()
            self._pass(Phase("Chroma killed", chroma=False, embedder=True), progress)
            self.searchers.turn(None)
            stopped = time.monotonic()
            self._api.stop()
            self._pass(Phase("both gone", chroma=False, embedder=False), progress)
            self.searchers.turn(None)
            self._api.start()
            self._pass(Phase("embedder back", False, True, notice_s=self._until_noticed(stopped)), progress)
            self.searchers.turn(None)
            self._chroma.start()
            self._pass(Phase("both back", True, True, notice_s=self._until_noticed(killed)), progress)
        progress.close()

    def _until_noticed(self, gone_s: float) -> float:
        # Pauses double while it is away, so that the last is at most as long as it was away, and the first pause more.
        return min(time.monotonic() - gone_s + self._pause_s, _LONGEST * self._pause_s) + _SLACK_S

    def _pass(self, phase: Phase, progress: report.Progress) -> None:
        self.phases.append(phase)
        self.begun_s.append(time.monotonic())
        self.searchers.turn(len(self.phases) - 1)
        progress.tell(phase.name)
        if phase.notice_s:
            while not self._is_noticed(phase) and time.monotonic() < self.begun_s[-1] + phase.notice_s:
                time.sleep(0.02)
            self.noticed_s[phase.name] = round(time.monotonic() - self.begun_s[-1], 2)
        time.sleep(self._seconds)
        patience = time.monotonic() + _PATIENCE_S
        while not self._is_answered(len(self.phases) - 1):
            if time.monotonic() > patience:
                raise RuntimeError(f"a search in the phase {phase.name!r} does not come to its end")
            time.sleep(0.02)

    def _is_answered(self, phase: int) -> bool:
        newest = self.searchers.newest()  # of a slow machine's first searches there may be none yet
        return len(newest) == SEARCHERS and all(asked.error or asked.phase == phase for asked in newest)

    def _is_noticed(self, phase: Phase) -> bool:
        newest = self.searchers.newest()
        return len(newest) == SEARCHERS and all(
            asked.began_s > self.begun_s[-1] and is_true(asked, *phase.truth(self._backend)) for asked in newest
        )

    def figures(self) -> dict[str, Any]:
        """What happened, phase by phase, and whether it was what was promised."""
        asked = [each for one in self.searchers.asked for each in one]
        untrue = [each for each in asked if not each.error and not self._is_honest(each)]
        wrong = self._wrong_traces(asked)
        errors = [each.error for each in asked if each.error]
        return {
            "searches": len(asked), "errors": len(errors), "untrue": len(untrue), "wrong_traces": wrong,
            "dropped_traces": self._core.traces.dropped, "noticed_s": self.noticed_s,
            "phases": [self._row(number, asked) for number in range(len(self.phases))],
            "failures": [*errors[:10], *(f"{_phase_name(self.phases, each)}: {each.mode} {each.notes} {each.sources}"
                                         for each in untrue[:10])],
        }  # fmt: skip

    def _is_honest(self, asked: Asked) -> bool:
        if asked.phase is None or not is_consistent(asked):
            return is_consistent(asked)
        phase = self.phases[asked.phase]
        noticed_s = self.begun_s[asked.phase] + self.noticed_s.get(phase.name, 0.0)
        return asked.began_s < noticed_s or is_true(asked, *phase.truth(self._backend))

    def _wrong_traces(self, asked: Sequence[Asked]) -> int:
        """How many answers have no trace that says the same; those that were counted as dropped are owed none."""
        self._core.traces.flush()
        with acting_as(LOCAL):
            found = EventTable(self._core.db).of_type(
                EventType.SEARCH_ANSWERED.value, from_ms=0, to_ms=2**62, limit=len(asked) + 1
            )
        told = Counter((e.payload["query"], e.payload["mode"], tuple(e.payload["notes"])) for e in found if e.payload)
        answered = Counter((each.text, str(each.mode), each.notes) for each in asked if not each.error)
        return max(0, (answered - told).total() - self._core.traces.dropped) + (told - answered).total()

    def _row(self, number: int, asked: Sequence[Asked]) -> dict[str, Any]:
        mine = [each for each in asked if each.phase == number]
        took = [each.took_s * 1_000 for each in mine]
        return {
            "phase": self.phases[number].name, "searches": len(mine),
            "hybrid": sum(each.mode is SearchMode.HYBRID for each in mine),
            "words_only": sum(each.mode is SearchMode.LEXICAL for each in mine),
            "with_notes": sum(bool(each.notes) for each in mine),
            "p50_ms": round(report.percentile(took, 0.5), 1), "p95_ms": round(report.percentile(took, 0.95), 1),
            "longest_ms": round(max(took, default=0.0), 1),
        }  # fmt: skip


def _phase_name(phases: Sequence[Phase], asked: Asked) -> str:
    return "between" if asked.phase is None else phases[asked.phase].name


def kept(figures: Mapping[str, Any]) -> bool:
    """Whether every search was answered and told the truth; what came back too late made answers untrue."""
    return (
        not figures["errors"] and not figures["untrue"] and not figures["wrong_traces"]
        and all(row["searches"] for row in figures["phases"]) and figures["phases"][-1]["hybrid"] > 0
    )  # fmt: skip


def soak(engine: str, backend: str, chroma: ChromaServer, *, memories: int, seconds: float, pause_s: float,
         seed: int) -> dict[str, Any]:  # fmt: skip
    """One storm over a fresh store; the server is up before and after it."""
    with ExitStack() as stack:
        made = stack.enter_context(stores(engine, durable=False))
        api = stack.enter_context(EmbeddingServer())
        core = stack.enter_context(opened(made.fresh(), made.home, backend, chroma, api, pause_s))
        fill(core, memories, random.Random(seed))
        storm = Storm(core, backend, chroma, api, seconds=seconds, pause_s=pause_s, seed=seed)
        storm.blow()
        return {"memories": memories, **storm.figures()}


@contextmanager
def opened(url: str, home: Path, backend: str, chroma: ChromaServer, api: EmbeddingServer,
           pause_s: float) -> Iterator[Core]:  # fmt: skip
    """The product as these settings wire it; only the pauses of its breakers may be shorter, all in proportion."""
    environ = {
        "CODEXMEM_DATA_DIR": str(home), "XDG_CONFIG_HOME": str(home), "CODEXMEM_DATABASE_URL": url,
        "CODEXMEM_VECTOR_BACKEND": backend, "CODEXMEM_CHROMA_URL": chroma.url,
        "CODEXMEM_CHROMA_COLLECTION": f"storm{time.monotonic_ns()}", "CODEXMEM_EMBEDDER": "openai",
        "CODEXMEM_OPENAI_EMBEDDING_MODEL": "scripted", "CODEXMEM_OPENAI_EMBEDDING_BASE_URL": api.url,
    }  # fmt: skip
    soon = functools.partial(Breaker, first_s=pause_s, longest_s=_LONGEST * pause_s)
    with (
        mock.patch("codexmem.kernel.store.chroma.client.Breaker", soon),
        mock.patch("codexmem.kernel.embed.openai.Breaker", soon),
    ):
        core = open_core(settings.load({}, environ, cwd=home))
    try:
        yield core
    finally:
        core.close()


def fill(core: Core, memories: int, chance: random.Random) -> None:
    """Write and index so many."""
    with acting_as(LOCAL):
        for number in range(memories):
            state = State(drafts.text(chance, 300), ObservationAttrs(), project=drafts.project(number % PROJECTS))
            core.memories.remember(
                MemoryDraft(Kind.OBSERVATION, state, Origin.MODEL, session=f"s{number // 20}"), WriteContext("storm")
            )
        core.indexer.catch_up(lambda: None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__)
    parser.add_argument("--backend", choices=(*BACKENDS, "both"), default="both", help="where vectors are")
    parser.add_argument("--memories", type=int, default=3_000)
    parser.add_argument("--seconds", type=float, default=8.0, help="length of a phase")
    parser.add_argument("--pause", type=float, default=FIRST_S, help="first pause of the breakers, in seconds")
    options = parser.parse_args(argv)
    seed = report.chosen_seed(options.seed)
    runs: dict[str, dict[str, Any]] = {}
    for engine in report.chosen_engines(options.engine):
        for backend in BACKENDS if options.backend == "both" else (options.backend,):
            with ChromaServer() as chroma:
                runs[f"{engine}, {backend}"] = soak(
                    engine, backend, chroma, memories=options.memories, seconds=options.seconds,
                    pause_s=options.pause, seed=seed,
                )  # fmt: skip
    text = "\n".join(f"{name}\n{_told(figures)}" for name, figures in runs.items())
    return report.conclude(
        "storm", {"seed": seed, "runs": runs}, f"seed {seed}\n{text}",
        kept=all(kept(figures) for figures in runs.values()), as_json=options.json,
    )  # fmt: skip


def _told(figures: Mapping[str, Any]) -> str:
    rows = figures["phases"]
    heads = [name.replace("_", " ") for name in rows[0]]
    plain = {name: value for name, value in figures.items() if name not in {"phases", "failures"}}
    failures = "".join(f"\n  {each}" for each in figures["failures"])
    return f"{report.table(heads, [list(row.values()) for row in rows])}\n{report.lines(plain)}{failures}"


if __name__ == "__main__":
    sys.exit(main())
