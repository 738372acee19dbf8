"""A table of rules, each a pattern and what it means, tried together in one pass over the text.

Where several rules fit at one place the first of the table wins, so a table lists long forms before short ones.
Patterns use bounded repeats only: the time taken grows with the text and no faster.
"""

import functools
import re
from collections.abc import Callable, Iterator, Sequence

from codexmem.kernel.search.times.calendar import Calendar, Days

# Several readings are several days. None, or a ValueError or OverflowError, says that it was no time after all.
Meaning = Callable[[re.Match[str], Calendar], Days | Sequence[Days] | None]
Rule = tuple[str, Meaning]


class Table:
    """The rules of one language; compiled when first needed, so that programs that never search start fast."""

    def __init__(self, hint: str, guard: str, tail: str, rules: Sequence[Rule], flags: re.RegexFlag) -> None:
        """`hint` finds a word without which no rule fits; `guard` and `tail` stand around every rule."""
        self._hint_pattern, self._guard, self._tail = hint, guard, tail
        self._given, self._flags = rules, flags
        self._names = {f"rule_{number}": number for number in range(len(rules))}

    @functools.cached_property
    def _hint(self) -> re.Pattern[str]:
        return re.compile(self._hint_pattern, re.ASCII)

    @functools.cached_property
    def _rules(self) -> list[tuple[re.Pattern[str], Meaning]]:
        return [(re.compile(pattern, self._flags), meaning) for pattern, meaning in self._given]

    @functools.cached_property
    def _any(self) -> re.Pattern[str]:
        nameless = [re.sub(r"\(\?P<\w+>", "(?:", pattern) for pattern, _ in self._given]
        whole = "|".join(f"(?P<{name}>{pattern})" for name, pattern in zip(self._names, nameless, strict=True))
        return re.compile(f"{self._guard}(?:{whole}){self._tail}", self._flags)

    def may_match(self, lowered: str) -> bool:
        """Whether a closer look is worth it; cheap."""
        return self._hint.search(lowered) is not None

    def find(self, text: str, calendar: Calendar) -> Iterator[tuple[int, int, Days]]:
        """Every time in the text with its place, from left to right."""
        for match in self._any.finditer(text):
            assert match.lastgroup is not None
            pattern, meaning = self._rules[self._names[match.lastgroup]]
            named = pattern.match(text, match.start())
            assert named is not None
            try:
                days = meaning(named, calendar)
            except (ValueError, OverflowError):
                continue
            for each in (days,) if isinstance(days, Days) else days or ():
                yield match.start(), match.end(), each
