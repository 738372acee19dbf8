"""Does the decision that an agent must know reach its first request? Chats of the past, bug reports of today.

27 chats decide a rule, among 140 that decide nothing like it; six more rules are decided and later amended. Every chat
is captured as its hooks would report it. Then a new session begins for each bug report, which names symptoms only, and
what `codexmem-hook` prints at its start and at its first prompt is read: is the deciding chat in it, how many of the
person's turns, how many of the words that tell the rule, and of two rules the valid one first. The set is that of
`sde-bench`; nothing of it is kept here.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench import effect, report, told
from bench.product import Product, text_of

PROJECT = "boltons"
_APART_MS = 2 * 3_600_000
_SUPERSEDED = re.compile(r"(?i)supersed|replaced|outdated|no longer valid|amended by|取代|过时|失效|已改")
_ABOVE = 3  # lines in which a mark counts for what follows
ENOUGH = 0.5  # of the rule's words that the chat has: below, the rule is not told


@dataclass(frozen=True)
class Chat:
    """One conversation of the past."""

    key: str
    turns: tuple[tuple[str, str], ...]  # what the person said, and what the agent answered at last

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(part for turn in self.turns for part in turn)


@dataclass(frozen=True)
class Task:
    """A bug report, the rule that its fix hinges on, and the chats that decided it, the valid one last."""

    key: str
    asked: str
    rule: str
    chats: tuple[Chat, ...]


@dataclass(frozen=True)
class Told:
    """What one first request held."""

    task: str
    reached: bool
    turns: float  # share of the person's turns in the deciding chat
    words: float  # share of the words that tell the rule
    most_words: float  # … that the whole chat has
    start_tokens: int
    prompt_tokens: int
    outcome: str  # told, or where it was lost
    first: bool = True  # before the rule that it amends
    old_marked: bool = True  # the old rule is absent, or said to be superseded


def chat(key: str, said: Iterable[Mapping[str, str]]) -> Chat:
    """A conversation from its messages; what an agent says before anybody asked is no turn."""
    turns: list[tuple[str, str]] = []
    for message in said:
        if message["role"] == "user":
            turns.append((message["text"], ""))
        elif turns:
            turns[-1] = (turns[-1][0], message["text"])
    return Chat(key, tuple(turns))


def read(data: Path) -> tuple[list[Task], list[Task], list[Chat]]:
    """Tasks with one chat, tasks with an amended rule, and chats that decide nothing."""
    rows = [json.loads(line) for line in (data / "sde-bench" / "tasks.jsonl").read_text().splitlines()]
    found: dict[str, list[Task]] = {"conversation": [], "conversation-amended": []}
    for row in rows:
        if row["source"] in found:
            chats = tuple(chat(f"{row['task_id']}-{at}", said) for at, said in enumerate(row["sessions"]))
            found[row["source"]].append(Task(row["task_id"], row["bug_report"], row["policy"], chats))
    others = [json.loads(line) for line in (data / "sde-bench" / "decoys.jsonl").read_text().splitlines()]
    noise = [chat(each["id"], each["turns"]) for each in others]
    return found["conversation"], found["conversation-amended"], noise


def order(tasks: Sequence[Task], noise: Sequence[Chat], others: Sequence[Chat] = ()) -> list[Chat]:
    """The past: deciding chats, and those of other tasks, spread over its first part, amendments near its end."""
    past = list(noise)
    deciding = [*(task.chats[0] for task in tasks), *others]
    step = 0.6 * len(noise) / (len(deciding) + 1)
    for at, each in enumerate(deciding):
        past.insert(int((at + 1) * step) + at, each)
    for at, task in enumerate(task for task in tasks if len(task.chats) > 1):
        past.insert(max(0, len(past) - 3 * at - 2), task.chats[1])
    return past


def capture(product: Product, past: Sequence[Chat]) -> None:
    """Report all of it, two hours apart, up to now."""
    now_ms = int(time.time() * 1000)
    for back, each in zip(range(len(past), 0, -1), past, strict=True):
        at = now_ms - back * _APART_MS
        for number, (asked, answered) in enumerate(each.turns):
            at += 60_000
            product.report("session-init", PROJECT, each.key, at, f"{number}", prompt=asked)
            product.report("summarize", PROJECT, each.key, at + 30_000, f"{number}-end",
                           last_assistant_message=answered)  # fmt: skip
        product.report("session-complete", PROJECT, each.key, at + 31_000, "end")
    product.settle()


def own_words(chats: Sequence[Chat], reports: Iterable[str]) -> dict[str, set[told.Shingle]]:
    """For each chat the wordings that no other chat and no bug report has."""
    counted: Counter[told.Shingle] = Counter()
    for text in (*(each.text for each in chats), *reports):
        counted.update(set(told.shingles(text)))
    return {each.key: {part for part in told.shingles(each.text) if counted[part] == 1} for each in chats}


def judge(task: Task, start: str, prompt: str, own: Mapping[str, set[told.Shingle]], stored: str,
          found: Iterable[str | None]) -> Told:  # fmt: skip
    """What the first request tells of this task's rule; `found` names the sessions of a search's first results."""
    valid, request = task.chats[-1], f"{start}\n{prompt}"
    rule = told.rare_words(task.rule, task.asked)
    most, said = told.share_said(rule, valid.text), told.share_said(rule, request)
    place = told.first_place(own[valid.key], request)
    if place is not None:
        outcome = "told" if said >= ENOUGH * most else "drowned"
    elif told.share_said(rule, stored) < ENOUGH * most:
        outcome = "not stored"
    else:
        outcome = "not handed over" if valid.key in found else "not found"
    before = [at for old in task.chats[:-1] if (at := told.first_place(own[old.key], request)) is not None]
    people = [asked for asked, _ in valid.turns]
    return Told(
        task.key, place is not None, told.turns_told(people, request) / len(people), said, most,
        told.tokens(start), told.tokens(prompt), outcome,
        first=place is not None and all(place < at for at in before),
        old_marked=all(marked(own[old.key], request) for old in task.chats[:-1]),
    )  # fmt: skip


def marked(own: set[told.Shingle], text: str) -> bool:
    """Whether every line that says something of this chat says, or stands under a line that says, what became of it."""
    lines = text.splitlines()
    return all(
        told.first_place(own, line) is None or _SUPERSEDED.search("\n".join(lines[max(0, at - _ABOVE) : at + 1]))
        for at, line in enumerate(lines)
    )


def ask(product: Product, tasks: Sequence[Task], past: Sequence[Chat]) -> Iterator[Told]:
    """A new session for each bug report, of the same store each time."""
    own = own_words(past, [task.asked for task in tasks])
    stored: dict[str, str] = {}
    for memory in product.stored(PROJECT):
        key = memory.get("content_session_id") or memory.get("memory_session_id") or ""
        stored[key] = f"{stored.get(key, '')}\n{text_of(memory)}"
    for task in tasks:
        found = [each["session"] for each in product.search(PROJECT, task.asked)]
        session = f"asks-{task.key}"
        start = product.at_start(PROJECT, session)
        prompt = product.at_prompt(PROJECT, session, task.asked)
        product.forget(session)
        yield judge(task, start, prompt, own, stored.get(task.chats[-1].key, ""), found)


def figures(plain: Sequence[Told], amended: Sequence[Told], tool_tokens: int) -> dict[str, float]:
    """The figures of the history."""
    return {
        "chats": len(plain),
        "reached": sum(each.reached for each in plain),
        "turns": fmean(each.turns for each in plain),
        "rule_words": fmean(each.words for each in plain),
        "rule_words_of_chats": fmean(each.most_words for each in plain),
        "start_tokens": median(each.start_tokens for each in plain),
        "prompt_tokens": median(each.prompt_tokens for each in plain),
        "amended": len(amended),
        "amended_reached": sum(each.reached for each in amended),
        "amended_first": sum(each.first for each in amended),
        "amended_right": sum(each.first and each.old_marked for each in amended),
        "tool_tokens": tool_tokens,
    }


def defined(tools: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of tool definitions as a model is sent them."""
    sent = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
    return told.tokens(json.dumps(sent, ensure_ascii=False, separators=(",", ":")))


def measure_store(
    data: Path, embedder: str, sample: int | None, stores: Path | None, *, amended: bool
) -> tuple[list[Told], int]:
    """One of the two parts in a store of its own, and the tokens of the tools; a sample asks less of the same store."""
    tasks, changed, noise = read(data)
    others: list[Chat] = []
    if amended:
        named = {task.key.split("-")[1] for task in changed}
        # The other tasks' chats are harder noise; a twin, which decides the same rule, is none.
        others = [task.chats[0] for task in tasks if task.key.split("-")[1] not in named]
        tasks = changed
    past, began = order(tasks, noise, others), time.monotonic()
    kept = stores and stores / f"delivery-{'amended' if amended else 'single'}-{embedder}"
    with Product.opened(embedder, kept) as product:
        if not product.filled:
            capture(product, past)
            product.mark_filled()
        effect.progress(f"delivery: {len(past)} chats are captured after {time.monotonic() - began:,.0f} s")
        seen = list(ask(product, tasks[:sample], past))
        effect.progress(f"delivery: {len(seen)} bug reports are asked after {time.monotonic() - began:,.0f} s")
        return seen, defined(product.tools())


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = effect.arguments(__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="stores at the same time, of two; default: 2")
    options = parser.parse_args(argv)
    data, began = effect.data_of(options), time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [
            pool.submit(measure_store, data, options.embedder, options.sample, options.stores, amended=each)
            for each in (False, True)
        ]
        (single, tool_tokens), (amended, _) = (each.result() for each in waiting)
    ends = {name: dict(Counter(each.outcome for each in part)) for name, part in
            (("one chat", single), ("amended", amended))}  # fmt: skip
    made = figures(single, amended, tool_tokens)
    document = {"figures": made, "detail": ends, "tasks": [asdict(each) for each in (*single, *amended)]}
    lines = [report.lines(made), *(f"  where it ends, {part}: {report.shown(counts)}" for part, counts in ends.items())]
    return effect.finish("delivery", document, "\n".join(lines), options, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
