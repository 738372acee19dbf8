"""Whether a score means what it says: reliability of scores as probabilities, and what a threshold would refuse."""

from collections.abc import Mapping, Sequence
from typing import Any

from codexmem.measure.metrics import QuestionResult, mean

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
