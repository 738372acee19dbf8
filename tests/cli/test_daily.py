"""What people do every day, beside a running server: remember, look back, read, ask what a session would be given; in
the project they are in unless they say otherwise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.client import background
from tests._support.server import Server, environment
from tests.cli.conftest import Call
from tests.jobs.stores import wait_until

pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with memories of two projects and of none."""
    with Server(tmp_path_factory.mktemp("daily"), settings={"CODEXMEM_EMBEDDER": "none"}) as server:
        texts = [("Tests need DB_URL=postgres://localhost/test", "How to run the tests", "shop"),
                 ("The nightly tests run at two o'clock", "Nightly tests", "bank")]  # fmt: skip
        for text, title, project in texts:
            body = {"text": text, "title": title, "project": project}
            assert server.post("/api/memory/save", body).status == 200
        told = {"contentSessionId": "s1", "project": "shop", "prompt": "How do I run the tests?"}
        assert server.post("/api/sessions/init", told).status == 200
        note = {"uri": "core://style", "content": "测试的名称要说明行为 tests have telling names", "priority": 1}
        assert server.post("/api/notes", note, {"X-Codexmem-Person": "1"}).status == 200
        yield server


@pytest.fixture
def shop(running: Server, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the project `shop`, which is where commands are called."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(running.data_dir))
    return folder


def test_a_search_is_of_the_project_it_is_called_in(call: Call, shop: Path) -> None:
    said = call("search", "tests")
    assert "How to run the tests" in said.out
    assert "core://style" in said.out  # of no project, so of every one
    assert "Nightly" not in said.out
    assert said.err.splitlines()[0] == "searched by words in project shop"
    assert "Nightly" in call("search", "tests", "--all-projects").out
    assert "How to run" not in call("search", "tests", "--project", "bank").out
    document = call("search", "tests", "--json").json
    assert document["projects"] == ["shop", ""]
    assert [each["rank"] for each in document["results"]] == [1, 2, 3]
    assert sorted(-each["score"] for each in document["results"]) == [-each["score"] for each in document["results"]]
    paged = [call("search", "tests", "--limit", "1", "--offset", str(at), "--json").json for at in range(3)]
    assert [page["results"][0]["seq"] for page in paged] == [each["seq"] for each in document["results"]]
    assert [page["more"] for page in paged] == [True, True, False]
    both = call("search", "tests", "--project", "shop", "--all-projects")
    assert (both.code, both.out) == (2, "")


def test_a_folder_without_memories_is_told_as_such(call: Call, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = shop.parent / "attic"
    empty.mkdir()
    monkeypatch.chdir(empty)
    for command in (["search", "zebra"], ["recent", "--kind", "observation"]):
        said = call(*command)
        assert (said.code, said.out) == (0, "")
        assert said.err.splitlines() == [
            "project attic has no memories yet", "to search every project, add --all-projects"
        ]  # fmt: skip
        assert "项目 attic 还没有记忆" in call(*command, "--lang", "zh").err
        assert "--all-projects" in call(*command, "--lang", "zh").err


def test_the_newest_are_listed_without_what_was_asked(call: Call, shop: Path) -> None:
    said = call("recent")
    heads = [line for line in said.out.splitlines() if not line.startswith("    ")]
    assert [head.split()[0] for head in heads] == ["core://style", "#1"]
    assert heads[1].endswith("How to run the tests")
    assert "#P" in call("recent", "--kind", "prompt").out
    everywhere = call("recent", "--all-projects", "--json").json
    assert [each["project"] for each in everywhere["memories"]][-3:] == ["", "bank", "shop"]  # one test adds to them
    one = call("recent", "-n", "1", "--json").json
    assert ([each["ref"] for each in one["memories"]], one["more"]) == (["core://style"], True)
    assert "更多" in call("recent", "-n", "1", "--lang", "zh").err


def test_a_memory_is_shown_whole_by_any_of_its_names(call: Call, shop: Path) -> None:
    for name in (["1"], ["#1"]):
        said = call("show", *name)
        assert (said.code, said.err) == (0, "")
        assert said.out.splitlines()[0] == "#1  How to run the tests"
        assert said.out.endswith("\nTests need DB_URL=postgres://localhost/test\n")
    assert "How do I run the tests?" in call("show", "P3").out
    assert "测试的名称要说明行为" in call("show", "core://style").out
    assert "测试的名称要说明行为" in call("show", "note", "core://style").out
    assert "core://style" in call("show", "core://style", "--lang", "zh").out
    assert call("show", "2").code == 0  # whatever its project: it was named
    document = call("show", "1", "--json").json
    assert (document["label"], document["content"]) == ("#1", "Tests need DB_URL=postgres://localhost/test")
    missing = call("show", "999")
    assert (missing.code, missing.out) == (3, "")
    assert call("show", "S1").code == 3
    assert call("show", "a name of nothing").code == 2


def test_where_a_memory_came_from_is_told_in_its_own_project(call: Call, shop: Path) -> None:
    assert call("why", "1").code == 0
    assert call("why", "core://style").code == 0
    said = call("why", "#2")
    assert (said.code, said.out) == (3, "")
    assert said.err.splitlines() == [
        "error: #2 belongs to project bank, not to shop", "hint: run: codexmem why '#2' --all-projects"
    ]  # fmt: skip
    assert call("why", "#2", "--all-projects").code == 0
    assert "属于项目 bank" in call("why", "2", "--lang", "zh").err


def test_what_is_remembered_is_found_and_given_to_the_next_session(
    call: Call, shop: Path, running: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shop.parent / "kiosk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    nothing = call("context")
    said = call("remember", "The kiosk prints receipts in 58 mm", "--title", "Paper")
    assert said.code == 0
    ref = said.out.strip()
    assert f"saved as {ref} in project kiosk" in said.err
    again = call("remember", "The kiosk prints receipts in 58 mm", "--title", "Paper", "--json").json
    assert (again["ref"], again["duplicate"], again["project"]) == (ref, True, "kiosk")
    assert call("search", "receipts", "--json").json["results"][0]["label"] == ref
    assert "58 mm" not in nothing.out
    told = call("context", "--json").json
    assert ref in told["text"]
    assert told["tokens"] > 20
    shown = call("context")
    assert shown.out.rstrip("\n") == told["text"]
    assert f"about {told['tokens']} tokens, 2 memories, project kiosk" in shown.err
    given = running.request("GET", f"/api/context?project=kiosk&session=next&cwd={folder}").body.decode()
    assert given == told["text"]
    prompt = call("context", "--prompt", "How wide are receipts of the kiosk printed?")
    assert (prompt.code, prompt.out) == (0, "")  # the session knows it from its start
    assert "would be given nothing more" in prompt.err
    assert "不会再得到" in call("context", "--prompt", "How wide are receipts?", "--lang", "zh").err
    empty = call("remember", "  ")
    assert (empty.code, empty.out) == (2, "")


def test_asking_what_would_be_given_leaves_nothing_behind(call: Call, shop: Path, running: Server) -> None:
    before = running.request("GET", "/api/sessions").json
    assert call("context").code == 0
    assert call("context", "--prompt", "How do I run the nightly tests?").code == 0
    assert running.request("GET", "/api/sessions").json == before


@pytest.mark.parametrize(
    "args,said",
    [
        (["undo", "nosuch", "--yes"], "there is nothing to undo for nosuch"),
        (["forget", "--id", "99999", "--yes"], "nothing to erase (#99999)"),
        (["forget", "--project", "nowhere", "--yes"], "nothing to erase (project nowhere)"),
    ],
)
def test_to_take_back_or_erase_nothing_is_not_found(call: Call, shop: Path, args: list[str], said: str) -> None:
    answer = call(*args)
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith(f"error: {said}\nhint: codexmem ")
    assert call(*args, "--json").json["error"]["code"] == "not_found"
    assert call(*args, "--lang", "zh").err.startswith("错误：")


def test_a_port_that_is_given_wins_over_what_a_server_says(
    call: Call, shop: Path, running: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with Server(other, settings={"CODEXMEM_EMBEDDER": "none"}) as second:
        assert second.post("/api/memory/save", {"text": "only the second knows", "project": "shop"}).status == 200
        monkeypatch.setenv("CODEXMEM_PORT", str(second.port))
        assert "only the second knows" in call("search", "second").out
        assert call("status", "--json").json["url"].endswith(f":{second.port}")
        event = '{"session_id": "of-the-second", "hook_event_name": "UserPromptSubmit", "prompt": "hello", "cwd": "/w"}'
        env = environment(running.data_dir, CODEXMEM_PORT=str(second.port), CODEXMEM_AUTOSTART="0")
        subprocess.run(
            [sys.executable, "-m", "codexmem.hook", "claude-code", "session-init"], input=event, env=env,
            text=True, check=True, capture_output=True,
        )  # fmt: skip
        assert "of-the-second" in second.request("GET", "/api/sessions").body.decode()
        assert "of-the-second" not in running.request("GET", "/api/sessions").body.decode()
        # It is not ours to stop, and ours cannot start there.
        stopped, started = call("stop"), call("start")
        assert (stopped.code, started.code) == (5, 5)
        assert f"already running at http://127.0.0.1:{running.port}" in started.err
        assert second.request("GET", "/api/readiness").status == 200
        flagged = call("status", "--data-dir", str(running.data_dir), "--json").json
        assert flagged["url"].endswith(f":{running.port}")


def test_a_port_that_is_taken_is_told_at_once(
    call: Call, home: Path, tmp_path: Path, running: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEXMEM_PORT", str(running.port))
    for command in (["start"], ["init", "--service", "none"]):
        said = call(*command)
        assert (said.code, said.out) == (5, "")
        assert f"port {running.port} is in use by the codexmem server of another data directory" in said.err
        assert f"codexmem config set port {running.port + 1}" in said.err
    monkeypatch.setattr(background, "_LOOK_S", 0.3)  # whoever has the next port never answers
    program = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{program}; time.sleep(600)"], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout is not None
            port = int(holder.stdout.readline())
            found = background.holder(port, tmp_path)
            said = call("start", "--port", str(port), "--lang", "zh")
        finally:
            holder.kill()
    assert said.code == 5
    assert f"端口 {port} 已被" in said.err
    assert found is not None
    if sys.platform == "linux":
        assert found.pid == holder.pid
        assert f"进程 {holder.pid}" in said.err


def test_settings_of_the_user_are_changed_by_command(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / ".config" / "codexmem" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\nlog_level = 'debug'\n")
    assert call("config", "set", "port", "8080").code == 0
    assert call("config", "get", "port").out == "8080\n"
    assert path.read_text().startswith("# mine\nlog_level = 'debug'\n")
    assert call("config", "set", "autostart", "off").code == 0
    assert call("config", "get", "autostart").out != "on\n"
    assert call("config", "unset", "port").code == 0
    assert call("config", "get", "port", "--json").json["origin"] == "default"
    gone = call("config", "unset", "port")
    assert (gone.code, gone.out) == (3, "")
    for args, code in ((["set", "prot", "1"], 3), (["set", "port", "many"], 2), (["set", "openai_api_key", "sk-1"], 2)):
        before = path.read_text()
        said = call("config", *args)
        assert (said.code, said.out) == (code, "")
        assert "hint: " in said.err
        assert path.read_text() == before
    assert "openai_api_key -" in call("config", "set", "openai_api_key", "sk-1").err
    monkeypatch.setenv("CODEXMEM_LOG_LEVEL", "error")
    outvoted = call("config", "set", "log_level", "info")
    assert "environment CODEXMEM_LOG_LEVEL overrides it" in outvoted.err
    assert "优先" in call("config", "set", "log_level", "info", "--lang", "zh").err


def test_a_key_is_read_from_standard_input(home: Path, tmp_path: Path) -> None:
    env = {**environment(tmp_path), "HOME": str(home), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    command = [sys.executable, "-m", "codexmem.cli", "config", "set", "openai_api_key", "-"]
    done = subprocess.run(command, env=env, input="sk-secret\n", text=True, capture_output=True, check=True)
    assert "sk-secret" not in done.stdout + done.stderr
    assert 'openai_api_key = "sk-secret"' in (tmp_path / "config" / "codexmem" / "config.toml").read_text()


def test_a_project_searched_by_meaning_is_not_said_to_have_no_vectors(
    call: Call, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, served = tmp_path / "kiosk", tmp_path / "served"
    folder.mkdir()
    served.mkdir()
    monkeypatch.chdir(folder)
    with Server(served, settings={"CODEXMEM_EMBEDDER": "local"}) as server:
        monkeypatch.setenv("CODEXMEM_DATA_DIR", str(server.data_dir))
        assert call("remember", "The kiosk prints receipts in 58 mm").code == 0

        def told() -> list[str]:
            return call("search", "receipts").err.splitlines()

        # Memories of no project are searched too, and there are none of those.
        wait_until(lambda: told() == ["searched by words and by meaning in project kiosk"], 20)


def test_a_report_tells_what_was_counted_and_nothing_else(
    call: Call, running: Server, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(running.data_dir))
    words = ("report", "--week", "--project", "ledger")
    nothing = call(*words, "--json").json
    assert (nothing["given"]["memories"], nothing["learned"]["memories"], nothing["cost"]["calls"]) == (0, 0, 0)
    saved = {"text": "Invoices are rounded half up", "title": "Rounding of invoices", "project": "ledger"}
    number = running.post("/api/memory/save", saved).json["id"]
    begun = {"contentSessionId": "r1", "project": "ledger", "prompt": "How are invoices rounded?"}
    assert running.post("/api/sessions/init", begun).status == 200
    assert running.request("GET", "/api/context?project=ledger&session=r1").status == 200

    told = call(*words, "--json").json
    assert told["given"] | {"tokens": 0} == {
        "starts": 1, "prompts": 0, "tokens": 0, "memories": 1, "used": 0, "corrected": 0,
    }  # fmt: skip
    assert (told["given"]["tokens"] > 0, told["learned"]["memories"], told["whole"]) == (True, 1, True)
    assert call("hide", f"#{number}").code == 0
    said = call(*words).out.splitlines()
    assert [line.split("  ")[0] for line in said] == [
        "project", "handed over", "used", "corrected", "learned", "cost",
    ]  # fmt: skip
    assert "1 memory, at 1 session start and 0 prompts" in said[1]
    assert "1 of these edited, replaced or put away" in said[3]
    assert said[5].endswith("no model was asked")
    assert "没有询问过模型" in call(*words, "--lang", "zh").out
    assert call(*words, "--days", "3").code == 2
