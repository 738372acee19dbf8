"""`mem-codecli config`: every key with its origin, trust given and taken back, files to start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

SECRET = "cm_verysecret_0123456789"


@pytest.fixture
def checkout(work: Path) -> Path:
    (work / ".git").mkdir()
    return work


def user_file(home: Path) -> Path:
    path = home / ".config" / "mem-codecli" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def test_list_shows_every_key_and_where_it_comes_from(
    call: Call, home: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = user_file(home)
    user.write_text("[search]\nlimit = 9\n")
    (checkout / ".mem-codecli.toml").write_text('project_id = "商店"\n')
    monkeypatch.setenv("MEM_CODECLI_INJECT_MODE", "both")
    said = call("config", "list", "--show-origin")
    assert said.code == 0
    rows = {line.split()[0]: line.split(maxsplit=2) for line in said.out.splitlines()}
    assert rows["search.limit"] == ["search.limit", "9", f"user file {user}"]
    assert rows["project_id"] == ["project_id", "商店", f"project file {checkout / '.mem-codecli.toml'}"]
    assert rows["inject.mode"] == ["inject.mode", "both", "environment MEM_CODECLI_INJECT_MODE"]
    assert rows["memory.on"] == ["memory.on", "off", "default"]
    document = call("config", "list", "--json").json["config"]
    assert document["search.limit"] == {
        "value": 9, "origin": f"user file {user}", "env": "MEM_CODECLI_SEARCH_LIMIT",
    }  # fmt: skip
    assert document["codecli.command"]["value"] == ["codecli"]
    assert document["memory.api_key"]["env"] == "MEMORY_API_KEY"


def test_the_key_of_the_memory_is_shown_nowhere(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_API_KEY", SECRET)
    for args in (["list"], ["list", "--show-origin"], ["list", "--json"], ["get", "memory.api_key"], ["path"]):
        said = call("config", *args)
        assert said.code == 0
        assert SECRET not in said.out + said.err
    assert call("config", "get", "memory.api_key").out == "(set)\n"
    assert call("config", "get", "memory.api_key", "--json").json["value"] == "set"


def test_get_prints_one_value_and_suggests(call: Call) -> None:
    assert call("config", "get", "search.min_score").out == "0.2\n"
    assert call("config", "get", "codecli.command").out == "codecli\n"
    assert call("config", "get", "policy.denylist").out == "-\n"
    said = call("config", "get", "search.limits")
    assert said.code == 3
    assert "did you mean 'search.limit'?" in said.err
    assert call("config", "get", "zzz", "--lang", "zh").err.startswith("错误：没有名为 zzz 的键")


def test_a_wrong_value_ends_every_command_with_what_to_write(call: Call, home: Path) -> None:
    user_file(home).write_text("[search]\nlimit = 'many'\n")
    said = call("config", "list")
    assert said.code == 2
    assert "search.limit must be a whole number from 1 to 20, not 'many'" in said.err
    assert "hint: for example, in [search]: limit = 6" in said.err
    chinese = call("config", "list", "--lang", "zh")
    assert "search.limit 的值有误" in chinese.err
    assert "例如：limit = 6" in chinese.err


def test_trust_makes_a_file_count_until_it_changes(call: Call, checkout: Path) -> None:
    path = checkout / ".mem-codecli.toml"
    path.write_text('[codecli]\ncommand = ["mine"]\n')
    said = call("config", "get", "codecli.command")
    assert said.out == "codecli\n"
    assert f"{path} is not trusted; ignored: codecli.command" in said.err
    assert "未被信任" in call("config", "list", "--lang", "zh").err
    assert "not trusted" in call("config", "path").out

    said = call("config", "trust")
    assert (said.code, said.out) == (0, f"{path} is now trusted\n")
    assert "it sets: codecli.command" in said.err
    said = call("config", "get", "codecli.command")
    assert (said.out, said.err) == ("mine\n", "")
    assert call("config", "path", "--json").json["trusted"] is True

    path.write_text('[codecli]\ncommand = ["changed"]\n')
    assert call("config", "get", "codecli.command").out == "codecli\n"
    assert call("config", "trust", str(path), "--json").json["keys"] == ["codecli.command"]
    assert call("config", "untrust").out == f"{path} is no longer trusted\n"
    assert call("config", "untrust").out == f"{path} was not trusted\n"
    assert call("config", "get", "codecli.command").out == "codecli\n"


def test_what_cannot_be_read_is_not_trusted(call: Call, checkout: Path) -> None:
    said = call("config", "trust")
    assert said.code == 3
    assert "there is no .mem-codecli.toml here" in said.err
    (checkout / ".mem-codecli.toml").write_text("[broken\n")
    said = call("config", "trust")
    assert said.code == 2
    assert "cannot be read" in said.err


def test_an_agent_cannot_trust_a_file_for_its_person(
    call: Call, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / ".mem-codecli.toml").write_text('[codecli]\ncommand = ["mine"]\n')
    monkeypatch.setenv("MEM_CODECLI_RUN_ID", "some run")
    said = call("config", "trust")
    assert said.code == 4
    assert "run it yourself: mem-codecli config trust" in said.err
    assert call("config", "get", "codecli.command").out == "codecli\n"
    monkeypatch.delenv("MEM_CODECLI_RUN_ID")
    assert call("config", "trust").code == 0


def test_a_removed_file_can_still_be_trusted_no_longer(call: Call, checkout: Path) -> None:
    path = checkout / ".mem-codecli.toml"
    path.write_text("")
    call("config", "trust")
    path.unlink()
    assert call("config", "untrust", str(path), "--json").json == {"path": str(path), "was_trusted": True}


def test_init_writes_a_file_to_start_from_and_leaves_what_is_there(call: Call, home: Path, checkout: Path) -> None:
    (checkout / "deep").mkdir()
    user, project = home / ".config" / "mem-codecli" / "config.toml", checkout / ".mem-codecli.toml"
    assert call("config", "init").out == f"{user} written\n"
    assert user.stat().st_mode & 0o777 == 0o600
    assert call("config", "init", "--project", "--project-id", "商店").out == f"{project} written\n"
    said = call("config", "list", "--show-origin")
    assert said.err == ""
    assert "商店" in said.out
    before = user.read_text()
    again = call("config", "init")
    assert (again.code, user.read_text()) == (5, before)
    assert "already exists" in again.err


def test_a_project_file_is_named_after_the_checkout(
    call: Call, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (checkout / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.com:team/shop.git\n')
    inner = checkout / "src"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert call("config", "init", "--project", "--json").json == {"path": str(checkout / ".mem-codecli.toml")}
    assert call("config", "get", "project_id").out == "shop\n"


def test_path_names_all_places(call: Call, home: Path, work: Path) -> None:
    assert call("config", "path", "--json").json == {
        "user_file": str(home / ".config" / "mem-codecli" / "config.toml"),
        "project_file": None,
        "trusted": False,
        "state_dir": str(home / ".local" / "state" / "mem-codecli"),
    }
