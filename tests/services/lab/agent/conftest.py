"""A lab whose agent is the real one: real journal and queue on each engine, a model over HTTP, small texts to cite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.llm.chat_choice import ChatModels
from codexmem.kernel.llm.choice import ModelChoice
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.job import JobStatus
from codexmem.lab.model import Run
from codexmem.lab.service.agent import ProfileAgent
from codexmem.lab.service.profiles import Profile, load
from tests._support.chat_server import Cast
from tests._support.lab import LabBench
from tests._support.lab_desk import SmallBank, SmallLibrary
from tests._support.model_server import ModelServer
from tests._support.waiting import eventually
from tests.services.lab.conftest import Build

KEY = "sk-lab-secret-0123456789abcdef"
LESSON = "123e4567-e89b-12d3-a456-426614174000"
PROFILES = Path(__file__).parents[3] / "_support" / "profiles"
TEXTS = {
    "kb_principles": [
        "Copper holds CO on its surface long enough for two of them to couple.",
        "氧化钛在紫外光下激发电子，空穴留在价带。",
    ],
    "kb_modulation": ["Benzoic acid binds to oxide surfaces through its carboxylate.", "Amines take up CO2."],
    "kb_flours": ["Rye has little gluten, so a rye dough is shaped in tins.", "Spelt dough tears when kneaded long."],
    "kb_ovens": [
        "Steam in the first ten minutes keeps the crust soft while the loaf rises.",
        "炉温越高，烤的时间越短。",
    ],
}


@dataclass
class Bench:
    """A lab, its model server and what there is to cite."""

    lab: LabBench
    server: ModelServer
    profile: Profile
    library: SmallLibrary
    bank: SmallBank

    def play(self, **lines: Any) -> Cast:
        """What each role says."""
        cast = Cast(self.profile, lines)
        self.server.script = cast
        return cast

    def run(self, request: str = "为二氧化碳还原提出 Cu 基催化剂", **order: Any) -> Run:
        """Order one run and wait until nothing more happens to it."""
        _, (run,) = self.lab.order(1, request, **{"recipes_per_run": 1, **order})
        self.finish()
        return self.lab.lab.runs.run(run.id)

    def finish(self) -> None:
        """Do all that waits."""
        worker = self.lab.worker()
        worker.reclaim()
        worker.start()
        try:
            eventually(self._quiet)
        finally:
            worker.stop(2.0)

    def _quiet(self) -> bool:
        counts = self.lab.queue.counts()  # once: between two looks a job may go back to the queue
        return not counts[JobStatus.QUEUED] and not counts[JobStatus.RUNNING]

    def output(self, run: Run) -> dict[str, Any]:
        return self.lab.lab.runs.output(run.id)

    def payloads(self, run: Run, kind: EventType) -> list[dict[str, Any]]:
        return [event.payload or {} for event in self.lab.trace(run, kind)]


Make = Callable[..., Bench]


@pytest.fixture
def make(build: Build) -> Iterator[Make]:
    """Makes a lab with a profile, by its name."""
    servers: list[ModelServer] = []

    def made(name: str = "c2xc", *, profile: Profile | None = None, configured: bool = True) -> Bench:
        server = ModelServer()
        server.start()
        servers.append(server)
        chosen = profile or load(name if name == "c2xc" else str(PROFILES / f"{name}.toml"))
        library, bank = SmallLibrary(TEXTS), SmallBank()
        bank.add(LESSON, "铜钼一比一的样品在第三次循环后失活。", "mof_expert")
        wish = ModelChoice(
            model="scripted", base_url=server.url if configured else "", api_key=KEY if configured else ""
        )
        agent = ProfileAgent(chosen, ChatModels(wish), library.shelf, bank)
        return Bench(build(agent, openai_model="scripted"), server, chosen, library, bank)

    yield made
    for server in servers:
        server.stop()
