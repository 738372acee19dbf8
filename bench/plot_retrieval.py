"""The tables and the picture of docs/retrieval.md, made from the history of measurements.

`just bench-retrieval --out docs/retrieval-history.jsonl` adds to the history; `just generated` draws.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bench import report
from bench.retrieval.report import headline, refusal

DOCS = Path(__file__).parents[1] / "docs"
SHARES = ("any@5", "all@5", "mean@5", "any@10", "all@10", "mean@10", "ndcg@10", "mrr")

# The chart colours of the user interface, each with a marker of its own: never told apart by colour alone.
COLOURS = ("#0072B2", "#D55E00", "#008A68", "#A8508A", "#8A6A00", "#56657A")
PANEL_W, PANEL_H, COLUMNS, GAP, TOP = 300, 170, 3, 24, 30

Run = Mapping[str, Any]
Series = dict[str, list[tuple[str, float]]]  # by configuration: (label of the run, figure)


def read(path: Path) -> list[Run]:
    """Every complete run, oldest first; one with a limit was only a look."""
    if not path.exists():
        return []
    runs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return sorted((run for run in runs if run["limit"] is None), key=lambda run: str(run["date"]))


def configuration(run: Run) -> str:
    """What is compared over time: engine, embedder and recipe."""
    recipe = "" if run["recipe"] == "default" else f", {run['recipe']}"
    return f"{run['engine']}, {run['embedder']}{recipe}"


def newest(runs: Sequence[Run]) -> dict[tuple[str, str, str], tuple[Run, Mapping[str, Any]]]:
    """The last run of each suite, task and configuration."""
    return {
        (suite, task, configuration(run)): (run, judged)
        for run in runs
        for suite, measured in run["suites"].items()
        for task, judged in measured["tasks"].items()
    }


def tables(runs: Sequence[Run]) -> str:
    """The newest figures: headlines, categories, and what scores are worth."""
    if not runs:
        return "No complete run is recorded yet."
    found = sorted(newest(runs).items())
    rows = [
        [f"{suite} {task}", *headline(judged)[:2], *where.split(", ", 1), *_figures(headline(judged)[2]),
         run["version"], str(run["date"])[:10]]
        for (suite, task, where), (run, judged) in found
    ]  # fmt: skip
    heads = ["suite", "split", "questions", "engine", "embedder", "n", *SHARES, "p50 ms", "p95 ms", "tokens@10",
             "version", "date"]  # fmt: skip
    parts = [_table(heads, rows, left=5)]
    rows = [
        [f"{suite} {task}", where, category, *_figures(figures)]
        for (suite, task, where), (_, judged) in found
        for category, figures in _categories(judged).items()
    ]
    parts += ["By category:", _table(["suite", "run", "category", "n", *SHARES, "p50 ms", "p95 ms", "tokens@10"], rows,
                                     left=3)]  # fmt: skip
    rows = [[f"{suite} {task}", where, *_worth(judged)] for (suite, task, where), (_, judged) in found]
    heads = [
        "suite",
        "run",
        "split",
        "calibration error",
        "`min_score`",
        "refused rightly",
        "refused wrongly",
        "absent",
    ]
    parts += ["Scores as probabilities, and what a threshold would refuse:", _table(heads, rows, left=3)]
    return "\n\n".join(parts)


def _categories(judged: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
    inside: Mapping[str, Any] = judged["splits"].get(headline(judged)[0], {})
    found: Mapping[str, Mapping[str, float]] = inside.get("categories", {})
    return found if len(found) > 1 else {}


def _figures(figures: Mapping[str, float]) -> Iterator[str]:
    yield f"{figures['n']:,.0f}"
    for name in SHARES:
        yield f"{100 * figures[name]:.1f}" if name in figures else "–"  # noqa: RUF001
    for name in ("p50_ms", "p95_ms"):
        yield f"{figures.get(name, 0):.1f}"
    yield f"{figures.get('tokens@10', 0):,.0f}"


def _worth(judged: Mapping[str, Any]) -> Iterator[str]:
    yield judged["calibration"]["split"]
    yield f"{100 * judged['calibration']['ece']:.1f}"
    best = refusal(judged["abstention"]["curve"])
    if best is None or best["refused_rightly"] is None:
        yield from ("–", "–", "–")  # noqa: RUF001
    else:
        yield from (f"{best['threshold']:.2f}", f"{100 * best['refused_rightly']:.1f}",
                    f"{100 * best['refused_wrongly']:.1f}")  # fmt: skip
    yield str(judged["abstention"]["absent"])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> str:
    rule = ["---"] * left + ["---:"] * (len(heads) - left)
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (heads, rule, *rows))


def series(runs: Sequence[Run]) -> dict[str, Series]:
    """For each suite and task, its headline figure run by run."""
    found: dict[str, Series] = {}
    for run in runs:
        for suite, measured in run["suites"].items():
            for task, judged in measured["tasks"].items():
                name = judged["headline"]["figure"]
                figures = headline(judged)[2]
                if name in figures:
                    lines = found.setdefault(f"{suite} {task}: {name}", {})
                    label = f"{str(run['date'])[:10]}, version {run['version']}"
                    lines.setdefault(configuration(run), []).append((label, figures[name]))
    return found


def svg(runs: Sequence[Run]) -> str:
    """One panel for each suite and task, one line for each configuration, readable on light and dark pages."""
    panels = series(runs)
    names = list(dict.fromkeys(where for lines in panels.values() for where in lines))
    rows = max(1, -(-len(panels) // COLUMNS))
    width = COLUMNS * PANEL_W + (COLUMNS + 1) * GAP
    height = TOP + rows * (PANEL_H + GAP + TOP) + 20 * max(1, len(names))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="sans-serif" font-size="12">',
        "<title>Retrieval quality over time</title>",
        f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>',
    ]
    for at, (title, lines) in enumerate(panels.items()):
        left = GAP + (at % COLUMNS) * (PANEL_W + GAP)
        top = TOP + (at // COLUMNS) * (PANEL_H + GAP + TOP)
        parts += _panel(title, lines, names, left, top)
    legend = TOP + rows * (PANEL_H + GAP + TOP)
    for place, where in enumerate(names):
        y = legend + 20 * place
        parts.append(_marker(place, GAP + 6, y))
        parts.append(f'<text x="{GAP + 18}" y="{y + 4}" fill="#1F2328">{escape(where)}</text>')
    if not panels:
        parts.append(f'<text x="{GAP}" y="{TOP}" fill="#59636E">No complete run is recorded yet.</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(title: str, lines: Series, names: Sequence[str], left: int, top: int) -> Iterator[str]:
    values = [value for points in lines.values() for _, value in points]
    # Whole tens of percent around what was measured, so that neighbouring runs can be told apart.
    low, high = int(min(values) * 10) / 10, min(1.0, (int(max(values) * 10) + 1) / 10)
    low = low - 0.1 if low >= high else low

    def y(value: float) -> float:
        return round(top + PANEL_H - (value - low) / (high - low) * PANEL_H, 1)

    yield f'<text x="{left}" y="{top - 8}" fill="#1F2328" font-weight="600">{escape(title)}</text>'
    for mark in (low, (low + high) / 2, high):
        yield f'<path d="M{left + 34} {y(mark)}H{left + PANEL_W}" stroke="#D0D7DE" fill="none"/>'
        yield f'<text x="{left + 28}" y="{y(mark) + 4}" text-anchor="end" fill="#59636E">{100 * mark:.0f} %</text>'
    longest = max(map(len, lines.values()))
    step = (PANEL_W - 60) / max(1, longest - 1)
    for where, points in lines.items():
        place = names.index(where)
        spots = [(round(left + 46 + at * step, 1), y(value)) for at, (_, value) in enumerate(points)]
        route = " ".join(f"{x},{level}" for x, level in spots)
        yield f'<polyline points="{route}" fill="none" stroke="{COLOURS[place % len(COLOURS)]}" stroke-width="2"/>'
        for (x, level), (label, value) in zip(spots, points, strict=True):
            told = escape(f"{where}: {100 * value:.1f} % ({label})")
            yield f"<g><title>{told}</title>{_marker(place, x, level)}</g>"


def _marker(place: int, x: float, y: float) -> str:
    colour = COLOURS[place % len(COLOURS)]
    match place % 3:
        case 0:
            return f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
        case 1:
            return f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8" fill="{colour}"/>'
        case _:
            return f'<path d="M{x} {y - 5}l5 9h-10z" fill="{colour}"/>'


def documents(docs: Path = DOCS) -> dict[Path, str]:
    """What the page and the picture should be."""
    runs, page = read(docs / "retrieval-history.jsonl"), docs / "retrieval.md"
    return {page: report.placed(page, "retrieval tables", tables(runs)), docs / "retrieval.svg": svg(runs)}
