"""Why results stand where they do: the figures a search had, kept for a few results and in few bytes.

A search only keeps what it has computed anyway (`Ranking`). Places in each list are worked out later, by whoever writes
the trace, and what is written (`told`) names numbers and no texts: a trace must not remember what was forgotten.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

EXPLAINED = 20  # results that a trace explains, at most
MAX_CHARS = 4_000  # of what is told about all of them; the last ones are left out beyond it
RERANK = "rerank"  # under which a reranker's own score stands; no part of the sum

_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Placed:
    """One result, and where it stands among the candidates."""

    seq: int
    place: int  # in the lists of all candidates
    shares: tuple[float, ...]  # along the names: each signal's part of the sum


@dataclass(frozen=True, slots=True)
class Ranking:
    """The first results of an answer beside all candidates of the search."""

    names: tuple[str, ...]  # of signals
    placed: tuple[Placed, ...]
    order: Sequence[int]  # places of all candidates, the largest sum first
    lexical: Sequence[float]  # along the places; 0 where no word was found
    dense: Sequence[float] | None  # cosines; None where vectors took no part


@dataclass(frozen=True, slots=True)
class Ranked:
    """Why one result stands where it does."""

    seq: int
    by_sum: int  # its place by the sum alone, from 1
    words: tuple[int | None, float]  # its place among what words found, None if they did not, and its BM25
    meaning: tuple[int, float] | None  # its place by nearness, and the cosine
    shares: Mapping[str, float]  # parts of the sum that are not nothing
    rerank: float | None = None

    @property
    def sum(self) -> float:
        """What the order goes by."""
        return round(sum(self.shares.values()), _DIGITS)


def told(ranking: Ranking) -> dict[str, object]:
    """The figures as a trace keeps them: names once, then a row of numbers for each result."""
    by_sum = {place: at for at, place in enumerate(ranking.order, 1)}
    words = sorted(-score for score in ranking.lexical if score > 0.0)
    near = sorted(-score for score in ranking.dense) if ranking.dense is not None else None
    said = [at for at in range(len(ranking.names)) if any(round(each.shares[at], _DIGITS) for each in ranking.placed)]
    names = [ranking.names[at] for at in said]
    rows: list[list[Any]] = []
    for each in ranking.placed[:EXPLAINED]:
        lexical = ranking.lexical[each.place]
        rows.append([
            each.seq, by_sum[each.place], bisect_left(words, -lexical) + 1 if lexical > 0.0 else 0, _scored(lexical),
            *((bisect_left(near, -ranking.dense[each.place]) + 1, _scored(ranking.dense[each.place]))
              if near is not None and ranking.dense is not None else (0, None)),
            [_short(each.shares[at]) for at in said],
        ])  # fmt: skip
    while len(json.dumps([names, rows])) > MAX_CHARS:
        rows = rows[: len(rows) * 3 // 4]
    return {"names": names, "rows": rows}


def read(told: object) -> list[Ranked]:
    """What a trace tells; rows of another make are passed over."""
    if not isinstance(told, dict) or not isinstance(told.get("rows"), list) or not isinstance(told.get("names"), list):
        return []
    found = []
    for row in told["rows"]:
        try:
            seq, by_sum, word_rank, lexical, near_rank, cosine, values = row
            shares = {str(name): float(value) for name, value in zip(told["names"], values, strict=True) if value}
            found.append(Ranked(
                int(seq), int(by_sum), (int(word_rank) or None, float(lexical)),
                (int(near_rank), float(cosine)) if cosine is not None else None,
                {name: value for name, value in shares.items() if name != RERANK}, shares.get(RERANK),
            ))  # fmt: skip
        except (TypeError, ValueError):
            continue
    return found


def _scored(value: float) -> float:
    """A score of any size: BM25 of a word that most memories have is very small."""
    return float(f"{value:.4g}")


def _short(value: float) -> float | int:
    """A number in few characters."""
    rounded = round(value, _DIGITS)
    return int(rounded) if rounded == int(rounded) else rounded
