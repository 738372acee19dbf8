"""What a day may cost."""

from datetime import UTC, datetime

from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.tallies import Tallies

_NO_LIMIT = 0


class TokenBudget:
    """How many tokens a day may cost; what is spent is known to every process of the store."""

    def __init__(self, tallies: Tallies, clock: Clock, daily_tokens: int) -> None:
        self._tallies = tallies
        self._clock = clock
        self._daily = daily_tokens

    def allows(self, tokens: int) -> bool:
        """Whether a call that may cost so much fits into today."""
        return self._daily == _NO_LIMIT or self.spent() + tokens <= self._daily

    def spent(self) -> int:
        """What today has cost so far."""
        return self._tallies.get(self.name())

    @property
    def limit(self) -> int | None:
        """What a day may cost; None: as much as it does."""
        return self._daily if self._daily != _NO_LIMIT else None

    def name(self) -> str:
        """Today's tally."""
        return f"tokens.{datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC):%Y-%m-%d}"
