"""Taking in the audit logs of wrappers, and looking through them.

A row is known by its log, its number and its hash: sent again it changes nothing. The key of a log never leaves its
machine, so a hash cannot be checked here, but its place can: every row names the hash of the one before, and a row that
does not follow, or that comes with another hash than before, is kept and marked. What was taken in is out of reach of
whoever may rewrite the file it came from. Secrets are masked again on the way in.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from codexmem.audit.chain import GENESIS
from codexmem.audit.store import Audited
from codexmem.kernel.events.log import Log
from codexmem.kernel.model import redaction
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import Event, EventType, LogPosition, NewEvent
from codexmem.kernel.opened import Kernel
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.event_pages import EventPages, EventSpan

MAX_ROWS = 500  # of one batch: other writers wait behind it
MAX_PAGE = 500
MOST_LOOKED_AT = 20_000  # rows that one page goes through
_PAGE = 500
_REACH = 64  # rows of a log after a request among which its outcome is looked for
_RESULT = "result"
_OUTCOME = ("id", "seq", "at_ms", "result", "duration_ms", "chain")
_END_MS = 2**53
FOLLOWS, BROKEN, FORKED, UNKNOWN = "follows", "broken", "forked", "unknown"


@dataclass(frozen=True, slots=True)
class AuditAccepted:
    """What became of one batch."""

    accepted: int = 0
    deduped: int = 0
    broken: tuple[int, ...] = ()  # rows that do not follow the one before
    forked: tuple[int, ...] = ()  # rows that are here with another hash: the log was rewritten


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which rows; every given field must be equal, names in any case."""

    tool: str = ""
    decision: str = ""
    project: str = ""
    run: str = ""
    kind: str = ""
    chain: str = ""
    from_ms: int = 0  # when it arrived, both ends included
    to_ms: int = _END_MS

    def __post_init__(self) -> None:
        """A time that ends before it begins is a mistake, not an empty answer."""
        if self.from_ms > self.to_ms:
            raise InvalidArgument("from is later than to", hint="swap them")

    def keeps(self, row: Mapping[str, object]) -> bool:
        """Whether the row is one of them."""
        pairs = (
            (self.tool.casefold(), str(row.get("tool", "")).casefold()), (self.decision, row.get("decision")),
            (self.project, row.get("project_id")), (self.run, row.get("run_id")), (self.kind, row.get("kind")),
            (self.chain, row.get("chain")),
        )  # fmt: skip
        return all(not wanted or wanted == found for wanted, found in pairs)


@dataclass(frozen=True, slots=True)
class AuditLogPage:
    """Rows, the last to arrive first."""

    rows: tuple[Mapping[str, Any], ...]
    scanned: int
    after: str | None  # where the next page goes on; None if there is nothing more
    truncated: bool = field(default=False)  # so many were looked at that it must do; go on from `after`


class Auditing:
    """The verbs on audit logs."""

    def __init__(self, db: Database, audited: Audited, log: Log, pages: EventPages, receipts: Receipts) -> None:
        self.receipts = receipts
        self._db = db
        self._audited = audited
        self._log = log
        self._pages = pages

    def take_in(self, log: str, rows: Sequence[Mapping[str, Any]], actor: str) -> AuditAccepted:
        """Keep those of these rows that are not here yet, all or none of them."""
        if len(rows) > MAX_ROWS:
            raise InvalidArgument(f"{len(rows):,} rows in one batch, at most {MAX_ROWS}")
        if any(after["seq"] <= before["seq"] for before, after in pairwise(rows)):
            raise InvalidArgument(
                "rows are not in the order of their numbers", hint="send them in the order of the log"
            )
        masked = [redaction.redact_value(dict(row)) for row in rows]
        accepted, deduped = 0, 0
        broken, forked = [], []
        with self._db.transaction():
            # Two batches of one log at once would both find a row missing.
            self._audited.hold(log)
            asked = {row["seq"] for row in rows} | {row["seq"] - 1 for row in rows}
            known = self._audited.hashes([_subject(log, seq) for seq in sorted(asked)])
            before: Mapping[str, Any] = {}
            for row, kept in zip(rows, masked, strict=True):
                here = known.get(_subject(log, row["seq"]), set())
                if row["hash"] in here:
                    deduped += 1
                else:
                    chain = FORKED if here else _place(row, before, known.get(_subject(log, row["seq"] - 1), set()))
                    broken += [row["seq"]] if chain == BROKEN else []
                    forked += [row["seq"]] if chain == FORKED else []
                    self._keep(log, row, kept, chain, actor)
                    accepted += 1
                before = row
        return AuditAccepted(accepted, deduped, tuple(broken), tuple(forked))

    def page(self, wanted: AuditFilter, *, after: str | None = None, limit: int = 50,
             outcomes: bool = False) -> AuditLogPage:  # fmt: skip
        """One page of rows; costs its length and what is passed over, at most `MOST_LOOKED_AT`.

        With `outcomes` a request carries how it ended, and the row that told so is left out where all kinds of rows are
        asked for. It is looked for among the next `_REACH` rows of the same log, by their numbers.
        """
        below = _cursor(after)
        kept: list[Mapping[str, Any]] = []
        scanned = 0
        span = EventSpan(wanted.from_ms, wanted.to_ms + 1)
        while scanned < MOST_LOOKED_AT:
            events = self._pages.of_type(EventType.TOOL_DECIDED.value, span, below=below, limit=_PAGE)
            passed = [
                (place, {"id": event.id, "received_at_ms": event.at_ms, **event.payload})
                for place, event in enumerate(events)
                if event.payload is not None and wanted.keeps(event.payload)
            ]
            for start in range(0, len(passed), limit):
                few = passed[start : start + limit]
                for place, row in self._joined(few, wanted) if outcomes else few:
                    kept.append(row)
                    if len(kept) == limit:
                        return AuditLogPage(tuple(kept), scanned + place + 1, _mark(events[place]))
            scanned += len(events)
            if len(events) < _PAGE:
                return AuditLogPage(tuple(kept), scanned, None)
            below = events[-1]
        return AuditLogPage(tuple(kept), scanned, _mark(below) if below is not None else None, truncated=True)

    def _joined(self, rows: Sequence[tuple[int, dict[str, Any]]],
                wanted: AuditFilter) -> Iterator[tuple[int, dict[str, Any]]]:  # fmt: skip
        """Each request with its outcome, without the outcomes of requests that are shown on this or another page."""
        near: set[str] = set()
        for _, row in rows:
            if row.get("call_id"):
                step = -1 if row["kind"] == _RESULT else 1
                near |= {_subject(row["log"], row["seq"] + step * far) for far in range(1, _REACH + 1)}
        calls = defaultdict[tuple[str, ...], list[dict[str, Any]]](list)
        for other in self._audited.rows(sorted(near)):
            calls[_call(other)].append(other)
        for place, row in rows:
            others = calls[_call(row)] if row.get("call_id") else []
            if row["kind"] != _RESULT:
                ends = [each for each in others if each["kind"] == _RESULT and each["seq"] > row["seq"]]
                first = min(ends, key=lambda each: each["seq"], default=None)
                yield place, row | {"outcome": {name: first.get(name) for name in _OUTCOME} if first else None}
            elif wanted.kind or wanted.chain or not any(
                each["kind"] != _RESULT and each["seq"] < row["seq"] and each["received_at_ms"] >= wanted.from_ms
                for each in others
            ):  # fmt: skip
                yield place, row

    def _keep(self, log: str, row: Mapping[str, Any], kept: Mapping[str, Any], chain: str, actor: str) -> None:
        took = row.get("duration_ms")
        # Hashes and numbers are kept as they came, whatever they look like.
        payload = {**kept, "seq": row["seq"], "prev": row["prev"], "hash": row["hash"], "log": log, "chain": chain,
                   "actor": actor}  # fmt: skip
        self._log.append(NewEvent(
            EventType.TOOL_DECIDED, _subject(log, row["seq"]), payload, project=str(kept.get("project_id", "")),
            took_us=took * 1000 if isinstance(took, int) else None,
        ))  # fmt: skip


def build(kernel: Kernel) -> Auditing:
    """The services on an open store."""
    return Auditing(kernel.db, Audited(kernel.db), kernel.log, EventPages(kernel.db), kernel.receipts)


def _call(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["log"], str(row.get("run_id", "")), str(row.get("call_id", ""))


def _subject(log: str, seq: int) -> str:
    return f"audit:{log}:{seq}"


def _place(row: Mapping[str, Any], before: Mapping[str, Any], stored: set[str]) -> str:
    """Whether the row follows the one before it, as far as that one is known."""
    if row["seq"] == 1:
        return FOLLOWS if row["prev"] == GENESIS else BROKEN
    if before.get("seq") == row["seq"] - 1:
        stored = stored | {before["hash"]}
    if not stored:
        return UNKNOWN
    return FOLLOWS if row["prev"] in stored else BROKEN


def _mark(event: Event) -> str:
    return f"{event.at_ms}-{event.seq}"


def _cursor(text: str | None) -> Event | None:
    if text is None:
        return None
    at, sign, seq = text.partition("-")
    if not (sign and at.isdecimal() and seq.isdecimal() and at.isascii() and seq.isascii() and len(text) < 40):
        raise InvalidArgument("this cursor is not from this server", hint="leave it out to start at the newest row")
    return Event(LogPosition(0, int(seq)), "", int(at), "", "", "", None)
