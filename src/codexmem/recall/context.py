"""What an agent should know: before it begins, the project's notes, its last session, what holds there and what it is
worked on with; and with a request, what bears on it. Each memory is told a session once, and what an agent reads by
itself not at all.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.events.log import Log
from codexmem.kernel.events.review import Review, Sought
from codexmem.kernel.model import privacy
from codexmem.kernel.model.errors import StorageFull, Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.memory import VISIBLE, Kind, Memory, Status, manual_session
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.statement import STANDING
from codexmem.kernel.model.writer import MemoryWriter
from codexmem.kernel.search.finder import Finder
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.event_pages import EventSpan
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall import context_page, digest, lasting
from codexmem.recall.agent_files import AgentReading
from codexmem.recall.context_page import ContextItem, ContextPage, Given
from codexmem.recall.earlier_sessions import EarlierSessions, is_prompt_or_answer

_log = logging.getLogger(__name__)

MAX_TOKENS = 20_000
_OBSERVATIONS = frozenset({Kind.OBSERVATION})
_NOTES = frozenset({Kind.NOTE})
_RECALLED = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT, Kind.NOTE, Kind.QA, Kind.KNOWLEDGE})
_IMPORTANT = (("priority", frozenset("012")),)  # notes that are always told; by label, because they are few
_RECENT = 50
_BY_HAND = 10
_RELEVANT = 8
_STATEMENTS = 100
_REMEMBERED = 50  # earlier handings-over of a session that are looked at
_SHORTEST = 8  # characters of a prompt that say enough to search by
_READ = 4_000  # of its characters
_PROMPT_TOKENS = 1_200  # what is told with a request, even if more may be told at the start
_NOTE_SHARE = 0.5
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


class ContextBuilder:
    """Chooses and words what an agent is handed."""

    def __init__(self, memories: Memories, finder: Finder, sessions: Sessions, log: Log, review: Review,
                 tenant: Callable[[], str], excluded: Callable[[str, str], bool], writer: MemoryWriter | None = None,
                 trouble: Callable[[], str | None] = lambda: None, language: str = "en",
                 rules_read: Callable[[str, str], frozenset[str]] = lambda *_: frozenset()) -> None:  # fmt: skip
        self._review = review
        self._prepared = threading.Event()
        self._excluded = excluded  # by directory and project: what nothing is captured from is told nothing
        self._memories = memories
        self._finder = finder
        self._sessions = sessions
        self._earlier = EarlierSessions(memories, finder, sessions)
        self._log = log
        self._tenant = tenant
        self._starts = _Starts()
        self._writer = writer
        self._trouble = trouble  # class of the error with which the model fails, if it does
        self._language = language
        self._rules_read = rules_read  # by platform and directory: what an agent finds in a block of ours by itself

    def give(self, wish: ContextRequest) -> Given:
        """The context for the start of a session or, with a prompt, what bears on that prompt."""
        if self._excluded(wish.cwd, wish.project):
            return Given("")
        session = self._sessions.named(wish.session) if wish.session else None
        if wish.prompt:
            given = self._for_prompt(wish, self._told_before(session) if session is not None else frozenset(), session)
        else:
            given = self._for_start(wish)
        if given.seqs:
            self._memories.count_reading(given.seqs, shown=1)
        if session is not None:
            try:
                self._record(session, given, start=not wish.prompt)
            except (StorageFull, Unavailable) as problem:
                _log.warning("what an agent was told is not on record: %s", problem.message)
        elif wish.session and not wish.prompt:
            self._starts.keep((self._tenant(), wish.session), given)
        return given

    def begun(self, session: Session) -> None:
        """The session has its first event: what it was told at its start is now told of it."""
        given = self._starts.take((self._tenant(), session.key))
        if given is not None:
            self._record(session, given, start=True)

    def _record(self, session: Session, given: Given, *, start: bool) -> None:
        payload = {"seqs": list(given.seqs), "whole": list(given.whole), "tokens": given.tokens, "start": start,
                   "turn": session.turn}  # fmt: skip
        self._log.append(NewEvent(EventType.CONTEXT_GIVEN, session.subject, payload, session.project))

    def preview(self, wish: ContextRequest) -> Given:
        """What the next session would be given at its start or, with a prompt, then; nothing comes of asking."""
        if self._excluded(wish.cwd, wish.project):
            return Given("")
        start = self._for_start(wish)
        return self._for_prompt(wish, frozenset(start.whole)) if wish.prompt else start

    def _told_before(self, session: Session) -> frozenset[int]:
        """What this session was told in full since it last began, which it need not be told again."""
        span = EventSpan(0, 2**62)
        sought = Sought(EventType.CONTEXT_GIVEN, span, session.subject)
        told: set[int] = set()
        for event in self._review.newest(sought, lambda _: True, limit=_REMEMBERED, most=_REMEMBERED).events:
            payload = event.payload or {}
            told.update(payload.get("whole", ()))
            if payload.get("start"):
                break
        return frozenset(told)

    def _for_start(self, wish: ContextRequest) -> Given:
        if not self._prepared.is_set():
            # A prompt follows within seconds, and its hook waits little longer than an encoder takes to load.
            self._prepared.set()
            threading.Thread(target=self._finder.prepare, name="codexmem-prepare", daemon=True).start()
        page = ContextPage(wish.project, wish.tokens)
        page.about(self._about(wish.session))
        page.section("Notes", map(context_page.note, self._notes(wish.project)), share=_NOTE_SHARE, whole=True)
        by_hand = self._by_hand(wish.project)
        page.section("Saved by hand", map(context_page.told, by_hand), share=_NOTE_SHARE, whole=True)
        turns = self._newest(wish.project, Kind.SUMMARY, digest.TURNS)
        last = [context_page.summary(turn) for turn in _last_session(turns, wish.session)]
        page.section("Last session", last, share=_LAST_SHARE, whole=True)
        read = self._read_by(wish)
        said = "\n".join((*(item.text for item in last), *read.rules))
        holding = lasting.lasting(turns, self._statements(wish.project), int(wish.tokens * _LASTING_SHARE), said)
        told = (ContextItem(fact.seq, f"- {fact.text} (#{fact.seq})") for fact in holding)
        page.section("Rules, decisions, causes and open ends", told, share=_LASTING_SHARE)
        known = digest.digest(turns)
        page.lines(
            "Commands used here", lambda left: digest.commands_by_program(known.commands, left), share=_COMMANDS_SHARE
        )
        page.lines("Errors met here", lambda left: digest.lines_within(known.errors, left), share=_ERRORS_SHARE)
        page.lines("Files most worked on", lambda left: digest.files_by_folder(known.files, left), share=_FILES_SHARE)
        by_hand_seqs = {memory.seq for memory in by_hand}
        newest = self._unread(wish.project, read)
        recent = map(context_page.line, (each for each in newest if each.seq not in by_hand_seqs))
        # Titles tell less than anything above: once there are turns, only as long as there is little else to tell.
        page.section("Recent, newest first", recent, share=max(0.0, _YOUNG_SHARE - page.used) if turns else 1.0)
        return page.given()

    def _unread(self, project: str, read: AgentReading) -> list[Memory]:
        """The newest observations but for what the agent reads by itself, of which there may be many at once."""
        newest = self._newest(project, Kind.OBSERVATION, _RECENT)
        if any(map(read.has, newest)):
            newest = self._newest(project, Kind.OBSERVATION, _RECENT * 10)
        return [each for each in newest if not read.has(each)][:_RECENT]

    def _read_by(self, wish: ContextRequest, session: Session | None = None) -> AgentReading:
        platform = wish.platform or (session.platform if session is not None else "")
        cwd = wish.cwd or (session.cwd if session is not None else "")
        return AgentReading(self._memories, wish.project, platform, cwd, self._rules_read(platform, cwd))

    def _about(self, session: str) -> str:
        """What a person should know of the memory itself: that its model fails or, at first, who writes it."""
        if self._writer is None:
            return ""
        if (trouble := self._trouble()) is not None:
            return self._writer.failing(trouble, self._language)
        others = [each for each in self._sessions.newest(limit=2) if each.key != session]
        return "" if others else self._writer.described(self._language)

    def _for_prompt(self, wish: ContextRequest, told: frozenset[int], session: Session | None = None) -> Given:
        text = privacy.strip(wish.prompt).strip()
        if len(text) < _SHORTEST:
            return Given("")
        # A session knows itself; its own words, which fit best, would also make everything else seem foreign.
        until_ms = session.started_ms - 1 if session is not None else None
        wanted = Filter(kinds=_RECALLED, project=wish.project, created_to_ms=until_ms)
        read = self._read_by(wish, session)
        found = [each for each in self._earlier.found(text[:_READ], wanted, read.has) if each.memory.seq not in told]
        page = ContextPage(wish.project, min(wish.tokens, _PROMPT_TOKENS))
        lone = [each.memory for each in found if not is_prompt_or_answer(each.memory)][:_RELEVANT]
        page.section("Relevant to this request", map(context_page.told, lone), share=_NOTE_SHARE, whole=True)
        page.excerpt(
            "Earlier sessions on this topic, newest first",
            lambda left: self._earlier.excerpt(text, wanted, found, told, left),
        )
        return page.given()

    def _notes(self, project: str) -> list[Memory]:
        found = [
            memory
            for name in dict.fromkeys((project, ""))  # notes of no project are for every project
            for memory in self._memories.page(
                Filter(kinds=_NOTES, project=name, facets=_IMPORTANT), PageRequest(limit=_RECENT)
            ).items
        ]
        return sorted(found, key=lambda memory: (memory.state.priority, memory.seq))

    def _by_hand(self, project: str) -> list[Memory]:
        wanted = Filter(kinds=_OBSERVATIONS, session=manual_session(project), project=project)
        return list(self._memories.page(wanted, PageRequest(limit=_BY_HAND)).items)

    def _statements(self, project: str) -> list[Memory]:
        """The newest that hold, and those that hold no longer."""
        wanted = Filter(kinds=_OBSERVATIONS, project=project, facets=STANDING, statuses=VISIBLE | {Status.DEPRECATED})
        return list(self._memories.page(wanted, PageRequest(limit=_STATEMENTS)).items)

    def _newest(self, project: str, kind: Kind, limit: int) -> list[Memory]:
        wanted = Filter(kinds=frozenset({kind}), project=project, statuses=VISIBLE)
        return list(self._memories.page(wanted, PageRequest(limit=limit)).items)


def _last_session(turns: Sequence[Memory], asking: str) -> list[Memory]:
    """The last turns of the last session before this one, newest first."""
    before = [turn for turn in turns if turn.session != asking]
    return [turn for turn in before if turn.session == before[0].session][:_LAST_TURNS]
