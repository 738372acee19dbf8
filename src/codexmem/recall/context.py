"""What an agent should know: before it begins, the project's notes, its last session, what holds there and what it is
worked on with; and with a request, what bears on it. Each memory is told a session once, and what an agent reads by
itself not at all.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codexmem.kernel.events.log import Log
from codexmem.kernel.events.review import Review, Sought
from codexmem.kernel.model import audience, privacy
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.errors import StorageFull, Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.framing import Frame
from codexmem.kernel.model.memory import REMEMBERED, VISIBLE, Kind, Mark, Memory, Origin, Status, manual_session
from codexmem.kernel.model.note import CORE
from codexmem.kernel.model.query import Filter, PageRequest, RowOrder
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.spans import timed
from codexmem.kernel.model.statement import STANDING
from codexmem.kernel.model.writer import MemoryWriter
from codexmem.kernel.search.finder import Finder
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.event_pages import EventSpan
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall import context_page, digest, lasting
from codexmem.recall.agent_files import AgentReading
from codexmem.recall.context_lines import (
    MAX_MISSES,
    ContextLine,
    LineReason,
    NearMiss,
    NearMisses,
    NotTold,
    SectionTokens,
)
from codexmem.recall.context_page import ContextPage, Given
from codexmem.recall.earlier_sessions import EarlierSessions, is_prompt_or_answer
from codexmem.recall.lasting import LastingFact
from codexmem.recall.staleness import Comparison, FileFreshness, Staleness

_log = logging.getLogger(__name__)

MAX_TOKENS = 20_000
_OBSERVATIONS = frozenset({Kind.OBSERVATION})
_NOTES = frozenset({Kind.NOTE})
_RECALLED = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT, Kind.NOTE, Kind.QA, Kind.KNOWLEDGE})
_IMPORTANT = (("priority", frozenset("012")),)  # notes that are always told; by label, because they are few
_PINNED = (("mark", frozenset({Mark.PINNED.value})),)
_KEPT_BACK = (("mark", frozenset({Mark.WITHHELD.value, Mark.PROPOSED.value})),)
_PROPOSED = ("mark", frozenset({Mark.PROPOSED.value}))
_RECENT = 50
_NEWEST = PageRequest(limit=_RECENT)
_WAITING = 200  # proposed memories that are looked at for what a person agreed to before
_BY_HAND = 10  # of a person, and as many of agents
_PEOPLE = frozenset({Origin.HUMAN})
_AGENTS = frozenset({Origin.AGENT})
_RELEVANT = 8
_STATEMENTS = 100
_REMEMBERED = 50  # earlier handings-over of a session that are looked at
_SHORTEST = 8  # characters of a prompt that say enough to search by
_READ = 4_000  # of its characters
_PROMPT_TOKENS = 1_200  # what is told with a request, even if more may be told at the start
_NOTE_SHARE = 0.5
_PROPOSED_TOKENS = 200
_LAST_SHARE = 0.08
_LASTING_SHARE = 0.2
_COMMANDS_SHARE = 0.16
_ERRORS_SHARE = 0.18
_FILES_SHARE = 0.3
_YOUNG_SHARE = 0.3
_LAST_TURNS = 3
_STARTS = 1_000  # of sessions that have only been told something


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """Whose memory, for which question, and how much of it."""

    project: str
    prompt: str = ""  # empty at the start of a session
    session: str = ""
    cwd: str = ""
    tokens: int = 2_000
    platform: str = ""  # the agent that asks, which is not told what it reads by itself


class _Starts:
    """What sessions were told that have not said anything yet. Asking makes no session: most that ask and never speak
    are none. Lost with the process, and then an agent is told the same twice.
    """

    def __init__(self) -> None:
        self._given: OrderedDict[tuple[str, str], Given] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, key: tuple[str, str], given: Given) -> None:
        with self._lock:
            self._given[key] = replace(given, text="")
            self._given.move_to_end(key)
            if len(self._given) > _STARTS:
                self._given.popitem(last=False)

    def take(self, key: tuple[str, str]) -> Given | None:
        with self._lock:
            return self._given.pop(key, None)


@dataclass(frozen=True, slots=True)
class ContextServices:
    """What choosing needs."""

    db: Database
    memories: Memories
    finder: Finder
    sessions: Sessions
    log: Log
    review: Review
    excluded: Callable[[str, str], bool]  # by directory and project: what nothing is captured from is told nothing
    writer: MemoryWriter | None = None
    trouble: Callable[[], str | None] = lambda: None  # class of the error with which the model fails, if it does
    language: str = "en"
    # By platform and directory: what an agent finds in a block of ours by itself.
    rules_read: Callable[[str, str], frozenset[str]] = lambda *_: frozenset()
    # Of proposed memories, those that stood before with a person's agreement.
    approved: Callable[[Sequence[Memory]], list[Memory]] = lambda _: []
    frame: Frame = field(default_factory=Frame.of_process)
    staleness: Staleness = field(default_factory=Staleness)
    is_faded: Callable[[Memory], bool] = lambda _: False  # what starts tell no longer, see `recall/decay.py`
    tell: Callable[[str, Sequence[int]], None] = lambda *_: None  # the session and what it was told


@dataclass(frozen=True, slots=True)
class PreviewedContext:
    """What would be given, line by line, with the memories that it tells and those that it just does not."""

    given: Given
    lines: tuple[ContextLine, ...] = ()
    sections: tuple[SectionTokens, ...] = ()
    budget: int = 0
    misses: tuple[NearMiss, ...] = ()
    memories: Mapping[int, Memory] = field(default_factory=dict)  # by number, of lines and misses
    freshness: Mapping[int, FileFreshness] = field(default_factory=dict)  # of those whose files are known

    @property
    def text(self) -> str:
        """To the letter."""
        return self.given.text


class ContextBuilder:
    """Chooses and words what an agent is handed."""

    def __init__(self, services: ContextServices) -> None:
        self._with = services
        self._prepared = threading.Event()
        self._earlier = EarlierSessions(services.memories, services.finder, services.sessions)
        self._starts = _Starts()

    @timed("context.give")
    def give(self, wish: ContextRequest) -> Given:
        """The context for the start of a session or, with a prompt, what bears on that prompt."""
        if self._with.excluded(wish.cwd, wish.project):
            return Given("")
        if wish.prompt:
            with self._with.db.reading():
                session = self._with.sessions.named(wish.session) if wish.session else None
                told = self._told_before(session) if session is not None else frozenset()
            with audience.unasked():
                page = self._for_prompt(wish, told, session)
        else:
            with self._with.db.reading(), audience.unasked():
                session = self._with.sessions.named(wish.session) if wish.session else None
                page = self._for_start(wish)
        given = page.given()
        if session is not None or given.seqs:
            try:
                with self._with.db.transaction():
                    if given.seqs:
                        self._with.memories.count(given.seqs, shown=1)
                    if session is not None:
                        self._record(session, given, start=not wish.prompt)
            except (StorageFull, Unavailable) as problem:
                _log.warning("what an agent was told is not on record: %s", problem.message)
        if session is None and wish.session and not wish.prompt:
            self._starts.keep((self._with.db.acting_tenant(), wish.session), given)
        return given

    def begun(self, session: Session) -> None:
        """The session has its first event: what it was told at its start is now told of it."""
        given = self._starts.take((self._with.db.acting_tenant(), session.key))
        if given is not None:
            self._record(session, given, start=True)

    def _record(self, session: Session, given: Given, *, start: bool) -> None:
        payload = {"seqs": list(given.seqs), "whole": list(given.whole), "tokens": given.tokens, "start": start,
                   "turn": session.turn}  # fmt: skip
        self._with.log.append(NewEvent(EventType.CONTEXT_GIVEN, session.subject, payload, session.project))
        self._with.tell(session.key, given.seqs)

    def preview(self, wish: ContextRequest) -> PreviewedContext:
        """What the next session would be given at its start or, with a prompt, then; nothing comes of asking.

        Costs what giving costs, and three look-ups of memories by number or mark, of which there are at most some 200.
        """
        if self._with.excluded(wish.cwd, wish.project):
            return PreviewedContext(Given(""))
        with audience.unasked():
            page = self._for_start(wish)
            if wish.prompt:
                page = self._for_prompt(wish, frozenset(page.given().whole))
        with audience.everyone():
            if not wish.prompt:
                self._kept_back(wish.project, page.misses)
            return self._previewed(wish, page)

    def _previewed(self, wish: ContextRequest, page: ContextPage) -> PreviewedContext:
        given, lines = page.given(), page.text_lines()
        told = {*given.seqs, *(line.seq for line in lines if line.seq is not None)}
        misses = page.misses.first(told)
        memories = self._with.memories.many({*told, *(miss.seq for miss in misses)}, frozenset(Kind))
        compared = self._with.staleness.of(wish.cwd, wish.project)
        freshness = {seq: compared.verdict(memory).freshness for seq, memory in memories.items()}
        return PreviewedContext(
            given=given,
            lines=tuple(lines),
            sections=tuple(page.section_tokens()),
            budget=page.tokens,
            misses=tuple(miss for miss in misses if miss.seq in memories),
            memories=memories,
            freshness={seq: found for seq, found in freshness.items() if found is not FileFreshness.UNKNOWN},
        )

    def _kept_back(self, project: str, misses: NearMisses) -> None:
        """Which memories no start tells because a person said so, or has not agreed yet."""
        wanted = Filter(kinds=REMEMBERED, facets=_KEPT_BACK)
        for memory in self._of_project_and_all(project, wanted, PageRequest(limit=MAX_MISSES)):
            why = NotTold.WITHHELD if Mark.WITHHELD in memory.state.marks else NotTold.PROPOSED
            misses.add(why, memory.seq)

    def _told_before(self, session: Session) -> frozenset[int]:
        """What this session was told in full since it last began, which it need not be told again."""
        span = EventSpan(0, 2**62)
        sought = Sought(EventType.CONTEXT_GIVEN, span, session.subject)
        told: set[int] = set()
        for event in self._with.review.newest(sought, lambda _: True, limit=_REMEMBERED, most=_REMEMBERED).events:
            payload = event.payload or {}
            told.update(payload.get("whole", ()))
            if payload.get("start"):
                break
        return frozenset(told)

    def _for_start(self, wish: ContextRequest) -> ContextPage:
        if not self._prepared.is_set():
            # A prompt follows within seconds, and its hook waits little longer than an encoder takes to load.
            self._prepared.set()
            threading.Thread(target=self._with.finder.prepare, name="codexmem-prepare", daemon=True).start()
        page = ContextPage(wish.project, wish.tokens, self._with.frame)
        page.about(self._about(wish.session))
        pinned = {memory.seq: context_page.told(memory) for memory in self._pinned(wish.project)}
        page.section(LineReason.PINNED, pinned.values(), share=_NOTE_SHARE, whole=True)
        notes = self._notes(wish.project)
        agreed = (context_page.note(each) for each in notes if each.seq not in pinned)
        page.section(LineReason.CORE_NOTE, agreed, share=_NOTE_SHARE, whole=True)
        proposed = map(context_page.note, self._proposed_notes(wish.project, {*pinned, *(each.seq for each in notes)}))
        share = min(_NOTE_SHARE, _PROPOSED_TOKENS / max(wish.tokens, 1))
        page.section(LineReason.PROPOSED_NOTE, proposed, share=share, whole=True)
        by_hand = [each for each in self._unfaded(self._by_hand(wish.project), page.misses) if each.seq not in pinned]
        for name, own in ((LineReason.SAVED_BY_PERSON, True), (LineReason.SAVED_BY_AGENT, False)):
            saved = [each for each in by_hand if (each.author is Origin.HUMAN) is own]
            page.section(name, map(context_page.told, saved), share=_NOTE_SHARE, whole=True)
        turns = self._newest(wish.project, Kind.SUMMARY, digest.TURNS)
        compared = self._with.staleness.of(wish.cwd, wish.project)
        last = [
            context_page.marked(context_page.summary(turn), compared.verdict(turn).mark)
            for turn in _left(compared, _last_session(turns, wish.session), page.misses)
        ]
        page.section(LineReason.LAST_SESSION, last, share=_LAST_SHARE, whole=True)
        read = self._read_by(wish)
        said = "\n".join((*(item.text for item in (*pinned.values(), *last)), *read.rules))
        stated = self._statements(wish.project, page.misses)
        holding = lasting.lasting(
            _left(compared, turns[: lasting.TURNS], page.misses),
            _left(compared, stated, page.misses),
            int(wish.tokens * _LASTING_SHARE),
            said,
            lambda why, seq, text: page.misses.add(why, seq, text, LineReason.LASTING, page.limit(_LASTING_SHARE)),
        )
        marks = compared.marks(_named(holding, (*turns[: lasting.TURNS], *stated)))
        told = (context_page.marked(context_page.fact(each), marks.get(each.seq)) for each in holding)
        page.section(LineReason.LASTING, told, share=_LASTING_SHARE)
        known = digest.digest(turns)
        page.lines(
            LineReason.COMMANDS,
            lambda left: digest.commands_by_program(known.commands, left),
            share=_COMMANDS_SHARE,
        )
        page.lines(LineReason.ERRORS, lambda left: digest.lines_within(known.errors, left), share=_ERRORS_SHARE)
        page.lines(LineReason.FILES, lambda left: digest.files_by_folder(known.files, left), share=_FILES_SHARE)
        told_seqs = {*pinned, *(memory.seq for memory in by_hand)}
        newest = self._unread(wish.project, read, page.misses)
        worth = [each for each in newest if each.seq not in told_seqs and not (page.tells(each) or _only_read(each))]
        once: dict[str, Memory] = {}  # by what is told of it, the newest
        for each in _left(compared, worth, page.misses):
            once.setdefault(context_page.titled(each) or each.id, each)
        recent = (context_page.marked(context_page.line(each), compared.verdict(each).mark) for each in once.values())
        # Titles tell less than anything above: once there are turns, only as long as there is little else to tell.
        page.section(LineReason.RECENT, recent, share=max(0.0, _YOUNG_SHARE - page.used) if turns else 1.0)
        return page

    def _unread(self, project: str, read: AgentReading, misses: NearMisses) -> list[Memory]:
        """The newest observations but for what the agent reads by itself, of which there may be many at once."""
        newest = self._newest(project, Kind.OBSERVATION, _RECENT)
        if any(map(read.has, newest)):
            newest = self._newest(project, Kind.OBSERVATION, _RECENT * 10)
        left = []
        for each in newest:
            if read.has(each):
                misses.add(NotTold.READ_BY_AGENT, each.seq)
            else:
                left.append(each)
        return left[:_RECENT]

    def _read_by(self, wish: ContextRequest, session: Session | None = None) -> AgentReading:
        platform = wish.platform or (session.platform if session is not None else "")
        cwd = wish.cwd or (session.cwd if session is not None else "")
        return AgentReading(self._with.memories, wish.project, platform, cwd, self._with.rules_read(platform, cwd))

    def _about(self, session: str) -> str:
        """What a person should know of the memory itself: that its model fails or, at first, who writes it."""
        if self._with.writer is None:
            return ""
        if (trouble := self._with.trouble()) is not None:
            return self._with.writer.failing(trouble, self._with.language)
        others = [each for each in self._with.sessions.newest(limit=2) if each.key != session]
        return "" if others else self._with.writer.described(self._with.language)

    def _for_prompt(self, wish: ContextRequest, told: frozenset[int], session: Session | None = None) -> ContextPage:
        text = privacy.strip(wish.prompt).strip()
        page = ContextPage(wish.project, min(wish.tokens, _PROMPT_TOKENS), self._with.frame)
        if len(text) < _SHORTEST:
            return page
        # A session knows itself; its own words, which fit best, would also make everything else seem foreign.
        until_ms = session.started_ms - 1 if session is not None else None
        wanted = Filter(kinds=_RECALLED, project=wish.project, created_to_ms=until_ms)
        read = self._read_by(wish, session)
        compared = self._with.staleness.of(wish.cwd or (session.cwd if session is not None else ""), wish.project)

        def leaves_out(memory: Memory) -> bool:
            if read.has(memory):
                page.misses.add(NotTold.READ_BY_AGENT, memory.seq)
                return True
            if compared.withholds(memory):
                page.misses.add(NotTold.FILE_GONE, memory.seq)
                return True
            return False

        fitting = self._earlier.found(text[:_READ], wanted, leaves_out, page.misses.add)
        found = compared.ranked([each for each in fitting if each.memory.seq not in told])
        lone = [each.memory for each in found if not is_prompt_or_answer(each.memory)]
        bearing = (
            context_page.marked(context_page.told(each), compared.verdict(each).mark) for each in lone[:_RELEVANT]
        )
        page.section(LineReason.RELEVANT, bearing, share=_NOTE_SHARE, whole=True)
        page.excerpt(lambda left: self._earlier.excerpt(text, wanted, found, told, left, compared.verdict))
        for each in fitting:  # those that are told after all are not counted among the misses
            seq = each.memory.seq
            section = LineReason.EARLIER_SESSION if is_prompt_or_answer(each.memory) else LineReason.RELEVANT
            page.misses.add(NotTold.TOLD_AT_START if seq in told else NotTold.NO_ROOM, seq, section=section)
        return page

    def _pinned(self, project: str) -> list[Memory]:
        found = self._of_project_and_all(project, Filter(kinds=REMEMBERED, facets=_PINNED))
        return found + self._former(project, Filter(kinds=REMEMBERED, facets=(_PROPOSED, *_PINNED)))

    def _notes(self, project: str) -> list[Memory]:
        agreed = Filter(kinds=_NOTES, facets=_IMPORTANT, without=frozenset({Mark.PROPOSED}))
        found = self._of_project_and_all(project, agreed)
        # Its priority may be what was changed, so all that are proposed count, if they were told once: agents can make
        # no more of these, and so cannot crowd out what a person agreed to.
        former = self._former(project, Filter(kinds=_NOTES, facets=(_PROPOSED,), once_core=True))
        found += [each for each in former if each.state.priority <= CORE]
        return sorted(found, key=lambda memory: (memory.state.priority, memory.seq))

    def _proposed_notes(self, project: str, agreed: Container[int]) -> list[Memory]:
        """Core notes of agents that no person has agreed to in any form, of the project that they were written in."""
        if not project:
            return []
        wanted = Filter(_NOTES, project=project, facets=(_PROPOSED, *_IMPORTANT), origins=_AGENTS)
        with audience.agents():
            return [memory for memory in self._with.memories.page(wanted, _NEWEST).items if memory.seq not in agreed]

    def _former(self, project: str, proposed: Filter) -> list[Memory]:
        """What was changed without a person's agreement, as it last stood with it; the oldest first."""
        with audience.agents():
            page = PageRequest(limit=_WAITING, order=RowOrder.OLDEST)
            return self._with.approved(self._of_project_and_all(project, proposed, page))

    def _of_project_and_all(self, project: str, wanted: Filter, page: PageRequest = _NEWEST) -> list[Memory]:
        return [
            memory
            for name in dict.fromkeys((project, ""))  # what is of no project is for every project
            for memory in self._with.memories.page(replace(wanted, project=name), page).items
        ]

    def _by_hand(self, project: str) -> list[Memory]:
        """The newest of a person and of agents, each by themselves: what agents save must not crowd out a person's."""
        wanted = Filter(kinds=_OBSERVATIONS, session=manual_session(project), project=project)
        return [
            memory
            for origins in (_PEOPLE, frozenset(Origin) - _PEOPLE)
            for memory in self._with.memories.page(replace(wanted, origins=origins), PageRequest(limit=_BY_HAND)).items
        ]

    def _unfaded(self, memories: Iterable[Memory], misses: NearMisses) -> list[Memory]:
        left = []
        for memory in memories:
            if self._with.is_faded(memory):
                misses.add(NotTold.FADED, memory.seq)
            else:
                left.append(memory)
        return left

    def _statements(self, project: str, misses: NearMisses) -> list[Memory]:
        """The newest that hold, and those that hold no longer."""
        wanted = Filter(kinds=_OBSERVATIONS, project=project, facets=STANDING, statuses=VISIBLE | {Status.DEPRECATED})
        found = self._with.memories.page(wanted, PageRequest(limit=_STATEMENTS)).items
        left = {each.seq for each in self._unfaded((each for each in found if each.state.status in VISIBLE), misses)}
        return [each for each in found if each.seq in left or each.state.status is Status.DEPRECATED]

    def _newest(self, project: str, kind: Kind, limit: int) -> list[Memory]:
        wanted = Filter(kinds=frozenset({kind}), project=project, statuses=VISIBLE)
        return list(self._with.memories.page(wanted, PageRequest(limit=limit)).items)


def _left(compared: Comparison, memories: Iterable[Memory], misses: NearMisses) -> list[Memory]:
    """Those of which something is left in the caller's checkout."""
    left = []
    for memory in memories:
        if compared.withholds(memory):
            misses.add(NotTold.FILE_GONE, memory.seq)
        else:
            left.append(memory)
    return left


def _only_read(memory: Memory) -> bool:
    """Whether rules say nothing of it but that files were read."""
    attrs = memory.state.attrs
    if memory.origin is not Origin.TOOL or not isinstance(attrs, ObservationAttrs):
        return False
    return bool(attrs.files_read) and not (attrs.files_modified or attrs.facts)


def _named(facts: Sequence[LastingFact], memories: Sequence[Memory]) -> list[Memory]:
    """The memories that these facts are from."""
    seqs = {fact.seq for fact in facts}
    return [memory for memory in memories if memory.seq in seqs]


def _last_session(turns: Sequence[Memory], asking: str) -> list[Memory]:
    """The last turns of the last session before this one, newest first; small talk only if there is nothing else."""
    before = [turn for turn in turns if turn.session != asking]
    telling = [turn for turn in before if _says_something(turn)] or before
    return [turn for turn in telling if turn.session == telling[0].session][:_LAST_TURNS]


def _says_something(turn: Memory) -> bool:
    """Whether something was done in it, or its answer is more than an "ok"."""
    attrs = turn.state.attrs
    return not isinstance(attrs, SummaryAttrs) or bool(
        attrs.completed or attrs.next_steps or lasting.is_long_enough(attrs.learned)
    )
