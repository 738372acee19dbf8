"""The document that a measurement leaves: figures by split, group and category, and under which conditions they hold.

Its shape is what `--json` prints, what `--out` appends and what the documentation is generated from, so a field is
added but never renamed.

Whether a score means what it says: reliability of scores as probabilities, and what a threshold would refuse.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.retrieval.corpus import Split, Task
from bench.retrieval.metrics import QuestionResult, figures, mean

BINS = 10
THRESHOLDS = tuple(step / 20 for step in range(1, 20))  # 0.05 to 0.95
WRONG_AT_MOST = 0.05  # share of answerable questions that we would put up with refusing


def calibration(outcomes: Sequence[QuestionResult]) -> dict[str, Any]:
    """Expected calibration error over every returned result, with the table it was summed from."""
    judged = [
        (score, key in each.gold) for each in outcomes for key, score in zip(each.ranked, each.scores, strict=True)
    ]
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for score, relevant in judged:
        bins[min(BINS - 1, max(0, int(score * BINS)))].append((score, relevant))
    table = [
        {
            "from": place / BINS,
            "to": (place + 1) / BINS,
            "n": len(inside),
            "score": round(mean(score for score, _ in inside), 4),
            "relevant": round(mean(relevant for _, relevant in inside), 4),
        }
        for place, inside in enumerate(bins)
    ]
    error = sum(row["n"] * abs(row["score"] - row["relevant"]) for row in table) / max(1, len(judged))
    return {"ece": round(error, 4), "results": len(judged), "questions": len(outcomes), "bins": table}


def abstention(answerable: Sequence[QuestionResult], absent: Sequence[QuestionResult]) -> dict[str, Any]:
    """For each threshold, the share that "nothing relevant" would be answered to: rightly, and wrongly."""
    return {
        "answerable": len(answerable),
        "absent": len(absent),
        "curve": [
            {
                "threshold": threshold,
                "refused_rightly": round(mean(each.top < threshold for each in absent), 4) if absent else None,
                "refused_wrongly": round(mean(each.top < threshold for each in answerable), 4) if answerable else None,
            }
            for threshold in THRESHOLDS
        ],
    }


def refusal(curve: Sequence[Mapping[str, Any]], at_most: float = WRONG_AT_MOST) -> Mapping[str, Any] | None:
    """The highest threshold of an abstention curve that refuses no larger share of answerable questions than this."""
    fitting = [row for row in curve if row["refused_wrongly"] is not None and row["refused_wrongly"] <= at_most]
    return fitting[-1] if fitting else None


FORMAT = 1


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the figures depend on besides the questions."""

    version: str
    python: str
    engine: str
    engine_version: str
    embedder: str
    recipe: str
    split: Split
    limit: int | None

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """As the document begins."""
        return {
            "format": FORMAT,
            "date": datetime.fromtimestamp(now_ms / 1_000, UTC).isoformat(timespec="seconds"),
            "version": self.version,
            "python": self.python,
            "engine": self.engine,
            "engine_version": self.engine_version,
            "embedder": self.embedder,
            "recipe": self.recipe,
            "split": self.split.value,
            "limit": self.limit,
        }


def judged(task: Task, outcomes: Sequence[QuestionResult]) -> dict[str, Any]:
    """Everything there is to say about one task."""
    held = {split: _of(outcomes, split) for split in (Split.HELD_OUT, Split.TUNING)}
    present = [split for split, found in held.items() if found]
    splits = {split.value: _figures(task, held[split]) for split in present}
    if len(present) > 1:
        splits[Split.ALL.value] = _figures(task, outcomes)
    headline = task.split if task.split.value in splits else present[0] if present else task.split
    # Scores are judged where nothing was chosen, unless only the tuning questions were asked.
    trusted = present[0] if present else Split.HELD_OUT
    chosen = _in_group(held[trusted], next(iter(task.groups.values())))
    answerable = [each for each in chosen if not each.question.absent]
    return {
        "unit": task.unit.value,
        "headline": {"split": headline.value, "group": next(iter(task.groups)), "figure": task.headline},
        # An embedder that failed leaves answers by words alone; figures must not pass for what they are not.
        "modes": dict(Counter(each.mode.value for each in outcomes)),
        "splits": splits,
        "calibration": {"split": trusted.value, **calibration(answerable)},
        "abstention": {
            "split": trusted.value,
            **abstention(answerable, [each for each in held[trusted] if each.question.absent]),
        },
    }


def headline(task: Mapping[str, Any]) -> tuple[str, str, Mapping[str, float]]:
    """The split, group and figures that stand for a task."""
    split, group = task["headline"]["split"], task["headline"]["group"]
    found: Mapping[str, float] = task["splits"].get(split, {}).get("groups", {}).get(group, {"n": 0})
    return split, group, found


def append(path: Path, document: Mapping[str, object]) -> None:
    """Add the document to a history file as one line."""
    line = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line)


def _figures(task: Task, outcomes: Sequence[QuestionResult]) -> dict[str, Any]:
    measured = [each for each in outcomes if each.gold]
    categories = sorted({each.question.category for each in measured})
    return {
        "groups": {name: figures(_in_group(measured, wanted)) for name, wanted in task.groups.items()},
        "categories": {
            category: figures([each for each in measured if each.question.category == category])
            for category in categories
        },
    }


def _of(outcomes: Sequence[QuestionResult], split: Split) -> list[QuestionResult]:
    return [each for each in outcomes if each.question.split is split]


def _in_group(outcomes: Sequence[QuestionResult], wanted: frozenset[str] | None) -> list[QuestionResult]:
    return [each for each in outcomes if each.gold and (wanted is None or each.question.category in wanted)]
