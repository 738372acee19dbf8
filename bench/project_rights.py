"""What rights by project cost: the same searches and lists for the whole tenant and for members, in turns.

Each round asks the same question as everybody: with the transaction of a key of no member, of a member who may read the
one project that is asked for, and of one who may read half of all projects and names none. So what the machine does
meanwhile falls on all of them alike. Words only: a vector would be made before the database is asked.
"""

from __future__ import annotations

import functools
import itertools
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

import psycopg

from bench import report
from bench.stores import stores
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.project_scope import acting_within
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.model.tenant import ProjectRights, TenantRole
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.opening import open_database
from tests._support import services

_KINDS = frozenset({Kind.OBSERVATION})
_ME = WriteContext("bench")
_BATCH = 200
_TENANT = "measured"
_WORDS = ["".join(parts) for parts in itertools.product("bdklmrst", "aeiou", "npxz", "aeiou", "kmt")]
_WEIGHTS = [1 / (place + 1) for place in range(len(_WORDS))]


def main(args: Sequence[str] | None = None) -> int:
    """Fill a store, ask in turns, and print the middle and the slow end of each."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=300)
    given = parser.parse_args(args)
    dice = random.Random(report.chosen_seed(given.seed))
    with stores("postgresql", durable=False) as made:
        url = made.fresh()
        db = open_database(url)
        try:
            fill(db, dice, given.memories, given.projects)
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
            took = measure(db, dice, given.projects, given.rounds)
        finally:
            db.close()
    for name, times in took.items():
        middle, slow = (report.percentile(times, share) * 1000 for share in (0.5, 0.95))
        print(f"{name:45} p50 {middle:7.2f} ms  p95 {slow:7.2f} ms")
    return 0


def fill(db: Database, dice: random.Random, memories: int, projects: int) -> None:
    """Memories of invented words, common and rare ones, in turn of each project."""
    real = services.build(db)
    with acting_as(_TENANT):
        for start in range(0, memories, _BATCH):
            with db.transaction():
                for number in range(start, min(memories, start + _BATCH)):
                    said = " ".join(dice.choices(_WORDS, _WEIGHTS, k=30))
                    project = f"project-{number % projects}"
                    state = State(content=said, attrs=ObservationAttrs(), project=project, title=said[:40])
                    real.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.AGENT), _ME)
        while services.text_index(db).fold(1_000):
            pass


def measure(db: Database, dice: random.Random, projects: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of each kind of question for each kind of caller."""
    real = services.build(db)
    names = [f"project-{number}" for number in range(projects)]
    took: dict[str, list[float]] = defaultdict(list)
    with acting_as(_TENANT):
        few = ProjectRights.of("mbr_one", [(names[0], TenantRole.WRITER)], TenantRole.ADMIN)
        half = ProjectRights.of("mbr_half", [(name, TenantRole.READER) for name in names[::2]], TenantRole.ADMIN)
        for _ in range(rounds):
            text = " ".join(dice.choices(_WORDS, _WEIGHTS, k=3))
            for where, rights, caller in (
                (names[0], None, "the whole tenant"), (names[0], few, "a member of one"),
                (None, None, "the whole tenant"), (None, half, "a member of half"),
            ):  # fmt: skip
                wanted = Filter(_KINDS, project=where)
                scope = "in one project" if where else "in all projects"
                asks: dict[str, Callable[[], object]] = {
                    "search": functools.partial(real.search, SearchQuery(text, wanted, min_score=0)),
                    "list": functools.partial(real.memories.page, wanted, PageRequest(limit=50)),
                }
                for what, ask in asks.items():
                    with acting_within(rights):
                        took[f"{what} {scope}, {caller}"].append(_seconds(ask))
    real.traces.close()
    return dict(sorted(took.items()))


def _seconds(ask: Callable[[], object]) -> float:
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
