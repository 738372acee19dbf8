"""The signals: what speaks for a candidate, each between 0 and 1, so that their weights can be compared.

A signal looks at the query, the candidate and its company, never at the recipe: how much it counts is said there.
"""

import math
from collections.abc import Callable, Sequence

from codexmem.kernel.model.memory import Origin, Status
from codexmem.kernel.search import tokens, wording
from codexmem.kernel.search.parsed_query import ParsedQuery
from codexmem.kernel.search.pool import Pool

Values = list[float]

_DAY_MS = 86_400_000
_LONG = math.log1p(3_000)
_HALF_LIFE_DAYS = 30.0
_RULE = 400  # characters in which a rule is told
_TERMS = 32  # of a query that coverage looks for
_WORD = 4  # characters of a word where words are not spaced, at most
_BRIDGES = 3  # of the best that lead on to others
_STEPS = 10  # words of each that lead on
_PEOPLE = frozenset({Origin.HUMAN})


class RankingSignals:
    """Computes the signals of one pool on demand; those that others build on, once."""

    def __init__(self, asked: ParsedQuery, pool: Pool, *, lexical_share: float, now_ms: int) -> None:
        self._asked = asked
        self._pool = pool
        self._now_ms = now_ms
        self._texts: list[str] | None = None
        self._words = _to_best(pool.lexical)
        self._meaning = _spread(pool.dense) if pool.dense is not None else [0.0] * len(pool)
        share = lexical_share if pool.dense is not None else 1.0
        self._content = [share * w + (1 - share) * m for w, m in zip(self._words, self._meaning, strict=True)]

    def of(self, name: str) -> Values:
        """The named signal along the pool."""
        return _SIGNALS[name](self)

    def words(self) -> Values:
        """How well its words fit, beside the best."""
        return self._words

    def meaning(self) -> Values:
        """How near its meaning is, between the farthest and the nearest candidate."""
        return self._meaning

    def words_before(self) -> Values:
        """How well the words of the memory before it fit: an answer need not repeat its question."""
        return _beside(self._words, self._pool.before)

    def words_after(self) -> Values:
        """The same of the memory after it."""
        return _beside(self._words, self._pool.after)

    def meaning_before(self) -> Values:
        """How near the meaning of the memory before it is."""
        return _beside(self._meaning, self._pool.before)

    def meaning_after(self) -> Values:
        """The same of the memory after it."""
        return _beside(self._meaning, self._pool.after)

    def replies(self) -> Values:
        """It follows a question whose words fit."""
        candidates = self._pool.candidates
        return [
            self._words[place] if place is not None and candidates[place].asks else 0.0 for place in self._pool.before
        ]

    def coverage(self) -> Values:
        """How many of the query's words it has; those that few candidates have count most."""
        return self._has(self._asked.terms[:_TERMS])

    def sought(self) -> Values:
        """The query is one word, a name or a tag, and it has it: whoever types that looks for it, not for its like."""
        parts = self._asked.text.split()
        one = len(parts) == 1 and (not self._asked.unspaced or len(parts[0]) <= _WORD)
        return self._words if one else self._none()

    def bridge(self) -> Values:
        """It shares words with the best that the query does not say: who is meant by a number, which of two plans."""
        candidates = self._pool.candidates
        best = sorted(range(len(candidates)), key=lambda place: (-self._content[place], candidates[place].seq))
        said = set(self._asked.terms)
        steps: dict[str, None] = {}
        for place in best[:_BRIDGES]:
            new = (word for word in tokens.words(candidates[place].opening[:_RULE]) if word not in said)
            steps.update(dict.fromkeys(sorted(dict.fromkeys(new), key=len, reverse=True)[:_STEPS]))
        values = _to_best(self._has(list(steps), least=2))
        for place in best[:_BRIDGES]:
            values[place] = 1.0
        return values

    def session(self) -> Values:
        """How well the best of its session fits: what belongs together is found together."""
        best: dict[object, float] = {}
        sessions = self._pool.sessions()
        for session, value in zip(sessions, self._content, strict=True):
            best[session] = max(value, best.get(session, 0.0))
        return _to_best([best[session] for session in sessions])

    def who(self) -> Values:
        """It was said by the one person whom the query names."""
        if len(self._asked.people) != 1:
            return self._none()
        (name,) = (person.casefold() for person in self._asked.people)
        return [float(candidate.speaker.casefold() == name) for candidate in self._pool.candidates]

    def person(self) -> Values:
        """A person said it, not an agent or a tool."""
        return [float(candidate.origin in _PEOPLE) for candidate in self._pool.candidates]

    def own(self) -> Values:
        """A person said it, and the query is about the one who asks."""
        return self.person() if self._asked.first_person else self._none()

    def assistant(self) -> Values:
        """An agent said it, and the query asks what the agent said."""
        return [1.0 - value for value in self.person()] if self._asked.asks_assistant else self._none()

    def when(self) -> Values:
        """It is from a time that the query names."""
        spans = self._asked.spans
        if not spans:
            return self._none()
        return [max(span.closeness(candidate.created_ms) for span in spans) for candidate in self._pool.candidates]

    def tells_time(self) -> Values:
        """It tells a time, and the query asks when."""
        return self._tells(wording.tells_time) if self._asked.asks_when else self._none()

    def tells_number(self) -> Values:
        """It tells a number, and the query asks how many."""
        return self._tells(wording.tells_number) if self._asked.asks_number else self._none()

    def question(self) -> Values:
        """It is itself a question."""
        return [float(candidate.asks) for candidate in self._pool.candidates]

    def length(self) -> Values:
        """It says much."""
        return [min(1.0, math.log1p(candidate.length) / _LONG) for candidate in self._pool.candidates]

    def standing(self) -> Values:
        """It is a rule or a preference that a person laid down for later."""
        return [
            float(candidate.origin in _PEOPLE and wording.is_standing(candidate.opening[:_RULE]))
            for candidate in self._pool.candidates
        ]

    def recency(self) -> Values:
        """It is new; half of it is gone after thirty days. Counts in full if the query asks for what is new."""
        share = 1.0 if self._asked.recent else 0.1
        return [
            share * 2.0 ** (-max(0, self._now_ms - candidate.created_ms) / _DAY_MS / _HALF_LIFE_DAYS)
            for candidate in self._pool.candidates
        ]

    def priority(self) -> Values:
        """It was given a higher priority than the usual 5."""
        return [max(0.0, (5 - candidate.priority) / 5) for candidate in self._pool.candidates]

    def proven(self) -> Values:
        """It was validated: the share of confirmations, cautious while there are few."""
        return [
            (candidate.valid + float(candidate.status is Status.VALIDATED))
            / (candidate.valid + candidate.invalid + 2.0)
            for candidate in self._pool.candidates
        ]

    def doubted(self) -> Values:
        """It was judged wrong: the share of refutations, cautious while there are few."""
        return [candidate.invalid / (candidate.valid + candidate.invalid + 2.0) for candidate in self._pool.candidates]

    def _has(self, terms: Sequence[str], *, least: int = 1) -> Values:
        """The share of these terms that each candidate has, by how few have them; a stem is part of its word."""
        if self._texts is None:
            self._texts = [f"{each.title}\n{each.opening}".lower() for each in self._pool.candidates]
        texts = self._texts
        values, total = [0.0] * len(texts), 0.0
        for term in terms:
            part = tokens.part_of(term)
            places = [place for place, text in enumerate(texts) if part in text]
            if len(places) < least:
                continue
            worth = math.log1p((len(texts) - len(places) + 0.5) / (len(places) + 0.5))
            total += worth
            for place in places:
                values[place] += worth
        return [value / total for value in values] if total > 0.0 else values

    def _none(self) -> Values:
        return [0.0] * len(self._pool)

    def _tells(self, told: Callable[[str], bool]) -> Values:
        return [float(told(candidate.opening)) for candidate in self._pool.candidates]


_SIGNALS: dict[str, Callable[[RankingSignals], Values]] = {
    name: method for name, method in vars(RankingSignals).items() if not name.startswith("_") and name != "of"
}
NAMES = frozenset(_SIGNALS)


def _to_best(values: Sequence[float]) -> Values:
    best = max(values, default=0.0)
    return [value / best for value in values] if best > 0.0 else [0.0] * len(values)


def _spread(values: Sequence[float]) -> Values:
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) for value in values] if high > low else [0.0] * len(values)


def _beside(values: Sequence[float], places: Sequence[int | None]) -> Values:
    return [values[place] if place is not None else 0.0 for place in places]
