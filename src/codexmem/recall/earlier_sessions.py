"""The earlier sessions that bear on a request, and what of them is told: the transcript that fits best and, where one
amends the other, both.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from codexmem.kernel.model import quoting
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.import_row import GIT
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.search import Floor, SearchQuery, SearchResult
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.statement import STANDING
from codexmem.kernel.search import tokens
from codexmem.kernel.search.finder import Finder
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall import context_page, excerpt
from codexmem.recall.context_lines import NotTold
from codexmem.recall.excerpt import Excerpt, ExcerptTurn, Transcript
from codexmem.recall.lasting import is_imported
from codexmem.recall.staleness import UNKNOWN, FileFreshness, StaleVerdict

_SAID = frozenset({Kind.PROMPT, Kind.SUMMARY})
_TELLING = 8  # words of a request that say enough for a session to be clearly meant
_BEHIND = 0.26  # of the best session's score, that no other may reach then
_LIKELY = 0.4  # relevance of a commit that is told though it reaches no more; 0.5 is the line for everything else
_NEXT = 0.3  # of such a commit's score, that the next memory may reach
_FOUND = 40  # memories that are looked at
_SESSIONS = 6  # that are looked into
_STATEMENTS = 100  # superseded ones that are marked
_KEY = 60  # characters of a session's name
_ROWS = 200  # requests and answers of one of them


Judge = Callable[[Memory], StaleVerdict]


class EarlierSessions:
    """Finds what bears on a request, and reads the transcripts it was said in."""

    def __init__(self, memories: Memories, finder: Finder, sessions: Sessions) -> None:
        self._memories = memories
        self._finder = finder
        self._sessions = sessions

    def found(
        self, text: str, wanted: Filter, leaves_out: Callable[[Memory], bool] = lambda _: False,
        missed: Callable[[NotTold, int], None] = lambda *_: None,
    ) -> list[SearchResult]:  # fmt: skip
        """What is told of unasked: memories that clearly fit, or else one session or commit, if it is clearly meant.
        `missed` hears of what fits less.
        """
        telling = len(tokens.terms(text)) >= _TELLING
        search = SearchQuery(
            text, wanted, limit=_FOUND, floor=Floor.UNASKED, or_else=Floor.AHEAD if telling else None
        )  # fmt: skip
        answer = self._finder.search(search)
        if answer.floor is Floor.UNASKED:
            fitting = [each for each in answer.results if not leaves_out(each.memory)]
            if fitting or not telling:
                return fitting
            answer = self._finder.search(replace(search, floor=Floor.AHEAD, or_else=None))
        found = answer.results
        leading = [each for each in _leading(found) if not leaves_out(each.memory)]
        for each in found:
            missed(NotTold.NOT_RELEVANT_ENOUGH, each.memory.seq)
        return leading

    def excerpt(
        self, text: str, wanted: Filter, found: Sequence[SearchResult], told: frozenset[int], budget: int,
        verdict: Judge = lambda _: UNKNOWN,
    ) -> Excerpt:  # fmt: skip
        """What the few sessions said that fit best, but for the memories that were told before."""
        said: dict[str, list[Memory]] = {}
        asked = frozenset(tokens.terms(text))
        transcripts = self._transcripts(found, wanted, told, verdict, said, asked)
        if not transcripts or not excerpt.is_short(transcripts[0], budget):
            return excerpt.excerpt(text, transcripts, budget)
        words = excerpt.known_by(transcripts[0], transcripts)
        alike = SearchQuery(" ".join(words), replace(wanted, kinds=_SAID), limit=_FOUND, min_score=0.0)
        near = self._transcripts(self._finder.search(alike).results, wanted, told, verdict, said, asked)
        others = {each.head: each for each in (*transcripts[1:], *near)}
        others.pop(transcripts[0].head, None)
        return excerpt.excerpt(text, transcripts, budget, excerpt.amending(transcripts[0], list(others.values())))

    def _transcripts(self, found: Sequence[SearchResult], wanted: Filter, told: frozenset[int], verdict: Judge,
                     said: dict[str, list[Memory]], asked: frozenset[str]) -> list[Transcript]:  # fmt: skip
        """Of the sessions that fit best; `said` has those that were read before, and gets those that are read now.

        A turn without an answer that says no word beyond what is asked now is no news.
        """
        weighed = _session_scores(found)
        best = sorted(weighed, key=lambda key: -weighed[key])[:_SESSIONS]
        known = self._sessions.known(best)
        if not best:
            return []
        outdated = self._outdated(wanted)
        unread = [key for key in best if key not in said]
        said |= self._memories.of_sessions(unread, replace(wanted, kinds=_SAID), _ROWS) if unread else {}
        transcripts = (
            _transcript(key, known.get(key), weighed[key], said[key], told, outdated, verdict, asked) for key in best
        )
        return [each for each in transcripts if each.turns]

    def _outdated(self, wanted: Filter) -> tuple[str, ...]:
        """The newest statements that others have superseded."""
        of = Filter(
            frozenset({Kind.OBSERVATION}),
            project=wanted.project,
            facets=STANDING,
            statuses=frozenset({Status.DEPRECATED}),
        )
        return tuple(each.state.content for each in self._memories.page(of, PageRequest(limit=_STATEMENTS)).items)


def _transcript(
    key: str, session: Session | None, score: float, said: Sequence[Memory], told: frozenset[int],
    outdated: Sequence[str], verdict: Judge, asked: frozenset[str],
) -> Transcript:  # fmt: skip
    turns: dict[int, list[Memory]] = {}
    for memory in said:
        attrs = memory.state.attrs
        if isinstance(attrs, PromptAttrs | SummaryAttrs):
            turns.setdefault(attrs.prompt_number or 0, []).append(memory)
    newest = max((each.created_ms for turn in turns.values() for each in turn), default=0)
    rows = [_turn(turns[number], outdated, verdict) for number in sorted(turns) if not _is_gone(turns[number], verdict)]
    rows = [row for row in rows if told.isdisjoint(row.seqs) and not _only_asks(row, asked)]
    head = f"session {session.id if session else quoting.quoted(key, _KEY)}, {context_page.date(newest)}"
    if any(is_imported(each) for turn in turns.values() for each in turn):
        head += " [import]"
    return Transcript(head, score, newest, tuple(rows))


def _leading(found: Sequence[SearchResult]) -> list[SearchResult]:
    """What one session said that is clearly ahead of all others, or else the commit that is, where less speaks for it
    than for what is told otherwise: strangers come several at a time.
    """
    scores = _session_scores(found)
    ranked = sorted(scores, key=lambda key: -scores[key])
    if len(ranked) < 2 or scores[ranked[1]] > _BEHIND * scores[ranked[0]]:
        return _leading_commit(found)
    return [each for each in found if each.memory.session == ranked[0] and is_prompt_or_answer(each.memory)]


def _leading_commit(found: Sequence[SearchResult]) -> list[SearchResult]:
    """The commit that is clearly ahead of everything: like a session it tells what somebody meant to be known."""
    if len(found) < 2 or not is_commit(found[0].memory) or found[0].relevance < _LIKELY:
        return []
    return [] if found[1].score > _NEXT * found[0].score else [found[0]]


def _session_scores(found: Sequence[SearchResult]) -> dict[str, float]:
    """How well each session fits: its best turn, and a little of the next two."""
    scores: dict[str, list[float]] = {}
    for place, each in enumerate(found, 1):
        if each.memory.session is not None and is_prompt_or_answer(each.memory):
            scores.setdefault(each.memory.session, []).append(each.score / place)
    return {key: most[0] + 0.3 * sum(most[1:3]) for key, most in scores.items()}


def is_commit(memory: Memory) -> bool:
    """Whether it was imported from the history of a repository."""
    attrs = memory.state.attrs
    return isinstance(attrs, ObservationAttrs) and attrs.imported.startswith(f"{GIT}:")


def is_prompt_or_answer(memory: Memory) -> bool:
    """Whether it is what was asked or answered in a session."""
    return memory.kind in _SAID and memory.session is not None


def _only_asks(turn: ExcerptTurn, asked: frozenset[str]) -> bool:
    if turn.answered:
        return False
    return turn.asked.rstrip().endswith(("?", "\uff1f")) or asked.issuperset(tokens.terms(turn.asked))


def _is_gone(memories: Sequence[Memory], verdict: Judge) -> bool:
    return any(verdict(each).freshness is FileFreshness.GONE for each in memories)


def _turn(memories: Sequence[Memory], outdated: Sequence[str], verdict: Judge) -> ExcerptTurn:
    """What was asked and answered in one turn, with a mark on what holds no longer."""
    asked = [each for each in memories if each.kind is Kind.PROMPT]
    answered = [each for each in memories if isinstance(each.state.attrs, SummaryAttrs)]
    request = asked[0].state.content if asked else answered[0].state.title
    by_person = not any(map(is_imported, memories))
    for statement in outdated:
        request = request.replace(statement, f"[superseded] {statement}")
    told = [line for each in answered for line in _answered(each)]
    if told and (mark := next(filter(None, (verdict(each).mark for each in answered)), "")):
        told[0] = f"{mark} {told[0]}"
    return ExcerptTurn(
        request,
        "\n".join(told),
        tuple(sorted(each.seq for each in memories)),
        by_person,
        asked_seq=(asked or answered)[0].seq,
        answered_seq=answered[0].seq if answered else None,
    )


def _answered(memory: Memory) -> Iterator[str]:
    attrs = memory.state.attrs
    if not isinstance(attrs, SummaryAttrs):
        return
    yield from filter(None, (attrs.learned, attrs.next_steps, attrs.notes))
