"""What each command answers, to people and to programs, and the exit code it ends with."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from codexmem import __version__
from codexmem.kernel.store.opening import open_database, sqlite_url
from tests._support.postgres import PostgresServer
from tests.cli.conftest import Call
from tests.services.restoring import fill, texts_in

pytestmark = pytest.mark.sqlite


def test_version(call: Call) -> None:
    assert call("version").out.startswith(f"codexmem {__version__} (Python ")
    assert call("version", "--json").json["version"] == __version__
    assert call("--json", "version").json["sqlite"] >= "3.51.3"


def test_config_shows_values_and_where_they_come_from(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEXMEM_DATABASE_URL", "postgresql://me:hunter2@db/mem")
    Path(".codexmem.toml").write_text("port = 4000\n")
    said = call("config", "list", "--show-origin")
    lines = {line.split()[0]: line for line in said.out.splitlines()}
    assert "project file" in lines["port"]
    assert lines["database_url"].split()[1] == "postgresql://me:***@db/mem"
    assert lines["host"].endswith("default")
    for args in (["config", "list"], ["config", "list", "--json"], ["config", "get", "database_url", "--json"]):
        assert "hunter2" not in call(*args).out
    assert call("config", "get", "port").out == "4000\n"
    assert call("config", "get", "data-dir").code == 0
    assert call("config", "list", "--json").json["settings"]["port"]["value"] == "4000"
    assert "默认值" in call("config", "list", "--show-origin", "--lang", "zh").out
    path = call("config", "path", "--json").json
    assert path["project_file"].endswith(".codexmem.toml")


def test_exit_codes(call: Call, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("config", "get", "nothing").code == 3
    assert call("serve", "--port", "99999").code == 2
    assert call("serve", "--host", "0.0.0.0").code == 2
    assert call("worker").code == 2
    assert call("backup").code == 3
    assert call("restore", "/nowhere", "--yes").code == 3
    assert call("db", "status").code == 6
    assert call("backup", "--nope").code == 2
    fill(data_dir, ["x"])
    assert call("backup", "--to", str(data_dir)).code == 5
    made = Path(call("backup").out.strip())
    (made / "store.db").write_bytes(b"x")
    assert call("restore", str(made), "--yes").code == 1
    Path(".codexmem.toml").write_text("prot = 1\n")
    said = call("config", "list")
    assert (said.code, "did you mean 'port'" in said.err) == (2, True)


def test_errors_as_json_are_one_document(call: Call) -> None:
    for args in (
        ["config", "get", "nothing"],
        ["sevre"],
        ["worker"],
        ["restore", "/nowhere", "--yes"],
        ["search", "x"],
    ):
        said = call(*args, "--json")
        assert said.err == ""
        error = said.json["error"]
        assert set(error) == {"code", "message", "hint"}
        assert error["message"]
    assert call("--json").code == 0 or call("--json").json["error"]
    assert call("worker", "--json", "--lang", "zh").json["error"]["message"].startswith("SQLite 数据库")


def test_unexpected_failures_are_told_without_a_traceback(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("codexmem.operations.cli.config.load", broken)
    said = call("config", "list")
    assert (said.code, said.out) == (1, "")
    assert said.err == "error: unexpected failure: RuntimeError: boom\nhint: run again with --debug for the traceback\n"
    with pytest.raises(RuntimeError):
        call("config", "list", "--debug")


def test_an_interrupted_command_ends_with_130(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("codexmem.operations.cli.config.load", interrupted)
    assert call("config", "list").code == 130


@pytest.mark.slow
def test_backup_and_restore(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one", "two"])
    said = call("backup")
    made = Path(said.out.strip())
    assert (said.code, made.parent) == (0, data_dir / "backups")
    assert said.err.splitlines()[-1] == f"to restore: codexmem restore {made}"
    assert "2 memories" in said.err
    assert call("backup", "-q").err == ""
    fill(data_dir, ["three"])

    asked = call("restore", str(made))
    assert (asked.code, "there is no terminal to ask on" in asked.err) == (2, True)
    tried = call("restore", str(made), "--dry-run", "--json").json
    assert (tried["restored"], tried["memories"]) == (False, 2)
    assert texts_in(data_dir) == ["one", "three", "two"]

    done = call("restore", str(made), "--yes", "--json").json
    assert (done["restored"], Path(done["kept"]).is_dir()) == (True, True)
    assert texts_in(data_dir) == ["one", "two"]
    assert "已恢复 2 条记忆" in call("restore", str(made), "--yes", "--lang", "zh").err


def test_what_commands_write_is_private(call: Call, data_dir: Path) -> None:
    assert call("db", "upgrade").code == 0
    assert call("backup").code == 0
    for path in (data_dir, *data_dir.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_store_in_use_is_refused_with_a_clear_message(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one"])
    made = call("backup").out.strip()
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    try:
        for args in (["restore", made, "--yes"], ["db", "upgrade"], ["key", "create", "--label", "x"], ["serve"]):
            said = call(*args, *(["--port", "0"] if args == ["serve"] else []))
            assert said.code == 6
            assert "in use by another codexmem process" in said.err
            assert "hint: " in said.err
        assert call("backup").code == 0
        assert call("db", "status").code == 0
    finally:
        db.close()


def test_the_schema(call: Call, data_dir: Path) -> None:
    assert call("db", "status", "--json").json["schema"] is None
    assert not data_dir.exists()
    upgraded = call("db", "upgrade", "--json").json
    assert (upgraded["before"], upgraded["changed"]) == (None, True)
    assert call("db", "upgrade").err == "already up to date\n"
    assert call("db", "status").code == 0
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    with db.transaction() as tx:
        tx.connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    db.close()
    said = call("db", "status", "--lang", "zh")
    assert (said.code, "更新版本" in said.err) == (6, True)


def test_keys(call: Call) -> None:
    assert call("key", "ls").err == "no keys\n"
    made = call("key", "create", "--label", "ci", "--json").json
    assert made["secret"].startswith("cmk_")
    assert made["tenant"] == "local"
    listed = call("key", "ls")
    assert made["secret"] not in listed.out
    assert "valid" in listed.out
    assert call("key", "revoke", made["id"]).code == 0
    assert call("key", "revoke", made["id"]).code == 3
    assert "已吊销" in call("key", "ls", "--lang", "zh").out
    assert call("key", "create", "--label", "x", "--tenant", "acme").code == 2
    assert call("key", "create").code == 2


def test_people_and_what_they_were_granted(call: Call, postgres_server: PostgresServer) -> None:
    for asked in (("member", "add", "ann"), ("member", "ls"), ("group", "ls"), ("grant", "ls")):
        refused = call(*asked)  # on a file: there are none
        assert refused.code == 2
        assert "a SQLite store belongs to one person, so it has no members" in refused.err
    store = ("--tenant", "acme", "--database-url", postgres_server.create_store("commands_people"))
    assert call("member", "ls", *store).err == "no members\n"
    assert call("member", "add", "ann", *store, "--json").json["kind"] == "person"
    assert call("member", "add", "ann", *store).code == 5
    assert call("group", "add", "leads", *store).code == 0
    assert call("group", "join", "leads", "ann", *store).code == 0
    assert call("group", "join", "leads", "bob", *store).code == 3
    given = call("grant", "add", "--group", "leads", "--every-project", "--role", "reader", *store, "--json").json
    assert given == {"group": "leads", "project": None, "every_project": True, "role": "reader"}
    assert call("grant", "add", "--member", "ann", "--no-project", "--role", "writer", *store).code == 0
    for wrong in (["--member", "ann"], ["--project", "x"], ["--member", "ann", "--project", "x", "--every-project"],
                  ["--member", "ann", "--project", ""]):  # fmt: skip
        assert call("grant", "rm", *wrong, *store).code == 2
    made = call("key", "create", "--label", "laptop", "--member", "ann", *store, "--json").json
    assert made["member"] == call("member", "ls", *store, "--json").json["members"][0]["id"]
    assert call("member", "disable", "ann", *store).code == 0
    assert "停用" in call("member", "ls", *store, "--lang", "zh").out
    assert call("member", "enable", "ann", *store).code == 0
    assert call("grant", "rm", "--group", "leads", "--every-project", *store).code == 0
    assert call("grant", "ls", *store, "--json").json["grants"] == [
        {"member": "ann", "project": "", "every_project": False, "role": "writer"}
    ]
    assert call("group", "leave", "leads", "ann", *store).code == 0
    assert call("group", "ls", *store, "--json").json["groups"] == [{"name": "leads", "members": []}]
    assert call("group", "rm", "leads", *store).code == 0
    assert call("member", "rm", "ann", *store, "--json").json == {"name": "ann", "removed": True}
    assert "revoked" in call("key", "ls", *store).out


def states(said_json: dict[str, object]) -> dict[str, str]:
    checks = said_json["checks"]
    assert isinstance(checks, list)
    return {check["check"]: check["state"] for check in checks}


def test_doctor_on_a_fresh_machine_changes_nothing(call: Call, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    said = call("doctor", "--json")
    assert said.code == 0
    assert states(said.json)["backup"] == "ok"
    assert not data_dir.exists()
    assert len(said.json["checks"]) == 14
    assert states(said.json)["server"] == "notice"
    assert "codexmem start" in call("doctor").out
    fill(data_dir, ["one"])
    assert states(call("doctor", "--json").json)["backup"] == "warning"
    assert call("doctor", "--strict").code == 1


def test_doctor_looks_at_the_profile_of_the_lab(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "profile" not in states(call("doctor", "--json").json)  # nobody uses the lab
    monkeypatch.setenv("CODEXMEM_LAB_PROFILE", "c2xc")
    assert "the lab's profile is c2xc, with 3 roles" in call("doctor").out
    (tmp_path / "bad.toml").write_text("format = 1\nname = 'bad'\nentry = 'x'\n")
    monkeypatch.setenv("CODEXMEM_LAB_PROFILE", str(tmp_path / "bad.toml"))
    said = call("doctor", "--json")
    assert (said.code, states(said.json)["profile"]) == (1, "failure")
    found = next(check for check in said.json["checks"] if check["check"] == "profile")
    assert "bad.toml: roles: expected" in found["what"]
    assert "实验室配置不可用" in call("doctor", "--lang", "zh").out


@pytest.mark.slow
def test_doctor_names_what_is_broken_and_how_to_fix_it(call: Call, data_dir: Path) -> None:
    fill(data_dir, ["one"])
    assert call("backup").code == 0
    well = call("doctor", "--json")
    assert "failure" not in states(well.json).values()
    (data_dir / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": 1}))
    assert states(call("doctor", "--json").json)["server"] == "warning"
    data_dir.chmod(0o755)
    opened = call("doctor", "--json").json
    assert states(opened)["data_dir"] == "warning"
    assert [check["how"] for check in opened["checks"] if check["check"] == "data_dir"] == [f"chmod -R go= {data_dir}"]
    data_dir.chmod(0o700)
    db = open_database(sqlite_url(data_dir / "codexmem.db"))
    try:
        owned = call("doctor", "--json")
        assert (owned.code, states(owned.json)["server"]) == (1, "failure")
    finally:
        db.close()
    store = data_dir / "codexmem.db"
    broken = bytearray(store.read_bytes())
    broken[8192:40960] = os.urandom(32768)
    store.write_bytes(broken)
    said = call("doctor", "--json")
    assert (said.code, states(said.json)["integrity"]) == (1, "failure")
    bad = next(check for check in said.json["checks"] if check["check"] == "integrity")
    assert bad["why"]
    assert "codexmem restore" in bad["how"]
    assert "[失败]" in call("doctor", "--lang", "zh").out
