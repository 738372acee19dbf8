"""`codexmem install` and `uninstall` as a person calls them: shown, asked, done, proven, taken back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from codexmem.agents import install
from codexmem.console.messages import chinese_errors
from tests._support.server import Server
from tests.cli.conftest import Call
from tests.cli.test_help import snapshot

QWEN = '{\n  // mine\n  "a": 1\n}\n'


@pytest.fixture
def settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody with Qwen Code, and no other agent on the PATH."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("CODEXMEM_AUTOSTART", "0")
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "QWEN_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    file = home / ".qwen" / "settings.json"
    file.parent.mkdir()
    file.write_text(QWEN)
    return file


def test_a_dry_run_shows_the_exact_change_and_makes_none(call: Call, settings: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    said = call("install", "--detect", "--dry-run")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"Qwen Code\nchanges {settings}\n--- {settings}\n+++ {settings}\n")
    assert '+  "a": 1,' in said.out
    (agent,) = call("install", "qwen", "--dry-run", "--json").json["agents"]
    assert (agent["agent"], agent["recording"], agent["files"][0]["change"]) == ("qwen-code", None, "change")
    assert agent["files"][0]["diff"] in said.out
    assert snapshot(tmp_path) == before


def test_nothing_is_changed_without_a_word(call: Call, settings: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    said = call("install", "--detect")
    assert (said.code, settings.read_text()) == (2, QWEN)
    assert "+++ " in said.err
    assert said.err.endswith("hint: add --yes to confirm\n")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "words,problem,hint",
    [
        (
            [],
            "name the agents, or use --detect",
            "found here: qwen-code; to connect all of them: codexmem install --detect",
        ),
        (["qwen", "--all"], "use either agent names, --detect or --all", "see: codexmem install --help"),
        (["qwne-code"], "unknown agent qwne-code", "did you mean: qwen-code"),
        (
            ["emacs"],
            "unknown agent emacs",
            "supported agents: codex, claude-code, cursor, gemini-cli, qwen-code, opencode, cline, copilot-cli, "
            "kimi-code",
        ),
    ],
)
def test_mistakes_are_answered_with_what_to_do(
    words: list[str], problem: str, hint: str, call: Call, settings: Path
) -> None:
    said = call("install", *words)
    assert (said.code, said.err) == (2, f"error: {problem}\nhint: {hint}\n")


def test_nobody_found(call: Call, settings: Path) -> None:
    settings.unlink()
    settings.parent.rmdir()
    said = call("install", "--detect", "--lang", "zh")
    assert said.code == 3
    assert said.err.startswith("错误：没有找到智能体")


def test_without_a_server_it_says_why_nothing_records(call: Call, settings: Path) -> None:
    said = call("install", "--detect", "--yes", "--port", "9")
    assert said.code == 1
    assert said.out.startswith("Qwen Code: not recording\n")
    assert "the codexmem server at http://127.0.0.1:9 does not answer" in said.out
    assert "run codexmem start, then codexmem logs" in said.out
    assert call("uninstall", "qwen-code", "--yes").code == 0
    assert settings.read_text() == QWEN


def test_a_malformed_file_stops_its_own_agent_only(call: Call, settings: Path, home: Path) -> None:
    settings.write_text('{"a": ')
    (home / ".gemini").mkdir()
    said = call("install", "--detect", "--yes", "--port", "9", "--json")
    assert said.code == 1
    gemini, qwen = said.json["agents"]
    assert qwen["refused"].startswith(f"{settings} was not changed: line 1, column 7: it ends too early. Fix the file")
    assert (qwen["files"], settings.read_text()) == ([], '{"a": ')
    assert "codexmem-hook" in (home / ".gemini" / "settings.json").read_text()
    assert gemini["refused"] is None
    again = call("uninstall", "--yes")
    assert again.code == 1
    assert not (home / ".gemini" / "settings.json").exists()


@pytest.mark.sqlite
def test_all_agents_are_proven_and_taken_out_again(
    call: Call, settings: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by the commands in its own files, in an environment without ours: the data directory is told there."""
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    (tmp_path / "data").mkdir()
    with Server(tmp_path / "data", settings={"CODEXMEM_EMBEDDER": "none"}):
        said = call("install", "--all", "--yes", "--json")
        agents = {agent["agent"]: agent for agent in said.json["agents"]}
        assert said.code == 1
        # Without its program, nobody can say whether Codex trusts the hooks.
        assert {name: agent["recording"] for name, agent in agents.items()} == {
            "codex": False, "claude-code": True, "cursor": True, "gemini-cli": True, "qwen-code": True,
            "opencode": True, "cline": True, "copilot-cli": True, "kimi-code": True,
        }  # fmt: skip
        (wrong,) = [check for check in agents["codex"]["checks"] if not check["ok"]]
        assert (wrong["check"], wrong["how"][:30]) == ("trust", "put codex on your PATH and run")
        assert [
            check["count"] for agent in agents.values() for check in agent["checks"] if check["check"] == "tools"
        ] == ([5] * 9)
        every = call("install", "qwen", "--tools", "all", "--yes", "--json").json["agents"][0]["checks"]
        assert [check["count"] for check in every if check["check"] == "tools"] == [21]
        # A switch of the person's is named, and stays.
        text = settings.read_text()
        settings.write_text(text.replace('"a": 1', '"disableAllHooks": true'))
        said = call("install", "qwen", "--yes")
        assert said.out.startswith("Qwen Code: not recording\n")
        assert f"hooks are turned off: disableAllHooks = true ({settings})" in said.out
        settings.write_text(text)
        removed = call("uninstall", "--yes", "--json").json
        assert len(removed["agents"]) == 9
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in home.iterdir()) == [".qwen"]
    assert call("uninstall", "--yes").out == "codexmem is not installed in any agent\n"


def test_a_change_since_is_told(call: Call, settings: Path) -> None:
    call("install", "qwen", "--yes", "--port", "9")
    settings.write_text(settings.read_text().replace('"a": 1', '"a": 2'))
    said = call("uninstall", "--dry-run")
    assert f"{settings} was changed since; only the codexmem entries are removed" in said.out
    said = call("uninstall", "--yes")
    assert f"{settings} was changed since" in said.out
    assert settings.read_text() == QWEN.replace('"a": 1', '"a": 2')


def test_a_key_is_never_written_into_an_agents_files(
    call: Call, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEXMEM_API_KEY", "ck_secret_key_of_mine")
    monkeypatch.setenv("CODEXMEM_URL", "http://127.0.0.1:9")
    call("install", "qwen", "--yes")
    assert "ck_secret" not in settings.read_text()
    entry = json.loads(settings.read_text().replace("// mine", ""))["mcpServers"]["codexmem"]
    assert entry["args"][-2:] == ["--url", "http://127.0.0.1:9"]


def test_what_is_wrong_with_a_file_is_said_in_chinese(
    call: Call, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text('{"a": dark}')
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    said = call("install", "qwen-code", "--yes")
    assert said.code == 1
    assert f"{settings} 未更改：第 1 行第 7 列：此处应为一个值。请修正或移走该文件，然后重新执行" in said.out


def test_every_reason_to_leave_a_file_alone_has_chinese_words() -> None:
    said = re.compile(
        r"""(?:InstallRefused|MalformedToml|MalformedJsonc)\((?:[\w.]+, )?(?:[\w.]+\([\w()]+, )?f?"([^"]+)"""
    )
    sources = Path(install.__file__).parent.rglob("*.py")
    found = {reason for path in sources for reason in said.findall(path.read_text())}
    bare = {reason.removeprefix("line 1, column 1: ") for reason in found}
    # These name what stands in the person's file.
    bare = {reason for reason in bare if not reason.startswith("{'.'.join")}
    spelled = {reason.replace("{close}", close) for reason in bare for close in ("}", "]")}
    assert len(spelled) > 10
    assert spelled <= chinese_errors()["refusals"].keys()
