"""Whether a search says nothing when nothing fits, and keeps what does: the product's own search in filled stores.

Stores of 5, 50, 500 and 5,000 memories are filled with worlds (`bench/worlds.py`) and asked through the core, in
process: questions that they answer, questions of the same world whose answer is not there (near), questions of other
worlds (cross), and nonsense and small talk.

Printed are, for each floor, the share of strangers and of nonsense that got anything, and of the right hits among the
first ten without a floor the share that is still given. `--fit` fits a gate on all sets but one and judges it on that
one. Words of a project that asks are taken out of the background, as if it had never been counted.

usage: python -m bench.relevance --data PATH [--embedder none|local] [--work DIR] [--every N] [--fit]
"""

import argparse
import functools
import math
import pickle
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench import background, worlds
from bench.worlds import World
from codexmem.app.core import open_core
from codexmem.kernel.embed import local
from codexmem.kernel.model.attrs import PromptAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import Floor, SearchAnswer, SearchQuery
from codexmem.kernel.search import evidence
from codexmem.settings import load

SIZES = {5: 2, 50: 1, 500: 1, 5_000: 1}  # stores of each world, by size
LARGE = 4  # stores of the largest size, in all
POSITIVES = {5: 1, 50: 6, 500: 30, 5_000: 70}  # questions whose answers are put into one store
STRANGERS = {5: 6, 50: 10, 500: 25, 5_000: 80}
NONSENSE = {5: 4, 50: 6, 500: 12, 5_000: 60}
NEAR = {5: 2, 50: 3, 500: 6, 5_000: 20}
KINDS = frozenset({Kind.PROMPT})
BY = WriteContext("bench")
STRANGE = ("cross", "nonsense")
LINES = (0.03, 0.10)
CROWD = -0.30
RIDGE = 1.0
_PROJECT = "world"


@dataclass(slots=True)
class Filled:
    """What one store holds: memories as (world, place), of which questions ask."""

    size: int
    held: list[tuple[int, int]]
    asked: list[tuple[str, int, worlds.Put]]  # kind, the question's world (-1: nobody's), the question


@dataclass(slots=True)
class Case:
    """One question in one store."""

    kind: str  # answered, near, absent, cross, template, nonsense
    suite: str
    chinese: bool
    size: int
    text: str
    facts: list[tuple[float, ...]] = field(default_factory=list)  # of each candidate: share, ln surprise, cosine, crowd
    gold: list[bool] = field(default_factory=list)  # whether each of these answers it
    right: set[int] = field(default_factory=set)  # memories that answer, among the first ten without a floor
    given: dict[Floor, set[int]] = field(default_factory=dict)  # memories, by floor


def plan(found: Sequence[World], seed: int = 11) -> list[Filled]:
    """Which stores there are, and what each is asked."""
    rng, stores = random.Random(seed), []
    names = list(range(len(found)))
    for size, each in SIZES.items():
        homes = names * each if size < 5_000 else rng.sample(names, LARGE)
        for home in homes:
            world = found[home]
            answered = [q for q in world.questions if q.gold]
            chosen = rng.sample(answered, min(POSITIVES[size], len(answered)))
            others = [other for other in names if other != home]
            rng.shuffle(others)
            if size == 5_000:
                # Several worlds live in it; those left out ask as strangers.
                inside = [home, *others[: len(others) * 2 // 3]]
                chosen_by = [(at, q) for at in inside for q in found[at].questions if q.gold]
                chosen_by = rng.sample(chosen_by, POSITIVES[size])
            else:
                inside, chosen_by = [home], [(home, q) for q in chosen]
            held: dict[tuple[int, int], None] = {}
            for at, q in chosen_by:
                held.update(dict.fromkeys((at, place) for place in q.gold[: max(1, size - 1)]))
                if size >= 50:
                    held.update(dict.fromkeys(_beside(found[at], at, q.gold)))
            rest = [(at, place) for at in inside for place in range(len(found[at].memories))]
            rng.shuffle(rest)
            for key in rest:
                if len(held) >= size:
                    break
                held[key] = None
            while len(held) < size and len(inside) < len(names):
                at = next(other for other in others if other not in inside)
                inside.append(at)
                more = [(at, place) for place in range(len(found[at].memories))]
                rng.shuffle(more)
                held.update(dict.fromkeys(more[: size - len(held)]))
            there = dict(list(held.items())[:size])
            asked = [("answered", at, q) for at, q in chosen_by if all((at, place) in there for place in q.gold[:3])]
            near = [("near" if q.gold else "absent", at, q) for at in dict.fromkeys([home, *inside[:1]])
                    for q in found[at].questions if not any((at, place) in there for place in q.gold)]  # fmt: skip
            asked += rng.sample(near, min(NEAR[size], len(near)))
            asked += _strangers(found, inside, home, STRANGERS[size], rng)
            asked += [("nonsense", -1, worlds.Put(text)) for text in rng.sample(worlds.NONSENSE, NONSENSE[size])]
            stores.append(Filled(size, sorted(there), asked))
    return stores


def _beside(world: World, at: int, gold: Sequence[int]) -> Iterator[tuple[int, int]]:
    for place in gold:
        for other in (place - 1, place + 1):
            if 0 <= other < len(world.memories) and world.memories[other].session == world.memories[place].session:
                yield at, other


def _strangers(found: Sequence[World], inside: Sequence[int], home: int, count: int,
               rng: random.Random) -> list[tuple[str, int, worlds.Put]]:  # fmt: skip
    """Questions of worlds that are not here, half of them of a world of the same set where there is one."""
    outside = [at for at in range(len(found)) if at not in inside]
    alike = [at for at in outside if found[at].suite == found[home].suite]
    sets = {found[at].suite for at in inside}
    asked = []
    for number in range(count):
        at = rng.choice(alike if alike and number % 2 else outside)
        question = rng.choice([q for q in found[at].questions if q.gold])
        # Its worlds are written after one template: everybody's colleague has a birthday.
        template = found[at].suite == "memdaily" and "memdaily" in sets
        asked.append(("template" if template else "cross", at, question))
    return asked


@contextmanager
def remembered_vectors(path: Path) -> Iterator[None]:
    """Encode each text once for all stores and runs."""
    import numpy as np

    known: dict[tuple[int, str], Any] = pickle.loads(path.read_bytes()) if path.exists() else {}
    real, before = local._small_once, len(known)

    def once(threads: int) -> Any:
        encoders: list[Any] = []

        def encode(which: int) -> Any:
            def run(texts: list[str]) -> Any:
                new = [text for text in texts if (which, text) not in known]
                if new:
                    if not encoders:
                        encoders.extend(real(threads))
                    for text, row in zip(new, encoders[which](new), strict=True):
                        known[which, text] = np.asarray(row, np.float32)
                return np.array([known[which, text] for text in texts])

            return run

        return encode(0), encode(1)

    local._small_once = once  # type: ignore[assignment]
    try:
        yield
    finally:
        local._small_once = real
        if len(known) > before:
            path.write_bytes(pickle.dumps(known))


def collect(found: Sequence[World], stores: Sequence[Filled], embedder: str, work: Path, data: Path) -> list[Case]:
    """Fill every store and ask it everything."""
    cases = []
    empty = work / "empty"
    if not empty.exists():
        open_core(_settings(empty, embedder)).close()
    general = Backgrounds(data)
    for number, store in enumerate(stores):
        folder = work / "store"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(empty, folder)
        core = open_core(_settings(folder, embedder))
        try:
            keys = _fill(core, found, store.held)
            for kind, at, question in store.asked:
                home = found[at] if at >= 0 else None
                gold = {(at, place) for place in question.gold} if kind == "answered" else set()
                with general.without(home.name if home else ""):
                    case = Case(kind, home.suite if home else kind, question.chinese, store.size, question.text)
                    _ask(core, case, {seq for seq, key in keys.items() if key in gold})
                cases.append(case)
        finally:
            core.close()
        if number % 20 == 0:
            print(f"{number + 1} of {len(stores)} stores, {len(cases):,} cases", flush=True)
    return cases


class Backgrounds:
    """The table as it would be, had one project never been counted."""

    def __init__(self, data: Path) -> None:
        self._sources, self._made = background.counted(data), dict[str, evidence.Background]()

    @contextmanager
    def without(self, name: str) -> Iterator[None]:
        """Search with that table."""
        real = evidence.background
        if name in self._sources:
            if name not in self._made:
                rest = {source: counts for source, counts in self._sources.items() if source != name}
                self._made[name] = evidence.read(background.table(rest))
            evidence.background = functools.cache(lambda: self._made[name])
        try:
            yield
        finally:
            evidence.background = real


def _settings(folder: Path, embedder: str) -> Any:
    return replace(load({"data_dir": str(folder)}, {}), embedder=embedder)


def _fill(core: Any, found: Sequence[World], held: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    keys, turns = {}, Counter[str]()
    for start in range(0, len(held), 500):
        with core.db.transaction():
            for at, place in held[start : start + 500]:
                memory = found[at].memories[place]
                session = f"{found[at].name}/{memory.session}"
                turns[session] += 1
                attrs = PromptAttrs(turns[session], speaker=memory.speaker)
                written = core.memories.remember(MemoryDraft(
                    Kind.PROMPT, State(memory.text, attrs, project=_PROJECT),
                    Origin.HUMAN if memory.person else Origin.AGENT, session=session,
                ), BY)  # fmt: skip
                keys[written.seq] = (at, place)
    core.indexer.catch_up(lambda: None)
    return keys


def _ask(core: Any, case: Case, gold: set[int]) -> None:
    asked = SearchQuery(case.text, Filter(KINDS, project=_PROJECT), limit=10)
    seen = core.recall.examine(asked)
    for (found, cosine), candidate in zip(seen.weighed, seen.pool.candidates, strict=True):
        case.facts.append((found.share, math.log1p(found.surprise), cosine, seen.crowd))
        case.gold.append(candidate.seq in gold)
    case.right = gold & _numbers(core.recall.search(replace(asked, min_score=0.0)))
    case.given = {floor: _numbers(core.recall.search(replace(asked, floor=floor))) for floor in Floor}


def _numbers(answer: SearchAnswer) -> set[int]:
    return {each.memory.seq for each in answer.results}


def told(cases: Sequence[Case]) -> Iterator[str]:
    """The figures of the product as it is."""
    groups: list[tuple[str, Callable[[Case], bool]]] = [("all", lambda _: True)]
    groups += [(f"{size:,}", lambda case, size=size: case.size == size) for size in SIZES]  # type: ignore[misc]
    groups += [("Chinese", lambda case: case.chinese), ("English", lambda case: not case.chinese)]
    names = sorted({case.suite for case in cases if case.kind != "nonsense"})
    groups += [(name, lambda case, name=name: case.suite == name) for name in names]  # type: ignore[misc]
    yield f"{'':12} floor     cross  nonsense   kept   opened   near  absent  questions"
    for floor in Floor:
        for name, inside in groups:
            mine = [case for case in cases if inside(case)]
            right = [case for case in mine if case.kind == "answered" and case.right]
            kept = _percent([bool(case.right & case.given[floor]) for case in right])
            opened = _percent([bool(case.given[floor]) for case in right])
            cross, nonsense, near, absent = (
                _percent([bool(case.given[floor]) for case in mine if case.kind == kind])
                for kind in ("cross", "nonsense", "near", "absent")
            )
            figures = f"{cross:>6} {nonsense:>8} {kept:>6} {opened:>8} {near:>6} {absent:>6}"
            yield f"{name:12} {floor:8} {figures}  {len(right)}"


def _percent(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.1f}" if values else "-"


def fitted(cases: Sequence[Case]) -> Iterator[str]:
    """Gates fitted on all sets but one, at 3 % and 10 % of the strangers, and judged on that one."""
    import numpy as np

    sets = sorted({case.suite for case in cases if case.kind != "nonsense"})
    parts = [case.suite if case.kind != "nonsense" else sets[at % len(sets)] for at, case in enumerate(cases)]
    passed: dict[float, list[bool]] = {share: [False] * len(cases) for share in LINES}
    for left_out in [*sets, ""]:
        family = {"coding", "coding-zh"} if left_out.startswith("coding") else {left_out}
        use = [case for case, part in zip(cases, parts, strict=True) if part not in family and case.facts]
        weights = _weights(use)
        best = [max((float(np.dot(weights[:-1], facts) + weights[-1]) for facts in case.facts), default=-99.0)
                for case in cases]  # fmt: skip
        lines = {}
        for share in LINES:
            for chinese in (False, True):
                foreign = [
                    value for case, part, value in zip(cases, parts, best, strict=True)
                    if case.kind in STRANGE and part not in family and case.chinese is chinese
                ]  # fmt: skip
                lines[share, chinese] = float(np.quantile(foreign, 1 - share)) if foreign else 99.0
                for at, case in enumerate(cases):
                    if parts[at] == left_out and case.chinese is chinese:
                        passed[share][at] = best[at] >= lines[share, chinese]
        if not left_out:
            yield f"all sets: share, surprise, cosine, crowd, bias {np.round(weights, 2).tolist()}; lines {lines}"
    for share, results in passed.items():
        both = list(zip(cases, results, strict=True))
        cross, nonsense = (_percent([result for case, result in both if case.kind == kind]) for kind in STRANGE)
        kept = _percent([result for case, result in both if case.kind == "answered" and case.right])
        yield f"left out, {share:.0%}: cross {cross}, nonsense {nonsense}, kept {kept}"


def _weights(cases: Sequence[Case]) -> Any:
    """A logistic regression of the best right candidate of each answered question against the best of each stranger's.

    What the crowd counts is given: a sample has right answers of few sizes only, and would learn these.
    """
    import numpy as np

    weights = np.array([2.0, 1.0, 2.0, CROWD, -3.0])
    for _ in range(4):
        rows, wanted = [], []
        for case in cases:
            facts = [each for each, gold in zip(case.facts, case.gold, strict=True) if gold or case.kind in STRANGE]
            if facts and (case.kind == "answered" or case.kind in STRANGE):
                rows.append(max(facts, key=lambda each: float(np.dot(weights[:-1], each))))
                wanted.append(float(case.kind == "answered"))
        table, given = np.array(rows), np.array(wanted)
        inputs, offset = np.c_[table[:, :3], np.ones(len(table))], CROWD * table[:, 3]
        found = np.zeros(4)
        for _ in range(25):
            chance = 1.0 / (1.0 + np.exp(-np.clip(inputs @ found + offset, -30, 30)))
            slope = inputs.T @ (chance - given) + RIDGE * np.r_[found[:3], 0.0]
            found -= np.linalg.solve((inputs * (chance * (1 - chance))[:, None]).T @ inputs + RIDGE * np.eye(4), slope)
        weights = np.array([*found[:3], CROWD, found[3]])
    return weights


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--work", type=Path, default=None, help="where stores are filled and vectors kept")
    parser.add_argument("--every", type=int, default=1, help="fill only each so manieth store")
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="codexmem-relevance-"))
    work.mkdir(parents=True, exist_ok=True)
    found = worlds.read(given.data)
    with remembered_vectors(work / "vectors.pickle"):
        cases = collect(found, plan(found)[:: given.every], given.embedder, work, given.data)
    print("\n".join(told(cases)))
    if given.fit:
        print("\n".join(fitted(cases)))


if __name__ == "__main__":
    main()
