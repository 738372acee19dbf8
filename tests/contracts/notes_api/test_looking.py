"""Beyond the contracts: looking at notes under /api/notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests._support.server import Server, create_key
from tests.contracts.notes_api.conftest import Notes


def names(items: list[Any]) -> list[str]:
    return [item["name"] for item in items]


@pytest.mark.parametrize("limit", [1, 2, 200])
def test_the_tree_is_read_level_by_level(notes: Notes, limit: int) -> None:
    for path in ("配置/端口", "配置", "a", "a-b", "a/b/c", "z/1"):
        notes.create(path, priority=3)
    assert notes.domain in names(notes.pages("/tree", limit=200))
    top = notes.pages("/tree", prefix=f"{notes.domain}://", limit=limit)
    assert [(node["name"], node["has_children"], node["priority"], node["status"]) for node in top] == [
        ("a", True, 3, "active"), ("a-b", False, 3, "active"), ("z", True, None, None), ("配置", True, 3, "active"),
    ]  # fmt: skip
    for prefix in ("a", "a/"):
        (folder,) = notes.pages("/tree", prefix=notes.uri(prefix), limit=limit)
        assert (folder["uri"], folder["has_children"], folder["seq"]) == (notes.uri("a/b"), True, None)
    (leaf,) = notes.pages("/tree", prefix=notes.uri("配置"), limit=limit)
    assert (leaf["uri"], leaf["version"], leaf["alias_of"]) == (notes.uri("配置/端口"), 1, None)
    assert notes.get("/tree", prefix=notes.uri("nothing"))["items"] == []


def test_deleted_notes_leave_the_tree_and_are_shown_on_request(notes: Notes) -> None:
    for path in ("gone", "kept", "folder", "folder/inside"):
        notes.create(path)
    notes.post("/delete", uri=notes.uri("gone"))
    notes.post("/delete", uri=notes.uri("folder"))
    here = {"prefix": f"{notes.domain}://"}
    assert [(each["name"], each["status"]) for each in notes.pages("/tree", **here)] == [
        ("folder", None), ("kept", "active"),
    ]  # fmt: skip
    assert [(each["name"], each["status"]) for each in notes.pages("/tree", **here, deleted=True)] == [
        ("folder", "deleted"), ("gone", "deleted"), ("kept", "active"),
    ]  # fmt: skip


def test_pages_of_the_tree_and_of_the_list_stand_still_while_notes_are_added(notes: Notes) -> None:
    for path in "bdf":
        notes.create(path)
    tree = notes.get("/tree", prefix=f"{notes.domain}://", limit=2)
    listed = notes.get("", domain=notes.domain, limit=2)
    for path in "ace":
        notes.create(path)
    assert names(tree["items"]) == ["b", "d"]
    assert names(notes.get("/tree", cursor=tree["next_cursor"])["items"]) == ["e", "f"]
    assert names(listed["items"]) == ["f", "d"]
    assert names(notes.get("", domain=notes.domain, cursor=listed["next_cursor"])["items"]) == ["b"]


def test_the_list_is_filtered(notes: Notes) -> None:
    for number in range(6):
        notes.create(f"n{number}", f"note {number}", priority=number, disclosure="when asked")
    notes.post("/delete", uri=notes.uri("n5"))
    here = {"domain": notes.domain, "limit": 2}
    assert names(notes.pages("", **here)) == ["n4", "n3", "n2", "n1", "n0"]
    assert names(notes.pages("", **here, priority_min=1, priority_max=2)) == ["n2", "n1"]
    assert names(notes.pages("", **here, status="deleted")) == ["n5"]
    (row,) = notes.get("", domain=notes.domain, priority_max=0)["items"]
    assert (row["headline"], row["disclosure"], row["uses"], row["ref"]) == ("note 0", "when asked", 0, row["uri"])
    assert "score" not in row


def test_words_find_notes_best_first(notes: Notes) -> None:
    notes.create("配置", "端口是 37877，不要改")
    notes.create("other", "about something else entirely")
    found = notes.get("", domain=notes.domain, q="端口")
    # Once their vectors are there, notes that share no word with the question may follow.
    assert names(found["items"])[0] == "配置"
    assert found["mode"] in {"lexical-only", "hybrid"}
    assert 0 < found["items"][0]["score"] <= 1
    assert names(notes.get("", q=notes.uri("other"))["items"])[0] == "other"


def test_a_note_is_read_with_its_company_and_not_counted(notes: Notes) -> None:
    notes.create("b", "the other")
    made = notes.create("a", f"see {notes.uri('b')} and {notes.uri('nowhere')}，中文", priority=1, title="标题")["note"]
    told = notes.read("a")
    assert notes.read("a") == told == made
    assert (told["content"].endswith("中文"), told["title"], told["uses"], told["shown"]) == (True, "标题", 0, 0)
    assert told["created_by"] == told["updated_by"] != ""
    assert (told["deleted"], told["restorable"], told["version"], told["tokens"] > 0) == (False, None, 1, True)
    assert {(each["direction"], each["uri"], each["seq"] is None) for each in told["relations"]} == {
        ("to", notes.uri("b"), False), ("to", notes.uri("nowhere"), True),
    }  # fmt: skip
    assert [(each["direction"], each["uri"]) for each in notes.read("b")["relations"]] == [("from", notes.uri("a"))]


def test_a_view_is_shown_as_agents_are_told_it_and_not_counted(notes: Notes) -> None:
    body = {"uri": notes.uri("core"), "content": "told at every start", "priority": 0}
    # As our own page sends it: what a person writes there needs nobody's approval.
    assert notes.api.post("/api/notes", body, {"Sec-Fetch-Site": "same-origin"}).status == 200
    notes.create("other", "told on request")
    boot = notes.get("/view", uri="system://boot")
    own = [row for row in boot["items"] if row["uri"].startswith(f"{notes.domain}://")]
    assert [(row["name"], row["content"]) for row in own] == [("core", "told at every start")]
    assert boot["whole"] is True
    assert notes.read("core")["shown"] == 0
    index = notes.get("/view", uri=f"System://index/{notes.domain}")
    assert (index["uri"], index["whole"]) == (f"system://index/{notes.domain}", False)
    assert [(row["name"], row["content"]) for row in index["items"]] == [("core", None), ("other", None)]
    assert names(notes.get("/view", uri="system://recent/2")["items"]) == ["other", "core"]
    for uri, status in (("system://nothing", 404), ("system://recent/0", 400), ("odd", 400)):
        assert notes.asks("/view", uri=uri).status == status


def test_figures_count_what_stands(notes: Notes) -> None:
    told = notes.get("/stats")
    assert told["total"] == sum(count for status, count in told["statuses"].items() if status != "deleted")


def test_what_is_not_there_is_404_in_the_envelope(notes: Notes) -> None:
    for path in ("/read", "/versions"):
        reply = notes.asks(path, uri=notes.uri("none"))
        assert (reply.status, reply.json["error"]["code"]) == (404, "not_found")
        assert reply.json["error"]["details"]["reason"] == "no_note"
    notes.create("a")
    for path, query in (("/version", {"version": 2}), ("/diff", {"before": 1, "after": 2})):
        assert notes.asks(path, uri=notes.uri("a"), **query).status == 404
    assert notes.asks("/rollback/preview", uri=notes.uri("a"), version=2).status == 404


@pytest.mark.parametrize(
    "path,query",
    [
        ("/read", {}), ("/read", {"uri": "no address"}), ("/read", {"uri": "system://boot"}), ("", {"limit": 0}),
        ("", {"limit": 201}), ("", {"status": "odd"}), ("", {"priority_min": 3, "priority_max": 2}),
        ("", {"domain": "not a domain"}), ("", {"cursor": "x"}), ("", {"unknown": 1}), ("/tree", {"prefix": "nothing"}),
        ("/tree", {"cursor": "AAAA"}), ("/version", {"uri": "a://b", "version": 0}),
        ("/diff", {"uri": "a://b", "before": 1}), ("/versions", {"uri": "a://b", "cursor": "AAAAAAAAAAAA"}),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_400(notes: Notes, path: str, query: dict[str, Any]) -> None:
    reply = notes.asks(path, **query)
    assert (reply.status, reply.json["error"]["code"]) == (400, "invalid_argument"), reply.body


def test_a_cursor_belongs_to_its_list(notes: Notes) -> None:
    for path in "abc":
        notes.create(path)
    cursor = notes.get("", domain=notes.domain, limit=1)["next_cursor"]
    assert notes.asks("/tree", cursor=cursor).status == 400
    other = "B" if cursor[0] == "A" else "A"
    assert notes.asks("", domain=notes.domain, cursor=f"{other}{cursor[1:]}").status == 400


@pytest.mark.postgresql
def test_nobody_sees_another_tenants_notes(postgresql_api: Server, postgres_url: str, tmp_path: Path) -> None:
    mine = Notes(postgresql_api, "mine")
    made = mine.create("secret/a", "theirs")
    try:
        other = {"Authorization": f"Bearer {create_key(tmp_path, postgres_url, 'another')}"}
        for path in (
            "read?uri=mine://secret/a", "versions?uri=mine://secret/a", "version?uri=mine://secret/a&version=1",
            f"read?uri=%23{made['seq']}", "rollback/preview?uri=mine://secret/a&version=1",
        ):  # fmt: skip
            assert postgresql_api.request("GET", f"/api/notes/{path}", headers=other).status == 404, path
        for path in ("?domain=mine", "?q=theirs", "/tree?prefix=mine://", "/tree"):
            assert postgresql_api.request("GET", f"/api/notes{path}", headers=other).json["items"] == [], path
        for verb in ("update", "delete"):
            body = {"uri": "mine://secret/a"} | ({"content": "x"} if verb == "update" else {})
            assert postgresql_api.request("POST", f"/api/notes/{verb}", body, other).status == 404
    finally:
        postgresql_api.post("/api/forget", {"ids": [made["seq"]]})
