"""How long a person or an agent waits for codexmem, each wait beside what the machine needs for it without us.

Every row is a ratio to a reference that takes turns with it in the same run, so that a slow machine or a busy one slows
both. A run measures each ratio several times; the page shows the median and how far the middle half of them lies apart.
`--write` keeps the run in `docs/performance.json`, from which `just generated` makes the page and the picture.
`--check` compares with the kept run: a wait has become worse if all of its middle half lies more than a quarter beyond
the kept median, three times in a row.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from bench import report
from bench.waits import MEASURES, WAITS, Wait
from codexmem import __version__

DOCS = Path(__file__).parents[1] / "docs"
KEPT, PICTURE = "performance.json", "performance.svg"
WORSE = 1.25
TRIES = 3
_HEADS = {
    "en": ("wait", "measured beside", "ratio", "middle half", "goal", ""),
    "zh": ("等待", "对照", "比值", "中间一半", "目标", ""),
}
_REACHED = {"en": {True: "reached", False: "not reached"}, "zh": {True: "达到", False: "未达到"}}
_WIDTH, _ROW, _LEFT, _TOP = 860, 26, 330, 46


@dataclass(frozen=True, slots=True)
class Ratio:
    """What a run found of one wait."""

    median: float
    low: float  # a quarter of the rounds lie below
    high: float
    rounds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Ratio:
        """From the ratio of each round."""
        if len(values) == 1:
            return cls(round(values[0], 3), round(values[0], 3), round(values[0], 3), 1)
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(round(median, 3), round(low, 3), round(high, 3), len(values))


def reached(wait: Wait, ratio: Ratio) -> bool:
    """Whether the goal is kept by the median."""
    return ratio.median >= wait.goal if wait.is_rate else ratio.median <= wait.goal


def is_worse(wait: Wait, now: Ratio, kept: Ratio) -> bool:
    """Whether noise can hardly be the reason that this is worse than what was kept."""
    return now.high < kept.median / WORSE if wait.is_rate else now.low > kept.median * WORSE


def measured(names: Sequence[str], rounds: int, seed: int) -> dict[str, Ratio]:
    """Measure the groups of these names, all if none is named."""
    progress = report.Progress("performance")
    found: dict[str, Ratio] = {}
    for name, measure in MEASURES.items():
        if names and name not in names:
            continue
        progress.tell(name)
        found |= {key: Ratio.of(values) for key, values in measure(rounds, seed).items()}
    progress.close()
    return found


def kept_run(docs: Path = DOCS) -> dict[str, Ratio]:
    """What `--write` has kept."""
    path = docs / KEPT
    if not path.exists():
        return {}
    return {key: Ratio(**values) for key, values in json.loads(path.read_text())["ratios"].items()}


def keep(found: Mapping[str, Ratio], docs: Path = DOCS) -> None:
    """Put these into the kept run; what was not measured this time stays as it was."""
    known = {wait.key for wait in WAITS}
    ratios = {key: asdict(ratio) for key, ratio in (kept_run(docs) | dict(found)).items() if key in known}
    document = {"version": __version__, "date": datetime.now(UTC).date().isoformat(), "ratios": ratios}
    (docs / KEPT).write_text(json.dumps(document, indent=2) + "\n")


def compare(names: Sequence[str], rounds: int, seed: int, docs: Path = DOCS) -> list[str]:
    """The keys that are worse than the kept run, measured again as long as they are."""
    kept, groups = kept_run(docs), list(names)
    worse: list[str] = []
    for attempt in range(TRIES):
        found = measured(groups, rounds, seed + attempt)
        worse = [
            wait.key
            for wait in WAITS
            if wait.key in kept
            and wait.key in found
            and (not attempt or wait.key in worse)
            and is_worse(wait, found[wait.key], kept[wait.key])
        ]
        groups = sorted({wait.group for wait in WAITS if wait.key in worse})
        if not worse:
            break
    return worse


def table(found: Mapping[str, Ratio], language: str) -> str:
    """The rows of the page."""
    heads = _HEADS[language]
    lines = [f"| {' | '.join(heads)} |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for wait in WAITS:
        if (ratio := found.get(wait.key)) is None:
            continue
        goal = f"{'≥' if wait.is_rate else '≤'} {wait.goal:g}"
        cells = (wait.name(language), wait.reference_in(language), f"{ratio.median:.2f}",
                 f"{ratio.low:.2f}-{ratio.high:.2f}", goal, _REACHED[language][reached(wait, ratio)])  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def svg(found: Mapping[str, Ratio]) -> str:
    """Each ratio as a share of its goal: what ends left of the line has reached it."""
    rows = [(wait, found[wait.key]) for wait in WAITS if wait.key in found]
    height, full = _TOP + _ROW * len(rows) + 16, _WIDTH - _LEFT - 70
    shares = [wait.goal / ratio.median if wait.is_rate else ratio.median / wait.goal for wait, ratio in rows]
    widest = max([*shares, 1.0]) * 1.05
    goal_x = round(_LEFT + full / widest, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" font-family="sans-serif" '
        'font-size="12">',
        "<title>Waits as shares of their goals</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#FFFFFF"/>',
        f'<path d="M{goal_x} {_TOP - 12}V{height - 10}" stroke="#1A7F37" stroke-dasharray="5 4"/>',
        f'<text x="{goal_x}" y="{_TOP - 20}" text-anchor="middle" fill="#1A7F37">goal</text>',
    ]
    for at, ((wait, ratio), share) in enumerate(zip(rows, shares, strict=True)):
        y = _TOP + at * _ROW
        colour = "#0969DA" if share <= 1 else "#BC4C00"
        parts.append(
            f'<text x="{_LEFT - 10}" y="{y + 13}" text-anchor="end" fill="#1F2328">{escape(wait.what)}</text>'
            f'<rect x="{_LEFT}" y="{y}" width="{round(full * share / widest, 1)}" height="{_ROW - 8}" fill="{colour}"/>'
            f'<text x="{round(_LEFT + full * share / widest + 6, 1)}" y="{y + 13}" fill="#59636E">'
            f"{ratio.median:.2f}</text>"
        )
    return "\n".join([*parts, "</svg>", ""])


def documents(docs: Path = DOCS) -> dict[Path, str]:
    """What the page, its twin and the picture should be."""
    found = kept_run(docs)
    pages = {docs / "performance.md": "en", docs / "performance.zh.md": "zh"}
    return {
        docs / PICTURE: svg(found),
        **{page: report.placed(page, "performance", table(found, language)) for page, language in pages.items()},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = report.arguments(__doc__, engine=False)
    parser.formatter_class = argparse.ArgumentDefaultsHelpFormatter
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"some of: {', '.join(MEASURES)}")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write", action="store_true", help=f"keep the run in {KEPT}")
    parser.add_argument("--check", action="store_true", help="compare with the kept run")
    options = parser.parse_args(argv)
    if unknown := [name for name in options.groups if name not in MEASURES]:
        parser.error(f"no such group: {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    seed = report.chosen_seed(options.seed)
    if options.check:
        worse = compare(options.groups, options.rounds, seed)
        text = f"seed {seed}\n" + ("worse by more than a quarter: " + ", ".join(worse) if worse else "nothing is worse")
        return report.conclude("performance", {"seed": seed, "worse": worse}, text, kept=not worse,
                               as_json=options.json)  # fmt: skip
    found = measured(options.groups, options.rounds, seed)
    if options.write:
        keep(found)
    rows = [
        [wait.what, wait.reference, found[wait.key].median, f"{found[wait.key].low}-{found[wait.key].high}", wait.goal,
         "" if reached(wait, found[wait.key]) else "NOT REACHED"]
        for wait in WAITS if wait.key in found
    ]  # fmt: skip
    text = f"seed {seed}\n" + report.table(["wait", "beside", "ratio", "middle half", "goal", ""], rows)
    good = all(reached(wait, found[wait.key]) for wait in WAITS if wait.key in found)
    document = {"seed": seed, "ratios": {key: asdict(ratio) for key, ratio in found.items()}}
    return report.conclude("performance", document, text, kept=good, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
