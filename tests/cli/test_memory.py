"""`codexmem memory`: notes by command, with a running server and without one, in both languages."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from codexmem.console.backend import Remote
from codexmem.kernel.model.errors import Unavailable
from tests._support.postgres import PostgresServer
from tests._support.server import Server
from tests.cli.conftest import Call
from tests.cli.test_processes import serving

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


@pytest.fixture(params=["here", "server"])
def way(request: pytest.FixtureRequest, data_dir: Path, home: Path) -> Iterator[str]:
    """With the store opened by the command, and with a server that owns it."""
    if request.param == "here":
        yield "here"
        return
    data_dir.mkdir()
    with Server(data_dir, settings={"CODEXMEM_EMBEDDER": "none"}):
        yield "server"


def piped(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text), encoding="utf-8"))


def told(call: Call, *args: str) -> Any:
    said = call("memory", *args, "--json")
    assert (said.code, said.err) == (0, ""), said
    return said.json


@pytest.mark.sqlite
@pytest.mark.usefixtures("person")
def test_a_note_is_kept_read_changed_and_brought_back(call: Call, way: str) -> None:
    made = call(
        "memory",
        "create",
        "Project://config/",
        "端口 8080\n第二行",
        "--priority",
        "2",
        "--disclosure",
        "when deploying",
    )
    assert (made.code, made.out, made.err) == (0, "project://config\n", "project://config created\n")
    patched = call("memory", "update", "project://config", "--old", "8080", "--new", "37877")
    assert (patched.code, patched.out) == (0, "project://config\n")
    assert patched.err.splitlines()[-1] == "to undo: codexmem memory rollback project://config 1"
    assert call("memory", "update", "project://config", "see project://deploy", "--append").code == 0
    assert call("memory", "update", "project://config", "--priority", "1").code == 0
    read = told(call, "read", "project://config")
    assert (read["content"], read["priority"], read["version"]) == ("端口 37877\n第二行\nsee project://deploy", 1, 4)
    page = call("memory", "read", "project://config").out
    assert page.startswith("project://config\nstate")
    assert "when deploying" in page
    assert "(does not exist yet)" in page
    assert call("memory", "read", "project://config", "--bare").out == read["content"] + "\n"

    versions = call("memory", "versions", "project://config").out.splitlines()
    assert [line.split()[0] for line in versions] == ["v4", "v3", "v2", "v1"]
    assert told(call, "versions", "project://config", "--limit", "1")["current_version"] == 4
    dry = call("memory", "rollback", "project://config", "1", "--dry-run")
    assert dry.code == 0
    assert "+端口 8080" in dry.out
    assert told(call, "read", "project://config")["version"] == 4
    assert call("memory", "rollback", "project://config", "1").code == 2  # nobody can be asked
    back = call("memory", "rollback", "project://config", "1", "--yes")
    assert (back.code, back.out) == (0, "project://config\n")
    assert "restored to version 1, as version 5" in back.err
    assert told(call, "read", "project://config")["content"] == "端口 8080\n第二行"


@pytest.mark.sqlite
def test_differences_are_in_colour_only_where_a_person_looks(
    call: Call, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("memory", "create", "project://a", "one\ntwo")
    call("memory", "update", "project://a", "--old", "two", "--new", "二")
    call("memory", "update", "project://a", "--priority", "9")
    plain = call("memory", "diff", "project://a", "1", "2")
    assert plain.out == "--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n one\n-two\n+二\n"
    assert call("memory", "diff", "project://a", "1").out.splitlines()[1] == "+++ version 3"
    last = call("memory", "diff", "project://a")
    assert (last.out, last.err) == ("", "priority: 5 → 9\n")
    assert "are identical" in call("memory", "diff", "project://a", "2", "2").err
    painted = call("memory", "diff", "project://a", "1", "2", "--color", "always").out
    assert "\x1b[31m-two\x1b[0m" in painted
    assert "\x1b[32m+二\x1b[0m" in painted
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in call("memory", "diff", "project://a", "1", "2").out
    assert "\x1b[" not in call("memory", "diff", "project://a", "1", "2", "--color", "never").out
    assert told(call, "diff", "project://a", "1", "2")["diff"] == plain.out.rstrip("\n")


@pytest.mark.sqlite
def test_lists_trees_and_figures(call: Call, way: str) -> None:
    for uri, content in (
        ("project://shop/config", "the port 端口"), ("project://shop/deploy/steps", "first build"),
        ("core://我", "agent"), ("project://shop", "a shop"),
    ):  # fmt: skip
        assert call("memory", "create", uri, content, "--project", "").code == 0
    assert call("memory", "alias", "core://我", "user://profile").out == "user://profile\n"
    assert call("memory", "tree").out.splitlines() == [
        "core://",
        "└── 我  P5  agent",
        "project://",
        "└── shop/  P5  a shop",
        "    ├── config  P5  the port 端口",
        "    └── deploy/",
        "        └── steps  P5  first build",
        "user://",
        "└── profile  = core://我",
    ]
    assert call("memory", "tree", "--domain", "core").out.splitlines()[0] == "core://"
    assert "project://" not in call("memory", "tree", "--domain", "core").out
    assert [line.split()[0] for line in call("memory", "ls").out.splitlines()] == [
        "project://shop", "core://我", "project://shop/deploy/steps", "project://shop/config",
    ]  # fmt: skip
    assert call("memory", "list", "--domain", "core").out.split()[0] == "core://我"
    few = call("memory", "ls", "--limit", "1")
    assert (len(few.out.splitlines()), few.err) == (1, "only 1 are shown; use --domain to narrow the list\n")
    found = call("memory", "search", "端口", "port", "--domain", "project")
    assert found.out.split()[0] == "project://shop/config"
    assert call("memory", "search", "zebra").err.splitlines()[-1] == "no matching notes"
    assert call("memory", "read", "system://recent/1").out.split()[0] == "core://我"
    assert told(call, "stats")["by_domain"]["project"] == 3
    assert call("memory", "stats").out.splitlines()[0].split() == ["notes", "4"]
    assert told(call, "ls", "--priority-max", "2")["memories"] == []


@pytest.mark.sqlite
def test_deleting_hides_and_force_erases(call: Call, way: str) -> None:
    call("memory", "create", "project://a", "甲")
    gone = call("memory", "delete", "project://a")
    assert (gone.code, gone.err.splitlines()[-1]) == (0, "to undo: codexmem memory rollback project://a 1")
    missing = call("memory", "read", "project://a")
    assert (missing.code, missing.out) == (3, "")
    assert "hint: codexmem memory rollback project://a 1 brings it back" in missing.err
    assert "codexmem memory rollback" in call("memory", "versions", "project://a").err
    assert call("memory", "ls", "--status", "deleted").out.split()[0] == "project://a"
    again = call("memory", "create", "project://a", "乙")
    assert "its earlier versions are kept" in again.err
    refused = call("memory", "delete", "project://a", "--force")
    assert (refused.code, "add --yes" in refused.err or "--yes" in refused.err) == (2, True)
    assert call("memory", "rm", "project://a", "--force", "--yes").code == 0
    assert call("memory", "versions", "project://a").code == 3
    assert call("why", "project://a").code == 3


@pytest.mark.sqlite
def test_text_comes_from_a_file_or_is_piped_in(
    call: Call, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note.md").write_text("从文件\n", encoding="utf-8")
    assert call("memory", "create", "project://f", "--file", str(tmp_path / "note.md")).code == 0
    assert told(call, "read", "project://f")["content"] == "从文件\n"
    piped(monkeypatch, "从管道".encode())
    assert call("memory", "create", "project://p").code == 0
    piped(monkeypatch, b"")
    nothing = call("memory", "create", "project://n", "--lang", "zh")
    assert (nothing.code, "没有给出文本" in nothing.err) == (2, True)
    piped(monkeypatch, f"the key is {SECRET}".encode())
    assert call("memory", "update", "project://p", "-", "--append").code == 0
    content = told(call, "read", "project://p")["content"]
    assert content.startswith("从管道\nthe key is ")
    assert SECRET not in content


@pytest.mark.sqlite
def test_a_document_goes_out_and_comes_in_as_one_delta(call: Call, way: str, tmp_path: Path) -> None:
    call("memory", "create", "project://a", "甲", "--project", "shop")
    call("memory", "update", "project://a", "乙")
    path = tmp_path / "notes.json"
    said = call("memory", "export", "--versions", "--relations", "--output", str(path))
    assert (said.code, said.out, said.err) == (0, f"{path}\n", "1 note exported\n")
    assert call("memory", "export", "--output", str(path)).code == 5
    assert json.loads(call("memory", "export").out)["memories"][0]["content"] == "乙"
    assert call("memory", "delete", "project://a", "--force", "--yes").code == 0
    taken = call("memory", "import", str(path))
    assert taken.code == 0
    assert taken.out.split() == ["created", "1", "project://a"]
    undo = taken.err.splitlines()[-1].partition("codexmem ")[2].split()
    assert len(told(call, "versions", "project://a")["versions"]) == 2
    assert told(call, "import", str(path), "--strategy", "overwrite")["skipped"] == ["project://a"]
    assert call(*undo, "--yes").code == 0
    assert call("memory", "read", "project://a").code == 3


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "args,code,said",
    [
        (["read", "project://none"], 3, "there is no memory at project://none"),
        (["read", "no address"], 2, "is not a memory URI"),
        (["create", "project://here", "x"], 5, "already exists"),
        (["create", "system://boot", "x"], 2, "is a view"),
        (["create", "project://new", "x", "--priority", "11"], 2, "--priority: "),
        (["create", "project://new", "x", "--file", "y"], 2, "either on the command line or as a file"),
        (["create", "project://new", "--file", "/nowhere/x"], 3, "there is no file /nowhere/x"),
        (["create", "project://new", "<private>x</private>"], 2, "must be non-empty"),
        (["update", "project://here", "--old", "x"], 2, "--old and --new must be used together"),
        (["update", "project://here", "--old", "absent", "--new", "y"], 3, "does not occur"),
        (["update", "project://here", "x", "--old", "a", "--new", "b"], 2, "not both"),
        (["diff", "project://here", "1", "9"], 3, "has no version 9"),
        (["diff", "project://here", "0", "1"], 2, "0 is not in the range"),
        (["rollback", "project://here", "9", "--yes"], 3, "has no version 9"),
        (["alias", "project://none", "project://x"], 3, "there is no memory"),
        (["ls", "--status", "lost"], 2, "--status: "),
        (["ls", "--domain", "no domain"], 2, "is no domain"),
        (["import", "/nowhere.json"], 3, "there is no file"),
        (["reed", "x"], 2, "there is no command reed"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(call: Call, home: Path, args: list[str], code: int, said: str) -> None:
    assert call("memory", "create", "project://here", "text").code == 0
    answer = call("memory", *args)
    assert (answer.code, answer.out) == (code, ""), answer
    assert said in answer.err
    told = call("memory", *args, "--json")
    assert (told.code, told.err, bool(told.json["error"]["message"])) == (code, "", True)
    assert call("memory", *args, "--lang", "zh").err.startswith("错误：")


@pytest.mark.sqlite
def test_errors_are_the_same_with_a_server(call: Call, data_dir: Path, home: Path) -> None:
    wrong = (
        ["read", "project://none"],
        ["create", "project://here", "x"],
        ["update", "project://here", "--old", "absent", "--new", "y"],
        ["rollback", "project://here", "9", "--yes"],
        ["read", "x"],
    )
    call("memory", "create", "project://here", "text")
    here = [call("memory", *args, "--json") for args in wrong]
    with serving(data_dir, fork=True):
        assert [call("memory", *args, "--json") for args in wrong] == here
        missing = call("memory", "read", "project://none", "--lang", "zh").err
        assert missing.startswith("错误：project://none 处没有记忆\n提示：codexmem memory search"), missing
        assert "project://here 已存在" in call("memory", "create", "project://here", "x", "--lang", "zh").err
        assert call("memory", "delete", "project://here", "--yes").code == 0
        assert (
            "codexmem memory rollback project://here 1" in call("memory", "read", "project://here", "--lang", "zh").err
        )
    assert [said.code for said in here] == [3, 5, 3, 3, 2]


@pytest.mark.sqlite
def test_a_document_that_is_none_is_refused_in_both_languages(call: Call, home: Path, tmp_path: Path) -> None:
    for number, text in enumerate(["[]", "{", "x" * 10, "[" * 100_000]):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        assert call("memory", "import", str(path)).code == 2
        assert "不是笔记文档" in call("memory", "import", str(path), "--lang", "zh").err
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in call("memory", "create", "project://x", "--file", str(tmp_path / "bytes")).err
    bare = tmp_path / "bare.json"
    bare.write_text('{"memories": [{"uri": "project://x"}]}')
    assert "memories[0]: content must be non-empty text" in call("memory", "import", str(bare)).err


@pytest.mark.sqlite
def test_looking_makes_no_store(call: Call, data_dir: Path) -> None:
    for args in (["read", "project://a"], ["ls"], ["tree"], ["versions", "project://a"]):
        said = call("memory", *args)
        assert (said.code, said.err.startswith("error: there is no store at")) == (3, True)
    assert not data_dir.exists()


@pytest.mark.sqlite
def test_control_characters_never_reach_a_terminal(call: Call, home: Path) -> None:
    call("memory", "create", "project://bad", "a\x1b[31mred\u202e\nb\tc")
    for args in (["read", "project://bad"], ["ls"], ["tree"], ["search", "red"], ["versions", "project://bad"]):
        assert "\x1b" not in call("memory", *args).out
    assert "b\tc" in call("memory", "read", "project://bad").out
    assert "\x1b[31m" in call("memory", "read", "project://bad", "--bare").out


@pytest.mark.sqlite
def test_a_server_that_vanishes_is_said(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object, **__: object) -> Any:
        raise Unavailable("the server does not answer")

    monkeypatch.setattr("codexmem.console.backend.server_of", lambda _: Remote("http://127.0.0.1:9"))
    said = call("memory", "ls")
    assert (said.code, "does not answer" in said.err) == (6, True)
    monkeypatch.setattr(Remote, "post", silent)
    assert call("memory", "ls").code == 6


@pytest.mark.sqlite
def test_what_an_agent_wrote_a_person_reads_and_the_other_way_round(call: Call, data_dir: Path, home: Path) -> None:
    with serving(data_dir, fork=True) as (_, url):
        call("memory", "create", "project://a", "by a person 人", "--project", "shop")
        params = {"name": "update_memory", "arguments": {"uri": "project://a", "content": "by an agent"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"Accept": "application/json, text/event-stream"}
        reply = httpx.post(f"{url}/mcp/notes", json=message, headers=headers, timeout=30).json()
        assert reply["result"]["structuredContent"]["version"] == 2
        assert told(call, "read", "project://a")["content"] == "by an agent"
        # The first search may have to wait for an encoder to be loaded.
        rows = httpx.get(f"{url}/api/search/all", params={"query": "agent"}, timeout=30).json()["results"]
        assert [row["label"] for row in rows] == ["note project://a"]
        assert told(call, "read", "project://a")["project"] == "shop"
    assert "note project://a" in call("search", "agent", "--all-projects").out


@pytest.mark.postgresql
def test_on_postgresql_for_the_tenant_that_is_named(call: Call, postgres_server: PostgresServer) -> None:
    there = ("--database-url", postgres_server.create_database("notes_by_command"))
    assert call("db", "upgrade", *there).code == 0
    acme = (*there, "--tenant", "acme")
    assert call("memory", "create", "project://a", "甲", *acme).code == 0
    assert call("memory", "read", "project://a", "--bare", *acme).out == "甲\n"
    assert call("memory", "read", "project://a", *there, "--tenant", "other").code == 3
    assert call("memory", "ls", *there).code == 2


def test_what_a_script_writes_into_the_core_says_that_a_person_has_to_agree(call: Call) -> None:
    made = call("memory", "create", "core://rules", "Run the linter", "--priority", "1")
    assert (made.code, "it is proposed" in made.err, "codexmem review" in made.err) == (0, True, True)
    assert call("--json", "memory", "update", "core://rules", "Run it twice").json["proposed"] is True
    assert "这是提议" in call("memory", "update", "core://rules", "Run it", "--lang", "zh").err
    plain = call("memory", "create", "project://plain", "The port is 8080")
    assert (plain.code, "proposed" in plain.err) == (0, False)


def test_a_delta_that_is_not_there_is_said_in_both_languages_with_what_to_do(call: Call) -> None:
    call("memory", "create", "project://a", "one")
    gone = call("undo", "delta_x")
    assert (gone.code, "codexmem why" in gone.err) == (3, True)
    assert "没有变更组 delta_x" in call("undo", "delta_x", "--lang", "zh").err
    assert "没有名为 999 的记忆" in call("why", "999", "--lang", "zh").err
