"""A search from query to answer: read the query, gather candidates, weigh them, order them, say how it went.

Words and meaning each propose candidates; their neighbours in a session join them. The recipe's weighted sum of signals
orders them, a logistic curve turns the sum into a probability, and what nearly repeats a better result steps behind
what differs; a reranker, if there is one, then puts the first of them in its own order. That anything fits at all is
judged apart (`floor`): where too little speaks for any of them, there is no result, and where little does, every
probability is small. Whatever keeps vectors from taking part (no embedder, a server that does not
answer) leaves a search by words, a reranker that fails leaves the order, and the answer says so.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.embed.passages import SIZE
from codexmem.kernel.embed.rerank import Reranker
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.ranking import RERANK
from codexmem.kernel.model.search import (
    MAX_DEPTH,
    NO_VECTORS,
    Floor,
    SearchAnswer,
    SearchMode,
    SearchQuery,
    SearchResult,
    Unit,
)
from codexmem.kernel.model.spans import timed
from codexmem.kernel.search import floor, parsed_query, recipes, tokens
from codexmem.kernel.search.calibration import Calibrated, calibrate, has_summaries
from codexmem.kernel.search.evidence import StoreCounts
from codexmem.kernel.search.floor import Judged, Weighed
from codexmem.kernel.search.pool import Pool, gather
from codexmem.kernel.search.recipes import Recipe
from codexmem.kernel.search.signals import NAMES, RankingSignals
from codexmem.kernel.search.text_of import body, labels, names
from codexmem.kernel.store.candidates import SearchCandidate, SearchCandidates
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.index import IndexHit, PastHit, Required, TextIndex, VectorIndex
from codexmem.kernel.store.memories import MemoryTable

_COUNTED = 5_000  # memories that a search may return are counted so far; of more, all of the tenant's are assumed
_READ = 300  # characters compared
_SPACED = 12  # characters to a word, at most, of text with spaces
_COMPARABLE = 0.8  # of the larger's size that the smaller has at least


def spread(order: Sequence[int], candidates: Sequence[SearchCandidate], *, alike: float, depth: int) -> list[int]:
    """The order with near duplicates of better results moved behind those that differ; true of its first `depth`."""
    kept: list[int] = []
    repeated: list[int] = []
    seen: list[frozenset[str]] = []
    looked = 0
    for place in order:
        if len(kept) >= depth:
            break
        looked += 1
        shape = _shape(candidates[place])
        if _repeats(shape, seen, alike):
            repeated.append(place)
        else:
            kept.append(place)
            seen.append(shape)
    return [*kept, *order[looked:], *repeated]


def _shape(candidate: SearchCandidate) -> frozenset[str]:
    """The words of its beginning; where words are not spaced, groups of three characters."""
    text = f"{candidate.title} {candidate.opening[:_READ]}".lower()
    words = text.split()
    if len(words) * _SPACED > len(text):
        return frozenset(words)
    return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))


def _repeats(shape: frozenset[str], seen: Iterable[frozenset[str]], alike: float) -> bool:
    """Whether it is like one of these."""
    size = len(shape)
    for other in seen:
        others = len(other)
        # Sizes far apart cannot reach a likeness that counts.
        if others >= _COMPARABLE * size and size >= _COMPARABLE * others:
            shared = len(shape & other)
            if shared / (size + others - shared) >= alike:
                return True
    return False


class Stopwatch:
    """Runs from its making; each lap is a step."""

    def __init__(self) -> None:
        self._began = self._last = ids.monotonic()
        self._laps: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """The step that ends here; a step that comes twice is added up."""
        now = ids.monotonic()
        self._laps[step] = self._laps.get(step, 0.0) + (now - self._last) * 1_000
        self._last = now

    def total(self) -> dict[str, float]:
        """Milliseconds of every step, and of all."""
        laps = {step: round(ms, 3) for step, ms in self._laps.items()}
        return laps | {"total": round((self._last - self._began) * 1_000, 3)}


SHARE = RERANK  # under which an explanation tells the reranker's own score


def text_of(candidate: SearchCandidate) -> str:
    """What a reranker reads of a candidate: its title, unless the content begins with it, and the beginning."""
    title, opening = candidate.title.strip(), candidate.opening
    return f"{title}\n{opening}" if title and not opening.startswith(title) else opening


def reorder(pool: Pool, order: Sequence[int], ranked: Calibrated, scores: Sequence[float], *,
            alike: float) -> tuple[list[int], Calibrated]:  # fmt: skip
    """The order with its first places, as many as there are scores, sorted by these; near duplicates stay behind."""
    head = order[: len(scores)]
    by_score = [place for _, _, place in sorted(zip([-score for score in scores], range(len(head)), head, strict=True))]
    by_score = spread(by_score, pool.candidates, alike=alike, depth=len(head))
    probabilities = list(ranked.probabilities)
    chances = sorted((probabilities[place] for place in head), reverse=True)
    told = [0.0] * len(probabilities)
    for place, score in zip(head, scores, strict=True):
        told[place] = score
    for place, chance in zip(by_score, chances, strict=True):
        probabilities[place] = chance
    shares = {**ranked.shares, SHARE: told}
    return [*by_score, *order[len(head) :]], replace(ranked, probabilities=probabilities, shares=shares)


@dataclass(slots=True)
class _Dense:
    """What the vectors said, and what kept all or some of them from it."""

    scores: dict[int, float] | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Listed:
    """Candidates in order, before the page is read."""

    pool: Pool
    order: list[int]  # places in the pool
    ranked: Calibrated
    relevance: list[float]  # along the pool
    floor: Floor
    sources: dict[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Examined:
    """What a search had before it."""

    pool: Pool
    signals: dict[str, list[float]]  # along the pool
    order: list[int]  # places in the pool, best first
    weighed: list[Weighed]  # along the pool
    crowd: float


class Finder:
    """Searches the acting tenant's memory."""

    def __init__(
        self,
        db: Database,
        table: MemoryTable,
        versions: VersionTable,
        candidates: SearchCandidates,
        text: TextIndex,
        vectors: VectorIndex,
        embedder: Embedder | None,
        clock: Clock,
        reranker: Reranker | None = None,
    ) -> None:
        self._db = db
        self._table = table
        self._versions = versions
        self._candidates = candidates
        self._text = text
        self._vectors = vectors
        self._embedder = embedder
        self._clock = clock
        self._reranker = reranker

    def prepare(self) -> None:
        """Load an encoder that is here, so that the first search need not wait for it; one far away is not bothered."""
        if self._embedder is not None and self._embedder.dimension is not None:
            with suppress(CodexmemError):
                self._embedder.query("prepare")

    def search(self, search: SearchQuery) -> SearchAnswer:
        """The answer; raises only what the store itself raises."""
        recipe = _recipe(search)
        watch = Stopwatch()
        now_ms = self._clock.now_ms()
        query = self._read(search, now_ms)
        watch.lap("query")
        if search.as_of_ms is not None:
            with self._db.reading():
                return self._search_past(search, query, recipe, watch)
        # Before a connection is held: an embedder may be a server far away.
        vector, note = self._embed(query.text) if not search.every_word else (None, None)
        watch.lap("embed")

        def found() -> tuple[_Listed, SearchAnswer | None]:
            listed = self._listed(search, query, recipe, watch, vector, note, now_ms)
            return listed, self._answer(search, listed, watch) if self._reranker is None else None

        listed, answer = self._db.read_lately(found)
        if self._reranker is None:
            assert answer is not None
            return answer
        # While no connection is held, for the same reason.
        listed = self._reranked(self._reranker, search, listed, recipe, watch)
        with self._db.reading():
            return self._answer(search, listed, watch, again=True)

    def _read(self, search: SearchQuery, now_ms: int) -> parsed_query.ParsedQuery:
        project = search.filter.project
        return parsed_query.read(
            search.text,
            asked_ms=next(ms for ms in (search.asked_ms, search.as_of_ms, now_ms) if ms is not None),
            known=lambda names: self._candidates.speakers(names, project),
        )

    @timed("search.embed")
    def _embed(self, text: str) -> tuple[bytes | None, str | None]:
        """The query's vector, or why there is none."""
        if self._embedder is None:
            return None, "no embedder is configured: words only"
        beginning = _beginning(text)
        if not beginning.strip():
            return None, "the query is empty"
        try:
            return self._embedder.query(beginning), None
        except CodexmemError as error:
            return None, f"no vectors: {error.message}"

    @timed("search.rank")
    def _listed(
        self,
        search: SearchQuery,
        query: parsed_query.ParsedQuery,
        recipe: Recipe,
        watch: Stopwatch,
        vector: bytes | None,
        note: str | None,
        now_ms: int,
    ) -> _Listed:
        depth = search.offset + search.limit
        pool, sources, missing = self._pool(search, query, recipe, watch, vector, note, depth)
        ranked = self._rank(search, query, pool, recipe, now_ms)
        watch.lap("rank")
        judged = self._judged(search, query, pool)
        watch.lap("judge")
        order = _fitting(search, ranked, judged, pool)
        # A reranker is shown the same candidates for every page, or pages would not fit together.
        seen = max(depth + 1, self._reranker.depth if self._reranker is not None else 0)
        order = spread(order, pool.candidates, alike=recipe.near_duplicate, depth=seen)
        watch.lap("rank")
        notes = (missing,) if missing else ()
        return _Listed(pool, order, ranked.given(judged.best), judged.relevance, judged.level, sources, notes)

    def _answer(self, search: SearchQuery, listed: _Listed, watch: Stopwatch, *, again: bool = False) -> SearchAnswer:
        """The page; `again` says that its memories may have changed since they were found."""
        chances, depth = listed.ranked.probabilities, search.offset + search.limit
        chosen = [place for place in listed.order if chances[place] >= (search.min_score or 0.0)]
        page = chosen[search.offset : depth]
        if again:
            seqs = [listed.pool.candidates[place].seq for place in page]
            standing = self._candidates.passing(seqs, search.filter)
            page = [place for place, seq in zip(page, seqs, strict=True) if seq in standing]
        results = self._results(search, listed, page)
        watch.lap("rows")
        return SearchAnswer(
            results=results,
            mode=SearchMode.HYBRID if listed.pool.dense is not None else SearchMode.LEXICAL,
            sources=listed.sources,
            timings_ms=watch.total(),
            more=len(chosen) > depth,
            floor=listed.floor,
            notes=listed.notes,
            ranking=listed.ranked.ranking(listed.pool, page),
        )

    def _pool(
        self,
        search: SearchQuery,
        query: parsed_query.ParsedQuery,
        recipe: Recipe,
        watch: Stopwatch,
        vector: bytes | None,
        note: str | None,
        depth: int,
    ) -> tuple[Pool, dict[str, int], str | None]:
        """The candidates, how many each source gave, and why vectors took no part."""
        width = _width(recipe.lexical, depth)
        lexical = self._text.find(query.terms, search.filter, limit=width, required=_required(search))
        watch.lap("lexical")
        dense = _Dense(note=note)
        if vector is not None:
            dense = self._find_dense(vector, search.filter, _width(recipe.dense, depth), lexical)
            watch.lap("vectors")
        pool, sources = self._gather(lexical, dense, search.filter, recipe)
        watch.lap("candidates")
        return pool, sources, dense.note

    def _find_dense(self, vector: bytes, wanted: Filter, limit: int, lexical: Sequence[IndexHit]) -> _Dense:
        assert self._embedder is not None
        model = self._embedder.model
        try:
            hits = self._vectors.find(model, vector, wanted, limit=limit)
            scores = {hit.seq: hit.score for hit in hits}
            # What only the words found is measured too, or it would stand as far away as possible.
            others = [hit.seq for hit in lexical if hit.seq not in scores]
            if others and hits:
                scores |= self._vectors.near(model, vector, others)
        except CodexmemError as error:
            return _Dense(note=f"no vectors: {error.message}")
        if not scores:
            return _Dense(note=NO_VECTORS)
        # Where several indexes answer as one, some of them may have been silent.
        missed = getattr(self._vectors, "missed", None)
        return _Dense(scores, missed() if missed is not None else None)

    def _gather(
        self, lexical: Sequence[IndexHit], dense: _Dense, wanted: Filter, recipe: Recipe
    ) -> tuple[Pool, dict[str, int]]:
        words = {hit.seq: hit.score for hit in lexical}
        found = self._candidates.read(list(words.keys() | (dense.scores or {}).keys()))
        leading = _leading(words, dense.scores, recipe.neighbours)
        beside = self._candidates.beside([seq for seq in leading if seq in found and found[seq].session is not None])
        beyond = {seq for pair in beside.values() for seq in pair if seq is not None and seq not in found}
        if beyond:
            found |= self._candidates.read(list(self._candidates.passing(sorted(beyond), wanted)))
        _mirror(beside)
        sources = {"lexical": len(words), "neighbours": sum(seq in found for seq in beyond)}
        if dense.scores is not None:
            sources[self._vectors.name] = len(dense.scores)
        return gather(found, words, dense.scores, beside), sources

    def examine(self, search: SearchQuery) -> Examined:
        """The candidates of a search with every signal, for people who fit recipes."""
        recipe, watch, now_ms = recipes.named(search.recipe), Stopwatch(), self._clock.now_ms()
        query = self._read(search, now_ms)
        vector, note = self._embed(query.text)
        with self._db.reading():
            depth = search.offset + search.limit
            pool, _, _ = self._pool(search, query, recipe, watch, vector, note, depth)
            weighed, crowd = floor.weigh(query, pool, self._store_counts(search, query), self._whole)
        signals = self._signals(query, pool, recipe, now_ms)
        order = self._rank(search, query, pool, recipe, now_ms).order
        return Examined(pool, {name: signals.of(name) for name in sorted(NAMES)}, order, weighed, crowd)

    def _rank(
        self, search: SearchQuery, query: parsed_query.ParsedQuery, pool: Pool, recipe: Recipe, now_ms: int
    ) -> Calibrated:
        signals = self._signals(query, pool, recipe, now_ms)
        weights = recipe.weights_for(vectors=pool.dense is not None, unspaced=query.unspaced, turns=has_summaries(pool))
        # A signal that says nothing of anybody adds nothing to any sum.
        said = ((weight, name, values) for name, weight in weights.items() if any(values := signals.of(name)))
        shares = {name: [weight * value for value in values] for weight, name, values in said}
        return calibrate(pool, shares, recipe, pool.sessions() if search.unit is Unit.SESSION else None)

    def _judged(self, search: SearchQuery, query: parsed_query.ParsedQuery, pool: Pool) -> Judged:
        model = self._embedder.model if self._embedder is not None else None
        levels = (search.floor,) if search.or_else is None else (search.floor, search.or_else)
        return floor.judge(query, pool, self._store_counts(search, query), model, levels, self._whole)

    def _store_counts(self, search: SearchQuery, query: parsed_query.ParsedQuery) -> StoreCounts:
        texts, having = self._text.commonness(query.terms)
        reachable = self._candidates.some(search.filter, most=_COUNTED)
        return StoreCounts(texts, having, reachable if reachable < _COUNTED else max(texts, _COUNTED))

    def _whole(self, seqs: Sequence[int]) -> dict[int, str]:
        """All that these memories say."""
        found = self._table.many(seqs, frozenset(Kind))
        return {seq: "\n".join((*names(memory), *labels(memory), *body(memory))) for seq, memory in found.items()}

    def _signals(self, query: parsed_query.ParsedQuery, pool: Pool, recipe: Recipe, now_ms: int) -> RankingSignals:
        share = recipe.share_unspaced if query.unspaced else recipe.share
        return RankingSignals(query, pool, lexical_share=share, now_ms=now_ms)

    @timed("search.rerank")
    def _reranked(self, reranker: Reranker, search: SearchQuery, listed: _Listed, recipe: Recipe,
                  watch: Stopwatch) -> _Listed:  # fmt: skip
        query, head = _beginning(search.text), listed.order[: reranker.depth]
        # Behind the head nothing changes, whatever the reranker says.
        if not query.strip() or len(head) < 2 or search.offset >= len(head):
            return listed
        try:
            scores = reranker.scores(query, [text_of(listed.pool.candidates[place]) for place in head])
        except CodexmemError as error:
            return replace(listed, notes=(*listed.notes, f"not reranked: {error.message}"))
        finally:
            watch.lap("rerank")
        order, ranked = reorder(listed.pool, listed.order, listed.ranked, scores, alike=recipe.near_duplicate)
        return replace(listed, order=order, ranked=ranked)

    def _results(self, search: SearchQuery, listed: _Listed, page: Sequence[int]) -> tuple[SearchResult, ...]:
        pool, ranked, seqs = listed.pool, listed.ranked, [listed.pool.candidates[place].seq for place in page]
        memories = self._table.many(seqs, search.filter.kinds)
        return tuple(
            SearchResult(memories[seq], ranked.probabilities[place], ranked.explain(place) if search.explain else {},
                         pool.dense[place] if pool.dense is not None else None, listed.relevance[place])
            for seq, place in zip(seqs, page, strict=True)
            if seq in memories
        )  # fmt: skip

    def _search_past(
        self, search: SearchQuery, query: parsed_query.ParsedQuery, recipe: Recipe, watch: Stopwatch
    ) -> SearchAnswer:
        """Search what held at that time. Vectors know the present only, so this goes by words."""
        as_of_ms = search.as_of_ms
        assert as_of_ms is not None
        depth = search.offset + search.limit
        width = _width(recipe.lexical, depth)
        hits = self._text.find_past(query.terms, search.filter, as_of_ms, limit=width, required=_required(search))
        watch.lap("lexical")
        then = self._as_they_were(hits, search.filter.kinds)
        found = {seq: SearchCandidate.of(memory) for seq, memory in then.items()}
        pool = gather(found, {hit.seq: hit.score for hit in hits}, None, {})
        watch.lap("candidates")
        judged = self._judged(search, query, pool)
        ranked = self._rank(search, query, pool, recipe, as_of_ms).given(judged.best)
        order = _fitting(search, ranked, judged, pool)
        chosen = [place for place in order if ranked.probabilities[place] >= (search.min_score or 0.0)]
        page = chosen[search.offset : depth]
        results = tuple(
            SearchResult(then[pool.candidates[place].seq], ranked.probabilities[place],
                         ranked.explain(place) if search.explain else {}, None, judged.relevance[place])
            for place in page
        )  # fmt: skip
        watch.lap("rank")
        return SearchAnswer(
            results=results,
            mode=SearchMode.LEXICAL,
            sources={"past": len(hits)},
            timings_ms=watch.total(),
            more=len(chosen) > depth,
            floor=judged.level,
            notes=("the past is searched by words only",),
            ranking=ranked.ranking(pool, page),
        )

    def _as_they_were(self, hits: Sequence[PastHit], kinds: frozenset[Kind]) -> dict[int, Memory]:
        """The memories in the versions that were found; what of them is kept no longer is left out."""
        version = {hit.seq: hit.version for hit in hits}
        found = self._table.many(version, kinds)
        changed = {seq: memory for seq, memory in found.items() if memory.version != version[seq]}
        kept = self._versions.many({seq: (memory.kind, version[seq]) for seq, memory in changed.items()})
        for seq, memory in changed.items():
            if seq in kept:
                was = kept[seq]
                found[seq] = replace(memory, state=was.state, version=was.version, updated_ms=was.created_ms)
            else:
                del found[seq]
        return found


def _recipe(search: SearchQuery) -> Recipe:
    recipe = recipes.named(search.recipe)
    # Who stands beside an entry need not contain the words.
    return replace(recipe, neighbours=0) if search.every_word else recipe


def _floored(search: SearchQuery) -> bool:
    """Whether what does not fit is left out. Who asks for a score of 0 wants to see it; what has every word fits."""
    return search.min_score != 0.0 and not search.every_word


def _required(search: SearchQuery) -> Required:
    return tokens.required(search.text) if search.every_word else ()


def _beginning(text: str) -> str:
    """As much of a query as a passage has; half a surrogate pair is text that no model takes."""
    return text[:SIZE].encode(errors="replace").decode()


def _width(least: int, depth: int) -> int:
    """How many candidates an index is asked for. In few steps: pages fit together if they are cut from one pool."""
    while least < 2 * depth:
        least *= 4
    return min(least, 2 * MAX_DEPTH)


def _leading(words: dict[int, float], dense: dict[int, float] | None, count: int) -> list[int]:
    """The best of each index in turn: whose company is worth a look."""
    ranked = [[seq for seq, _ in sorted(scores.items(), key=_best_first)] for scores in (words, dense or {})]
    turns = [seq for pair in zip(*ranked, strict=False) for seq in pair]
    turns += ranked[0][len(ranked[1]) :] + ranked[1][len(ranked[0]) :]
    return list(dict.fromkeys(turns))[:count]


def _best_first(scored: tuple[int, float]) -> tuple[float, int]:
    return -scored[1], scored[0]


def _mirror(beside: dict[int, tuple[int | None, int | None]]) -> None:
    """Who has a neighbour is its neighbour's neighbour."""
    for seq, (before, after) in list(beside.items()):
        if before is not None and before not in beside:
            beside[before] = (None, seq)
        elif before is not None and beside[before][1] is None:
            beside[before] = (beside[before][0], seq)
        if after is not None and after not in beside:
            beside[after] = (seq, None)
        elif after is not None and beside[after][0] is None:
            beside[after] = (seq, beside[after][1])


def _fitting(search: SearchQuery, ranked: Calibrated, judged: Judged, pool: Pool) -> list[int]:
    """The places of results, best first."""
    order = ranked.order
    if _floored(search):
        # A turn fits as soon as one of its memories does.
        fits = {turn.result for turn in ranked.turns if any(judged.fits[place] for place in turn.others)}
        order = [place for place in ranked.order if judged.fits[place] or place in fits]
    return _sessions_first(order, pool) if search.unit is Unit.SESSION else order


def _sessions_first(order: Sequence[int], pool: Pool) -> list[int]:
    """The best memory of each session, in the order of these."""
    best: dict[object, int] = {}
    sessions = pool.sessions()
    for place in order:
        best.setdefault(sessions[place], place)
    return list(best.values())
