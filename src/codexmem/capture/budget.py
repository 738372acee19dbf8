"""What a day may cost."""

from datetime import UTC, datetime

from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.tallies import Tallies

_NO_LIMIT = 0


class TokenBudget:
    """How many tokens and questions a day may cost; what is spent is known to every process of the store."""

    def __init__(self, tallies: Tallies, clock: Clock, daily_tokens: int, daily_calls: int = _NO_LIMIT) -> None:
        self._tallies = tallies
        self._clock = clock
        self._daily = daily_tokens
        self._daily_calls = daily_calls

    def allows(self, tokens: int) -> bool:
        """Whether a call that may cost so much fits into today."""
        return self._daily == _NO_LIMIT or self.spent() + tokens <= self._daily

    def allows_question(self, tokens: int) -> bool:
        """The same for a question to the author, of which a day has only so many."""
        asked = self._tallies.get(self.calls()) if self._daily_calls != _NO_LIMIT else -1
        return asked < self._daily_calls and self.allows(tokens)

    def spent(self) -> int:
        """What today has cost so far."""
        return self._tallies.get(self.name())

    @property
    def limit(self) -> int | None:
        """What a day may cost; None: as much as it does."""
        return self._daily if self._daily != _NO_LIMIT else None

    def name(self) -> str:
        """Today's tally."""
        return f"tokens.{self._today()}"

    def calls(self) -> str:
        """Today's tally of questions."""
        return f"calls.{self._today()}"

    def _today(self) -> str:
        return f"{datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC):%Y-%m-%d}"
