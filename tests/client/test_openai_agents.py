"""`CodexmemSession` keeps the documented contract of the Agents SDK's `Session`, on a real server.

The SDK takes seconds to load, and the example runs it; here the type checker alone looks at it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
import pytest

from codexmem.client import Client
from codexmem.client.adapters.openai_agents import CodexmemSession

if TYPE_CHECKING:
    from agents.memory import Session


def said(*texts: str) -> list[Any]:
    return [{"role": "user", "content": text} for text in texts]


@pytest.fixture
def begin(client: Client, name: str) -> Callable[[str], CodexmemSession]:
    """Any conversation of this test's own."""
    return lambda session_id: CodexmemSession(session_id, client, domain=name)


@pytest.fixture
def session(begin: Callable[[str], CodexmemSession]) -> CodexmemSession:
    accepted: Session = begin("li/1")
    assert isinstance(accepted, CodexmemSession)
    return accepted


def test_items_come_back_in_order_and_the_latest_are_a_limit(session: CodexmemSession) -> None:
    async def story() -> None:
        assert await session.get_items() == []
        await session.add_items(said("a", "b"))
        await session.add_items([])
        await session.add_items(said("c"))
        assert await session.get_items() == said("a", "b", "c")
        assert await session.get_items(2) == said("b", "c")
        assert await session.get_items(9) == said("a", "b", "c")
        assert await session.get_items(0) == []

    asyncio.run(story())


def test_the_latest_item_is_popped(session: CodexmemSession) -> None:
    async def story() -> None:
        assert await session.pop_item() is None
        await session.add_items(said("a", "b"))
        await session.add_items(said("c"))
        assert [await session.pop_item(), await session.pop_item()] == said("c", "b")
        await session.add_items(said("d"))
        assert await session.get_items() == said("a", "d")
        assert [await session.pop_item() for _ in range(3)] == [*said("d", "a"), None]

    asyncio.run(story())


def test_clearing_erases_what_was_popped_too(
    session: CodexmemSession, begin: Callable[[str], CodexmemSession], client: Client, name: str
) -> None:
    async def story() -> None:
        await session.add_items(said("a"))
        await session.add_items(said("b"))
        await session.pop_item()
        await begin("other").add_items(said("kept"))
        await session.clear_session()
        assert await session.get_items() == []
        assert [each.name for each in client.notes.whole_tree(f"{name}://", deleted=True)] == ["other"]
        await session.add_items(said("again"))
        assert await session.get_items() == said("again")

    asyncio.run(story())


def test_settings_of_the_sdk_hold(client: Client, name: str) -> None:
    latest: Any = SimpleNamespace(limit=1)

    async def story() -> None:
        session = CodexmemSession("x", client, domain=name, session_settings=latest)
        await session.add_items(said("a", "b"))
        assert await session.get_items() == said("b")
        assert await session.get_items(2) == said("a", "b")

    asyncio.run(story())


def test_several_may_add_at_once(begin: Callable[[str], CodexmemSession]) -> None:
    async def story() -> None:
        sessions = [begin("x") for _ in range(4)]
        await asyncio.gather(*(session.add_items(said(str(number))) for number, session in enumerate(sessions)))
        assert sorted(str(each) for each in await sessions[0].get_items()) == [str(each) for each in said(*"0123")]

    asyncio.run(story())


def test_more_than_a_note_holds_is_several(
    session: CodexmemSession, client: Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codexmem.client.adapters.openai_agents._MOST", 100)

    async def story() -> None:
        await session.add_items(said(*"abcdef"))
        assert await session.get_items() == said(*"abcdef")
        assert await session.get_items(3) == said(*"def")

    asyncio.run(story())
    assert len(list(client.notes.whole_tree(f"{name}://li%2F1"))) == 3


def test_what_others_wrote_there_is_passed_over(session: CodexmemSession, client: Client, name: str) -> None:
    async def story() -> None:
        await session.add_items(said("a"))
        client.notes.create(f"{name}://li%2F1/000000001", "a remark")
        assert await session.get_items() == said("a")
        assert await session.pop_item() == said("a")[0]

    asyncio.run(story())


def test_who_is_cancelled_hears_of_it_when_the_change_is_made(session: CodexmemSession) -> None:
    async def story() -> None:
        adding = asyncio.ensure_future(session.add_items(said("a")))
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        assert await session.get_items() == said("a")

    asyncio.run(story())


def test_projects_are_not_told_it(session: CodexmemSession, client: Client, name: str) -> None:
    asyncio.run(session.add_items(said("the launch code is kept in a blue envelope")))
    assert client.context("where is the launch code kept?", project="shop") == ""
    assert client.search("launch code").total == 0
    (note,) = client.notes.all(domain=name)
    assert (note.project, note.priority) == (name, 10)
