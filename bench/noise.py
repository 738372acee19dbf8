"""Who is given something that does not concern him? Strangers' prompts and queries, put to every interface.

Stores of 5, 50, 500 and 5,000 memories are made of the messages of one English and one Chinese project: as
observations, as notes, as knowledge, and turn by turn as questions with answers. Each interface is then asked by
strangers (prompts and questions of other projects, other trades' work, small talk, nonsense), by questions of the same
project that nothing stored answers, and by questions whose answer is stored. The first should be given nothing, the
last their answer. A measurement of silence alone would be won by silence, so both are told together.

The start context takes no query: it is asked for projects that nothing is known of. The command is asked a part of the
queries, because each starts a program.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench import coding_log, effect, report, told
from bench.coding_log import Question
from bench.noise_texts import NONSENSE, OTHER_TRADES, SMALL_TALK
from bench.product import Product, text_of

SIZES = (5, 50, 500, 5_000)
HOMES = {  # projects with questions in that language and enough messages; the Chinese one for tuning has 2,192
    "held-out": {"en": "entire-cli", "zh": "translate"},
    "dev": {"en": "chef-chopsky", "zh": "yuichat"},
}
UNASKED, ASKED, COMMAND = "prompt context", "HTTP search", "command"
STRANGERS = ("other projects' prompts", "other projects' questions", "other trades", "small talk", "nonsense")
SAME_TRADE, ANSWERABLE = "same trade, not stored", "answerable"
_SILLY = STRANGERS[3:]
_EVERY = 9  # of the queries one is put to the command; odd, as both languages take turns
_OF_EACH = 40  # prompts and questions of other projects
_PIECE, _SHORTEST = 160, 40  # characters; both projects then have enough for the largest store
_ASKED = 1_000  # characters of a prompt: longer ones are no queries
_GOLD_SHARE = 0.6  # of a small store that may be answers
_BATCH, _CALLS = 500, 50


@dataclass(frozen=True)
class Piece:
    """One memory to be: a passage of a message, and the prompt or question that it answers."""

    text: str
    asked: str
    session: str
    item: int


@dataclass(frozen=True)
class Query:
    """What is asked, by whom, and the strings of which one must be in a right answer."""

    text: str
    asker: str
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Given:
    """What one interface gave to one query."""

    interface: str
    asker: str
    size: int
    home: str
    something: bool
    right: bool  # it holds the answer
    first: bool  # … at its first place
    findable: bool  # a search without a floor has it in its first ten


def pieces(history: Iterable[coding_log.CodingSession]) -> list[Piece]:
    """The agents' messages of a project, cut at sentences."""
    found: dict[str, Piece] = {}
    for session in history:
        for turn in coding_log.turns(session):
            for message in turn.messages:
                for text in cut(message["text"]):
                    found.setdefault(text, Piece(text, turn.prompt["text"], session["id"], message["i"]))
    return list(found.values())


def cut(text: str) -> Iterator[str]:
    """Passages of whole sentences; what is too short to be remembered is left out."""
    passage = ""
    for sentence in (*told.sentences(text), ""):
        if passage and (not sentence or len(passage) + 1 + len(sentence) > _PIECE):
            if len(passage) >= _SHORTEST:
                yield passage
            passage = ""
        passage = f"{passage} {sentence[: 2 * _PIECE]}".strip()


def store_of(size: int, material: Sequence[Piece], questions: Sequence[Question]) -> list[Piece]:
    """So many memories: answers of some questions, and others taken evenly from all there are."""
    chosen: dict[str, Piece] = {}
    for question in questions:
        evidence = {(each["session"], item) for each in question["evidence"] for item in each["items"]}
        gold = [each for each in material if (each.session, each.item) in evidence
                and told.holds(question["answers"], each.text)]  # fmt: skip
        if gold and len(chosen) < _GOLD_SHARE * size:
            chosen.setdefault(gold[0].text, replace(gold[0], asked=question["question"]))
    rest = [each for each in material if each.text not in chosen]
    return [*chosen.values(), *evenly(rest, size - len(chosen))][:size]


def evenly(things: Sequence[Any], count: int) -> list[Any]:
    """So many of them, at equal distances."""
    if count >= len(things):
        return list(things)
    return [things[at * len(things) // count] for at in range(max(0, count))]


def strangers(data: Path, home: str, sample: int | None) -> list[Query]:
    """What people of other projects and other trades ask, and what is no question at all; both languages."""
    most = sample or _OF_EACH
    asked = [each["question"] for each in coding_log.questions(data) if each["project"] != home]
    prompts = [
        turn.prompt["text"]
        for project in coding_log.PROJECTS
        if project != home
        for session in coding_log.sessions(data, project)
        for turn in coding_log.turns(session)[:1]
        if _SHORTEST // 3 <= len(turn.prompt["text"]) <= _ASKED
    ]
    sets = (evenly(prompts, most), evenly(asked, most), *(_both(each) for each in (OTHER_TRADES, SMALL_TALK, NONSENSE)))
    return [Query(text, asker) for asker, texts in zip(STRANGERS, sets, strict=True) for text in texts[:most]]


def _both(texts: Mapping[str, Sequence[str]]) -> list[str]:
    """English and Chinese in turn."""
    return [text for pair in zip(texts["en"], texts["zh"], strict=True) for text in pair]


def insiders(questions: Sequence[Question], store: Sequence[Piece], sample: int | None) -> list[Query]:
    """The project's own questions: those that the store can answer, and those that it cannot."""
    everything = "\n".join(each.text for each in store)
    here = [each for each in questions if each["answers"] and told.holds(each["answers"], everything)]
    absent = [each for each in questions if each not in here]
    most = sample or len(questions)
    answerable = [Query(each["question"], ANSWERABLE, tuple(each["answers"])) for each in here[:most]]
    return answerable + [Query(each["question"], SAME_TRADE) for each in absent[:most]]


def fill(product: Product, home: str, store: Sequence[Piece]) -> None:
    """Remember all of it, as each interface remembers."""
    now_ms = int(time.time() * 1000)
    # An installation that has seen no session says who writes its memories, to whoever comes first.
    product.report("session-init", "elsewhere", "earlier", now_ms - 86_400_000, "0", prompt="begin")
    product.report("session-complete", "elsewhere", "earlier", now_ms - 86_399_000, "end")
    rows = [
        {"kind": "observation", "number": at + 1, "at_ms": now_ms - 60_000 * (len(store) - at), "session": each.session,
         "project": home, "text": each.text}
        for at, each in enumerate(store)
    ]  # fmt: skip
    for at in range(0, len(rows), _BATCH):
        batch = {"program": "claude-mem", "fingerprint": "0" * 16, "rows": rows[at : at + _BATCH]}
        taken = product.post("/api/import/batch", batch)
        if sum(taken["imported"].values()) != len(rows[at : at + _BATCH]):
            raise RuntimeError(f"not everything was imported: {taken}")
    notes = [{"uri": f"project://part-{at}", "content": each.text, "project": "notes"} for at, each in enumerate(store)]
    for at in range(0, len(notes), _BATCH):
        product.tool("import_memories", data={"memories": notes[at : at + _BATCH]})
    calls = [
        {
            "jsonrpc": "2.0",
            "id": at,
            "method": "memory_add",
            "params": {"content": each.text, "summary": each.text[:80]},
        }
        for at, each in enumerate(store)
    ]
    for at in range(0, len(calls), _CALLS):
        answered = product.post("/rpc", calls[at : at + _CALLS])
        if any("error" in each for each in answered):
            raise RuntimeError(f"not everything is known: {answered[0]}")
    turns: dict[str, Piece] = {}
    for each in store:
        turns.setdefault(each.asked, each)
    for asked, each in turns.items():
        product.post("/v1/qa/candidates", {"project_id": home, "question": asked[:4_000], "answer": each.text})
    product.settle()


Interface = Callable[[Query], Sequence[str]]


def interfaces(product: Product, home: str) -> dict[str, Interface]:
    """Each answers a query with the texts that it gives, best first."""

    def prompted(query: Query) -> Sequence[str]:
        given = product.at_prompt(home, "stranger", query.text)
        product.forget("stranger")
        return [given] if given else []

    def searched(query: Query) -> Sequence[str]:
        rows = product.get("/api/search", query=query.text, project=home, limit=10, format="json")
        return [text_of(each) for kind in ("observations", "sessions", "prompts") for each in rows[kind]]

    def by_tool(query: Query) -> Sequence[str]:
        answer = product.tool("search", query=query.text, project=home, limit=10, format="json")
        rows = json.loads(answer["content"][0]["text"])
        return [text_of(each) for kind in ("observations", "sessions", "prompts") for each in rows[kind]]

    def answered(query: Query) -> Sequence[str]:
        asked = told.keywords(query.text) if query.answers else query.text  # the very question is stored
        found = product.post("/v1/qa/search", {"project_id": home, "query": asked})
        return [str(each["answer"]) for each in found["items"]]

    def known(query: Query) -> Sequence[str]:
        return [text_of(each) for each in product.call("memory_query", query=query.text)["results"]]

    def preloaded(query: Query) -> Sequence[str]:
        answer = product.tool("preload_memory", context_type="intent", context_data=query.text)
        return [text_of(each) for each in answer["structuredContent"]["related"]]

    return {
        UNASKED: prompted,
        ASKED: searched,
        "MCP search": by_tool,
        "QA search": answered,
        "knowledge": known,
        "notes preload": preloaded,
        "all kinds": lambda query: [text_of(each) for each in product.search(home, query.text)],  # as the command asks
        COMMAND: lambda query: commanded(product, home, query.text),
    }


def commanded(product: Product, home: str, query: str) -> list[str]:
    """What `codexmem search` prints."""
    asked = [sys.executable, "-m", "codexmem.cli", "--json", "search", "--project", home, "--", query]
    done = subprocess.run(asked, env=product.environment, capture_output=True, check=True)
    return [text_of(each) for each in json.loads(done.stdout)["results"]]


def judge(interface: str, query: Query, size: int, home: str, given: Sequence[str], *, findable: bool = False) -> Given:
    """What was given, and whether it was right."""
    right = [bool(query.answers) and told.holds(query.answers, text) for text in given]
    return Given(interface, query.asker, size, home, bool(given), any(right), any(right[:1]), findable)


def measure_home(data: Path, home: str, size: int, embedder: str, sample: int | None,
                 stores: Path | None = None) -> dict[str, Any]:  # fmt: skip
    """One store."""
    began = time.monotonic()
    questions = [each for each in coding_log.questions(data) if each["project"] == home]
    material = pieces(coding_log.sessions(data, home))
    store = store_of(size, material, questions)
    queries = [*strangers(data, home, sample), *insiders(questions, store, sample)]
    given: list[Given] = []
    kept = stores and stores / f"noise-{home}-{size}-{embedder}"
    with Product.opened(embedder, kept) as product:
        if not product.filled:
            fill(product, home, store)
            product.mark_filled()
        filled = time.monotonic() - began
        findable = {query for query in queries if query.answers and unfloored(product, home, query)}
        for name, ask in interfaces(product, home).items():
            asked = queries[::_EVERY] if name == COMMAND else queries
            given += [judge(name, each, size, home, ask(each), findable=each in findable) for each in asked]
        for at, query in enumerate(each for each in queries if each.asker in STRANGERS[:2]):
            text = product.at_start(f"unknown-{at}", f"new-{at}")
            given.append(judge("start context", query, size, home, [text] if text else []))
    took = time.monotonic() - began
    effect.progress(f"noise: {home}, {len(store):,} memories: {filled:,.0f} s to fill, {took:,.0f} s in all")
    return {"home": home, "size": size, "memories": len(store), "queries": len(queries), "seconds": took,
            "given": given}  # fmt: skip


def unfloored(product: Product, home: str, query: Query) -> bool:
    """Whether the answer is there to be found, whatever its score."""
    rows = product.search(home, query.text, min_score=0.0, kinds=["observation"])
    return any(told.holds(query.answers, text_of(each)) for each in rows)


def share(
    given: Iterable[Given], interface: str | None, askers: Sequence[str], what: str = "something"
) -> float | None:
    """Which part of what these askers asked of this interface was given something, or the right thing."""
    seen = [getattr(each, what) for each in given if interface in {None, each.interface} and each.asker in askers]
    return sum(seen) / len(seen) if seen else None


def kept(given: Iterable[Given], interface: str) -> float | None:
    """Of the answers that are there to be found, those that the interface gave."""
    right = [each.right for each in given if each.interface == interface and each.findable]
    return sum(right) / len(right) if right else None


def figures(given: Sequence[Given]) -> dict[str, float]:
    """The figures of the history."""
    foreign = (STRANGERS[0], STRANGERS[2])
    refused = {name: share(given, name, (SAME_TRADE,)) for name in (UNASKED, ASKED)}
    names = dict.fromkeys(each.interface for each in given if each.interface != COMMAND)  # too few to compare
    silly = [value for name in names if (value := share(given, name, _SILLY)) is not None]
    made: dict[str, float | None] = {
        "unasked_foreign": share(given, UNASKED, foreign),
        "unasked_kept": kept(given, UNASKED),
        "asked_foreign": share(given, ASKED, STRANGERS[1:2]),
        "asked_kept": kept(given, ASKED),
        "found_unfloored": share(given, ASKED, (ANSWERABLE,), "findable"),
        "nonsense": max(silly, default=None),
        "unasked_refused": _not(refused[UNASKED]),
        "asked_refused": _not(refused[ASKED]),
        "qa_foreign": share(given, "QA search", STRANGERS),
        "qa_first": share(given, "QA search", (ANSWERABLE,), "first"),
        "qa_questions": len([each for each in given if each.interface == "QA search"]),
        "start_foreign": share(given, "start context", STRANGERS),
    }
    return {name: value for name, value in made.items() if value is not None}


def _not(value: float | None) -> float | None:
    return None if value is None else 1 - value


def by_interface(given: Sequence[Given]) -> dict[str, dict[str, float]]:
    """For each interface which part of each asker was given something; of answerable ones the right thing."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for name in dict.fromkeys(each.interface for each in given):
        for asker in (*STRANGERS, SAME_TRADE, ANSWERABLE):
            value = share(given, name, (asker,), "right" if asker == ANSWERABLE else "something")
            if value is not None:
                found[name][asker] = round(value, 3)
    return dict(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = effect.arguments(__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="stores at the same time; default: 2")
    parser.add_argument("--part", choices=tuple(HOMES), default="held-out", help="tune on dev; default: held-out")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="default: 5 50 500 5000")
    options = parser.parse_args(argv)
    partly = options.part != "held-out" or tuple(options.sizes) != SIZES
    data, began = effect.data_of(options, partly=partly), time.monotonic()
    homes = HOMES[options.part]
    wanted = [(home, size) for size in sorted(options.sizes, reverse=True) for home in homes.values()]
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [
            pool.submit(measure_home, data, *each, options.embedder, options.sample, options.stores) for each in wanted
        ]
        stores = [each.result() for each in waiting]
    given = [each for store in stores for each in store["given"]]
    found = by_interface(given)
    document = {
        "figures": figures(given),
        "detail": found,
        "sizes": {size: by_interface([each for each in given if each.size == size]) for size in sorted(options.sizes)},
        "languages": {name: by_interface([g for g in given if g.home == home]) for name, home in homes.items()},
        "stores": [{**{name: store[name] for name in ("home", "size", "memories", "queries")},
                    "seconds": round(store["seconds"])} for store in stores],
        "given": [asdict(each) for each in given] if options.json else [],
    }  # fmt: skip
    heads = ["interface", *STRANGERS, SAME_TRADE, ANSWERABLE]
    rows = [[name, *(shares.get(asker, "") for asker in heads[1:])] for name, shares in found.items()]
    text = f"{report.lines(figures(given))}\n{report.table(heads, rows)}"
    return effect.finish("noise", document, text, options, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
