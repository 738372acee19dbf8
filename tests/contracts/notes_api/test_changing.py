"""Beyond the contracts: writing notes under /api/notes, and taking writes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contracts.notes_api.conftest import Notes


def fields(changes: list[Any]) -> dict[str, tuple[Any, Any]]:
    return {each["field"]: (each["before"], each["after"]) for each in changes}


def test_a_note_is_created_once(notes: Notes) -> None:
    made = notes.create("配置", "端口 37877", priority=2, disclosure="部署时", project="shop")
    assert (made["version"], made["former_version"], made["uri"]) == (1, None, notes.uri("配置"))
    assert (made["note"]["project"], made["note"]["disclosure"]) == ("shop", "部署时")
    error = notes.refused("", 409, uri=notes.uri("配置"), content="again")
    assert (error["code"], error["details"]["reason"]) == ("conflict", "note_exists")


def test_a_repeated_create_with_its_key_is_one_note(notes: Notes) -> None:
    body, key = {"uri": notes.uri("once"), "content": "said"}, {"Idempotency-Key": f"k-{notes.domain}"}
    first = notes.api.post("/api/notes", body, key)
    assert (first.status, notes.api.post("/api/notes", body, key).json) == (200, first.json)
    assert notes.api.post("/api/notes", {**body, "content": "else"}, key).status == 409


def test_the_three_ways_of_changing_and_what_is_said_about_it(notes: Notes) -> None:
    notes.create("a", "port: 8080")
    uri = notes.uri("a")
    assert notes.post("/update", uri=uri, old_string="8080", new_string="37877")["note"]["content"] == "port: 37877"
    assert notes.post("/update", uri=uri, content="再加一行", append=True)["note"]["content"] == "port: 37877\n再加一行"
    assert notes.post("/update", uri=uri, content="whole")["note"]["content"] == "whole"
    changed = notes.post("/update", uri=uri, priority=1, disclosure="always")
    assert (changed["version"], changed["former_version"]) == (5, 4)
    assert (changed["note"]["priority"], changed["note"]["disclosure"]) == (1, "always")
    assert notes.refused("/update", 404, uri=uri, old_string="8080", new_string="x")["code"] == "not_found"
    for wrong in ({}, {"old_string": "w"}, {"append": True}, {"content": "x", "old_string": "w", "new_string": "v"}):
        assert notes.refused("/update", 400, uri=uri, **wrong)["code"] == "invalid_argument"


def test_a_write_on_a_version_that_is_no_longer_the_newest_is_a_conflict(notes: Notes) -> None:
    notes.create("a", "one")
    uri = notes.uri("a")
    notes.post("/update", uri=uri, content="two", if_version=1)
    for path, body in (("/update", {"content": "three"}), ("/delete", {}), ("/rollback", {"version": 1})):
        error = notes.refused(path, 409, uri=uri, if_version=1, **body)
        assert (error["code"], error["details"]["reason"]) == ("conflict", "changed_since")
        assert (error["details"]["seen"], error["details"]["version"]) == (1, 2)
    assert notes.read("a")["content"] == "two"
    assert notes.post("/rollback", uri=uri, version=1, if_version=2)["note"]["content"] == "one"


def test_a_deleted_note_is_seen_and_restored(notes: Notes) -> None:
    notes.create("a", "stands", priority=3)
    uri = notes.uri("a")
    assert notes.refused("/restore", 409, uri=uri)["details"]["reason"] == "not_deleted"
    gone = notes.post("/delete", uri=uri)["note"]
    assert (gone["deleted"], gone["status"], gone["restorable"]) == (True, "deleted", 1)
    assert notes.read("a")["deleted"]
    assert notes.refused("/update", 404, uri=uri, content="x")["details"]["reason"] == "note_deleted"
    back = notes.post("/restore", uri=uri)
    assert (back["note"]["deleted"], back["note"]["content"], back["version"]) == (False, "stands", 3)
    assert back["changed"] == ["status"]


def test_versions_are_paged_and_tell_what_changed(notes: Notes) -> None:
    notes.create("a", "v1")
    uri = notes.uri("a")
    for number in range(2, 6):
        notes.post("/update", uri=uri, content=f"v{number}", priority=number)
    first = notes.get("/versions", uri=uri, limit=2)
    assert (first["current"], [each["version"] for each in first["items"]]) == (5, [5, 4])
    notes.post("/update", uri=uri, content="v6")
    rest = notes.get("/versions", uri=uri, limit=3, cursor=first["next_cursor"])
    assert [each["version"] for each in rest["items"]] == [3, 2, 1]
    assert (rest["has_more"], rest["next_cursor"]) == (False, None)
    assert [each["changed"] for each in rest["items"]] == [["content", "priority"], ["content", "priority"], []]
    assert (rest["items"][2]["op"], rest["items"][2]["chars"]) == ("add", 2)
    assert notes.get("/version", uri=uri, version=3)["content"] == "v3"


def test_a_diff_shows_both_contents_and_the_other_fields(notes: Notes) -> None:
    notes.create("a", "端口: 8080\n同一行")
    uri = notes.uri("a")
    notes.post("/update", uri=uri, content="端口: 37877\n同一行", priority=1, disclosure="d")
    notes.post("/aliases", uri=uri, alias=notes.uri("b"))
    told = notes.get("/diff", uri=uri, before=1, after=3)
    assert (told["before"]["content"], told["after"]["content"]) == ("端口: 8080\n同一行", "端口: 37877\n同一行")
    assert fields(told["changes"]) == {
        "priority": (5, 1), "disclosure": ("", "d"), "uris": ([uri], [uri, notes.uri("b")]),
    }  # fmt: skip
    assert "-端口: 8080\n+端口: 37877" in told["unified"]
    assert notes.get("/diff", uri=uri, before=2, after=2)["changes"] == []


def test_a_rollback_is_previewed_made_and_taken_back(notes: Notes) -> None:
    notes.create("a", "first", priority=4)
    uri = notes.uri("a")
    notes.post("/update", uri=uri, content="second", priority=2)
    preview = notes.get("/rollback/preview", uri=uri, version=1)
    assert (preview["version"], preview["to"], preview["restores"]) == (2, 1, False)
    assert (preview["before"]["content"], preview["after"]["content"]) == ("second", "first")
    assert fields(preview["changes"]) == {"priority": (2, 4)}
    assert notes.read("a")["version"] == 2
    done = notes.post("/rollback", uri=uri, version=1)
    assert (done["version"], done["former_version"], done["changed"]) == (3, 2, ["content", "priority"])
    assert notes.post("/rollback", uri=uri, version=done["former_version"])["note"]["content"] == "second"


def test_a_rollback_leaves_addresses_as_they_are(notes: Notes) -> None:
    notes.create("a", "first")
    uri, taken = notes.uri("a"), notes.uri("taken")
    notes.post("/aliases", uri=uri, alias=taken)
    notes.post("/aliases/remove", uri=uri, alias=taken)
    notes.create("taken", "another's now")
    preview = notes.get("/rollback/preview", uri=uri, version=2)
    assert (preview["after"]["uris"], preview["changes"]) == ([uri], [])
    assert notes.post("/rollback", uri=uri, version=2)["note"]["aliases"] == []
    assert notes.read("taken")["content"] == "another's now"


def test_aliases_are_added_shown_in_the_tree_and_removed(notes: Notes) -> None:
    notes.create("a", "said")
    uri, alias = notes.uri("a"), notes.uri("又名/甲")
    assert notes.post("/aliases", uri=uri, alias=alias)["note"]["aliases"] == [alias]
    assert notes.read("又名/甲")["uri"] == uri
    (leaf,) = notes.get("/tree", prefix=notes.uri("又名"))["items"]
    assert (leaf["uri"], leaf["alias_of"]) == (alias, uri)
    notes.create("b", "other")
    assert notes.refused("/aliases", 409, uri=uri, alias=notes.uri("b"))["code"] == "conflict"
    assert notes.refused("/aliases/remove", 404, uri=uri, alias=uri)["code"] == "not_found"
    removed = notes.post("/aliases/remove", uri=alias, alias=alias)
    assert (removed["note"]["aliases"], removed["version"]) == ([], 3)
    assert notes.asks("/read", uri=alias).status == 404
    assert notes.post("/aliases", uri=uri, alias=alias)["note"]["aliases"] == [alias]


def test_a_note_whose_addresses_are_all_taken_is_reached_by_its_number(notes: Notes) -> None:
    made = notes.create("a", "first")
    api = notes.api
    notes.post("/delete", uri=notes.uri("a"))
    back = notes.post("/restore", uri=f"#{made['seq']}")
    assert (back["uri"], back["version"]) == (notes.uri("a"), 3)
    assert api.request("GET", "/api/notes/read?uri=%230").status == 404


@pytest.mark.parametrize(
    "path,body",
    [
        ("", {}), ("", {"uri": "x://y"}), ("", {"uri": "system://boot", "content": "x"}),
        ("", {"uri": "x://y", "content": " "}), ("", {"uri": "x://y", "content": "x", "priority": 11}),
        ("", {"uri": "x://y", "content": "x", "odd": 1}), ("", {"uri": "x://y", "content": 5}),
        ("/update", {"uri": "x://y", "content": "x", "if_version": 0}), ("/delete", {}), ("/restore", {"uri": ""}),
        ("/rollback", {"uri": "x://y"}), ("/aliases", {"uri": "x://y"}), ("/aliases/remove", {"uri": "x://y"}),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(notes: Notes, path: str, body: dict[str, Any]) -> None:
    assert notes.refused(path, 400, **body)["code"] == "invalid_argument"
