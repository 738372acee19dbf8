"""Addresses as a tree mean the same on both engines, and a page costs its own length."""

from __future__ import annotations

import random

import pytest
from sqlalchemy.dialects import sqlite

from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.store.database import Database
from codexmem.notes.tree_store import AddressTree, TreeChild
from tests._support import services


def write(database: Database, *uris: str) -> None:
    memories = services.build(database).memories
    with database.transaction():
        for uri in uris:
            memories.remember(
                MemoryDraft(Kind.NOTE, State("said", NoteAttrs(), uris=(uri,)), Origin.AGENT), WriteContext("test")
            )


def read(tree: AddressTree, beginning: str, size: int = 100) -> list[TreeChild]:
    """All children, page by page."""
    found: list[TreeChild] = []
    separator = "/" if beginning else "://"
    while page := tree.children(beginning, separator, after=found[-1].place if found else "", limit=size):
        found += page
    return found


def told(children: list[TreeChild]) -> list[tuple[str, bool, bool]]:
    return [(child.name, child.named, child.below) for child in children]


URIS = (
    "project://a", "project://a-b", "project://a/b/c", "project://a.md", "project://b/c", "project://b/d/e/f",
    "project://配置/端口", "project://配置", "project://ä", "project://Z", "user://我", "core://agent/x", "a+b://x",
)  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_children_are_told_once_in_the_order_of_bytes(database: Database, size: int) -> None:
    write(database, *URIS)
    tree = AddressTree(database)
    assert [child.name for child in read(tree, "", size)] == ["a+b", "core", "project", "user"]
    assert told(read(tree, "project://", size)) == [
        ("Z", True, False), ("a", True, True), ("a-b", True, False), ("a.md", True, False), ("b", False, True),
        ("ä", True, False), ("配置", True, True),
    ]  # fmt: skip
    assert told(read(tree, "project://a/", size)) == [("b", False, True)]
    assert told(read(tree, "project://b/d/", size)) == [("e", False, True)]
    assert told(read(tree, "project://配置/", size)) == [("端口", True, False)]
    assert read(tree, "project://nothing/", size) == []


def test_the_walk_agrees_with_looking_at_every_address(database: Database) -> None:
    chosen = random.Random(8)
    tree = AddressTree(database)
    segments = ["a", "a-", "a.b", "ab", "0", "配", "𠮷", "~"]
    for number in range(30):
        paths = {"/".join(chosen.choices(segments, k=chosen.randint(1, 3))) for _ in range(chosen.randint(0, 12))}
        write(database, *(f"t{number}://{path}" for path in paths))
        expected: dict[str, tuple[bool, bool]] = {}
        for path in paths:
            name, slash, _ = path.partition("/")
            named, below = expected.get(name, (False, False))
            expected[name] = (named or not slash, below or bool(slash))
        children = read(tree, f"t{number}://", chosen.randint(1, 4))
        assert len(children) == len(expected)
        assert {child.name: (child.named, child.below) for child in children} == expected


@pytest.mark.sqlite
def test_the_walk_reads_nothing_but_the_index_of_addresses(sqlite_database: Database) -> None:
    # PostgreSQL plans by statistics, which an empty table has not.
    statement = AddressTree(sqlite_database)._walk
    text = str(statement.compile(dialect=sqlite.dialect(), compile_kwargs={"render_postcompile": True}))
    with sqlite_database.reading() as tx:
        plan = tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", ("1",) * text.count("?")).all()
    used = [row.detail for row in plan if row.detail.startswith(("SEARCH", "SCAN"))]
    assert set(used) - {"SCAN CONSTANT ROW", "SCAN walk"} == {
        f"SEARCH {alias} USING {index} sqlite_autoindex_memory_uris_1 (tenant=? AND {condition})"
        for alias, index, condition in (
            ("first", "COVERING INDEX", "uri>? AND uri<?"), ("following", "COVERING INDEX", "uri>? AND uri<?"),
            ("under", "INDEX", "uri>? AND uri<?"), ("own", "INDEX", "uri=?"),
        )
    }  # fmt: skip
