"""`codexmem doctor --fix`: what it fixes, what it leaves, and that a dry run and a second run change nothing."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config

from codexmem.hook import starting
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store import inspection, upgrade
from codexmem.kernel.store.opening import open_database, sqlite_url
from codexmem.kernel.store.sqlite.engine import migration_engine
from tests._support.embedding_server import EmbeddingServer
from tests.cli.conftest import Call
from tests.services.restoring import fill, transfer_of

pytestmark = pytest.mark.sqlite
DAY_S = 86_400


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent on the PATH."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def held(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and what is in it; SQLite keeps two beside a store that was only read."""
    paths = [path for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))]
    return {str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"") for path in paths}


def fixes(document: Any) -> dict[str, str]:
    return {each["check"]: each["outcome"] for each in document["fixes"]}


def states(document: Any) -> dict[str, str]:
    return {each["check"]: each["state"] for each in document["checks"]}


@pytest.mark.slow
def test_a_dry_run_says_what_would_be_fixed_and_fixes_nothing(call: Call, data_dir: Path, tmp_path: Path) -> None:
    os.umask(0o077)
    fill(data_dir, ["one"])
    data_dir.chmod(0o755)
    (data_dir / "server.json").write_text('{"url": "http://127.0.0.1:9", "pid": 1}')
    before = held(tmp_path)
    said = call("doctor", "--fix", "--dry-run")
    assert said.out.splitlines()[:3] == [
        f"[would] make {data_dir} private",
        "[would] make a backup",
        "[would] remove server.json, which names a server at http://127.0.0.1:9 that is gone",
    ]
    assert said.err == "nothing was changed; to apply this: codexmem doctor --fix\n"
    document = call("doctor", "--dry-run", "--canary", "--json").json
    assert fixes(document) == {"data_dir": "would", "backup": "would", "server": "would"}
    assert not [check for check in states(document) if check.startswith("canary:")]
    assert held(tmp_path) == before


@pytest.mark.slow
def test_folder_backup_and_the_trace_of_a_killed_server_are_fixed_once(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one"])
    (data_dir / "codexmem.db").chmod(0o644)
    data_dir.chmod(0o755)
    (data_dir / "server.json").write_text('{"url": "http://127.0.0.1:9", "pid": 1}')
    (data_dir / starting.ATTEMPT).touch()
    said = call("doctor", "--fix", "--json")
    assert fixes(said.json) == {"data_dir": "fixed", "backup": "fixed", "server": "fixed"}
    # No server runs now, and hooks start one.
    after = {check: states(said.json)[check] for check in ("data_dir", "backup", "server")}
    assert after == {"data_dir": "ok", "backup": "ok", "server": "notice"}
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((data_dir / "codexmem.db").stat().st_mode) == 0o600
    assert not (data_dir / "server.json").exists()
    assert not (data_dir / starting.ATTEMPT).exists()
    (made,) = (data_dir / "backups").iterdir()
    assert transfer_of(data_dir).verify(made).manifest.counts["memories"] == 1
    assert states(said.json)["canary:store"] == "ok"
    again = call("doctor", "--fix", "--json").json
    assert again["fixes"] == []
    assert list((data_dir / "backups").iterdir()) == [made]


def test_an_old_backup_is_followed_by_a_new_one(call: Call, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(data_dir, ["one"])
    assert call("backup").code == 0
    later = SystemClock().now_ms() + 8 * DAY_S * 1000
    with monkeypatch.context() as patched:
        patched.setattr(SystemClock, "now_ms", lambda _: later)
        said = call("doctor", "--fix")
    assert said.out.startswith(f"[fixed] made a backup: {data_dir}/backups/codexmem-")
    assert len(list((data_dir / "backups").iterdir())) == 2


@pytest.mark.slow
def test_an_older_schema_is_upgraded_after_a_backup(call: Call, data_dir: Path) -> None:
    data_dir.mkdir()
    engine = migration_engine(data_dir / "codexmem.db")
    with engine.connect() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(upgrade.__file__).parent / "migrations"))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "0009")
        connection.commit()
    engine.dispose()
    url = sqlite_url(data_dir / "codexmem.db")
    # A canary alone opens no store that it would upgrade.
    assert states(call("doctor", "--canary", "--json").json)["canary:store"] == "skipped"
    assert inspection.schema(url) == "0009"
    said = call("doctor", "--fix", "--json").json
    assert fixes(said)["schema"] == "fixed"
    assert inspection.schema(url) == inspection.expected_schema()
    assert states(said)["canary:store"] == "ok"
    assert [path for path in (data_dir / "backups").iterdir() if path.name.endswith("-schema-0009")]


def test_missing_words_and_vectors_are_made(call: Call, data_dir: Path, embedding: EmbeddingServer) -> None:
    fill(data_dir, ["zebra crossing", "other"])
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    with db.transaction() as tx:
        for table in ("memory_texts", "memory_terms"):
            tx.connection.exec_driver_sql(f"DELETE FROM {table}")
    db.close()
    found = next(each for each in call("doctor", "--json").json["checks"] if each["check"] == "index")
    assert found["what"] == "some memories are not indexed by words, and no server is running to index them"
    said = call("doctor", "--fix")
    assert "[fixed] indexed the words of 2 memories" in said.out
    assert "every memory has its vectors" in said.out
    assert "zebra crossing" in call("search", "zebra", "--all-projects").out


def test_waiting_vectors_are_made_and_a_dead_embedder_is_told(
    call: Call, data_dir: Path, embedding: EmbeddingServer
) -> None:
    fill(data_dir, ["one", "two"])
    usual, embedding.script = embedding.script, lambda _: (500, {})
    said = call("doctor", "--fix", "--json")
    assert (said.code, fixes(said.json)["index"], states(said.json)["index"]) == (1, "failed", "warning")
    embedding.script = usual
    said = call("doctor", "--fix", "--lang", "zh")
    assert "[已修复] 已生成 2 条记忆的向量（openai:toy@127.0.0.1）" in said.out
    assert "剩余" in said.err


def test_what_needs_a_person_is_left_with_its_remedy(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one"])
    assert call("backup").code == 0
    store = data_dir / "codexmem.db"
    broken = bytearray(store.read_bytes())
    broken[8192:40960] = os.urandom(32768)
    store.write_bytes(broken)
    said = call("doctor", "--fix", "--json")
    assert (said.code, said.json["fixes"]) == (1, [])
    bad = next(each for each in said.json["checks"] if each["check"] == "integrity")
    assert "codexmem restore" in bad["how"]
    assert store.read_bytes()[8192:40960] == bytes(broken[8192:40960])


def test_a_server_that_has_started_meanwhile_keeps_its_file(
    call: Call, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(data_dir, ["one"])
    assert call("backup").code == 0
    file = data_dir / "server.json"
    file.write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": 1}))
    # Free while it is checked, owned when it is to be fixed.
    asked = iter([False, True])
    monkeypatch.setattr(inspection, "owned", lambda _: next(asked, True))
    said = call("doctor", "--fix", "--json")
    assert said.json["fixes"] == [
        {"check": "server", "outcome": "failed", "what": "a server was started in the meantime"}
    ]
    assert file.exists()
