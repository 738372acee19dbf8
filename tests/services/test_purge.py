"""Erase means erase: after forgetting one source and following where it went, no byte of it is left but in backups."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

from codexmem.hook.spool import Spool
from codexmem.kernel.store.chroma.client import ChromaClient
from codexmem.kernel.store.opening import upgrade_store
from tests._support.chroma import ChromaServer
from tests._support.embedding_server import EmbeddingServer
from tests._support.postgres import PostgresServer
from tests._support.server import Server, create_key
from tests._support.waiting import eventually

pytestmark = pytest.mark.process

SOURCES = 8
PERSON = {"X-Codexmem-Person": "1"}
SETTINGS = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_PROVIDER": "rules", "CODEXMEM_BATCH_WAIT_S": "0"}


def english(number: int) -> str:
    """A sentence of words that no other source has."""
    made = random.Random(number)
    return " ".join(
        "".join(made.choices("bcdfghklmnprstvz", k=3)) + made.choice("aeiou") + f"{number}" for _ in range(14)
    )


def chinese(number: int) -> str:
    made = random.Random(1000 + number)
    return "".join(chr(0x4E00 + made.randrange(0x4000)) for _ in range(28))


def holding(folder: Path, text: str) -> list[str]:
    """Files below the folder in which a piece of the text stands, in whatever spelling, backups left out."""
    piece = text[len(text) // 3 : len(text) // 3 + 12]
    spelled = {piece.encode(), json.dumps(piece)[1:-1].encode(), quote(piece).encode()}
    files = [path for path in folder.rglob("*") if path.is_file() and "backups" not in path.parts]
    return [str(path.relative_to(folder)) for path in files if any(each in path.read_bytes() for each in spelled)]


def rows_holding(url: str, text: str) -> list[str]:
    """Tables of the database with a row in which a piece or a word of the text stands, in whatever spelling."""
    piece = text[len(text) // 3 : len(text) // 3 + 12]
    word = text.split()[5] if " " in text else text[10:12]  # an index has words, or pairs of characters, alone
    escaped = json.dumps(piece)[1:-1]
    spelled = [piece, word, escaped, escaped.replace("\\", "\\\\"), quote(piece), piece.encode().hex()]
    with psycopg.connect(url) as connection:
        listed = connection.execute("SELECT schemaname, tablename FROM pg_tables WHERE schemaname !~ '^(pg_|inf)'")
        return [
            table
            for schema, table in listed.fetchall()
            if connection.execute(
                sql.SQL("SELECT FROM {} AS t WHERE (SELECT bool_or(strpos(t::text, s) > 0) FROM unnest(%s::text[]) s)")
                .format(sql.Identifier(schema, table)), (spelled,),
            ).rowcount
        ]  # fmt: skip


@dataclass
class Store:
    """Where a server keeps what it is told."""

    folder: Path
    url: str | None
    key: str | None

    def holding(self, text: str) -> list[str]:
        """Files and tables in which it stands, backups left out."""
        return holding(self.folder, text) + (rows_holding(self.url, text) if self.url is not None else [])


@pytest.fixture
def store(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """One of its own on each engine."""
    if engine_name == "sqlite":
        yield Store(tmp_path, None, None)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database("purge")
    upgrade_store(url)
    yield Store(tmp_path, url, create_key(tmp_path, url, "purge"))


def session(api: Server, name: str, text: str, process: str) -> str:
    """A turn that says the text in every way; returns the session's source."""
    said = {"contentSessionId": name, "project": "shop", "platform": "codex", "process": process, "cwd": "/shop"}
    number = api.post("/api/sessions/init", {**said, "prompt": f"please remember: {text}"}).json["sessionDbId"]
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": f"Error: {text}\nexit 2"}
    assert api.post("/api/sessions/observations", {**said, **call}).status == 200
    assert api.post("/api/sessions/summarize", {**said, "last_assistant_message": f"It is so: {text}"}).status == 200
    saved = api.post("/api/memory/save", {"text": f"Found out: {text}", "project": "shop"}, below(process))
    assert saved.status == 200
    return f"session:{number}"


def below(process: str) -> dict[str, str]:
    return {"X-Codexmem-Processes": process}


def settled(api: Server) -> None:
    eventually(lambda: not api.request("GET", "/api/processing-status").json["isProcessing"])


def test_no_byte_of_a_forgotten_source_is_left_and_every_other_stays(store: Store) -> None:
    tmp_path, holding = store.folder, store.holding
    texts = {number: f"{english(number)}. {chinese(number)}" for number in range(SOURCES)}
    with Server(tmp_path, database_url=store.url, key=store.key, settings=SETTINGS) as api:
        sources = [session(api, f"s{number}", text, f"box.{number}.1") for number, text in texts.items()]
        settled(api)
        # A later session is told it, quotes it once and writes something of its own as well.
        late = {"contentSessionId": "late", "project": "shop", "platform": "codex", "process": "box.99.1"}
        assert texts[0][:20] in api.request("GET", "/api/context?project=shop&session=late&tokens=8000").body.decode()
        api.post("/api/sessions/init", {**late, "prompt": "go on"})
        api.post("/api/memory/save", {"text": f"As I was told, {texts[0]}", "project": "shop"}, below("box.99.1"))
        own = {"text": "an unrelated finding about invoices", "project": "shop"}
        api.post("/api/memory/save", own, below("box.99.1"))
        # A person of another project pastes the Chinese half, and somebody searches for the English one.
        other = {"contentSessionId": "other", "project": "elsewhere", "platform": "codex"}
        api.post("/api/sessions/init", {**other, "prompt": f"what is {chinese(0)}"})
        pasted = {**other, "tool_name": "Read", "tool_input": {"path": "a"}, "tool_response": english(0)}
        api.post("/api/sessions/observations", pasted)
        assert api.request("GET", f"/api/search?query={quote(english(0))}&format=json").status == 200
        settled(api)
        if store.url is None:  # a server for several tenants has no spool, and its operator makes backups
            spool = Spool(str(tmp_path))
            spool.reject(spool.add("/api/sessions/init", json.dumps({**late, "prompt": texts[0]}).encode()))
            assert api.post("/api/ops/backups", {}).status in {200, 201, 202}
        body = {"source": sources[0], "follow": True}
        preview = api.post("/api/forget", {**body, "preview": True}).json
        trail = preview["trail"]
        assert preview["found"] >= 4  # the prompt, what came of it, and what was saved in its shell
        assert {row["session"] for row in trail["first_quoting"]} >= {"late", None}
        assert own["text"] in {row["snippet"] for row in trail["first_after"]}
        assert (trail["events"] >= 1, trail["captured"] >= 1) == (True, True)
        if store.url is None:
            assert trail["spooled"] == 1
            assert trail["backups"][0]["memories"] >= preview["found"]
        assert holding(english(0))
        assert holding(chinese(0))
        gone = api.post("/api/forget", body).json
        assert gone["erased"] >= preview["found"]
        for text in (english(0), chinese(0)):
            assert holding(text) == []
        prompts = api.request("GET", "/api/prompts?limit=100").body.decode()
        saved = api.request("GET", "/api/observations?limit=100").body.decode()
        for number in range(1, SOURCES):
            assert english(number) in prompts
            assert chinese(number) in saved
            assert holding(english(number))
        assert own["text"] in saved
        again = api.post("/api/forget", {**body, "preview": True}).json
        assert (again["found"], again["trail"]["quoting"]) == (0, 0)
    for text in (english(0), chinese(0)):
        assert holding(text) == []


def test_chroma_keeps_no_text_and_nothing_of_what_was_forgotten(tmp_path: Path, chroma_server: ChromaServer) -> None:
    with EmbeddingServer() as embedding, closing(ChromaClient(chroma_server.url)) as chroma:
        settings = SETTINGS | {
            "CODEXMEM_EMBEDDER": "openai", "CODEXMEM_OPENAI_EMBEDDING_MODEL": "toy", "CODEXMEM_OPENAI_API_KEY": "k",
            "CODEXMEM_OPENAI_EMBEDDING_BASE_URL": embedding.url, "CODEXMEM_VECTOR_BACKEND": "chroma",
            "CODEXMEM_CHROMA_URL": chroma_server.url, "CODEXMEM_CHROMA_COLLECTION": "purge",
        }  # fmt: skip

        def there() -> set[int]:
            (name,) = chroma.names("purge-")
            return {int(key.split(":")[1]) for key in chroma.get(name)["ids"]}

        with Server(tmp_path, settings=settings) as api:

            def stored() -> set[int]:
                rows = api.request("GET", "/api/memories?limit=100").json["items"]
                return {row["seq"] for row in rows}

            sources = [session(api, f"s{number}", english(number), f"box.{number}.1") for number in range(2)]
            settled(api)
            eventually(lambda: chroma.names("purge-") and there() == stored())
            before = stored()
            assert holding(chroma_server.home, english(0)) == []
            assert api.post("/api/forget", {"source": sources[0], "follow": True}).json["erased"] >= 4
            assert stored() < before
            eventually(lambda: there() == stored())


def test_undoing_follows_what_quotes_and_leaves_what_only_came_after(tmp_path: Path) -> None:
    with Server(tmp_path, settings=SETTINGS) as api:
        source = session(api, "s0", english(0), "box.0.1")
        settled(api)
        api.request("GET", "/api/context?project=shop&session=late&tokens=8000")
        late = {"contentSessionId": "late", "project": "shop", "platform": "codex", "process": "box.99.1"}
        api.post("/api/sessions/init", {**late, "prompt": "go on"})
        for text in (f"As I was told, {english(0)}", "an unrelated finding about invoices"):
            api.post("/api/memory/save", {"text": text, "project": "shop"}, below("box.99.1"))
        told = api.request("GET", "/api/lineage?session=late").json
        assert any(english(0)[:20] in f"{row['title']}{row['snippet']}" for row in told["told"])
        assert len(told["written"]) == 3  # its prompt and both memories
        trail = api.request("GET", f"/api/undo/trail?source={source}").json
        assert (trail["quoting"], trail["after"]) == (1, 2)
        assert api.post("/api/undo", {"source": source}).status == 200
        done = api.post("/api/undo/follow", {"source": source}, PERSON).json
        assert done["hidden"] == 1
        saved = api.request("GET", "/api/observations?limit=100").body.decode()
        assert (english(0) in saved, "invoices" in saved) == (False, True)
        assert api.post("/api/undo", {"delta": done["delta"]}, PERSON).json["restored"] == 1
