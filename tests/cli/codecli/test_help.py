"""Every command of `mem-codecli` has help with an example in both languages, shows and never acts, and is cheap."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from codexmem.codecli.cli.root import cli, own_part
from tests.cli.conftest import ROOT, Call
from tests.cli.test_help import HEAVY, snapshot


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


@pytest.mark.parametrize("path", paths(), ids=lambda path: " ".join(path) or "mem-codecli")
def test_help_shows_an_example_in_both_languages_and_never_acts(path: list[str], call: Call, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    english, chinese = call(*path, "--help"), call(*path, "--help", "--lang", "zh")
    assert (english.code, chinese.code, english.err, chinese.err) == (0, 0, "", "")
    assert english.out.startswith(f"Usage: {' '.join(['mem-codecli', *path])} [OPTIONS]")
    assert "--json" in english.out
    assert chinese.out.startswith("用法：mem-codecli")
    for said, head in ((english, "Example:\n  "), (chinese, "示例:\n  ")):
        assert "mem-codecli" in said.out.partition(head)[2].splitlines()[0]
    assert snapshot(tmp_path) == before


def test_the_commands_are_those_of_the_contract_and_ours() -> None:
    assert {" ".join(path) for path in paths() if path} >= {
        "run", "memory search", "memory hit", "memory candidate", "memory validate", "memory expire", "doctor",
        "policies check", "policies list", "policies explain", "audit ls", "audit show", "audit verify", "replay",
        "sessions ls", "sessions show", "version", "completion", "config list", "config get", "config path",
        "config trust", "config untrust", "config init",
    }  # fmt: skip


@pytest.mark.parametrize(
    "args,hint",
    [
        (["rnu"], "did you mean: mem-codecli run"),
        (["memory", "serch"], "did you mean: mem-codecli memory search"),
        (["zzz"], "see: mem-codecli --help"),
        (["memory", "search", "--min-scor", "x"], "did you mean: --min-score"),
    ],
)
def test_mistyped_commands_get_a_suggestion(args: list[str], hint: str, call: Call) -> None:
    said = call(*args)
    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines()[1] == f"hint: {hint}"


def test_bare_groups_show_their_help(call: Call) -> None:
    for path in ([], ["memory"], ["policies"], ["audit"], ["config"]):
        said = call(*path)
        assert (said.code, said.out.startswith("Usage: mem-codecli")) == (0, True)


@pytest.mark.parametrize(
    "arguments,ours",
    [
        (["memory", "search", "--query", "run", "--json"], 5),
        (["run", "--json", "exec", "--json", "--lang", "zh"], 2),
        (["--lang", "zh", "run", "-q", "--", "--json"], 4),
        (["--lang", "run", "doctor", "--json"], 4),
        (["run"], 1),
        ([], 0),
    ],
)
def test_common_options_are_not_taken_from_the_agents_arguments(arguments: list[str], ours: int) -> None:
    assert list(own_part(arguments)) == arguments[:ours]


def test_version_and_completion_say_what_they_are(call: Call) -> None:
    assert call("version").out.startswith("mem-codecli ")
    assert set(call("version", "--json").json) == {"version", "python"}
    for shell in ("bash", "zsh", "fish"):
        assert "_MEM_CODECLI_COMPLETE" in call("completion", shell).out
    assert call("completion", "powershell").code == 2


def test_the_completion_script_works_in_a_shell(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codexmem.codecli.cli"], capture_output=True, text=True, check=True,
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": f"{ROOT}/src", "_MEM_CODECLI_COMPLETE": "bash_complete",
             "COMP_WORDS": "mem-codecli memory se", "COMP_CWORD": "2"},
    )  # fmt: skip
    assert done.stdout == "plain,search\n"


def test_cold_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from codexmem.console.command import run; from codexmem.codecli.cli.root import cli;"
        "run(cli, ['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}/src"}
    done = subprocess.run([sys.executable, "-c", program], env=environ, check=True, capture_output=True, text=True)
    assert done.stderr.strip() == "[]"
