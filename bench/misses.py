"""Why something was not found: a sample of missed gold, by the first cause that holds.

Questions held out are asked in a random order through the production search until enough gold is missing from the first
results. A cause is a plain fact about the question and what it should have found, not a judgement.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import report
from bench.retrieval import run
from bench.retrieval.corpus import Corpus, Passage, Question, Split, Task
from bench.retrieval.run import MeasuredStore, opened
from bench.retrieval.suites.table import BY_NAME
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import MAX_RESULTS, SearchQuery, Unit
from codexmem.kernel.search.tokens import words

DEPTHS = {"longmemeval": 5, "memdaily": 5, "probe": 5}  # at which a suite is reported; 10 elsewhere
PLACES = ((10, "places 6 to 10"), (20, "places 11 to 20"), (MAX_RESULTS, f"places 21 to {MAX_RESULTS}"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--suite", choices=list(BY_NAME), required=True)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--store", type=Path, default=None, help="a kept store of `just bench-retrieval`")
    parser.add_argument("--misses", type=int, default=50)
    options = parser.parse_args(argv)
    suite, seed = BY_NAME[options.suite], report.chosen_seed(options.seed)
    corpora, depth = suite.read(options.data), DEPTHS.get(options.suite, 10)
    causes: Counter[str] = Counter()
    places: Counter[str] = Counter()
    with opened(options.embedder, options.store) as store:
        keys = run.write(store, suite.name, corpora, lambda *_: None).keys
        found = missed(store, suite.name, corpora, suite.tasks[0], keys, depth, random.Random(seed))
        for _, (cause, place) in zip(range(options.misses), found, strict=False):
            causes[cause] += 1
            places[place] += 1
    lines = [f"{count:4} {name}" for counted in (causes, places) for name, count in counted.most_common()]
    title = f"{suite.name}, embedder {options.embedder}, first {depth}, seed {seed}: {causes.total()} misses"
    document = {"suite": suite.name, "seed": seed, "causes": dict(causes), "places": dict(places)}
    return report.conclude("misses", document, "\n".join([title, *lines]), kept=True, as_json=options.json)


def missed(
    store: MeasuredStore,
    suite: str,
    corpora: Sequence[Corpus],
    task: Task,
    keys: dict[str, Passage],
    depth: int,
    chance: random.Random,
) -> Iterator[tuple[str, str]]:
    """Cause and place of each gold that is not among the first results, question by question in a random order."""
    asked = [
        (corpus, question)
        for corpus in corpora
        for question in corpus.questions
        if question.split is Split.HELD_OUT and not question.absent and question.gold(task.unit)
    ]
    chance.shuffle(asked)
    for corpus, question in asked:
        search = SearchQuery(question.text, Filter(run.KINDS, project=run.project(suite, corpus)), limit=MAX_RESULTS,
                        unit=task.unit, asked_ms=question.asked_ms)  # fmt: skip
        passages = [keys[each.memory.id] for each in store.core.recall.search(search).results]
        ranked = [each.session if task.unit is Unit.SESSION else each.key for each in passages]
        gold = question.gold(task.unit)
        for each in sorted(gold - set(ranked[:depth])):
            yield cause(corpus, question, task, each, depth, bool(gold & set(ranked[:depth]))), _place(ranked, each)


def cause(corpus: Corpus, question: Question, task: Task, gold: str, depth: int, partly: bool) -> str:
    """The first that holds."""
    if len(question.gold(task.unit)) > depth:
        return "the answer has more parts than there are places"
    texts = [each.text for each in corpus.passages if gold == (each.session if task.unit is Unit.SESSION else each.key)]
    common = max(len(set(words(question.text)) & set(words(text))) for text in texts)
    if common < 2:
        return f"{'one word' if common else 'no word'} in common with the question"
    return "several words in common; " + (
        "another part of the answer was found" if partly else "no part of the answer was found"
    )


def _place(ranked: Sequence[str], gold: str) -> str:
    if gold not in ranked:
        return "not found at all"
    return next(name for end, name in PLACES if ranked.index(gold) < end)


if __name__ == "__main__":
    sys.exit(main())
