"""What the four measurements of delivery share: arguments, goals, their history, and the page that is made from it.

`python -m bench.delivery`, `bench.coding`, `bench.noise` and `bench.month` measure; with `--write` a whole run adds a
row to `docs/effect-history.jsonl`, from which `just generated` makes `docs/effect.md`, its twin and `docs/effect.svg`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from bench import report
from bench.effect_goals import CHINESE, GOALS, Goal
from bench.product import EMBEDDERS
from codexmem import __version__

DOCS = Path(__file__).parents[1] / "docs"
HISTORY = "effect-history.jsonl"
PICTURE = "effect.svg"
DATA = "CODEXMEM_BENCH_DATA"
NONE_YET = {"en": "No whole run is recorded yet.", "zh": "还没有完整运行的记录"}
_COLUMNS, _WIDTH, _HEIGHT, _GAP, _TOP = 3, 300, 110, 28, 40
_COLOURS = ("#0969DA", "#BC4C00")
DETAILS = {"delivery": "Where rules end", "coding": "Where answers end", "noise": "Who is given something",
           "month": "Where facts end"}  # fmt: skip

Row = Mapping[str, Any]


def arguments(description: str | None, *, sets: bool = True, writes: bool = True) -> argparse.ArgumentParser:
    """A parser with what all understand; a measurement that needs no sets is always of the whole, and one that records
    nothing has no `--write`.
    """
    first = (description or "").strip().partition("\n")[0]
    parser = argparse.ArgumentParser(description=first)
    parser.set_defaults(data=None, sample=None)
    if sets:
        parser.add_argument("--data", type=Path, help=f"folder of the sets; else {DATA}")
        parser.add_argument("--sample", type=int, metavar="N", help="a quick look at so many of each")
    parser.add_argument("--embedder", choices=EMBEDDERS, default="none", help="default: none")
    parser.add_argument(
        "--stores",
        type=Path,
        default=None,
        metavar="DIR",
        help="keep the filled stores here, and only ask those that an earlier run has filled",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of lines")
    if writes:
        parser.add_argument("--write", action="store_true", help="add a row to the history")
    else:
        parser.set_defaults(write=False)
    return parser


def data_of(options: argparse.Namespace, *, partly: bool = False) -> Path:
    """The folder of the sets; a program that was told of none ends, and one that should record a part of them."""
    given = options.data or (Path(os.environ[DATA]) if os.environ.get(DATA) else None)
    if given is None or not given.is_dir():
        raise SystemExit(f"no folder of sets: give --data DIR or set {DATA}")
    refuse_part(options, partly=partly)
    return Path(given)


def refuse_part(options: argparse.Namespace, *, partly: bool = False) -> None:
    """End a program that should record a part, or what an earlier run has filled."""
    if options.write and (partly or options.stores or options.sample is not None):
        raise SystemExit("a part is not written to the history")


def progress(text: str) -> None:
    """One line on standard error."""
    print(text, file=sys.stderr, flush=True)


def finish(bench: str, found: Mapping[str, Any], text: str, options: argparse.Namespace, seconds: float,
           docs: Path = DOCS) -> int:  # fmt: skip
    """Print what was found beside the goals, and write it where that is asked for; 0 if all goals are reached."""
    figures: Mapping[str, float] = found["figures"]
    goals = [goal for goal in GOALS if goal.bench == bench and goal.figure in figures]
    missed = [goal for goal in goals if not goal.kept(figures[goal.figure])]
    row = {"bench": bench, "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "version": __version__,
           "embedder": options.embedder, "seconds": round(seconds),
           "figures": {name: round(value, 4) for name, value in figures.items()},
           **({"detail": found["detail"]} if "detail" in found else {})}  # fmt: skip
    if options.write:
        with (docs / HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    lines = [text, *(f"  goal missed: {goal.english}: {goal.shown(figures[goal.figure])}, wanted {goal.wanted}"
                     for goal in missed), f"  {seconds:,.0f} s"]  # fmt: skip
    document = {**found, **row, "sample": options.sample}
    return report.conclude(bench, document, "\n".join(lines), kept=not missed, as_json=options.json)


def history(docs: Path = DOCS) -> list[Row]:
    """All rows, oldest first."""
    path = docs / HISTORY
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return sorted((json.loads(line) for line in lines if line.strip()), key=lambda row: str(row["date"]))


def tables(rows: Sequence[Row], language: str) -> str:
    """Figures beside goals, then every run."""
    if not rows:
        return NONE_YET[language]
    newest = {(row["bench"], row["embedder"]): row["figures"] for row in rows}
    details = {(row["bench"], row["embedder"]): row["detail"] for row in rows if "detail" in row}
    heads = {"en": ["figure", *(f"`{each}`" for each in EMBEDDERS), "goal"],
             "zh": ["指标", *(f"`{each}`" for each in EMBEDDERS), "目标"]}[language]  # fmt: skip
    parts: list[str] = []
    for bench in dict.fromkeys(goal.bench for goal in GOALS):
        lines = [
            [goal.english if language == "en" else goal.chinese, *map(_cell(newest, goal), EMBEDDERS), goal.wanted]
            for goal in GOALS
            if goal.bench == bench
        ]
        parts += [f"### `just bench-{bench}`", _markdown(heads, lines)]
        for embedder in EMBEDDERS:
            if grid := details.get((bench, embedder)):
                parts += [f"{_said(DETAILS[bench], language)}, `{embedder}`:", _grid(grid, language)]
    heads = {"en": ["date", "version", "measurement", "embedder", "goals reached", "seconds"],
             "zh": ["日期", "版本", "测量", "编码器", "达到的目标", "秒"]}[language]  # fmt: skip
    runs = [[str(row["date"])[:10], row["version"], row["bench"], row["embedder"], _reached(row),
             f"{row['seconds']:,}"] for row in rows]  # fmt: skip
    return "\n\n".join([*parts, {"en": "### History", "zh": "### 历史"}[language], _markdown(heads, runs)])


def _said(text: str, language: str) -> str:
    return CHINESE.get(text, text) if language == "zh" else text


def _grid(grid: Mapping[str, Mapping[str, float]], language: str) -> str:
    """Numbers as they are, and shares as per cent."""
    columns = list(dict.fromkeys(column for row in grid.values() for column in row))

    def cell(value: float | None) -> str:
        if value is None:
            return ""
        return f"{value:,}" if isinstance(value, int) else f"{100 * value:.1f} %"

    heads = ["", *(_said(column, language) for column in columns)]
    return _markdown(heads, [[_said(name, language), *(cell(row.get(column)) for column in columns)]
                             for name, row in grid.items()])  # fmt: skip


def _cell(newest: Mapping[tuple[str, str], Mapping[str, float]], goal: Goal) -> Any:
    def cell(embedder: str) -> str:
        value = newest.get((goal.bench, embedder), {}).get(goal.figure)
        if value is None:
            return "–"  # noqa: RUF001
        return f"**{goal.shown(value)}**" if goal.kept(value) else goal.shown(value)

    return cell


def _reached(row: Row) -> str:
    goals = [goal for goal in GOALS if goal.bench == row["bench"] and goal.figure in row["figures"]]
    return f"{sum(goal.kept(row['figures'][goal.figure]) for goal in goals)} / {len(goals)}"


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def svg(rows: Sequence[Row]) -> str:
    """A panel for each figure that is a share: its runs, one line for each embedder, and the goal as a dashed line."""
    panels = [(goal, lines) for goal in GOALS if not goal.whole and (lines := _runs(rows, goal))]
    deep = max(1, -(-len(panels) // _COLUMNS))
    width, height = _COLUMNS * (_WIDTH + _GAP) + _GAP, deep * (_HEIGHT + _GAP + _TOP) + 2 * _TOP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" '
        'font-size="11">',
        "<title>Effect over time</title>",
        f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>',
    ]
    for at, (goal, lines) in enumerate(panels):
        left = _GAP + (at % _COLUMNS) * (_WIDTH + _GAP)
        parts += _panel(goal, lines, left, _TOP + (at // _COLUMNS) * (_HEIGHT + _GAP + _TOP))
    for at, embedder in enumerate(EMBEDDERS):
        parts.append(f'<text x="{_GAP + 90 * at}" y="{height - 14}" fill="{_COLOURS[at]}">embedder {embedder}</text>')
    if not panels:
        parts.append(f'<text x="{_GAP}" y="{_TOP}" fill="#59636E">{NONE_YET["en"]}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _runs(rows: Sequence[Row], goal: Goal) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        if row["bench"] == goal.bench and goal.figure in row["figures"]:
            label = f"{str(row['date'])[:10]}, version {row['version']}"
            found.setdefault(row["embedder"], []).append((label, row["figures"][goal.figure]))
    return found


def _panel(goal: Goal, lines: Mapping[str, Sequence[tuple[str, float]]], left: int, top: int) -> Iterator[str]:
    def y(value: float) -> float:
        return round(top + (1 - value) * _HEIGHT, 1)

    yield (f'<text x="{left}" y="{top - 20}" fill="#59636E">{goal.bench}: {goal.figure}</text>'
           f'<text x="{left}" y="{top - 7}" fill="#1F2328">{escape(_short(goal.english))}</text>')  # fmt: skip
    for mark in (0.0, 0.5, 1.0):
        yield f'<path d="M{left + 34} {y(mark)}H{left + _WIDTH}" stroke="#D0D7DE" fill="none"/>'
        yield f'<text x="{left + 28}" y="{y(mark) + 4}" text-anchor="end" fill="#59636E">{100 * mark:.0f} %</text>'
    yield (f'<path d="M{left + 34} {y(goal.value)}H{left + _WIDTH}" stroke="#1A7F37" stroke-dasharray="5 4" '
           f'fill="none"><title>goal {goal.wanted}</title></path>')  # fmt: skip
    step = (_WIDTH - 60) / max(1, max(map(len, lines.values())) - 1)
    for embedder, points in lines.items():
        colour = _COLOURS[EMBEDDERS.index(embedder)]
        spots = [(round(left + 46 + at * step, 1), y(value)) for at, (_, value) in enumerate(points)]
        yield f'<polyline points="{" ".join(f"{x},{at}" for x, at in spots)}" fill="none" stroke="{colour}"/>'
        for (x, at), (label, value) in zip(spots, points, strict=True):
            said = escape(f"{embedder}: {goal.shown(value)} ({label})")
            yield f'<circle cx="{x}" cy="{at}" r="4" fill="{colour}"><title>{said}</title></circle>'


def _short(text: str, most: int = 50) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def documents(docs: Path = DOCS) -> dict[Path, str]:
    """What the page, its twin and the picture should be."""
    rows = history(docs)
    pages = {docs / "effect.md": "en", docs / "effect.zh.md": "zh"}
    return {
        docs / PICTURE: svg(rows),
        **{page: report.placed(page, "effect", tables(rows, language)) for page, language in pages.items()},
    }
