"""The candidates of one search, with what each index said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codexmem.kernel.store.candidates import SearchCandidate


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates in a fixed order; every list runs along them."""

    candidates: Sequence[SearchCandidate]
    lexical: Sequence[float]  # BM25; 0 where no word was found
    dense: Sequence[float] | None  # cosine; None where no vector took part
    before: Sequence[int | None]  # the place in this pool of the memory before it in its session
    after: Sequence[int | None]
    unmeasured: frozenset[int] = frozenset()  # places of what words found and no vector was made of yet

    def __len__(self) -> int:
        return len(self.candidates)

    def sessions(self) -> list[object]:
        """What each candidate belongs to; one without a session stands for itself."""
        return [candidate.session or candidate.seq for candidate in self.candidates]


def gather(found: Mapping[int, SearchCandidate], lexical: Mapping[int, float], dense: Mapping[int, float] | None,
           beside: Mapping[int, tuple[int | None, int | None]]) -> Pool:  # fmt: skip
    """Bring together what was read and found; in order of their numbers, so that ties are broken alike everywhere."""
    seqs = sorted(found)
    place = {seq: at for at, seq in enumerate(seqs)}

    def neighbours(side: int) -> list[int | None]:
        places: list[int | None] = []
        for seq in seqs:
            other = beside.get(seq, (None, None))[side]
            places.append(place.get(other) if other is not None else None)
        return places

    return Pool(
        candidates=[found[seq] for seq in seqs],
        lexical=[lexical.get(seq, 0.0) for seq in seqs],
        dense=_measured(seqs, lexical, dense) if dense is not None else None,
        before=neighbours(0),
        after=neighbours(1),
        unmeasured=frozenset(place[seq] for seq in lexical if seq in place and dense is not None and seq not in dense),
    )


def _measured(seqs: Sequence[int], lexical: Mapping[int, float], dense: Mapping[int, float]) -> list[float]:
    """Every candidate's cosine; where there is none, what is most likely.

    Whatever words found was measured, so one without a cosine has no vector yet: it was just written, and until its
    vector is made its words speak for its meaning. The others only stand beside something and were not near enough.
    """
    lowest, highest = min(dense.values(), default=0.0), max(dense.values(), default=0.0)
    best = max(lexical.values(), default=0.0) or 1.0
    return [dense[seq] if seq in dense else lowest + (highest - lowest) * lexical.get(seq, 0.0) / best for seq in seqs]
