"""Acts on memories of every kind, one by one or by selection: edit, hide, pin, withhold, approve, supersede, merge …

One call is one transaction and, if anything changed, one delta whose cause is the act, so that one undo takes all of
it back. Every change is a version with its actor and reason. What there is nothing to do about is told and not
written. Up to `MAX_IDS` memories are read by a few queries and written one after the other, in the order of their
numbers: two who act on the same selection wait for each other and not in a circle.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model import approval, handle, life, note, privacy, redaction
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.life import FOR_AGENTS, LESSON_TURN, MAX_PARTS, NO_EDIT, Act, Life, MemoryEdit
from codexmem.kernel.model.memory import (
    CREDIT,
    REMEMBERED,
    VISIBLE,
    Kind,
    Mark,
    Memory,
    MemoryDraft,
    Origin,
    State,
    Status,
)
from codexmem.kernel.model.query import Id, Seq, Uri
from codexmem.kernel.model.statement import SUPERSEDES
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories, changed_since
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable

MAX_IDS = 200  # memories in one act: other writers wait behind it
_TRIES = 5  # an act that names no version is repeated on what another writer just left
_REASON = 500  # characters
_FREE = 1_000  # addresses below a note that are tried for its parts
_ROLLBACK = "rollback"  # the cause of a delta that writes an earlier version again
_REJECT = "reject"  # the cause of a delta that refuses a proposed change
_OPS = {Act.HIDE: Op.DELETE, Act.UNHIDE: Op.RESTORE}


@dataclass(frozen=True, slots=True)
class ActRequest:
    """One act, and on what."""

    act: Act
    ids: tuple[int | str, ...]  # numbers, or any name of a memory
    edit: MemoryEdit = NO_EDIT  # for edit, and for what a merged memory is to say
    into: int | str | None = None  # the one that takes the place of the others, or takes them over
    parts: tuple[MemoryEdit, ...] = ()  # into which a memory is split
    seen: int | None = None  # the version that the caller saw; only of one memory
    reason: str = ""
    visibility: Visibility | None = None  # for share

    def check(self) -> None:
        """Refuse what no memory could make sense of."""
        if not 1 <= len(self.ids) <= MAX_IDS:
            raise InvalidArgument(f"an act takes 1 to {MAX_IDS} memories, not {len(self.ids)}")
        if self.act is Act.EDIT:
            self.edit.check(len(self.ids))
        elif self.edit != NO_EDIT and self.act is not Act.MERGE:
            raise InvalidArgument(f"{self.act} takes no text, title or type", hint="edit changes what a memory says")
        if (self.into is None) is (self.act in {Act.SUPERSEDE, Act.MERGE}):
            raise InvalidArgument(
                f"{self.act} needs `into`" if self.into is None else f"{self.act} takes no `into`",
                hint="supersede and merge name in `into` the memory that stays",
            )
        if self.act is Act.SPLIT:
            if len(self.ids) != 1 or not 2 <= len(self.parts) <= MAX_PARTS:
                raise InvalidArgument(
                    f"split takes one memory and 2 to {MAX_PARTS} parts", hint="give the text of each part",
                    details={"reason": "split_parts", "most": MAX_PARTS},
                )  # fmt: skip
        elif (self.visibility is None) is (self.act is Act.SHARE):
            raise InvalidArgument(
                "share needs a visibility, and no other act takes one", hint="give mine, project or everyone"
            )
        elif self.parts:
            raise InvalidArgument(f"{self.act} takes no parts", hint="only split does")
        if self.seen is not None and len(self.ids) != 1:
            raise InvalidArgument("a version that was seen can be given of one memory only")


@dataclass(frozen=True, slots=True)
class ActResult:
    """What an act did."""

    delta: str | None  # undo it to have everything as it was; None: nothing was written
    changed: tuple[Memory, ...]  # as they are now, new ones last
    unchanged: tuple[int, ...]  # there was nothing to do about these


@dataclass(frozen=True, slots=True)
class _Step:
    """A state to be written."""

    memory: Memory
    state: State
    op: Op = Op.UPDATE


class Lifecycle:
    """The acts on memories of the acting tenant."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History) -> None:
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history

    def act(self, wanted: ActRequest, by: WriteContext) -> ActResult:
        """Do it to all of them or, if it fits one of them not, to none."""
        wanted.check()
        if by.origin is not Origin.HUMAN and wanted.act not in FOR_AGENTS:
            raise _needs_person(wanted.act)
        for _ in range(_TRIES - 1):
            try:
                return self._done(wanted, by)
            except Conflict as conflict:
                if wanted.seen is not None or conflict.details.get("reason") != "changed_since":
                    raise
        return self._done(wanted, by)

    def reject(self, seq: int, reason: str, by: WriteContext) -> ActResult:
        """Refuse what was proposed: the memory says again what a person agreed to before, or is hidden if nothing."""
        hide = ActRequest(Act.HIDE, (seq,), reason=reason)
        if by.origin is not Origin.HUMAN:
            return self.act(hide, by)
        with self._db.transaction():
            memory = self.named([seq], by)[0]
            agreed = self._memories.agreed([memory]).get(seq)
            if agreed is None or agreed.status not in VISIBLE or not approval.needs_person(memory.kind, agreed):
                return self.act(hide, by)
            delta = self._history.open_delta(f"memory:{seq}", _REJECT, by).id
            own = replace(by, delta=delta, note=_cleaned_reason(reason) or by.note or _REJECT)
            marks = memory.state.marks - {Mark.PROPOSED, *CREDIT} | agreed.marks & CREDIT
            now = memory.state
            state = replace(agreed, uris=now.uris, links=now.links, visibility=now.visibility, marks=marks)
            return ActResult(
                delta, (self._memories.write(memory, state, Op.RESTORE, own, exactly=True, as_before=True),), ()
            )

    def roll_back(self, name: str, version: int, by: WriteContext, *, seen: int | None = None) -> ActResult:
        """Write what an earlier version said as the newest one; its addresses, links and marks stay as they are."""
        with self._db.transaction():
            memory = self.named([name], by)[0]
            if memory.kind is Kind.LESSON:
                self._table.hold(LESSON_TURN)
                memory = self.named([name], by)[0]
            if seen is not None and memory.version != seen:
                raise changed_since(memory, seen)
            if by.origin is not Origin.HUMAN and memory.state.status not in VISIBLE:
                raise _needs_person(Act.UNHIDE)  # an earlier version would bring it back
            delta = self._history.open_delta(f"memory:{memory.seq}", _ROLLBACK, by).id
            written = self._history.rollback(Seq(memory.seq), REMEMBERED, version, replace(by, delta=delta))
            return ActResult(delta, (written,), ())

    def lives(self, memories: Sequence[Memory]) -> dict[int, Life]:
        """Where each of these is in its life, by number; one query for those that are out of use."""
        out = [each.seq for each in memories if each.state.status is life.retired(each.kind)]
        followed = self._memories.pointed_to(out, SUPERSEDES) if out else set()
        return {each.seq: life.life_of(each, superseded=each.seq in followed) for each in memories}

    def named(self, names: Iterable[int | str], by: WriteContext) -> list[Memory]:
        """The memories that answer to these names, each once and in this order; one that is missing is an error."""
        wanted = [_parsed(name) for name in names]
        by_seq = self._table.many((each.value for each, _ in wanted if isinstance(each, Seq)), REMEMBERED)
        by_id = self._table.named([each.value for each, _ in wanted if isinstance(each, Id)], REMEMBERED)
        found: dict[int, Memory] = {}
        for meant, kinds in wanted:
            if isinstance(meant, Uri):
                memory = self._table.find(meant, REMEMBERED)
            else:
                memory = by_seq.get(meant.value) if isinstance(meant, Seq) else by_id.get(meant.value)
            # What an agent is never handed, it cannot change either.
            withheld = memory is not None and by.origin is not Origin.HUMAN and Mark.WITHHELD in memory.state.marks
            if memory is None or memory.kind not in kinds or withheld:
                spelled = f"#{meant.value}" if isinstance(meant, Seq) else meant.value[:80]
                raise NotFound(
                    f"{spelled} is not remembered", hint=f"name memories as {handle.EXAMPLES}",
                    details={"reason": "not_remembered", "name": spelled},
                )  # fmt: skip
            found.setdefault(memory.seq, memory)
        return list(found.values())

    def _done(self, wanted: ActRequest, by: WriteContext) -> ActResult:
        with self._db.transaction():
            memories = self.named(wanted.ids, by)
            if any(each.kind is Kind.LESSON for each in memories):
                self._table.hold(LESSON_TURN)
                memories = self.named(wanted.ids, by)
            if wanted.seen is not None and memories[0].version != wanted.seen:
                raise changed_since(memories[0], wanted.seen)
            into = self.named([wanted.into], by)[0] if wanted.into is not None else None
            steps, drafts = self._planned(wanted, memories, into, by)
            asked = {each.seq: each for each in (*memories, *((into,) if into is not None else ()))}
            going = sorted((each for each in steps if each.state != each.memory.state), key=lambda s: s.memory.seq)
            unchanged = tuple(seq for seq in asked if seq not in {each.memory.seq for each in going})
            if not going and not drafts:
                return ActResult(None, (), unchanged)
            reason = _cleaned_reason(wanted.reason)
            subject = f"memory:{memories[0].seq}" if len(memories) == 1 else "selection"
            delta = self._history.open_delta(subject, wanted.act.value, by).id
            own = replace(by, delta=delta, note=reason or by.note or wanted.act.value)
            changed = [self._memories.write(each.memory, each.state, each.op, own) for each in going]
            changed += [self._memories.remember(each, own) for each in drafts]
            return ActResult(delta, tuple(changed), unchanged)

    def _planned(
        self, wanted: ActRequest, memories: Sequence[Memory], into: Memory | None, by: WriteContext
    ) -> tuple[list[_Step], list[MemoryDraft]]:
        match wanted.act:
            case Act.EDIT:
                return [_Step(each, life.edited(each, wanted.edit)) for each in memories], []
            case Act.SUPERSEDE | Act.MERGE:
                assert into is not None
                return _replaced(wanted, memories, into), []
            case Act.SHARE:
                assert wanted.visibility is not None
                return [_Step(each, replace(each.state, visibility=wanted.visibility)) for each in memories], []
            case Act.SPLIT:
                whole = memories[0]
                life.require_shown(whole)
                return [_Step(whole, life.put_out_of_use(whole))], self._parts(whole, wanted.parts, by)
            case _:
                shown = self._history.last_shown(memories) if wanted.act is Act.UNHIDE else {}
                return [_simple(wanted.act, each, shown) for each in memories], []

    def _parts(self, whole: Memory, parts: Sequence[MemoryEdit], by: WriteContext) -> list[MemoryDraft]:
        uris = self._free_uris(whole, len(parts))
        return [
            MemoryDraft(
                whole.kind, life.part_of(whole, part, uri), by.origin, whole.session,
                created_ms=whole.created_ms, visibility=whole.state.visibility,
            )
            for part, uri in zip(parts, uris, strict=True)
        ]  # fmt: skip

    def _free_uris(self, whole: Memory, count: int) -> Sequence[str | None]:
        """Addresses below the whole's own, numbered from 1, that name nothing yet."""
        if whole.kind is not Kind.NOTE or not whole.state.uris:
            return [None] * count
        free: list[str] = []
        for start in range(1, _FREE + 1, 2 * MAX_PARTS):
            few = [note.fit_uri(f"{whole.state.uris[0]}/{start + more}") for more in range(2 * MAX_PARTS)]
            taken = self._table.taken_uris(few, 0)
            free += [uri for uri in few if uri not in taken]
            if len(free) >= count:
                return free[:count]
        raise Conflict(f"too many notes stand below {whole.state.uris[0]}", hint="create the parts by hand")


def _simple(act: Act, memory: Memory, shown: Mapping[int, Status]) -> _Step:
    state = life.simple_act(act, memory, shown=shown.get(memory.seq, Status.ACTIVE))
    archives = act in {Act.HIDE, Act.DEPRECATE} and state.status is Status.ARCHIVED
    return _Step(memory, state, Op.ARCHIVE if archives else _OPS.get(act, Op.UPDATE))


def _replaced(wanted: ActRequest, memories: Sequence[Memory], into: Memory) -> list[_Step]:
    """Steps after which one memory stands for the others."""
    others = [each for each in memories if each.seq != into.seq]
    if not others:
        raise InvalidArgument(
            f"#{into.seq} cannot take its own place", hint="name another memory",
            details={"reason": "own_place", "seq": into.seq},
        )  # fmt: skip
    if into.state.status not in VISIBLE:
        raise Conflict(
            f"#{into.seq} is not in use, so it cannot take the place of others",
            hint="show it again first (unhide)",
            details={"reason": "not_in_use", "seq": into.seq},
        )
    if wanted.act is Act.MERGE:
        stays = life.merged(into, others, wanted.edit)
    else:
        others = [each for each in others if each.state.status not in life.HIDDEN]
        stays = life.superseding(into, [each.seq for each in others])
    return [_Step(into, stays), *(_Step(each, life.superseded_by(each, into.seq)) for each in others)]


def _needs_person(act: Act) -> Conflict:
    return Conflict(
        f"only a person may {act} memories",
        hint="ask the person to do it, at the command line or in the web application",
        details={"reason": "needs_a_person", "act": act.value},
    )


def _cleaned_reason(text: str) -> str:
    return redaction.redact(privacy.strip(text)).strip()[:_REASON]


def _parsed(name: int | str) -> tuple[Seq | Id | Uri, frozenset[Kind]]:
    return (Seq(name), REMEMBERED) if isinstance(name, int) else (handle.parsed(name), frozenset(Kind))
