"""Feedback: what a person says about a run that has ended, once for each run.

Saving again replaces it under the same id, also when two save at once. The part of the whole that each product made up
is worked out here and stored. Learning from it is queued in the same transaction.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.model import ids, privacy
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.database import Database
from codexmem.lab.model import MAX_SCORE, MAX_VALUE, MAX_WORDS, Feedback, FeedbackInput, Share, fractions, kept_extra
from codexmem.lab.service.catalog import Catalog
from codexmem.lab.service.learning import QueuedLearning
from codexmem.lab.service.trace import RunTrace, no_run
from codexmem.lab.store.feedback import FeedbackTable
from codexmem.lab.store.runs import RunTable

Learn = Callable[[str], QueuedLearning]  # from this run, later


@dataclass(frozen=True, slots=True)
class SavedFeedback:
    """Feedback as it stands now, and the learning that was queued for it."""

    feedback: Feedback
    learning: QueuedLearning | None


class Judging:
    """The acting tenant's feedback; without `learn` nothing is learned from it by itself."""

    def __init__(
        self,
        db: Database,
        table: FeedbackTable,
        runs: RunTable,
        catalog: Catalog,
        trace: RunTrace,
        clock: Clock,
        learn: Learn | None = None,
    ) -> None:
        self._db = db
        self._table = table
        self._runs = runs
        self._catalog = catalog
        self._trace = trace
        self._clock = clock
        self._learn = learn

    def of_run(self, run_id: str) -> Feedback:
        """The feedback on a run; NotFound while there is none."""
        found = self._table.of_run(run_id)
        if found is None:
            if self._runs.batch_of(run_id) is None:
                raise no_run(run_id)
            raise NotFound(f"run {run_id[:80]} has no feedback yet", hint="PUT the same path to give it")
        return found

    def save(self, run_id: str, opinion: FeedbackInput, *, learn: bool = True) -> SavedFeedback:
        """Store what somebody says about a run, in the place of what was said before.

        Without `learn` it is only stored.
        """
        _require_sound(opinion)
        run = self._runs.run(run_id)
        if run is None:
            raise no_run(run_id)
        if not run.status.ended:
            raise Conflict(
                f"run {run_id[:80]} has not ended: it is {run.status.value}", hint="give feedback when it has ended",
                details={"status": run.status.value},
            )  # fmt: skip
        with self._db.transaction():
            # Learning first: whoever takes a run's lane takes it before everything else of the run.
            learning = self._learn(run_id) if learn and self._learn is not None else None
            self._table.save(self._judged(run_id, opinion))
            saved = self._table.of_run(run_id)
        assert saved is not None
        return SavedFeedback(saved, learning)

    def _judged(self, run_id: str, given: FeedbackInput) -> Feedback:
        measured = given.products
        known = self._catalog.require([each.product_id for each in measured], "products")
        parts = fractions([each.value for each in measured])
        shares = tuple(
            Share(ids.prefixed("fbp"), each.product_id, known[each.product_id].name, known[each.product_id].status,
                  each.value, part)
            for each, part in zip(measured, parts, strict=True)
        )  # fmt: skip
        now_ms = self._clock.now_ms()
        return Feedback(
            ids.prefixed("feedback"), run_id, given.score, self._words(given.pros), self._words(given.cons),
            self._words(given.other), shares, now_ms, now_ms, given.schema_version,
            self._trace.masked(privacy.strip_value(kept_extra(given.extra))),
        )  # fmt: skip

    def _words(self, text: str) -> str:
        return str(self._trace.masked(privacy.strip(text)))


def _require_sound(given: FeedbackInput) -> None:
    if given.score is not None and not abs(given.score) <= MAX_SCORE:
        raise InvalidArgument(f"score must be a number from -{MAX_SCORE:g} to {MAX_SCORE:g}")
    for name in ("pros", "cons", "other"):
        if len(getattr(given, name)) > MAX_WORDS:
            raise InvalidArgument(f"{name} is longer than {MAX_WORDS:,} characters")
    for each in given.products:
        if not math.isfinite(each.value) or not 0 <= each.value <= MAX_VALUE:
            raise InvalidArgument(
                f"the value of product {each.product_id[:80]} must be a number from 0 to {MAX_VALUE:g}",
                details={"product_id": each.product_id[:80]},
            )
