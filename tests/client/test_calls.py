"""What people do with the client, on a real server."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from codexmem.client import AsyncClient, Client, Conflict, InvalidArgument, NotFound
from codexmem.client.awaiting import AsyncNotes, AsyncQA
from codexmem.client.blocking import QA, NotesClient


def test_what_is_saved_is_found_and_told(client: Client, name: str) -> None:
    saved = client.save("Deploys go through staging first", project=name, title="Deploying")
    assert (saved.project, saved.title) == (name, "Deploying")
    assert client.save("Deploys go through staging first", project=name, title="Deploying").duplicate
    found = client.search("staging", project=name)
    assert [each.id for each in found.observations] == [saved.id]
    assert (found.total, found.has_more) == (1, False)
    assert "staging first" in client.context("how do deploys go through staging?", project=name)
    assert client.context("how do deploys go through staging?", project=f"{name}-other") == ""
    assert client.observation(saved.id) == client.observations(project=name).items[0]
    assert [each.id for each in client.observations_by_number([saved.id, 10**12])] == [saved.id]
    assert name in client.projects().projects
    assert client.health().status == "ok"


def test_filters_reach_the_server(client: Client, name: str) -> None:
    client.save("A fact about lists", project=name)
    assert client.search(project=name, types=["observations", "prompts"], order="date_asc").total == 1
    assert client.search("fact", project=name, types=["bugfix"]).total == 0
    assert client.search("fact", project=name, since="2099-01-01").total == 0
    assert client.search("fact", project=name, files=["a.py", "b.py"], concepts=["gotcha"]).total == 0


def test_the_long_list_is_read_page_by_page(client: Client, name: str) -> None:
    numbers = [client.save(f"Fact number {number}", project=name).id for number in range(5)]
    page = client.timeline(project=name, limit=2)
    assert [row.seq for row in page.items] == numbers[:2:-1]
    assert page.following is not None
    assert [row.seq for row in client.timeline(project=name, cursor=page.following).items] == numbers[2::-1]
    assert [row.seq for row in client.whole_timeline(project=name, limit=2)] == numbers[::-1]


def test_a_note_from_its_first_version_to_its_last(client: Client, name: str) -> None:
    notes, uri = client.notes, f"{name}://deploy"
    first = notes.create(uri, "Ask Li", priority=3, disclosure="before a deploy", project=name)
    assert (first.version, first.note.content, first.note.priority) == (1, "Ask Li", 3)
    with pytest.raises(Conflict, match="already exists"):
        notes.create(uri, "again")
    notes.update(uri, "on Fridays", append=True)
    notes.patch(uri, "Ask Li", "Ask Wang")
    assert notes.read(uri).content.split() == ["Ask", "Wang", "on", "Fridays"]
    with pytest.raises(Conflict) as stale:
        notes.update(uri, "late", if_version=1)
    assert (stale.value.code, stale.value.details["version"]) == ("conflict", 3)
    assert notes.rollback(uri, 1).note.content == "Ask Li"
    assert [each.version for each in notes.all_versions(uri, limit=1)] == [4, 3, 2, 1]
    assert notes.version(uri, 2).content.startswith("Ask Li")
    notes.add_alias(uri, f"{name}://release")
    assert notes.read(f"{name}://release").seq == first.seq
    notes.remove_alias(uri, f"{name}://release")
    assert notes.delete(uri).note.deleted
    assert notes.restore(uri).note.status == "active"
    assert [each.uri for each in notes.find("Li", domain=name).items] == [uri]
    assert client.forget(ids=[first.seq], preview=True).found == 1
    assert client.forget(ids=[first.seq]).erased == 1
    with pytest.raises(NotFound) as gone:
        notes.read(uri)
    assert gone.value.hint


def test_notes_are_listed_whole_and_as_a_tree(client: Client, name: str) -> None:
    uris = [f"{name}://{path}" for path in ("a", "a/b", "c")]
    for uri in uris:
        client.notes.create(uri, "said")
    assert sorted(each.uri for each in client.notes.all(domain=name, limit=2)) == uris
    tree = {each.name: each for each in client.notes.whole_tree(f"{name}://", limit=1)}
    assert {each: tree[each].has_children for each in tree} == {"a": True, "c": False}


def test_what_a_delta_wrote_is_taken_back(client: Client, name: str) -> None:
    proposed = client.qa.propose("How do we deploy?", "With just deploy.", project=name)
    decided = client.qa.approve(proposed.qa_id, project=name)
    assert decided.status == "validated"
    assert decided.delta is not None
    undone = client.undo(delta=decided.delta)
    assert (undone.restored, undone.more) == (1, False)
    assert client.qa.item(proposed.qa_id).status == "candidate"


def test_a_question_from_candidate_to_proof(client: Client, name: str) -> None:
    qa = client.qa
    proposed = qa.propose("How is the cache emptied?", "Run just flush-cache.", project=name, tags=["cache"])
    assert proposed.created
    assert qa.report([proposed.qa_id], project=name, used=True, message_id="m1").accepted == 1
    assert qa.report([proposed.qa_id], project=name, used=True, message_id="m1").deduped == 1
    judged = qa.validate(proposed.qa_id, True, project=name, strong=True)
    assert (judged.previous_status, judged.status) == ("candidate", "validated")
    (item,) = qa.search("how to empty the cache", project=name).items
    assert (item.qa_id, item.hits.used, item.validations.success) == (proposed.qa_id, 1, 1)
    assert [each.qa_id for each in qa.all(project=name, limit=1)] == [proposed.qa_id]
    rejected = qa.reject(proposed.qa_id)
    assert rejected.delta is not None
    assert qa.undo(proposed.qa_id, rejected.delta).status == "validated"


def test_the_awaited_client_does_the_same(url: str, key: str, name: str) -> None:
    async def story() -> None:
        async with AsyncClient(url, api_key=key) as client:
            await asyncio.gather(*(client.save(f"Fact number {number}", project=name) for number in range(5)))
            assert len([row async for row in client.whole_timeline(project=name, limit=2)]) == 5
            written = await client.notes.create(f"{name}://x", "said")
            assert [each.seq async for each in client.notes.all(domain=name)] == [written.seq]
            assert (await client.qa.items(project=name)).items == ()
            with pytest.raises(InvalidArgument):
                await client.notes.create("no address", "said")

    asyncio.run(story())


@pytest.mark.parametrize("one, other", [(Client, AsyncClient), (NotesClient, AsyncNotes), (QA, AsyncQA)])
def test_both_clients_have_the_same_methods(one: type[Any], other: type[Any]) -> None:
    def public(kind: type[Any]) -> dict[str, inspect.Signature]:
        methods = inspect.getmembers(kind, inspect.isfunction)
        return {each: inspect.signature(method) for each, method in methods if not each.startswith("__")}

    assert public(one) == public(other)
    for method in public(one):
        assert inspect.getdoc(getattr(one, method)) or method.startswith("_"), method


def test_help_shows_what_a_method_takes_and_answers(client: Client) -> None:
    assert str(inspect.signature(client.notes.patch)) == (
        "(uri: 'str', old: 'str', new: 'str', *, if_version: 'int | None' = None) -> 'wire.NoteWritten'"
    )


def test_what_cannot_be_sent_is_refused_here(client: Client, name: str) -> None:
    with pytest.raises(InvalidArgument, match="cannot be sent"):
        client.save("half of an emoji: \ud83d", project=name)
