"""`codexmem index`, and what `doctor` says about search."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from codexmem.app import open_core
from codexmem.installation import install_command
from codexmem.kernel.embed import local
from codexmem.kernel.model.job import JobStatus
from codexmem.kernel.store import inspection, opening
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database, sqlite_url
from codexmem.kernel.store.postgres import pgvector
from codexmem.settings import load
from tests._support.embedding_server import EmbeddingServer
from tests._support.postgres import PostgresServer
from tests.cli.conftest import Call
from tests.services.restoring import fill, note


def finding(call: Call, check: str, *args: str) -> dict[str, Any]:
    return next(each for each in call("doctor", "--json", *args).json["checks"] if each["check"] == check)


@pytest.mark.sqlite
def test_status_without_an_embedder(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one"])
    said = call("index", "status")
    assert (said.code, said.out) == (0, "stored in  sqlite\nmodel      none\n")
    assert said.err.startswith("no embedder: search uses words only")
    document = call("index", "status", "--json").json
    assert document.keys() == {
        "backend", "model", "dimension", "indexed", "waiting", "complete", "former", "notes",
    }  # fmt: skip
    assert (document["model"], document["indexed"]) == (None, {})


@pytest.mark.sqlite
def test_a_rebuild_runs_to_its_end_on_sqlite(call: Call, data_dir: Path, embedding: EmbeddingServer) -> None:
    fill(data_dir, [f"text {number}" for number in range(60)])
    before = call("index", "status")
    assert before.out.splitlines()[2:] == [
        "memories with vectors (sqlite)  0",
        "memories waiting                60",
        "scan complete                   no",
    ]
    assert before.err == "memories that are waiting can already be found by words\n"
    said = call("index", "rebuild")
    assert (said.code, said.out) == (0, "openai:toy@127.0.0.1\n")
    assert said.err == "60 memories have new vectors\n"
    after = call("index", "status", "--json").json
    assert (after["waiting"], after["complete"], after["indexed"], after["dimension"]) == (0, True, {"sqlite": 60}, 32)
    embedding.asked.clear()
    again = call("index", "rebuild", "--json").json
    assert again == {
        "queued": False, "model": "openai:toy@127.0.0.1", "indexed": 60, "worded": 0, "embedded": 60, "refused": 0,
        "forgotten": 0,
    }  # fmt: skip
    assert sum(len(each.body["input"]) for each in embedding.asked) == 60
    assert "60 条记忆的向量已更新" in call("index", "rebuild", "--lang", "zh").err


@pytest.mark.sqlite
def test_a_rebuild_tells_how_far_it_is(
    call: Call, data_dir: Path, embedding: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(data_dir, [f"text {number}" for number in range(120)])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    said = call("index", "rebuild")
    assert "making vectors" in said.err
    assert "100%" in said.err


@pytest.mark.sqlite
def test_a_rebuild_that_cannot_go_on_says_why(call: Call, data_dir: Path, embedding: EmbeddingServer) -> None:
    fill(data_dir, ["one"])
    embedding.script = lambda _: (401, {"error": "no"})
    said = call("index", "rebuild")
    assert (said.code, said.out) == (6, "")
    assert "refuses the API key" in said.err
    embedding.script = lambda _: None
    assert call("index", "rebuild").code == 0


@pytest.mark.sqlite
def test_a_rebuild_without_an_embedder_says_so(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one"])
    said = call("index", "rebuild")
    assert (said.code, said.out) == (0, "none\n")
    assert said.err.startswith("no embedder: search uses words only")


@pytest.mark.sqlite
def test_a_store_in_use_is_not_rebuilt(call: Call, data_dir: Path, embedding: EmbeddingServer) -> None:
    fill(data_dir, ["one"])
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    try:
        said = call("index", "rebuild")
        assert (said.code, "in use by another codexmem process" in said.err) == (6, True)
    finally:
        db.close()


@pytest.mark.sqlite
def test_the_approximate_index_is_for_postgresql(call: Call, data_dir: Path) -> None:
    said = call("index", "approximate")
    assert (said.code, said.out) == (2, "")
    assert "SQLite has no such index" in said.err
    assert call("index", "approximate", "--lang", "zh").err.startswith("错误：SQLite 没有也不需要这种索引\n提示：")
    assert not data_dir.exists()


@pytest.mark.postgresql
def test_an_operator_on_postgresql(
    postgres_server: PostgresServer, call: Call, embedding: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status, rebuild by the workers, the index for large scopes, and doctor."""
    url = postgres_server.create_database("indexing")
    there, acme = ("--database-url", url), ("--tenant", "acme", "--database-url", url)
    assert call("db", "upgrade", *there).code == 0
    core = open_core(load({"database_url": url}))
    try:
        with acting_as("acme"):
            note(core.memories, "one port")
            assert call("index", "status", *there).code == 2
            assert call("index", "status", "--json", *acme).json["waiting"] == 1
            assert call("index", "approximate", *acme).code == 3
            queued = call("index", "rebuild", "--json", *acme)
            assert queued.json == {"queued": True, "model": "openai:toy@127.0.0.1"}
            assert call("index", "rebuild", *acme).err.startswith("queued for a server or worker")
            assert core.queue.counts()[JobStatus.QUEUED] == 1
            core.indexer.catch_up(lambda: None)
        assert call("index", "status", "--json", *acme).json["indexed"] == {"postgresql": 1}
        made = call("index", "approximate", *acme)
        assert made.code == 0
        assert made.out.strip() == pgvector.index_name("acme", "openai:toy@127.0.0.1")
        assert made.err.splitlines()[0].startswith("building the index of tenant acme")
    finally:
        core.close()
    assert finding(call, "vectors", *there)["what"].startswith("pgvector ")
    assert finding(call, "index", *there)["what"].startswith("indexes are per tenant")
    monkeypatch.setenv("CODEXMEM_EMBEDDER", "none")
    said = call("index", "approximate", *acme)
    assert (said.code, "no embedder is configured" in said.err) == (6, True)


@pytest.mark.postgresql
def test_a_server_without_pgvector(
    postgres_server: PostgresServer, call: Call, embedding: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_server.create_database("without_pgvector")
    with monkeypatch.context() as lacking:
        lacking.setattr(pgvector, "EXTENSION", "CREATE EXTENSION no_such_extension")
        opening.upgrade_store(url)
    found = finding(call, "vectors", "--database-url", url)
    assert (found["state"], "codexmem db upgrade" in found["how"]) == ("warning", True)
    said = call("index", "approximate", "--tenant", "acme", "--database-url", url)
    assert (said.code, "has no pgvector" in said.err) == (6, True)
    assert call("index", "status", "--tenant", "acme", "--database-url", url).code == 0


@pytest.mark.postgresql
def test_a_login_that_owns_nothing_may_not_build(
    postgres_server: PostgresServer, call: Call, embedding: EmbeddingServer
) -> None:
    url = postgres_server.create_database("foreign_login")
    opening.upgrade_store(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE borrower LOGIN IN ROLE codexmem_app")
    weak = postgres_server.url("foreign_login", user="borrower")
    said = call("index", "approximate", "--tenant", "acme", "--database-url", weak)
    assert (said.code, "may not make an index" in said.err) == (6, True)


@pytest.mark.sqlite
def test_doctor_about_search_where_all_is_well(call: Call, data_dir: Path, embedding: EmbeddingServer) -> None:
    assert finding(call, "index")["what"] == "no intact store whose indexes could be checked"
    fill(data_dir, ["one"])
    assert finding(call, "words")["what"] == "SQLite has full-text search (FTS5)"
    assert finding(call, "vectors")["what"].startswith("sqlite-vec v")
    assert finding(call, "embedder")["what"] == "openai:toy@127.0.0.1 is working"
    behind = finding(call, "index")
    assert behind["state"] == "warning"
    assert (
        behind["what"]
        == "1 memory is waiting for vectors (openai:toy@127.0.0.1), and no server is running to make them"
    )
    assert behind["how"] == "codexmem start, or codexmem doctor --fix"
    assert call("index", "rebuild").code == 0
    assert finding(call, "index")["what"] == "every memory has its vectors (openai:toy@127.0.0.1)"


@pytest.mark.sqlite
def test_doctor_names_what_search_lacks(
    call: Call, data_dir: Path, embedding: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding.script = lambda _: (500, {})
    fails = finding(call, "embedder")
    assert (fails["state"], "CODEXMEM" in fails["how"]) == ("failure", True)
    embedding.script = lambda _: (401, {})
    assert "OPENAI_API_KEY" in finding(call, "embedder")["how"]

    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for name, extra in (("local", "embed"), ("local-better", "embed-better"), ("fastembed:some/model", "fastembed")):
        monkeypatch.setenv("CODEXMEM_EMBEDDER", name)
        missing = finding(call, "embedder")
        assert missing["state"] == "failure"
        assert install_command(extra) in missing["how"]
    monkeypatch.delenv("CODEXMEM_OPENAI_EMBEDDING_MODEL")
    monkeypatch.setenv("CODEXMEM_EMBEDDER", "auto")
    absent = finding(call, "embedder")
    assert (absent["state"], absent["what"]) == ("warning", "no embedder is installed")
    assert install_command("embed") in absent["how"]
    assert "没有安装嵌入模型" in call("doctor", "--lang", "zh").out

    monkeypatch.setattr(inspection, "lacks_words", lambda: True)
    monkeypatch.setattr(inspection, "vectors", lambda _: None)
    assert finding(call, "words")["state"] == "failure"
    assert install_command(anew=True) == finding(call, "vectors")["how"]


@pytest.mark.sqlite
def test_doctor_tries_a_local_model(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEXMEM_EMBEDDER", "local")
    monkeypatch.setattr(local.LocalEmbedder, "query", lambda *_: b"")
    assert finding(call, "embedder")["what"] == "use-multilingual-v3 is working"


@pytest.mark.sqlite
def test_doctor_on_vectors_that_cannot_be_reached(
    call: Call, data_dir: Path, embedding: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(data_dir, ["one"])
    monkeypatch.setenv("CODEXMEM_VECTOR_BACKEND", "chroma")
    monkeypatch.setenv("CODEXMEM_CHROMA_URL", "http://127.0.0.1:9")
    silent = finding(call, "index")
    assert (silent["state"], "Chroma at 127.0.0.1" in silent["what"]) == ("failure", True)
    assert "CODEXMEM_VECTOR_BACKEND=sqlite" in silent["how"]
    status = call("index", "status")
    assert (status.code, "does not answer" in status.out, "Chroma" in status.err) == (0, True, True)
