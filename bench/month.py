"""After a month of work, does a new session know the facts that were said once, and a prompt that needs one get it?

Thirty sessions on three projects, one of them Chinese, are captured into one store as their hooks would report them
(`bench/month_log.py` has them; no set is needed). Twelve facts were said on the way. For each a new session begins in
its project with a prompt that needs the fact and says so in other words. A fact is told if its key strings stand in
what `codexmem-hook` prints; at the start it may stand in the start context of any of the project's new sessions. Every
fact that is not told is put where it was lost. Prompts of other trades, two for each project, should get nothing.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from bench import effect, month_log, report, told
from bench.month_log import PROJECTS, Fact
from bench.product import Product, text_of

TOLD = ("told at the start", "told at the prompt")
LOST = ("not stored", "not found", "not handed over")
_RESULTS, _DEEP = 10, 50


@dataclass(frozen=True)
class Heard:
    """What one new session was told, before anything is judged."""

    fact: Fact
    start: str
    prompt: str
    results: tuple[str, ...]  # the first ten for its prompt, each in full
    unfloored: tuple[str, ...] = ()  # the first fifty, however little speaks for them


@dataclass(frozen=True)
class FactRow:
    """How one fact fared."""

    project: str
    fact: str
    kind: str
    asks: str
    start: bool
    prompt: bool
    stored: bool
    found: bool  # among ten results
    place: int | None  # among fifty results of a search that refuses nothing
    start_tokens: int
    prompt_tokens: int

    @property
    def outcome(self) -> str:
        """Told, or where it was lost."""
        if self.start or self.prompt:
            return TOLD[0] if self.start else TOLD[1]
        if not self.stored:
            return LOST[0]
        return LOST[2] if self.found else LOST[1]


@dataclass(frozen=True)
class StrangerRow:
    """A prompt of another trade, and how much it was given."""

    project: str
    prompt: str
    tokens: int


def judge(heard: Heard, starts: Sequence[str], stored: Sequence[str]) -> FactRow:
    """How the fact of one session fared; `starts` are the start contexts of all new sessions of its project."""
    fact = heard.fact
    found = any(map(fact.stands_in, heard.results))
    return FactRow(
        fact.project, fact.key, fact.kind, fact.asks,
        start=any(map(fact.stands_in, starts)), prompt=fact.stands_in(heard.prompt),
        # Whatever a search finds is stored, even if no list has it.
        stored=found or any(map(fact.stands_in, stored)), found=found,
        place=next((at for at, text in enumerate(heard.unfloored, 1) if fact.stands_in(text)), None),
        start_tokens=told.tokens(heard.start), prompt_tokens=told.tokens(heard.prompt),
    )  # fmt: skip


def hear(product: Product, fact: Fact, number: int) -> Heard:
    """A new session that needs a fact; it is forgotten afterwards, so that each is asked of the same store."""
    session = f"needs-{fact.project}-{number}"
    results = product.search(fact.project, fact.asks)
    unfloored = product.search(fact.project, fact.asks, _DEEP, min_score=0.0)
    start = product.at_start(fact.project, session)
    prompt = product.at_prompt(fact.project, session, fact.asks)
    product.forget(session)
    return Heard(fact, start, prompt, tuple(map(text_of, results)), tuple(map(text_of, unfloored)))


def estrange(product: Product, project: str, asked: str, number: int) -> StrangerRow:
    """A new session whose prompt has nothing to do with the project."""
    session = f"strange-{project}-{number}"
    product.at_start(project, session)
    given = product.at_prompt(project, session, asked)
    product.forget(session)
    return StrangerRow(project, asked, told.tokens(given))


def capture(product: Product) -> int:
    """Report the whole month up to yesterday; returns how many tool events that were."""
    now_ms = int(time.time() * 1000)
    events = sum(month_log.replay(product, session, now_ms) for session in month_log.month())
    product.settle()
    return events


def measure(embedder: str, kept: Path | None = None) -> tuple[list[FactRow], list[StrangerRow]]:
    """The month in one store, and every new session; a store that an earlier run has filled is only asked."""
    began = time.monotonic()
    with Product.opened(embedder, kept) as product:
        if not product.filled:
            events = capture(product)
            product.mark_filled()
            effect.progress(f"month: {events} events are captured after {time.monotonic() - began:,.0f} s")
        rows: list[FactRow] = []
        strangers: list[StrangerRow] = []
        for project in PROJECTS:
            stored = [text_of(memory) for memory in product.stored(project)]
            facts = [fact for fact in month_log.facts() if fact.project == project]
            heard = [hear(product, fact, number) for number, fact in enumerate(facts)]
            starts = [each.start for each in heard]
            rows += [judge(each, starts, stored) for each in heard]
            asked = month_log.project(project)["strangers"]
            strangers += [estrange(product, project, each, number) for number, each in enumerate(asked)]
    return rows, strangers


def figures(rows: Sequence[FactRow], strangers: Sequence[StrangerRow]) -> dict[str, float]:
    """The figures of the history."""
    return {
        "facts": len(rows),
        "start": sum(row.start for row in rows),
        "start_or_prompt": sum(row.start or row.prompt for row in rows),
        "prompt": sum(row.prompt for row in rows),
        "stored": sum(row.stored for row in rows),
        "found": sum(row.found for row in rows),
        "found_unfloored": sum(row.place is not None and row.place <= _RESULTS for row in rows),
        "start_tokens": fmean(row.start_tokens for row in rows),
        "prompt_tokens": fmean(row.prompt_tokens for row in rows),
        "strangers": len(strangers),
        "strangers_given": sum(row.tokens > 0 for row in strangers),
    }


def outcomes(rows: Sequence[FactRow]) -> dict[str, dict[str, int]]:
    """Where facts end, by project."""
    parts = {"all": list(rows)} | {name: [row for row in rows if row.project == name] for name in PROJECTS}
    counted = {name: Counter(row.outcome for row in part) for name, part in parts.items() if part}
    return {name: {end: counts[end] for end in (*TOLD, *LOST)} for name, counts in counted.items()}


def shown(rows: Sequence[FactRow], strangers: Sequence[StrangerRow]) -> str:
    """A line for each fact, then the figures."""
    heads = ["project", "fact", "kind", "start", "prompt", "in ten", "place", "start tokens", "prompt tokens",
             "outcome"]  # fmt: skip
    lines = [
        [row.project, row.fact, row.kind, *map(_yes, (row.start, row.prompt, row.found)), row.place or "",
         row.start_tokens, row.prompt_tokens, row.outcome]
        for row in rows
    ]  # fmt: skip
    return f"{report.table(heads, lines)}\n\n{report.lines(figures(rows, strangers))}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def misses(rows: Sequence[FactRow], strangers: Sequence[StrangerRow]) -> str:
    """Every fact that was not told by where it was lost, and every stranger that was given something."""
    lost = sorted((row for row in rows if row.outcome in LOST), key=lambda row: LOST.index(row.outcome))
    lines = [f"  {row.outcome}, without a floor {f'at {row.place}' if row.place else 'not in fifty'}: {row.project}, "
             f"{row.fact} ({row.kind}): {row.asks}" for row in lost]  # fmt: skip
    given = [row for row in strangers if row.tokens]
    return "\n".join(lines + [f"  given {row.tokens} tokens: {row.project}: {row.prompt}" for row in given])


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = effect.arguments(__doc__, sets=False)
    parser.add_argument("--misses", action="store_true", help="also print every fact that was not told")
    options = parser.parse_args(argv)
    effect.refuse_part(options)
    began = time.monotonic()
    rows, strangers = measure(options.embedder, options.stores and options.stores / f"month-{options.embedder}")
    document = {
        "figures": figures(rows, strangers),
        "detail": outcomes(rows),
        "rows": [asdict(row) | {"outcome": row.outcome} for row in rows],
        "others": [asdict(row) for row in strangers],
    }
    text = "\n\n".join([shown(rows, strangers), *([misses(rows, strangers)] if options.misses else [])])
    return effect.finish("month", document, text, options, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
