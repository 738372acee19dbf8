"""`CodexmemStore` keeps the documented contract of LangGraph's `BaseStore`, on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, Item, PutOp, SearchOp

from codexmem.client import Client, InvalidArgument
from codexmem.client.adapters import langgraph as adapter
from codexmem.client.adapters.langgraph import CodexmemStore

LI = ("users", "li")
FOOD = {"text": "likes noodles", "stars": 4, "where": {"city": "Xi'an"}, "tags": ["a", "b"]}
TEA = {"text": "drinks green tea in the morning", "stars": 2, "where": {"city": "Hangzhou"}, "tags": []}


@pytest.fixture
def store(client: Client, name: str) -> CodexmemStore:
    return CodexmemStore(client, domain=name)


def keys(items: list[object]) -> list[str]:
    return [item.key for item in items if isinstance(item, Item)]


def test_an_item_is_put_read_changed_and_deleted(store: CodexmemStore) -> None:
    assert store.get(LI, "food") is None
    before = datetime.now(UTC)
    store.put(LI, "food", FOOD)
    first = store.get(LI, "food")
    assert first is not None
    assert (first.namespace, first.key, first.value) == (LI, "food", FOOD)
    assert abs((first.created_at - before).total_seconds()) < 60
    store.put(LI, "food", TEA)
    second = store.get(LI, "food")
    assert second is not None
    assert second.value == TEA
    assert second.created_at == first.created_at < second.updated_at
    store.delete(LI, "food")
    store.delete(LI, "food")
    assert store.get(LI, "food") is None
    assert store.search(LI) == []
    store.put(LI, "food", FOOD)
    assert store.get(LI, "food") is not None


def test_any_key_is_its_own(store: CodexmemStore) -> None:
    odd = ["a/b", "", ".", "..", "spaces and %", "王", "f02c5b8e-4df1-4a1c-9d0e-0a1b2c3d4e5f"]
    store.batch([PutOp(("a", "b/c"), key, {"key": key}) for key in odd])
    found = store.search(("a",))
    assert {item.namespace for item in found} == {("a", "b/c")}
    assert sorted((item.key, item.value["key"]) for item in found) == sorted((key, key) for key in odd)
    assert store.get(("a", "b", "c"), "") is None


def test_a_namespace_is_a_beginning_of_whole_names(store: CodexmemStore) -> None:
    store.put(("users", "li"), "1", {"text": "one"})
    store.put(("users", "li", "work"), "2", {"text": "two"})
    store.put(("users", "lina"), "3", {"text": "three"})
    assert sorted(keys([*store.search(("users", "li"))])) == ["1", "2"]
    assert sorted(keys([*store.search(())])) == ["1", "2", "3"]
    assert sorted(keys([*store.search(("users", "li"), query="one two three")])) == ["1", "2"]


def test_without_a_query_what_changed_last_comes_first(store: CodexmemStore) -> None:
    for key in "abc":
        store.put(LI, key, {"text": key})
    store.put(LI, "a", {"text": "again"})
    assert keys([*store.search(LI)]) == ["a", "c", "b"]
    assert keys([*store.search(LI, limit=1, offset=1)]) == ["c"]
    assert keys([*store.search(LI, offset=3)]) == []


def test_a_query_ranks_and_leaves_nothing_out(store: CodexmemStore) -> None:
    store.put(LI, "tea", TEA)
    store.put(LI, "food", FOOD)
    store.put(("other",), "tea", TEA)
    found = store.search(LI, query="what does he drink in the morning?")
    assert keys([*found]) == ["tea", "food"]
    assert found[0].score is not None
    assert keys([*store.search(LI, query="green tea", limit=1)]) == ["tea"]
    assert keys([*store.search(LI, query="green tea", filter={"stars": 4})]) == ["food"]


@pytest.mark.parametrize("wanted, found", [
    ({"stars": 4}, ["food"]), ({"stars": {"$gt": 2}}, ["food"]), ({"stars": {"$gte": 2, "$lt": 4}}, ["tea"]),
    ({"stars": {"$lte": 1}}, []), ({"stars": {"$ne": 4}}, ["tea"]), ({"where": {"city": "Xi'an"}}, ["food"]),
    ({"tags": ["a", "b"]}, ["food"]), ({"tags": ("a",)}, []), ({"text": {"$gt": "l"}}, ["food"]),
    ({"missing": {"$gt": 1}}, []), ({"text": {"$eq": TEA["text"]}, "stars": 2}, ["tea"]),
])  # fmt: skip
def test_filters(filtered: CodexmemStore, wanted: dict[str, object], found: list[str]) -> None:
    assert keys([*filtered.search(LI, filter=wanted)]) == found


@pytest.fixture(scope="module")
def filtered(url: str, key: str) -> Iterator[CodexmemStore]:
    with Client(url, api_key=key) as client:
        store = CodexmemStore(client, domain="filtered")
        store.batch([PutOp(LI, "food", FOOD), PutOp(LI, "tea", TEA)])
        yield store


def test_an_unknown_operator_is_an_error(filtered: CodexmemStore) -> None:
    with pytest.raises(ValueError, match=r"\$like"):
        filtered.search(LI, filter={"text": {"$like": "x"}})


def test_pages_of_a_filtered_search(store: CodexmemStore) -> None:
    store.batch([PutOp(LI, str(number), {"odd": number % 2 == 1}) for number in range(12)])
    pages = [keys([*store.search(LI, filter={"odd": True}, limit=2, offset=offset)]) for offset in (0, 2, 4, 6)]
    assert [len(page) for page in pages] == [2, 2, 2, 0]
    assert sorted({int(key) for page in pages for key in page}) == [1, 3, 5, 7, 9, 11]


def test_namespaces(store: CodexmemStore) -> None:
    spaces = [("a", "b"), ("a", "c"), ("a", "c", "d"), ("x", "c")]
    store.batch([PutOp(space, "1", {"text": "x"}) for space in spaces])
    assert store.list_namespaces() == spaces
    assert store.list_namespaces(prefix=("a",)) == spaces[:3]
    assert store.list_namespaces(prefix=("*", "c")) == spaces[1:]
    assert store.list_namespaces(suffix=("c",)) == [("a", "c"), ("x", "c")]
    assert store.list_namespaces(prefix=("a",), suffix=("*", "d")) == [("a", "c", "d")]
    assert store.list_namespaces(max_depth=1) == [("a",), ("x",)]
    assert store.list_namespaces(limit=2, offset=1) == spaces[1:3]
    store.delete(("x", "c"), "1")
    assert store.list_namespaces(prefix=("x",)) == []


def test_a_batch_answers_before_it_writes_and_the_last_put_stands(store: CodexmemStore) -> None:
    answers = store.batch([
        PutOp(LI, "k", {"n": 1}), GetOp(LI, "k"), SearchOp(LI), PutOp(LI, "k", {"n": 2}),
    ])  # fmt: skip
    assert answers == [None, None, [], None]
    item = store.get(LI, "k")
    assert item is not None
    assert item.value == {"n": 2}


def test_what_langgraph_refuses_is_refused(store: CodexmemStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put((), "k", {})
    with pytest.raises(NotImplementedError):
        store.put(LI, "k", {}, ttl=5)
    with pytest.raises(TypeError):
        store.put(LI, "k", {"no": object()})


def test_it_is_awaited_in_any_event_loop(store: CodexmemStore) -> None:
    async def story(number: int) -> int:
        await asyncio.gather(*(store.aput(LI, f"{number}-{each}", {"n": each}) for each in range(3)))
        return len(await store.asearch(LI))

    assert [asyncio.run(story(number)) for number in range(2)] == [3, 6]


def test_too_many_to_go_through_is_said(store: CodexmemStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.batch([PutOp(LI, key, {"text": "word"}) for key in "abc"])
    monkeypatch.setattr(adapter, "MOST_LOOKED_AT", 2)
    with pytest.raises(InvalidArgument, match="more than 2 items"):
        store.search(LI)
    with pytest.raises(InvalidArgument):
        store.list_namespaces()
    assert len(store.search(LI, query="word")) == 3


def test_a_note_of_somebody_else_is_no_item(store: CodexmemStore, client: Client, name: str) -> None:
    client.notes.create(f"{name}://users/li/scribble", "not an item")
    assert store.get(LI, "scribble") is None
    assert store.search(LI) == []
    store.put(LI, "scribble", FOOD)
    assert keys([*store.search(LI)]) == ["scribble"]


def test_projects_are_not_told_it_and_both_versions_stay(store: CodexmemStore, client: Client, name: str) -> None:
    store.put(LI, "tea", TEA)
    store.put(LI, "tea", FOOD)
    assert client.context("who drinks green tea in the morning?", project="shop") == ""
    assert client.search("green tea").total == 0
    assert [each.version for each in client.notes.all_versions(f"{name}://users/li/tea")] == [2, 1]
