"""How long each step of a search took."""

from codexmem.domain import ids


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
