"""The trace of a run: what happened in it, in order, without secrets.

Everything that stands in a trace is written here. A writer holds the run's row until its transaction ends, so the order
of the events is the order of their commits, whoever writes. Payloads are masked (keys of ours by value, others by their
form), and a text in them that is longer than anybody reads in a trace is cut.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.event import TRACED, Event, EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.redaction import redact_value
from codexmem.kernel.store.database import Database
from codexmem.lab.model import run_subject
from codexmem.lab.store.runs import RunTable
from codexmem.lab.store.trace import Moment, TracePage, TraceTable

MAX_TEXT = 50_000  # characters of one text in a payload
MAX_PAGE_CHARS = 4_000_000  # of the payloads of one page
_EVER = 2**62
_LABEL = 120  # characters
_LABELS = ("error", "query", "alias", "mem_id", "task_name", "user_request", "rb_job_id", "delta_id", "reason")
_OUTLINED: tuple[tuple[str, str, type], ...] = (
    ("depth", "depth", int),
    ("task", "task_path", str),
    ("agent", "agent", str),
)

Entry = tuple[EventType, Mapping[str, object]]

__all__ = ["Entry", "Moment", "RunTrace", "TracePage"]


class RunTrace:
    """Writes and reads the traces of the acting tenant's runs."""

    def __init__(self, db: Database, runs: RunTable, traces: TraceTable, log: Log, clock: Clock,
                 secrets: Sequence[str] = ()) -> None:  # fmt: skip
        self._db = db
        self._runs = runs
        self._traces = traces
        self._log = log
        self._clock = clock
        self._secrets = tuple(each for each in secrets if each)

    def append(self, run_id: str, *entries: Entry) -> list[str]:
        """Add to a run's trace in the caller's transaction, or in one of its own; returns the events' ids."""
        with self._db.transaction():
            held = self._runs.hold(run_id, now_ms=self._clock.now_ms())
            if held is None:
                raise no_run(run_id)
            return self.write([run_id], entries, at_ms=held.at_ms)

    def write(self, run_ids: Sequence[str], entries: Sequence[Entry], *, at_ms: int) -> list[str]:
        """The same entries into the traces of runs that the caller holds."""
        made = [(event_type, self.fit(payload)) for event_type, payload in entries]
        if not all(event_type in TRACED for event_type, _ in made):
            raise InvalidArgument("events of this type do not belong in the trace of a run")
        return self._log.extend([
            NewEvent(each, run_subject(run_id), payload, took_us=_took_us(payload), outline=outlined(each, payload))
            for run_id in run_ids for each, payload in made
        ], at_ms=at_ms)  # fmt: skip

    def fit(self, payload: Mapping[str, object]) -> dict[str, object]:
        """A payload as it may be kept."""
        kept: dict[str, object] = _cut(self.masked(payload))
        return kept

    def masked(self, value: Any) -> Any:
        """A JSON value without secrets and without text that no engine can keep."""
        return redact_value(_writable(value), self._secrets)

    def page(self, run_id: str, *, types: Sequence[EventType] = (), since_ms: int | None = None,
             until_ms: int | None = None, after: Moment | None = None, limit: int = 50,
             payloads: bool = False) -> TracePage:  # fmt: skip
        """Events of a run from `since_ms` to `until_ms`, both included, oldest first; NotFound without the run."""
        self._require(run_id)
        return self._traces.page(
            run_subject(run_id), types=[each.value for each in types], from_ms=since_ms if since_ms is not None else 0,
            to_ms=until_ms + 1 if until_ms is not None else _EVER, after=after, limit=limit,
            payload_chars=MAX_PAGE_CHARS if payloads else None,
        )  # fmt: skip

    def event(self, run_id: str, event_id: str) -> Event:
        """One event of a run, with its payload."""
        self._require(run_id)
        event = self._traces.event(run_subject(run_id), event_id)
        if event is None:
            raise NotFound(f"run {run_id[:80]} has no event {event_id[:80]}", hint="its events are listed at …/events")
        return event

    def _require(self, run_id: str) -> None:
        if self._runs.batch_of(run_id) is None:
            raise no_run(run_id)


def outlined(type: EventType, payload: Mapping[str, object]) -> dict[str, object] | None:
    """What a list shows of an event without its payload: in which task of the run it stands, and a short line."""
    told = {name: payload[key] for name, key, kind in _OUTLINED if isinstance(payload.get(key), kind)}
    label = next((text for name in _LABELS if isinstance(text := payload.get(name), str) and text.strip()), "")
    if label:
        told["label"] = " ".join(label[: 10 * _LABEL].split())[:_LABEL]
    if payload.get("error") or type.value.endswith("_failed"):
        told["failed"] = True
    return told or None


def no_run(run_id: str) -> NotFound:
    """There is no such run."""
    return NotFound(f"no run {run_id[:80]}", hint="runs are listed at /api/v1/runs")


def _took_us(payload: Mapping[str, object]) -> int | None:
    took = payload.get("took_ms")
    return took * 1_000 if isinstance(took, int) else None


def _writable(value: Any) -> Any:
    """A model may answer with halves of characters, which cannot be encoded."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_writable(key): _writable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(each) for each in value]
    return value


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        more = len(value) - MAX_TEXT
        return value if more <= 0 else f"{value[:MAX_TEXT]}… [{more} characters more]"
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_cut(each) for each in value]
    return value
