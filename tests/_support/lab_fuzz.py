"""Whatever the interface description allows, and what it does not, sent to the lab's routes on a real store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis import checks as known_checks
from schemathesis.core.result import Ok
from starlette.types import ASGIApp

import codexmem.lab.service
from codexmem.app import Core, Services, open_core
from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.services.status import ServerStatus
from codexmem.kernel.store.database import acting_as
from codexmem.lab.http import SURFACE
from codexmem.lab.lesson_model import NewLesson
from codexmem.lab.model import BatchOrder, CatalogEntry, FeedbackInput, Measurement
from codexmem.settings import load
from tests._support.waiting import eventually

SAMPLE = Path(codexmem.lab.service.__file__).parent / "sample_kb"
known_checks.load_all_checks()
CHECKS = [
    known_checks.not_a_server_error,
    known_checks.status_code_conformance,
    known_checks.content_type_conformance,
    known_checks.response_headers_conformance,
    known_checks.response_schema_conformance,
]


@dataclass
class Sent:
    """What was sent and how it was answered."""

    operations: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)  # operations by answers with 200


@dataclass
class FuzzedLab:
    """The lab's routes on an open store, and names of what there is in it."""

    app: ASGIApp
    known: dict[str, Any]

    def send(self, *, examples: int, number: int = 0) -> Sent:
        """So many requests of each kind to each operation; raises at the first answer that is not as described."""
        sent = Sent()
        schema = schemathesis.openapi.from_asgi("/openapi.json", self.app)
        for found in schema.get_all_operations():
            assert isinstance(found, Ok), found
            operation = found.ok()
            sent.operations += 1
            named = {name: value for name, value in self.known.items() if f"{{{name}}}" in operation.path}
            ways = [operation.as_strategy()]
            if named:
                ways.append(operation.as_strategy(path_parameters=named))
            if operation.body or operation.query or operation.path_parameters:
                ways.append(operation.as_strategy(GenerationMode.NEGATIVE))
            self._send(operation.label, st.one_of(ways), examples * len(ways), number, sent)
        return sent

    def _send(self, label: str, cases: st.SearchStrategy[Any], examples: int, number: int, sent: Sent) -> None:
        @seed(number)
        @settings(
            max_examples=examples, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(cases)
        def once(case: Any) -> None:
            reply = case.call()
            sent.statuses[reply.status_code] += 1
            sent.reached[label] += reply.status_code == 200
            case.validate_response(reply, checks=CHECKS)

        once()


@contextmanager
def fuzzed_lab(data_dir: Path, **given: Any) -> Iterator[FuzzedLab]:
    """A lab with a judged run, lessons, products and presets in it; no worker runs while it is fuzzed."""
    documents = {f"kb_{name}_dir": str(SAMPLE / name) for name in ("principles", "modulation")}
    chosen = load(
        {
            "data_dir": str(data_dir),
            "embedder": "none",
            "openai_base_url": "http://127.0.0.1:9/v1",
            **documents,
            **given,
        },
        {},
        data_dir,
    )
    core = open_core(chosen)
    try:
        with acting_as(LOCAL):
            known = _furnish(core)
        services = Services(ServerStatus(version="test", clock=SystemClock()))
        services.opened(core)
        guard = GuardSettings(None, acting_as, names=("testserver",), port=80)
        yield FuzzedLab(build_asgi([SURFACE], services, guard, version="test"), known)
    finally:
        core.close()


def _furnish(core: Core) -> dict[str, Any]:
    lab = core.lab
    core.begin()
    try:
        batch, (run, *_) = lab.runs.create(BatchOrder("Cu–TiO2 用于 C2H4", 2, dry_run=True))
        eventually(lambda: lab.runs.batch(batch.id).status.ended)
        product = lab.catalog.add_product(CatalogEntry("C2H4 乙烯"))
        preset = lab.catalog.add_preset(CatalogEntry("gas", product_ids=(product.id,)))
        saved = lab.judging.save(run.id, FeedbackInput(7.5, "好", "slow", "", (Measurement(product.id, 1.0),)))
        assert saved.learning is not None
        eventually(lambda: lab.banking.learning.jobs(run.id)[0].ended_ms is not None)
        note = lab.banking.bank.add(NewLesson("空白实验 first"), WriteContext("test"))
    finally:
        core.stop(5.0)
    event = lab.trace.page(run.id, limit=1).items[0]
    return {
        "batch_id": batch.id, "run_id": run.id, "event_id": event.id, "product_id": product.id,
        "preset_id": preset.id, "mem_id": note.id, "alias": "C1", "ref": lab.shelving.evidence.one(run.id, "C1").ref,
    }  # fmt: skip
