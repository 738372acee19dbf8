"""Lines of the log as values: a search, a timing, a failure, a model's result, a session's status.

Payloads come from earlier versions of this program too, so a field that is missing or of another type is read as
nothing rather than as an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codexmem.kernel.model import ranking
from codexmem.kernel.model.event import Event
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.ranking import Ranked

_NOT_VECTORS = frozenset({"lexical", "neighbours", "past"})  # sources of candidates that are no vector index


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """One search: what was asked, by which means it was answered, how long that took and how much was found."""

    seq: int
    at_ms: int
    query: str
    project: str
    mode: str
    recipe: str
    sources: dict[str, int]  # candidates by where they came from
    timings_ms: dict[str, float]  # by step, with `total`
    results: int
    notes: tuple[str, ...]  # what was degraded and why

    @property
    def total_ms(self) -> float:
        """How long it took."""
        return self.timings_ms.get("total", 0.0)

    @property
    def vectors(self) -> dict[str, int]:
        """Candidates by the vector index that gave them; empty where search went by words alone."""
        return {name: count for name, count in self.sources.items() if name not in _NOT_VECTORS}


@dataclass(frozen=True, slots=True)
class TraceResult:
    """One of the first results: its score and, in traces that tell it, why it stands there."""

    seq: int
    score: float
    why: Ranked | None
    memory: Memory | None = None  # as it is now; None once it was forgotten, and where none is looked up


@dataclass(frozen=True, slots=True)
class Explained:
    """One search with its first results, the best first."""

    trace: SearchTrace
    kinds: tuple[str, ...]
    unit: str
    offset: int  # results of the pages before
    as_of_ms: int | None
    results: tuple[TraceResult, ...]


@dataclass(frozen=True, slots=True)
class SessionTiming:
    """How long one extraction took, step by step."""

    seq: int
    at_ms: int
    session: int | None
    project: str
    message_type: str
    success: bool
    events: int
    queue_wait_ms: float
    model_ms: float
    index_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True)
class FailureEntry:
    """A job that failed for good, or a model whose work rules have done."""

    seq: int
    at_ms: int
    job: int | None
    kind: str
    session: int | None  # None where the job was about something else
    message_type: str | None  # None where it was no extraction
    attempts: int
    error_class: str
    error: str
    fallback: str | None = None  # who did the work nevertheless


def search_trace(event: Event) -> SearchTrace:
    """A `search.answered`."""
    said = event.payload or {}
    return SearchTrace(
        seq=event.seq, at_ms=event.at_ms, query=_text(said, "query"), project=event.project, mode=_text(said, "mode"),
        recipe=_text(said, "recipe"), sources={name: int(count) for name, count in _numbers(said, "sources").items()},
        timings_ms=_numbers(said, "timings_ms"), results=int(_number(said, "results")),
        notes=tuple(str(note) for note in _list(said, "notes")),
    )  # fmt: skip


def explained(event: Event) -> Explained:
    """A `search.answered` whole."""
    said = event.payload or {}
    why = {each.seq: each for each in ranking.read(said.get("ranked"))}
    pairs = [pair for pair in _list(said, "top") if isinstance(pair, list) and len(pair) == 2]
    top = [(seq, score) for seq, score in pairs if isinstance(seq, int) and isinstance(score, int | float)]
    as_of = said.get("as_of_ms")
    return Explained(
        search_trace(event), tuple(str(kind) for kind in _list(said, "kinds")), _text(said, "unit"),
        int(_number(said, "offset")), as_of if isinstance(as_of, int) else None,
        tuple(TraceResult(seq, score, why.get(seq)) for seq, score in top),
    )  # fmt: skip


def session_timing(event: Event) -> SessionTiming:
    """An `extraction.timed`."""
    said = event.payload or {}
    return SessionTiming(
        seq=event.seq, at_ms=event.at_ms, session=numbered(event.subject, "session"), project=event.project,
        message_type=_text(said, "messageType"), success=said.get("success") is True,
        events=int(_number(said, "events")), queue_wait_ms=_number(said, "queueWaitMs"),
        model_ms=_number(said, "modelMs"), index_ms=_number(said, "indexMs"), total_ms=_number(said, "totalMs"),
    )  # fmt: skip


def failure(event: Event, message_types: Mapping[str, str]) -> FailureEntry:
    """A `queue.failed` or `model.failed`; `message_types` tells what kinds of extraction jobs are called outside."""
    said = event.payload or {}
    kind = _text(said, "kind")
    return FailureEntry(
        seq=event.seq, at_ms=event.at_ms, job=numbered(event.subject, "job"), kind=kind,
        session=numbered(_text(said, "subject"), "session"), message_type=message_types.get(kind),
        attempts=int(_number(said, "attempts")), error_class=_text(said, "error_class"), error=_text(said, "error"),
        fallback=_text(said, "fallback") or None,
    )  # fmt: skip


def numbered(subject: str, noun: str) -> int | None:
    """The number in a subject such as `session:12`; None if it is about something else."""
    name, _, number = subject.partition(":")
    return int(number) if name == noun and number.isascii() and number.isdigit() and len(number) <= 18 else None


def _text(said: Mapping[str, object], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""


def _number(said: Mapping[str, object], name: str) -> float:
    value = said.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _numbers(said: Mapping[str, object], name: str) -> dict[str, float]:
    value = said.get(name)
    return {key: _number(value, key) for key in value} if isinstance(value, dict) else {}


def _list(said: Mapping[str, object], name: str) -> list[Any]:
    value = said.get(name)
    return value if isinstance(value, list) else []
