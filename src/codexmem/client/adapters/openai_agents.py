"""The conversations of the OpenAI Agents SDK in codexmem: `CodexmemSession` is a `Session`.

    from codexmem.client.adapters.openai_agents import CodexmemSession

    await Runner.run(agent, "What did I say?", session=CodexmemSession("li"))

What is added at once is one note, `openai-agents://session/number`, of a project of its own: agents in other projects
are not told it unasked. Numbers count down, so that the order of addresses is the newest first and the end of a long
conversation is found without reading it. A popped item is hidden and stays in the history; `clear_session` erases. The
SDK itself, which takes seconds to load, is not needed here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from codexmem.client.adapters import keeping
from codexmem.client.blocking import Client
from codexmem.kernel.model.errors import Conflict, NotFound
from codexmem.notes.wire import Note

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents import TResponseInputItem
    from agents.memory import SessionSettings

DOMAIN = "openai-agents"
_FIRST = 999_999_999  # the number of the first note
_LEAST_IMPORTANT = 10
_MOST = 900_000  # characters of one note; the server takes a little more
_TRIES = 20  # against others who write to the same conversation

T = TypeVar("T")


class CodexmemSession:
    """One conversation; several processes may add to it."""

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, client: Client | None = None, *, domain: str = DOMAIN,
                 project: str | None = None, session_settings: SessionSettings | None = None) -> None:  # fmt: skip
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client or Client()
        self._project = project or domain
        self._uri = keeping.address(domain, (session_id,))

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest items, in the order in which they were added; all of them unless there is a limit."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await asyncio.to_thread(self._latest, limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end: all of them or, if this fails, none (beyond a megabyte, the first of them)."""
        await _settled(lambda: self._add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the latest item away; None if there is none."""
        return await _settled(self._pop)

    async def clear_session(self) -> None:
        """Erase the conversation for good, with its history."""
        await _settled(self._clear)

    def _latest(self, limit: int | None) -> list[Any]:
        newest_first = (item for note in self._notes() for item in reversed(_items(note)))
        return [*islice(newest_first, None if limit is None else max(0, limit))][::-1]

    def _notes(self) -> Iterator[Note]:
        """Newest first; one that is hidden meanwhile is passed over."""
        uris = (each.uri for each in self._client.notes.whole_tree(self._uri, limit=keeping.PAGE) if each.seq)
        while some := list(islice(uris, keeping.PAGE)):
            yield from (note for note in keeping.read_all(self._client, some) if note is not None)

    def _add(self, items: list[Any]) -> None:
        for content in _contents(items):
            for _ in range(_TRIES):
                with contextlib.suppress(Conflict):
                    self._client.notes.create(f"{self._uri}/{self._next():09}", content, project=self._project,
                                              priority=_LEAST_IMPORTANT)  # fmt: skip
                    break
            else:
                raise Conflict("others keep adding to this conversation", hint="try again")

    def _next(self) -> int:
        numbers = (each.name for each in self._client.notes.whole_tree(self._uri, limit=10) if each.seq)
        return next((int(name) - 1 for name in numbers if name.isdecimal()), _FIRST)

    def _pop(self) -> Any:
        for _ in range(_TRIES):
            note = next(self._notes(), None)
            if note is None:
                return None
            *rest, item = _items(note) or [None]
            with contextlib.suppress(Conflict, NotFound):
                if rest:
                    self._client.notes.update(note.uri, keeping.written(rest), if_version=note.version)
                else:
                    self._client.notes.delete(note.uri, if_version=note.version)
                if item is not None:
                    return item
        raise Conflict("others keep changing this conversation", hint="try again")

    def _clear(self) -> None:
        numbers = (each.seq for each in self._client.notes.whole_tree(self._uri, deleted=True, limit=keeping.PAGE))
        seqs = (seq for seq in numbers if seq is not None)
        while some := list(islice(seqs, keeping.PAGE)):
            self._client.forget(ids=some)


async def _settled(change: Callable[[], T]) -> T:
    """Make a change in a thread; whoever is cancelled meanwhile hears of it when the change is made or has failed."""
    made = asyncio.ensure_future(asyncio.to_thread(change))
    try:
        return await asyncio.shield(made)
    except asyncio.CancelledError:
        await asyncio.wait({made})
        raise


def _items(note: Note) -> list[Any]:
    items = keeping.value_of(note)
    return items if isinstance(items, list) else []


def _contents(items: list[Any]) -> Iterator[str]:
    """The items as texts of one note each; more than one only where they are too long for it."""
    held: list[Any] = []
    size = 0
    for item in items:
        length = len(keeping.written(item)) + 2
        if held and size + length > _MOST:
            yield keeping.written(held)
            held, size = [], 0
        held.append(item)
        size += length
    if held:
        yield keeping.written(held)
