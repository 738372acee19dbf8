"""What the jobs of capture leave in the log: who answered, what came of it, what it cost and how long it took.

What a day may cost.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime

from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.job_kind import Interrupted
from codexmem.kernel.llm.asking import failed
from codexmem.kernel.llm.material import AuthorAnswer
from codexmem.kernel.model import audience, redaction
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Canceled, GiveUp, Job, RetryLater
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.visibility import as_server
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.sessions import Sessions
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


_MOST_NAMED = 10
OBSERVATION, SUMMARY = "observation", "summary"  # works of a model that are counted apart


class JobLog:
    """Tells of the acting tenant's extractions, in the transaction that ends each."""

    def __init__(
        self, sessions: Sessions, captures: Captures, tallies: Tallies, budget: TokenBudget, log: Log, clock: Clock
    ) -> None:
        self._sessions = sessions
        self._captures = captures
        self._tallies = tallies
        self._budget = budget
        self._log = log
        self._clock = clock

    def session(self, job: Job) -> Session | None:
        """Whose events these are; None if the session was forgotten meanwhile."""
        number = job.payload.get("session")
        if not isinstance(number, int):
            raise GiveUp(f"job {job.id} names no session")
        return self._sessions.get(number)

    @contextmanager
    def acting(self, job: Job) -> Iterator[None]:
        """For whom a job about a session runs: for whoever the session is of."""
        number = job.payload.get("session")
        with as_server():
            session = self._sessions.get(number) if isinstance(number, int) else None
        with audience.of_session(session) if session is not None else nullcontext():
            yield

    @contextmanager
    def failures_timed(self, job: Job, message_type: str) -> Iterator[None]:
        """A run that fails is timed as well; one that is told to stop or will be tried again has not failed."""
        try:
            yield
        except (Interrupted, Canceled, RetryLater):
            raise
        except Exception:
            number = job.payload.get("session")
            session = self._sessions.get(number) if isinstance(number, int) else None
            if session is not None:
                self._time(job, session, message_type, success=False)
            raise

    def ended(self, job: Job, session: Session, message_type: str, answer: AuthorAnswer, *, events: int,
              written: Sequence[int], index_ms: float, works: Sequence[str] = (OBSERVATION,)) -> None:  # fmt: skip
        """A job has done its work; `written` are the memories that came of it."""
        self.count(answer, works)
        self._tell(job, session, message_type, answer, events, written)
        self._time(job, session, message_type, events=events, model_ms=answer.model_ms, index_ms=index_ms)

    def count(self, answer: AuthorAnswer, works: Sequence[str] = (OBSERVATION,)) -> None:
        """What an answer cost, what became of its claims, and how it ended for each work that it was about."""
        amounts = {
            f"agent.{work}.{outcome.value}": answer.outcomes.count(outcome)
            for work in works
            for outcome in set(answer.outcomes)
        }
        amounts |= {"claims.kept": answer.kept, "claims.refused": len(answer.refused)}
        amounts[self._budget.name()] = answer.prompt_tokens + answer.completion_tokens
        amounts[self._budget.calls()] = answer.questions
        amounts = {name: amount for name, amount in amounts.items() if amount}
        if amounts:
            self._tallies.add(amounts)

    def _tell(self, job: Job, session: Session, message_type: str, answer: AuthorAnswer, events: int,
              written: Sequence[int]) -> None:  # fmt: skip
        payload = {
            "sessionDbId": session.id,
            "messageType": message_type,
            "outcome": [outcome.value for outcome in answer.outcomes],
            "by": answer.by,
            "events": events,
            "memories": len(written),
            # By number: what is forgotten must not be told from here.
            "wrote": list(written[:_MOST_NAMED]),
            "refused": len(answer.refused),
            "tokens": {"prompt": answer.prompt_tokens, "completion": answer.completion_tokens},
            "calls": answer.questions,
            "model": answer.model,
            "error_class": answer.error_class,
            "error": redaction.redact(answer.error) if answer.error else None,
        }
        self._log.append(NewEvent(EventType.MODEL_RESULT, f"job:{job.id}", payload, session.project))
        if failed(answer.error_class):
            failure = {"kind": job.kind, "subject": session.subject, "attempts": job.attempts, "fallback": answer.by,
                       "error": payload["error"], "error_class": answer.error_class}  # fmt: skip
            self._log.append(NewEvent(EventType.MODEL_FAILED, f"job:{job.id}", failure, session.project))

    def _time(self, job: Job, session: Session, message_type: str, *, success: bool = True, events: int = 0,
              model_ms: float = 0.0, index_ms: float = 0.0) -> None:  # fmt: skip
        """One line for each captured message of the job, from when it came; for an author's question, one."""
        now = self._clock.now_ms()
        messages = self._captures.of_job(job.id)
        lines = []
        for came_ms in [max(job.created_ms, each.at_ms) for each in messages] or [job.created_ms]:
            total_ms = max(0, now - came_ms)
            payload = {
                "job": job.id,
                "sessionDbId": session.id,
                "messageType": message_type,
                "success": success,
                "events": events if len(messages) <= 1 else 1,
                "queueWaitMs": max(0, (job.started_ms or now) - came_ms),
                "modelMs": round(model_ms, 1),
                "indexMs": round(index_ms, 1),
                "totalMs": total_ms,
            }
            line = NewEvent(EventType.EXTRACTION_TIMED, session.subject, payload, session.project, total_ms * 1000)
            lines.append(line)
        self._log.extend(lines, at_ms=now)
