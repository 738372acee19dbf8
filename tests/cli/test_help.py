"""`--help` shows and never acts; it is cheap, translated, and the commands answer mistakes with suggestions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from codexmem import __version__
from codexmem.cli.root import cli
from codexmem.console.command import IRREVERSIBLE
from tests.cli.conftest import ROOT, Call
from tests.cli.test_messages import commands

HEAVY = ("fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "pydantic", "rich", "pysqlite3", "asyncio")


def paths() -> list[list[str]]:
    found: list[list[str]] = []

    def walk(group: click.Group, path: list[str]) -> None:
        found.append(path)
        for name in group.list_commands(click.Context(group)):
            command = group.get_command(click.Context(group), name)
            if isinstance(command, click.Group):
                walk(command, [*path, name])
            else:
                found.append([*path, name])

    walk(cli, [])
    return found


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("path", paths(), ids=lambda path: " ".join(path) or "codexmem")
def test_help_shows_an_example_in_both_languages_and_never_acts(path: list[str], call: Call, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    english, chinese = call(*path, "--help"), call(*path, "--help", "--lang", "zh")
    assert (english.code, chinese.code, english.err, chinese.err) == (0, 0, "", "")
    assert english.out.startswith(f"Usage: {' '.join(['codexmem', *path])} [OPTIONS]")
    assert "Example:\n  codexmem" in english.out
    assert "--json" in english.out
    assert chinese.out.startswith("用法：codexmem")
    assert "示例:\n  codexmem" in chinese.out
    assert snapshot(tmp_path) == before


def test_help_with_all_else_on_the_line_never_acts(call: Call, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    assert call("serve", "--port", "0", "--help").code == 0
    assert call("search", "anything", "--help").code == 0
    assert call("index", "rebuild", "--help").code == 0
    assert call("restore", "/nowhere", "--yes", "--help").code == 0
    assert call("key", "create", "--label", "x", "--help").code == 0
    assert snapshot(tmp_path) == before


def test_there_are_as_many_commands_as_tests() -> None:
    assert len(paths()) == len(list(commands()))
    assert {path[0] for path in paths() if path} == {
        "init", "install", "uninstall", "writer", "block", "start", "stop", "status", "logs", "open",
        "serve", "worker", "mcp", "rpc", "hook", "search", "show", "recent", "remember", "context", "why", "stale",
        "review", "report", "plugins", "member", "group", "grant", "tenant", "cell",
        "memory", "kb", "qa", "sync", "workspace", "batch", "run",
        "rb", "product", "preset", "lab", "index", "import", "embed", "login", "logout", "whoami",
        "edit", "hide", "pin", "withhold", "deprecate", "share", "supersede", "merge", "split",
        "undo", "forget", "db", "backup", "restore", "doctor", "config", "key", "completion", "version",
    }  # fmt: skip


def test_cold_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from codexmem.console.command import run; from codexmem.cli.root import cli; run(cli, ['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": f"{ROOT}/src"}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stderr.strip() == "[]"


def test_bare_commands_show_their_help(call: Call) -> None:
    for path in (
        [],
        ["memory"],
        ["kb"],
        ["workspace"],
        ["batch"],
        ["run"],
        ["rb"],
        ["index"],
        ["import"],
        ["db"],
        ["config"],
        ["key"],
    ):
        said = call(*path)
        assert (said.code, said.out.startswith("Usage: codexmem")) == (0, True)


@pytest.mark.parametrize(
    "args,hint",
    [
        (["sevre"], "did you mean: codexmem serve"),
        (["bakcup"], "did you mean: codexmem backup"),
        (["db", "upgrad"], "did you mean: codexmem db upgrade"),
        (["zzz"], "see: codexmem --help"),
        (["serve", "--prot", "1"], "did you mean: --host, --port"),
        (["get", "24"], "did you mean: codexmem show"),
        (["save", "x"], "did you mean: codexmem remember"),
        (["add"], "did you mean: codexmem remember"),
        (["list"], "did you mean: codexmem recent"),
        (["ls"], "did you mean: codexmem recent"),
        (["fix"], "did you mean: codexmem doctor --fix"),
        (["nosuch"], "see: codexmem --help"),
    ],
)
def test_mistyped_commands_get_a_suggestion(args: list[str], hint: str, call: Call) -> None:
    said = call(*args)
    assert said.code == 2
    assert said.out == ""
    assert said.err.splitlines()[1] == f"hint: {hint}"


@pytest.mark.parametrize("group", [[], ["memory"], ["kb"], ["key"], ["workspace"], ["rb"]])
def test_a_mistyped_command_is_never_answered_with_one_that_cannot_be_undone(group: list[str], call: Call) -> None:
    for meant in sorted(IRREVERSIBLE):
        for place in range(len(meant)):
            typed = meant[:place] + meant[place + 1 :]
            said = call(*group, typed) if typed and typed not in IRREVERSIBLE else None
            hint = said.err.splitlines()[-1] if said is not None and said.err else ""
            assert hint.split(" ")[-1] not in IRREVERSIBLE, (typed, hint)
    assert "forget" not in call("get", "24").err
    assert "forget" not in call("forgt").err


def test_help_shows_what_one_developer_needs_and_the_rest_on_request(call: Call) -> None:
    def commands(text: str) -> set[str]:
        return set(re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE))

    few, all_ = call("--help").out, call("--help", "--all").out
    assert len(commands(few)) == 15
    assert {"init", "install", "search", "remember", "why", "undo", "doctor"} <= commands(few)
    assert commands(all_) == {path[0] for path in paths() if path}
    assert f"{len(commands(all_)) - 15} more commands: codexmem --help --all" in few
    assert "more commands" not in all_
    assert call("--all", "-h").out == all_
    assert "个命令" in call("--help", "--lang", "zh").out
    assert call("recent", "--all").code == 2


def test_help_and_version_have_their_short_ways(call: Call) -> None:
    assert call("-h").out == call("--help").out
    assert call("memory", "read", "-h").out == call("memory", "read", "--help").out
    assert call("--version").out == f"codexmem {__version__}\n"
    assert call("--version", "--json").json == {"version": __version__}


def test_commands_stand_in_groups_in_both_languages(call: Call) -> None:
    english, chinese = (call("--help", "--all", "--lang", each).out.splitlines() for each in ("en", "zh"))
    heads = ["Everyday:", "Notes and knowledge:", "Agents:", "Server and store:", "Lab:",
             "Plumbing, called by programs and operators:", "Options:"]  # fmt: skip
    places = [english.index(head) for head in heads]
    assert places == sorted(places)
    firsts = {"日常": "search", "笔记与知识": "memory", "智能体": "init", "服务器与数据库": "status", "实验室": "lab",
              "底层命令，由程序和运维人员调用": "mcp"}  # fmt: skip
    for head, command in firsts.items():
        assert chinese[chinese.index(f"{head}:") + 1].split()[0] == command


def test_usage_errors_speak_chinese(call: Call) -> None:
    said = call("sevre", "--lang", "zh")
    assert said.err == "错误：没有命令 sevre\n提示：您是否想用：codexmem serve\n"
    assert call("config", "get", "--lang=zh").err.startswith("错误：缺少 NAME")
    assert call("version", "--bad", "--lang=zh").err.startswith("错误：没有选项 --bad")
