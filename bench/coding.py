"""Memory on real coding sessions: what a session is told at its start, and whether questions about them are answered.

Each of thirteen public projects is captured, session by session, into a store of its own, as its hooks would report it.
Before a session that will need something of the past (a file it edits, a command it runs, an error it meets, each known
to an earlier session), the start context is read: does it name what will be needed? At the end the questions of the
project are asked, as searches and as prompts of a new session. Every question that is not answered is put where it was
lost: not stored, not found among ten results, found but not handed over, handed over but drowned.

The set is `coding-sessions`; nothing of it is kept here. Figures for held-out projects are those to compare: whoever
changes the product looks at the others.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from bench import coding_log, effect, report, told
from bench.coding_log import HELD_OUT, PROJECTS, TUNING, CodingSession, Needs, Question
from bench.product import Product, text_of

STRONG = 0.35  # score of a result that is offered as relevant
FURTHER = 30  # results among which an answer that is not in the first ten is looked for
READ = 2_000  # tokens of results that an agent is supposed to read
START, PROMPT = 1_400, 1_200  # tokens within which what is handed over must tell it
LOST = ("not stored", "not found", "not handed over", "drowned")
_ERROR = 45  # characters by which an error is known, numbers and folders aside
_PARTS = {"dev": TUNING, "held-out": HELD_OUT, "all": PROJECTS}


@dataclass(frozen=True)
class StartRow:
    """What one session was told at its start of what it needed."""

    project: str
    session: str
    files: tuple[int, int]  # named, needed
    commands: tuple[int, int]
    errors: tuple[int, int]
    tokens: int


@dataclass(frozen=True)
class QuestionRow:
    """How one question fared."""

    id: str
    question: str
    project: str
    split: str
    language: str
    category: str
    source: str
    answerable: bool
    stored: bool
    answer_5: bool
    answer_10: bool
    within: bool  # in the first 2,000 tokens of the results
    tool: bool  # in the first 2,000 tokens of what the search tool of agents prints
    new_first: bool | None  # None where nothing was superseded
    best: float  # score of the first result
    tokens: int  # of the ten results
    told_tokens: int  # at the prompt
    outcome: str
    cause: str = ""  # of a loss
    scores: tuple[tuple[float, bool], ...] = ()  # of each result, and whether it has the answer


@dataclass(frozen=True)
class ProjectRows:
    """All of one project."""

    project: str
    events: int
    starts: tuple[StartRow, ...]
    questions: tuple[QuestionRow, ...]
    variables: tuple[int, int]  # still there, set
    seconds: dict[str, float] = field(default_factory=dict)  # by what was done


def judge_start(need: Needs, project: str, text: str, common: set[str]) -> StartRow:
    """How much of what the session needs its start context names."""
    lines = told.spelled_out(text)
    whole, one_line = "\n".join((text, *lines)), coding_log.without_numbers(told.plain(text))
    small, named = whole.lower(), {name for line in lines for name in coding_log.commands(line)}
    return StartRow(
        project,
        need.session,
        _share(need.files, lambda path: told.names_file(path, whole, common)),
        _share(need.commands, lambda command: command.lower() in small or command in named),
        _share(need.errors, lambda line: coding_log.without_numbers(told.plain(line))[:_ERROR] in one_line),
        told.tokens(text),
    )


def _share(wanted: Sequence[str], named: Callable[[str], bool]) -> tuple[int, int]:
    return sum(map(named, wanted)), len(wanted)


def judge_question(question: Question, results: Sequence[Mapping[str, Any]], tool: str, start: str, prompt: str, *,
                   stored: bool) -> QuestionRow:  # fmt: skip
    """Whether the answer stands in the results and in what was handed over."""
    answers = question["answers"]
    texts = [text_of(each) for each in results]
    having = [told.holds(answers, text) for text in texts]
    handed, in_time = told.holds(answers, f"{start}\n{prompt}"), False
    if handed:
        in_time = told.holds(answers, told.beginning(start, START)) or told.holds(
            answers, told.beginning(prompt, PROMPT)
        )
    return QuestionRow(
        question["id"], question["question"], question["project"], question["split"], question["lang"],
        question["category"], question.get("source") or "",
        answerable=bool(answers), stored=stored, answer_5=any(having[:5]), answer_10=any(having),
        within=told.holds(answers, told.together(texts, READ)),
        tool=told.holds(answers, told.beginning(tool, READ)),
        new_first=_new_first(question.get("superseded_answers"), texts, having),
        best=round(max((each["score"] for each in results), default=0.0), 4),
        tokens=sum(map(told.tokens, texts)), told_tokens=told.tokens(prompt),
        outcome=outcome(stored=stored, found=any(having), handed=handed, in_time=in_time) if answers else "",
        scores=tuple((each["score"], has) for each, has in zip(results, having, strict=True)),
    )  # fmt: skip


def outcome(*, stored: bool, found: bool, handed: bool, in_time: bool) -> str:
    """Told, or where it was lost."""
    if handed:
        return "told" if in_time else "drowned"
    if not stored:
        return "not stored"
    return "not handed over" if found else "not found"


def _new_first(old: Sequence[str] | None, texts: Sequence[str], having: Sequence[bool]) -> bool | None:
    if not old:
        return None
    new = next((at for at, has in enumerate(having) if has), None)
    superseded = next((at for at, text in enumerate(texts) if not having[at] and told.holds(old, text)), None)
    return new is not None and (superseded is None or new < superseded)


def measure_project(data: Path, project: str, embedder: str, stores: Path | None = None) -> ProjectRows:
    """One project in a store of its own; one that an earlier run has filled is only asked."""
    history = coding_log.sessions(data, project)
    needs = {each.place: each for each in coding_log.needs(history)}
    common = coding_log.common_names(history)
    move = coding_log.moved(history, int(time.time() * 1000))
    starts: list[StartRow] = []
    events = 0
    marks = [time.monotonic()]
    with Product.opened(embedder, stores and stores / f"coding-{project}-{embedder}") as product:
        marks.append(time.monotonic())
        for place, session in enumerate(history if not product.filled else ()):
            if need := needs.get(place):
                product.settle(indexed=False)
                starts.append(judge_start(need, project, product.at_start(project, session["id"]), common))
            events += coding_log.replay(product, session, move)
        product.settle(indexed=False)
        marks.append(time.monotonic())
        product.settle()
        product.mark_filled()
        marks.append(time.monotonic())
        memories = _by_session(product, project)
        asked = [each for each in coding_log.questions(data) if each["project"] == project]
        rows = [ask(product, question, memories) for question in asked]
    marks.append(time.monotonic())
    steps = ("start", "capture", "index", "ask")
    took = {name: round(till - since, 1) for name, (since, till) in zip(steps, pairwise(marks), strict=True)}
    effect.progress(f"coding: {project}: {len(history)} sessions, {events:,} events; seconds: {report.shown(took)}")
    return ProjectRows(project, events, tuple(starts), tuple(rows), variables_kept(history, memories), took)


def _by_session(product: Product, project: str) -> dict[str, str]:
    """Everything that is stored, by the session it is of."""
    found: dict[str, list[str]] = {}
    for memory in product.stored(project):
        key = memory.get("content_session_id") or memory.get("memory_session_id") or ""
        found.setdefault(key, []).append(text_of(memory))
    return {key: "\n".join(texts) for key, texts in found.items()}


def ask(product: Product, question: Question, memories: Mapping[str, str]) -> QuestionRow:
    """One question, as a search and as the first prompt of a new session."""
    project, session = question["project"], f"asks-{question['id']}"
    results = product.search(project, question["question"])
    printed = product.tool("search", "/mcp/recall", query=question["question"], project=project, limit=10)
    start = product.at_start(project, session)
    prompt = product.at_prompt(project, session, question["question"])
    product.forget(session)
    # Whatever a search finds is stored, even if no list has it.
    texts = [*memories.values(), *map(text_of, results)]
    stored = any(told.holds(question["answers"], text) for text in texts)
    row = judge_question(question, results, printed["content"][0]["text"], start, prompt, stored=stored)
    further = product.search(project, question["question"], FURTHER) if row.outcome == "not found" else ()
    return replace(row, cause=cause(row, results=len(results), further=holding(question, further)))


def holding(question: Question, results: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of the results has the answer."""
    return any(told.holds(question["answers"], text_of(each)) for each in results)


def cause(row: QuestionRow, *, results: int, further: bool) -> str:
    """Why an answer was lost where it was."""
    if row.outcome == "not found":
        return "behind the tenth" if further else f"not among {FURTHER}" if results else "no result passes the floor"
    if row.outcome == "not handed over":
        return "something else told" if row.told_tokens else "nothing passes the floor of prompts"
    return row.outcome if row.outcome in LOST else ""


def variables_kept(history: Iterable[CodingSession], memories: Mapping[str, str]) -> tuple[int, int]:
    """Of the variables that each session set on a command line, how many its memories still have."""
    kept = total = 0
    for session in history:
        lines = [item.get("command", "") for item in session["items"] if item.get("kind") == "shell"]
        wanted = {each.lower() for line in lines for each in coding_log.variables(line)}
        text = memories.get(session["id"], "").lower()
        kept += sum(each in text for each in wanted)
        total += len(wanted)
    return kept, total


def parts(asked: Sequence[QuestionRow]) -> dict[str, list[QuestionRow]]:
    """Questions by what tells them apart; the first part is all of them."""
    found = {"": list(asked)}
    for name, key in (("split", "dev"), ("split", "held-out"), ("language", "en"), ("language", "zh"),
                      *(("source", each) for each in ("user", "assistant", "event")),
                      *(("category", each) for each in sorted({row.category for row in asked}))):  # fmt: skip
        found[f"_{key.replace('-', '_')}"] = [row for row in asked if getattr(row, name) == key]
    return {name: rows for name, rows in found.items() if rows}


def begun(found: Sequence[ProjectRows]) -> dict[str, list[StartRow]]:
    """Starts by part; the first is the held-out one, which is compared."""
    starts = [row for each in found for row in each.starts]
    chosen = {"": HELD_OUT, "_dev": TUNING, "_all": PROJECTS}
    parted = {name: [row for row in starts if row.project in projects] for name, projects in chosen.items()}
    return {name: rows for name, rows in parted.items() if rows}


def figures(found: Sequence[ProjectRows]) -> dict[str, float]:
    """The figures of the history; a part without questions or needs has none."""
    asked = [row for each in found for row in each.questions if row.answerable]
    absent = [row for each in found for row in each.questions if not row.answerable]
    made: dict[str, float | None] = {}
    for suffix, starts in begun(found).items():
        for name in ("files", "commands", "errors"):
            pairs = [getattr(row, name) for row in starts]
            made[f"start_{name}{suffix}"] = _ratio(sum(named for named, _ in pairs), sum(all_ for _, all_ in pairs))
        made[f"start_tokens{suffix}"] = fmean(row.tokens for row in starts)
    for suffix, rows in parts(asked).items():
        made[f"answer_10{suffix}"] = _of(row.answer_10 for row in rows)
        made[f"answer_2000{suffix}"] = _of(row.within for row in rows)
        made[f"tool_2000{suffix}"] = _of(row.tool for row in rows)
        made[f"told{suffix}"] = _of(row.outcome == "told" for row in rows)
    made["answer_5"] = _of(row.answer_5 for row in asked)
    made["result_tokens"] = fmean(row.tokens for row in asked) if asked else None
    made["new_first"] = _of(row.new_first for row in asked if row.new_first is not None)
    made["absent_strong"] = _of(row.best >= STRONG for row in absent)
    made["absent_told"] = _of(row.told_tokens > 0 for row in absent)
    made["stored"] = _of(row.stored for row in asked)
    for suffix, rows in parts([*asked, *absent]).items():
        if suffix in ("", "_dev", "_held_out"):
            made[f"calibration_error{suffix}"] = calibration_error([pair for row in rows for pair in row.scores])
    made["variables"] = _ratio(*(sum(each.variables[at] for each in found) for at in (0, 1)))
    return {name: value for name, value in made.items() if value is not None}


def calibration_error(scores: Sequence[tuple[float, bool]]) -> float | None:
    """How far scores are from the share of results with the answer, on average: in ten bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for score, has in scores:
        bins.setdefault(min(9, int(10 * score)), []).append((score, has))
    away = (abs(sum(score - has for score, has in each)) for each in bins.values())
    return sum(away) / len(scores) if scores else None


def _of(values: Iterable[bool | None]) -> float | None:
    seen = list(values)
    return _ratio(sum(map(bool, seen)), len(seen))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def outcomes(found: Sequence[ProjectRows]) -> dict[str, dict[str, int]]:
    """Where questions end, by part."""
    asked = [row for each in found for row in each.questions if row.answerable]
    ends = {_named(name): Counter(row.outcome for row in rows) for name, rows in parts(asked).items()}
    return {name: {end: counted[end] for end in ("told", *LOST)} for name, counted in ends.items()}


def _named(part: str) -> str:
    return part.strip("_").replace("_", "-") or "all"


def shown(found: Sequence[ProjectRows], made: Mapping[str, float]) -> str:
    """Three tables: starts, questions, and what is left."""
    told_, lines = set[str](), []
    rows: list[list[Any]] = []
    for suffix, starts in begun(found).items():
        names = [f"start_{name}{suffix}" for name in ("files", "commands", "errors", "tokens")]
        told_ |= set(names)
        rows.append([_named(suffix) if suffix else "held-out", len(starts), *map(_percent(made), names[:3]),
                     round(made[names[3]])])  # fmt: skip
    lines.append(report.table(["start context", "sessions", "files %", "commands %", "errors %", "tokens"], rows))
    asked = [row for each in found for row in each.questions if row.answerable]
    ends, rows = outcomes(found), []
    for suffix, part in parts(asked).items():
        names = [f"{name}{suffix}" for name in ("answer_10", "answer_2000", "tool_2000", "told")]
        told_ |= set(names)
        lost = ends[_named(suffix)]
        rows.append([_named(suffix), len(part), *map(_percent(made), names), *(lost[name] for name in LOST)])
    lines.append(report.table(["questions", "n", "first ten %", "2,000 tokens %", "tool %", "told %", *LOST], rows))
    lines.append(report.lines({name: value for name, value in made.items() if name not in told_}))
    return "\n\n".join(lines)


def _percent(made: Mapping[str, float]) -> Callable[[str], str]:
    return lambda name: f"{100 * made[name]:.1f}" if name in made else ""


def misses(found: Sequence[ProjectRows]) -> str:
    """Every question that was not told, by where it was lost, and how many for which cause."""
    lost = [row for each in found for row in each.questions if row.outcome in LOST]
    ordered = sorted(lost, key=lambda row: (LOST.index(row.outcome), row.cause, row.id))
    counted = Counter((row.outcome, row.cause) for row in ordered)
    return "\n".join(
        (
            *(f"  {number:3} {outcome}: {why}" for (outcome, why), number in counted.items()),
            *(
                f"  {row.outcome}, {row.cause}: {row.id} ({row.category}, {row.source}) {row.question}"
                for row in ordered
            ),
        )
    )


def chosen(data: Path, part: str, projects: Sequence[str] | None, sample: int | None) -> list[str]:
    """The projects to measure, the largest first, so that none is left over at the end; a sample is the smallest."""
    wanted = [name for name in _PARTS[part] if not projects or name in projects]
    ordered = sorted(wanted, key=lambda name: (data / "coding-sessions" / f"{name}.jsonl.gz").stat().st_size)
    return ordered[:sample][::-1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = effect.arguments(__doc__)
    parser.add_argument("--part", choices=tuple(_PARTS), default="all", help="of the projects; look at dev only")
    parser.add_argument("--project", nargs="+", choices=PROJECTS, default=None, help="these only")
    parser.add_argument("--misses", action="store_true", help="also print every question that was not told")
    parser.add_argument("--jobs", type=int, default=2, help="projects at the same time; default: 2")
    options = parser.parse_args(argv)
    data, began = effect.data_of(options, partly=options.part != "all" or bool(options.project)), time.monotonic()
    wanted = chosen(data, options.part, options.project, options.sample)
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(measure_project, data, name, options.embedder, options.stores) for name in wanted]
        found = sorted((each.result() for each in waiting), key=lambda each: PROJECTS.index(each.project))
    made = figures(found)
    document = {"figures": made, "detail": outcomes(found), "projects": [asdict(each) for each in found]}
    text = "\n\n".join([shown(found, made), *([misses(found)] if options.misses else [])])
    return effect.finish("coding", document, text, options, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
