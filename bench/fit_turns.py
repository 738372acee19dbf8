"""Fits the scores of turns: how likely a result of a real project's memory has the answer, with questions that nothing
answers among those that are asked.

The questions of six public projects (`coding-sessions`, those that may be looked at) are asked in the stores that
`python -m bench.coding --part dev --stores DIR` has filled: each in its own project, where some have no answer, and
every fourth in the other projects, where no result is right. Printed are the curve, and how far scores are from the
truth with the curve of the product and with one that was fitted without the project it is judged on.

usage: python -m bench.fit_turns --data DIR --stores DIR [--embedder local]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench import coding_log, effect, fit, told
from bench.coding import calibration_error
from bench.coding_log import TUNING, Question
from bench.product import EMBEDDERS, text_of
from codexmem.app import Core, open_core
from codexmem.console.memory_lines import FAIR, STRONG
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchQuery
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as
from codexmem.settings import load

CROWD = -0.5  # as in the older curves: projects of about one size cannot tell what their number of candidates weighs
RESULTS = 10
_ASKED_ELSEWHERE = 4  # every so many questions
_KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT, Kind.NOTE, Kind.QA, Kind.KNOWLEDGE})


@dataclass(frozen=True)
class ScoredResult:
    """One result, and what a curve may look at."""

    project: str  # in whose memory it stands
    asked: str  # own, absent or stranger
    place: int
    total: float  # of the weighted signals
    candidates: int
    chance: float  # that anything fits
    score: float  # as the product tells it
    right: bool


def asked(core: Core, project: str, question: Question) -> Iterator[ScoredResult]:
    """The results of one question in one project's memory."""
    query = SearchQuery(question["question"], Filter(_KINDS, project=project), limit=RESULTS, explain=True)
    results = core.recall.search(query).results
    if not results:
        return
    everything = core.recall.search(replace(query, limit=50, min_score=0.0)).results
    candidates = len(core.recall.examine(query).pool)
    who = "stranger" if question["project"] != project else "own" if question["answers"] else "absent"
    for place, each in enumerate(results):
        state = each.memory.state
        text = text_of({"content": state.content, "title": state.title, "attrs": state.attrs.to_json()})
        yield ScoredResult(
            project, who, place, sum(each.signals.values()), candidates, max(other.relevance for other in everything),
            each.score, who == "own" and told.holds(question["answers"], text),
        )  # fmt: skip


def collect(data: Path, stores: Path, embedder: str) -> list[ScoredResult]:
    """All results of all questions."""
    questions = [each for each in coding_log.questions(data) if each["project"] in TUNING]
    found: list[ScoredResult] = []
    for project in TUNING:
        folder = stores / f"coding-{project}-{embedder}" / "data"
        core = open_core(replace(load({"data_dir": str(folder)}, {}), embedder=embedder))
        others = [each for each in questions if each["project"] != project][::_ASKED_ELSEWHERE]
        try:
            with acting_as(LOCAL):
                for question in [*(each for each in questions if each["project"] == project), *others]:
                    found += asked(core, project, question)
        finally:
            core.close()
        effect.progress(f"fit_turns: {project}: {sum(each.project == project for each in found)} results")
    return found


def curve(results: Sequence[ScoredResult]) -> dict[str, float]:
    """Bias, weight of the sum and of the place; the weight of the number of candidates is given."""
    facts, offset = _facts(results)
    target = np.array([each.right for each in results], float)
    fitted = fit.logistic(facts, target, np.full(len(results), 1 / len(results)), offset)
    return dict(zip(("bias", "score", "place"), (round(float(value), 3) for value in fitted), strict=True))


def scores(results: Sequence[ScoredResult], fitted: dict[str, float]) -> list[float]:
    """What that curve says of these results."""
    facts, offset = _facts(results)
    sums = facts @ np.array(list(fitted.values())) + offset
    return [float(1 / (1 + math.exp(-value))) for value in sums]


def _facts(results: Sequence[ScoredResult]) -> tuple[Any, Any]:
    facts = np.array([[1.0, each.total, math.log1p(each.place)] for each in results])
    offset = np.array([math.log(max(1e-4, each.chance)) + CROWD * math.log1p(each.candidates) for each in results])
    return facts, offset


def left_out(results: Sequence[ScoredResult]) -> list[tuple[ScoredResult, float]]:
    """Each result with the score of a curve that was fitted without its project."""
    found: list[tuple[ScoredResult, float]] = []
    for project in dict.fromkeys(each.project for each in results):
        own = [each for each in results if each.project == project]
        fitted = curve([each for each in results if each.project != project])
        found += zip(own, scores(own, fitted), strict=True)
    return found


def shown(pairs: Sequence[tuple[ScoredResult, float]]) -> dict[str, float | None]:
    """How good these scores are."""
    first = [(each, score) for each, score in pairs if each.place == 0]

    def reaching(least: float, who: str) -> float | None:
        own = [score for each, score in first if each.asked == who]
        return round(sum(score >= least for score in own) / len(own), 3) if own else None

    return {
        "results": len(pairs),
        "error": calibration_error([(score, each.right) for each, score in pairs]),
        "error_first": calibration_error([(score, each.right) for each, score in first]),
        "own_fair": reaching(FAIR, "own"),
        "absent_strong": reaching(STRONG, "absent"),
        "stranger_strong": reaching(STRONG, "stranger"),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Collect, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, required=True, help="folder of stores that bench.coding has filled")
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--embedder", choices=EMBEDDERS, default="none", help="default: none")
    options = parser.parse_args(argv)
    results = collect(options.data, options.stores, options.embedder)
    print("curve", json.dumps(curve(results) | {"crowd": CROWD}))
    print("product", json.dumps(shown([(each, each.score) for each in results])))
    print("left out", json.dumps(shown(left_out(results))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
