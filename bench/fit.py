"""Fits the weights and the calibration of the default recipe on the tuning questions of all suites together.

Every signal comes from the production search. The weights minimise a listwise loss (each gold memory, or for session
suites each gold session, against all candidates of its question), every suite counting the same; the calibration is
a logistic regression over the first results. Nothing is fitted on questions held out: those are only measured.

usage: python -m bench.fit --data PATH [--embedder local] [--store DIR] [--suites locomo,beam,longmemeval,memdaily]
"""

import argparse
import contextlib
import json
import math
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.retrieval import run
from bench.retrieval.corpus import Split
from bench.retrieval.run import MeasuredStore
from bench.retrieval.suites.table import SUITES
from codexmem.app import open_core
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchQuery, Unit
from codexmem.kernel.search.recipes import DEFAULT
from codexmem.kernel.search.wording import UNSPACED
from codexmem.settings import load

TEMPERATURE = 6.0
RIDGE = 0.02
_LONGEST_STEP = 4.0  # of Newton's method, which far from the solution would go too far
FIRST = 20  # results of a question that calibration looks at
FIXED = {"recency": 0.02, "priority": 0.05, "proven": 0.10, "doubted": -0.20}  # no suite has anything to say of these

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Case:
    """One question: its candidates' signals and which of them are gold."""

    suite: str
    split: str
    category: str
    values: Array  # candidates by signals
    gold: np.ndarray[Any, np.dtype[np.bool_]]
    sessions: list[Any]
    wanted: int  # how many gold units there are, found or not
    facts: tuple[float, float]  # best BM25 and best cosine
    absent: bool


def collect(data: Path, embedder: str, folder: Path, suites: list[str], sample: int) -> tuple[list[str], list[Case]]:
    """Write the suites into a store, or use the one that is there, and examine every question."""
    settings = replace(load({"data_dir": str(folder)}, {}), embedder=embedder)
    core = open_core(settings)
    store, cases, names = MeasuredStore(core), [], sorted(core.recall.examine(_probe()).signals)
    try:
        for name in suites:
            suite = next(each for each in SUITES if each.name == name)
            corpora = suite.read(data)
            keys = run.write(store, name, corpora, lambda *_: None).keys
            task = next((each for each in suite.tasks if each.unit is Unit.MEMORY), suite.tasks[0])
            asked = 0
            for corpus in corpora:
                for question in corpus.questions:
                    wanted = question.gold(task.unit)
                    asked += question.split is not Split.TUNING
                    if (not wanted and not question.absent) or (question.split is not Split.TUNING and asked % sample):
                        continue
                    search = SearchQuery(question.text, Filter(run.KINDS, project=run.project(name, corpus)),
                                    asked_ms=question.asked_ms)  # fmt: skip
                    seen = core.recall.examine(search)
                    whole = core.memories.many([each.seq for each in seen.pool.candidates], run.KINDS)
                    found = [keys[whole[each.seq].id] for each in seen.pool.candidates]
                    if not found:
                        continue
                    session = task.unit is Unit.SESSION
                    unspaced = bool(seen.pool.dense) and UNSPACED.search(question.text) is not None
                    factors = DEFAULT.unspaced if unspaced else {}
                    cases.append(Case(
                        name, question.split.value, question.category,
                        np.array([np.array(seen.signals[each]) * factors.get(each, 1.0) for each in names]).T,
                        np.array([(each.session if session else each.key) in wanted for each in found]),
                        [each.session for each in found] if session else list(range(len(found))),
                        len(wanted), (max(seen.pool.lexical), max(seen.pool.dense) if seen.pool.dense else 0.0),
                        question.absent,
                    ))  # fmt: skip
            print(f"{name}: {sum(case.suite == name for case in cases):,} questions", flush=True)
    finally:
        core.close()
    return names, cases


def _probe() -> SearchQuery:
    return SearchQuery("which signals are there", Filter(run.KINDS))


def fit_weights(names: list[str], cases: list[Case], emphasis: dict[str, float], rounds: int = 400) -> dict[str, float]:
    """The weights of least listwise loss, by gradient descent with momentum (Adam)."""
    free = [place for place, name in enumerate(names) if name not in FIXED]
    packs = []
    for case in cases:
        if case.gold.any() and not case.absent:
            units = {case.sessions[place] for place in np.flatnonzero(case.gold)}
            groups = [np.array([at for at, each in enumerate(case.sessions) if each == unit]) for unit in units]
            weight = emphasis.get(case.suite, 1.0) / sum(
                other.suite == case.suite and other.gold.any() for other in cases
            ) / len(groups)  # fmt: skip
            packs.append((case.values[:, free], groups, weight))
    weights = np.zeros(len(free))
    momentum, speed = np.zeros(len(free)), np.zeros(len(free))
    for step in range(1, rounds + 1):
        slope = 2 * RIDGE * weights
        for values, groups, weight in packs:
            scores = TEMPERATURE * (values @ weights)
            odds = np.exp(scores - scores.max())
            expected = (odds / odds.sum()) @ values
            for group in groups:
                own = odds[group]
                slope -= weight * TEMPERATURE * (own / own.sum() @ values[group] - expected) / len(emphasis or [1])
        momentum = 0.9 * momentum + 0.1 * slope
        speed = 0.99 * speed + 0.01 * slope**2
        weights -= 0.02 * (momentum / (1 - 0.9**step)) / (np.sqrt(speed / (1 - 0.99**step)) + 1e-8)
    found = {names[place]: round(float(value), 2) for place, value in zip(free, weights, strict=True)}
    return {name: value for name, value in found.items() if abs(value) >= 0.015} | FIXED


def measured(names: list[str], cases: list[Case], weights: dict[str, float], depth: int) -> float:
    """mean@depth in percent."""
    vector = np.array([weights.get(name, 0.0) for name in names])
    shares = []
    for case in cases:
        order: dict[Any, bool] = {}
        for place in np.argsort(-(case.values @ vector), kind="stable"):
            order.setdefault(case.sessions[place], False)
            order[case.sessions[place]] |= bool(case.gold[place])
        shares.append(sum(list(order.values())[:depth]) / case.wanted)
    return 100 * float(np.mean(shares)) if shares else 0.0


def first_results(names: list[str], case: Case, weights: dict[str, float]) -> tuple[Array, list[bool]]:
    """What the curve may look at for each of the first results, and whether each is gold; a session counts once."""
    sums = case.values @ np.array([weights.get(name, 0.0) for name in names])
    best: dict[Any, int] = {}
    for place in np.argsort(-sums, kind="stable"):
        best.setdefault(case.sessions[place], int(place))
    order = list(best.values())
    lead = sums[order[0]] - sums[order[min(10, len(order)) - 1]]
    shared = [case.facts[0], case.facts[1], lead, math.log1p(len(sums))]
    rows = [[1.0, sums[place], *shared, math.log1p(at)] for at, place in enumerate(order[:FIRST])]
    return np.array(rows), [bool(case.gold[place]) and not case.absent for place in order[:FIRST]]


FACTS = ("bias", "score", "words", "meaning", "lead", "crowd", "place")


def fit_calibration(names: list[str], cases: list[Case], weights: dict[str, float]) -> dict[str, float]:
    """A logistic regression over the first results of each question; every suite counts the same."""
    suites = Counter(case.suite for case in cases)
    seen = [first_results(names, case, weights) for case in cases]
    facts = np.vstack([rows for rows, _ in seen])
    target = np.array([gold for _, golds in seen for gold in golds], float)
    weight = np.concatenate([
        np.full(len(golds), 1.0 / suites[case.suite]) for case, (_, golds) in zip(cases, seen, strict=True)
    ])  # fmt: skip
    curve = logistic(facts, target, weight, np.zeros(len(target)))
    return dict(zip(FACTS, (round(float(value), 3) for value in curve), strict=True))


def logistic(facts: Array, target: Array, weight: Array, offset: Array) -> Array:
    """The curve under which these outcomes are likeliest, where each sum begins at its offset."""
    scale = np.maximum(1e-9, np.abs(facts).max(0))
    scaled = facts / scale
    curve = np.zeros(facts.shape[1])
    for _ in range(60):  # Newton's method
        chance = 1 / (1 + np.exp(-scaled @ curve - offset))
        slope = scaled.T @ (weight * (chance - target)) + 1e-4 * curve
        bend = (scaled.T * (weight * chance * (1 - chance))) @ scaled + 1e-4 * np.eye(len(curve))
        step = np.linalg.solve(bend, slope)
        curve -= step * min(1.0, _LONGEST_STEP / float(np.linalg.norm(step) + 1e-12))
    found: Array = curve / scale
    return found


def calibration_error(names: list[str], cases: list[Case], weights: dict[str, float], curve: dict[str, float]) -> float:
    """Expected calibration error over ten bins, in percent."""
    seen = [first_results(names, case, weights) for case in cases]
    facts = np.vstack([rows for rows, _ in seen])
    target = np.array([gold for _, golds in seen for gold in golds], float)
    chance = 1 / (1 + np.exp(-facts @ np.array([curve[name] for name in FACTS])))
    bins = np.minimum(9, (chance * 10).astype(int))
    parts = [abs(chance[bins == b].mean() - target[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    return 100 * float(sum(parts))


def main() -> None:
    """Collect, fit, print."""
    options = _options()
    kept = options.store / "cases"
    if options.reuse:
        names, cases = pickle.loads(kept.read_bytes())
    else:
        names, cases = collect(options.data, options.embedder, options.store, options.suites.split(","),
                               options.sample)  # fmt: skip
        kept.write_bytes(pickle.dumps((names, cases)))
    emphasis = dict.fromkeys(options.suites.split(","), 1.0) | json.loads(options.emphasis)
    emphasis = {name: value for name, value in emphasis.items() if value}
    tuning = [case for case in cases if case.split == Split.TUNING.value and case.suite in emphasis]
    held = [case for case in cases if case.split != Split.TUNING.value]
    fitted = fit_weights(names, tuning, emphasis)
    present = DEFAULT.weights if options.embedder != "none" else DEFAULT.weights_lexical
    for title, weights in (("present", present), ("fitted", fitted)):
        print(title, json.dumps(weights))
        for suite, part in _by_suite([case for case in held if not case.absent and case.category != "adversarial"]):
            depths = " ".join(f"mean@{k} {measured(names, part, weights, k):.1f}" for k in (5, 10))
            print(f"  {suite}: {depths} (n = {len(part):,})")
        curve = fit_calibration(names, tuning, weights)
        print("  calibration", json.dumps(curve))
        for suite, part in [*_by_suite([case for case in held if not case.absent]), ("all", held)]:
            print(f"  {suite}: error {calibration_error(names, part, weights, curve):.1f}")


def _by_suite(cases: list[Case]) -> Iterator[tuple[str, list[Case]]]:
    for suite in dict.fromkeys(case.suite for case in cases):
        yield suite, [case for case in cases if case.suite == suite]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--store", type=Path, required=True, help="where the store is kept between runs")
    parser.add_argument("--reuse", action="store_true", help="fit again on what the last run collected")
    parser.add_argument("--sample", type=int, default=1, help="measure every n-th question held out")
    parser.add_argument("--suites", default="locomo,beam,longmemeval,memdaily,probe")
    parser.add_argument("--emphasis", default="{}", help='how much a suite counts, e.g. {"locomo": 2}')
    return parser.parse_args()


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
