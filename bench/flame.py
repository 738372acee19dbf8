"""Where the processor's time of a wait goes, as a picture: one row for each call, as wide as its share.

A timer of processor time interrupts the program every few milliseconds, and the stack of the moment is counted. What
has less than a two-hundredth of the time is left out. The picture is an SVG without scripts; its rectangles say their
names and shares to whoever points at them.
"""

from __future__ import annotations

import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any

from bench import capture, drafts, report, search_latency, waits, writes
from bench.corpus import Corpus
from bench.stores import stores
from codexmem.kernel.embed import local
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.database import acting_as

Stacks = Counter[tuple[str, ...]]
_EVERY_S = 0.004
_LEAST = 0.005
_IMPORTING = "importlib._bootstrap"  # a dozen calls around every module
_WIDTH, _ROW, _LETTER = 1_000, 17, 6.2
_COLOURS = ("#FFD8A8", "#FFC078", "#FFE8CC", "#FCC2A0")


@dataclass(slots=True)
class Sampled:
    """Stacks with how often each was met, and the seconds of processor time in which they were."""

    stacks: Stacks = field(default_factory=Counter)
    seconds: float = 0.0


@contextmanager
def sampled() -> Iterator[Sampled]:
    """Count the stacks of this thread below the caller."""
    found = Sampled()
    outer = _depth(sys._getframe(2))

    def note(_: int, frame: FrameType | None) -> None:
        names: list[str] = []
        while frame is not None:
            names.append(f"{_module(frame)}.{frame.f_code.co_qualname}")
            frame = frame.f_back
        inner = [name for name in names[::-1][outer:] if not name.startswith(_IMPORTING)]
        found.stacks[tuple(inner)] += 1

    before = signal.signal(signal.SIGPROF, note)
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, _EVERY_S, _EVERY_S)
    try:
        yield found
    finally:
        found.seconds = time.process_time() - began
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _depth(frame: FrameType | None) -> int:
    count = 0
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count


def _module(frame: FrameType) -> str:
    name = str(frame.f_globals.get("__name__", "?"))
    return name.removeprefix("codexmem.")


def picture(stacks: Stacks, title: str) -> str:
    """The stacks as an SVG, the outermost call on top."""
    total = sum(stacks.values())
    deepest = 0
    boxes: list[str] = []

    def draw(some: Stacks, depth: int, x: float) -> None:
        nonlocal deepest
        below: dict[str, Stacks] = {}
        for stack, count in some.items():
            if stack:
                below.setdefault(stack[0], Counter())[stack[1:]] += count
        for name, inner in sorted(below.items()):
            share = sum(inner.values()) / total
            if share >= _LEAST:
                deepest = max(deepest, depth)
                boxes.append(_box(name, share, depth, x))
                draw(inner, depth + 1, x)
            x += share

    draw(stacks, 0, 0.0)
    height = 24 + _ROW * (deepest + 1) + 4
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" font-family="sans-serif" '
        'font-size="10">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#FFFFFF"/>',
        f'<text x="4" y="15" font-size="12" fill="#1F2328">{escape(title)}</text>',
        *boxes, "</svg>", "",
    ])  # fmt: skip


def _box(name: str, share: float, depth: int, x: float) -> str:
    left, width, top = round(x * _WIDTH, 1), round(share * _WIDTH, 1), 24 + depth * _ROW
    letters = int((width - 6) / _LETTER)
    short = name.rpartition(".<locals>.")[2]
    short = ".".join(short.split(".")[-2:]) if len(short) > letters else short
    text = short if len(short) <= letters else f"{short[: max(0, letters - 1)]}…"
    told = f'<text x="{left + 3}" y="{top + 12}" fill="#1F2328">{escape(text)}</text>' if letters > 3 else ""
    return (
        f'<g><title>{escape(name)}: {share:.1%}</title><rect x="{left}" y="{top}" width="{width}" height="{_ROW - 1}" '
        f'fill="{_COLOURS[depth % len(_COLOURS)]}" stroke="#FFFFFF"/>{told}</g>'
    )


def imports() -> Sampled:
    """Memories of another program, in batches of 500."""
    chance = random.Random(7)
    with waits._core() as core:
        rows = [waits._foreign(at, drafts.text(chance)) for at in range(1, 6_001)]
        delta: str | None = None
        with sampled() as found:
            for start in range(0, len(rows), 500):
                some = rows[start : start + 500]
                delta = core.importing.take_in("flame", some, WriteContext("bench"), delta=delta).delta
    return found


def captures() -> Sampled:
    """Events of sixteen sessions, one after the other."""
    chance = random.Random(7)
    with waits._core() as core:
        sessions = [capture.reporter(core, f"session-{number}", chance) for number in range(writes.WRITERS)]
        with sampled() as found:
            for _ in range(150):
                for report_one in sessions:
                    report_one()
    return found


def searches() -> Sampled:
    """Searches in projects of 200 memories, the encoder left out."""
    progress = report.Progress("flame")
    with acting_as(LOCAL), stores("sqlite", durable=False) as made:
        corpus = Corpus(7)
        url, questions = search_latency.filled(made, corpus, 10_000, 340, progress)
        with search_latency.opened(url, corpus, 10_000) as (product, _):
            for question in questions[:40]:
                product.search(question, "project")
            with sampled() as found:
                for question in questions[40:]:
                    product.search(question, "project")
    progress.close()
    return found


def first_search() -> Sampled:
    """What the encoder needs before it can encode for the first time."""
    with sampled() as found:
        local.small().query("ready")
    return found


MEASURES: dict[str, Callable[[], Sampled]] = {
    "import": imports,
    "captures": captures,
    "search": searches,
    "first-search": first_search,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.add_argument("waits", nargs="*", metavar="WAIT", help=f"some of: {', '.join(MEASURES)}; all if none")
    parser.add_argument("--dir", type=Path, default=Path(), help="where the pictures are put")
    parser.add_argument("--suffix", default="", help="of their names, to tell two states apart")
    options = parser.parse_args(argv)
    if unknown := [name for name in options.waits if name not in MEASURES]:
        parser.error(f"no such wait: {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    document: dict[str, Any] = {}
    for name in options.waits or MEASURES:
        found = MEASURES[name]()
        path = options.dir / f"flame-{name}{options.suffix}.svg"
        path.write_text(picture(found.stacks, name), encoding="utf-8")
        document[name] = {"seconds": round(found.seconds, 2), "picture": str(path)}
    text = "\n".join(f"{name}: {each['seconds']} s, {each['picture']}" for name, each in document.items())
    return report.conclude("flame", document, text, kept=True, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
