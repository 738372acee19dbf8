"""Consolidations at random, taken back: the store must say exactly what it said before.

Each life has a project of its own with memories of persons and models, some confirmed; a model that says anything,
sensible or not, about them; perhaps a second look on top; then undo in the reverse order. Compared are the whole states
of all memories of the project.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

from bench import report
from bench.stores import stores
from codexmem.capture.author import TurnAuthor
from codexmem.kernel.llm.material import AuthorAnswer, KnownMemory
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database
from tests._support import capturing
from tests._support.capturing import Capturing

ME = WriteContext("bench")
_WORDS = ("port", "deploy", "tests", "Redis", "timeout", "端口", "部署", "缓存", "5179", "Monday", "make", "build")
_ALL = frozenset(Status)


def random_life(here: Capturing, seed: int, project: str) -> list[str]:
    """One life; what was not as before, if anything."""
    chance = random.Random(seed)
    for _ in range(chance.randint(8, 14)):
        text = " ".join(chance.choices(_WORDS, k=chance.randint(3, 7)))
        kind = chance.choice(("rule", "decision", "how-to", "cause-and-fix", "discovery"))
        state = State(text, ObservationAttrs(concepts=(kind,)), project=project, type="decision", title=text)
        origin = chance.choice((Origin.MODEL, Origin.MODEL, Origin.HUMAN))
        memory = here.base.memories.remember(MemoryDraft(Kind.OBSERVATION, state, origin), ME)
        if chance.random() < 0.3:
            here.base.memories.count([memory.seq], valid=chance.randint(1, 6))
    seen = [_states(here, project)]
    deltas: list[str] = []
    for _ in range(chance.randint(1, 3)):
        delta = here.consolidation.apply(project, _answer(here, chance, project))
        if delta is not None:
            deltas.append(delta)
            seen.append(_states(here, project))
    wrong: list[str] = []
    for delta, before in zip(reversed(deltas), reversed(seen[:-1]), strict=True):
        here.base.history.rollback_delta(delta, Mode.STRICT, ME)
        now = _states(here, project)
        if {seq: state for seq, state in now.items() if seq in before} != before:
            wrong.append(f"seed {seed}: {delta} left another state behind")
        if any(state["status"] != Status.DELETED.value for seq, state in now.items() if seq not in before):
            wrong.append(f"seed {seed}: something that {delta} made is still there")
    return wrong


def _answer(here: Capturing, chance: random.Random, project: str) -> AuthorAnswer:
    """What the product's author makes of an answer at random."""
    wanted = Filter(frozenset({Kind.OBSERVATION}), project=project)
    found = list(here.base.memories.page(wanted, PageRequest(limit=60)).items)[::-1]
    known = [KnownMemory(f"K{place}", each.seq, "rule", each.state.content) for place, each in enumerate(found, 1)]
    labels = [f"K{place}" for place in range(1, len(known) + 3)]
    operations = []
    for _ in range(chance.randint(0, 5)):
        some = chance.sample(labels, chance.randint(1, min(4, len(labels))))
        text = chance.choice((*[each.text for each in known], "", "Use port 9999"))
        operations.append({
            "op": chance.choice(("merge", "merge", "supersede", "rule")), "keep": chance.choice(labels), "drop": some,
            "rests_on": some, "kind": "rule", "title": text, "text": text, "reason": "at random",
        })  # fmt: skip
    here.model.says = lambda _: json.dumps({"reason": "", "operations": operations})
    return TurnAuthor(here.model).review(project, known, lambda: None)


def _states(here: Capturing, project: str) -> dict[int, dict[str, Any]]:
    wanted = Filter(frozenset({Kind.OBSERVATION}), project=project, statuses=_ALL)
    return {each.seq: each.state.to_json() for each in here.base.memories.page(wanted, PageRequest(limit=100)).items}


def main(argv: Sequence[str] | None = None) -> int:
    """Live on each engine, and print."""
    parser = report.arguments(__doc__)
    parser.add_argument("--lives", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, help="per engine; begin nothing new after that")
    given = parser.parse_args(argv)
    seed = report.chosen_seed(given.seed)
    document: dict[str, Any] = {"seed": seed}
    for engine in report.chosen_engines(given.engine):
        with stores(engine, durable=False) as made, acting_as(LOCAL):
            db = open_database(made.fresh())
            here, began, progress = capturing.build(db, asked=True), time.monotonic(), report.Progress(engine)
            wrong: list[str] = []
            lived = 0
            for number in range(given.lives):
                if given.minutes is not None and time.monotonic() - began > given.minutes * 60:
                    break
                lived += 1
                wrong += random_life(here, seed + number, f"life-{number}")
                if number % 100 == 0:
                    progress.tell(f"{number:,} of {given.lives:,}, {len(wrong)} wrong")
            progress.close()
            db.close()
        seconds = round(time.monotonic() - began, 1)
        document[engine] = {"lives": lived, "not as before": len(wrong), "first": wrong[:5], "seconds": seconds}
    good = all(
        not document[engine]["not as before"] and document[engine]["lives"] == given.lives
        for engine in document
        if engine != "seed"
    )
    return report.conclude("consolidation taken back", document, report.lines(document), kept=good, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
