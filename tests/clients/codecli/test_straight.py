"""When a run becomes the agent and when it does not; and that deciding it loads next to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codexmem.codecli import exec_through, programs
from tests._support.wrapping import Place

ENVIRON_TELLS = "import json, os, sys\nprint(json.dumps([sys.argv[1:], os.path.basename(sys.argv[0])]))"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.program("import os\nos.write(1, b'pid %d' % os.getpid())")
    return made


def became(place: Place, *words: str) -> bool:
    """Whether the process that was started is the agent's."""
    command = [sys.executable, "-c", "import sys; from codexmem.codecli import exec_through; "
               "exec_through.go(sys.argv[1:]); print('did not')", *words]  # fmt: skip
    process = subprocess.Popen(command, env=place.environ, cwd=place.home / "work", stdout=subprocess.PIPE)
    said = process.communicate(timeout=20)[0].decode()
    assert said in {f"pid {process.pid}", "did not\n"}
    return said != "did not\n"


def configure(place: Place, text: str) -> None:
    folder = place.home / ".config" / "mem-codecli"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


@pytest.mark.clause("001 §3.2.3", "without --memory-on, and with --memory-off, a run is the agent itself")
@pytest.mark.parametrize("words", [(), ("exec", "--json"), ("--", "--memory-on"), ("--memory-off",), ("-p", "x"),
                                   ("--memory-off", "--", "x"), ("--model", "gpt")])  # fmt: skip
def test_nothing_of_ours_means_the_agent(place: Place, words: tuple[str, ...]) -> None:
    assert became(place, *words)


@pytest.mark.parametrize("words", [("--memory-on",), ("--tui",), ("--trace-json", "x"), ("--explain",), ("--help",),
                                   ("--audit", "auto"), ("--memory-of",), ("--record=x",), ("-q", "x")])  # fmt: skip
def test_an_option_of_ours_is_for_the_command(place: Place, words: tuple[str, ...]) -> None:
    assert not became(place, *words)


@pytest.mark.parametrize(
    "text,goes",
    [
        ("", True), ("project_id = 'shop'\n[memory]\non = false\n[audit]\nmode = 'off'", True),
        ("[memory]\ntimeout_ms = 5", True), ("[codecli]\ncommand = ['codecli']", True),
        ("[codecli]\ncommand = 'codecli'", True), ("[memory]\non = true", False), ("[audit]\nmode = 'prompt'", False),
        ("[memory]\non = 'yes'", False), ("memory = 5", False), ("[[codecli]]", False), ("not toml", False),
        ("[codecli]\ncommand = ['none-such']", False), ("[codecli]\ncommand = 'codecli --x'", False),
        ("[codecli]\ncommand = []", False), ("[codecli]\ncommand = [1]", False),
    ],
)  # fmt: skip
def test_the_users_file_is_asked(place: Place, text: str, goes: bool) -> None:
    configure(place, text)
    assert became(place) is goes


def test_memory_off_overrules_the_file_and_audit_does_not(place: Place) -> None:
    configure(place, "[memory]\non = true")
    assert became(place, "--memory-off", "x")
    (place.home / ".config/mem-codecli/config.toml").write_text("[memory]\non = true\n[audit]\nmode = 'auto'")
    assert not became(place, "--memory-off", "x")


def test_a_file_of_the_project_is_for_the_command(place: Place) -> None:
    (place.home / "work" / ".mem-codecli.toml").write_text("")
    assert not became(place)


def test_a_file_above_counts_only_within_a_checkout(place: Place) -> None:
    (place.home / ".mem-codecli.toml").write_text("")
    assert became(place)
    (place.home / ".git").mkdir()
    assert not became(place)


def test_variables_of_ours_are_for_the_command(place: Place) -> None:
    place.more["MEM_CODECLI_MEMORY_ON"] = "1"
    assert not became(place)


def test_the_first_agent_takes_the_place_of_codecli(tmp_path: Path) -> None:
    place = Place(tmp_path)
    environ = place.environ | {"PATH": str(tmp_path / "bin")}
    assert programs.command(("codecli",), environ) == ()
    for name in ("gemini", "claude"):
        place.shell("true", name)
    assert programs.command(("codecli",), environ) == ("claude",)
    place.shell("true", "codex")
    assert programs.command((), environ) == ("codex",)
    assert programs.command(("mine", "--flag"), environ) == ()
    place.shell("true", "mine")
    assert programs.command(("mine", "--flag"), environ) == ("mine", "--flag")
    assert programs.command((str(tmp_path / "bin" / "mine"),), environ) == (str(tmp_path / "bin" / "mine"),)
    (tmp_path / "bin" / "codex").chmod(0o600)
    assert programs.command((), environ) == ("claude",)


def test_agents_that_can_be_answered_are_looked_for_first() -> None:
    answered = ["codex", "claude", "qwen", "gemini", "opencode"]
    assert [*programs.known()] == [*answered, "cursor-agent", "cline", "copilot", "kimi", "goose", "aider"]


def test_we_are_not_our_own_agent(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(place.home / "bin" / "codecli")])
    (place.home / "bin" / "codex").symlink_to(place.home / "bin" / "codecli")
    assert programs.command((), {"PATH": str(place.home / "bin")}) == ()


@pytest.mark.clause("001 §3.1.1", "`run [--] <codecli args...>`: what follows -- or our options is the agent's")
@pytest.mark.parametrize(
    "given,ours,theirs",
    [
        ([], [], []), (["--"], [], []), (["--", "--"], [], ["--"]), (["x", "--memory-on"], [], ["x", "--memory-on"]),
        (["--memory-on", "x"], ["--memory-on"], ["x"]), (["--audit", "auto", "--", "-q"], ["--audit", "auto"], ["-q"]),
        (["--audit=auto", "-p", "--tui"], ["--audit=auto"], ["-p", "--tui"]), (["--project-id"], ["--project-id"], []),
        (["-q", "--stream", "x"], ["-q"], ["--stream", "x"]), (["", "--tui"], [], ["", "--tui"]),
    ],
)  # fmt: skip
def test_our_options_end_where_the_agents_words_begin(given: list[str], ours: list[str], theirs: list[str]) -> None:
    assert exec_through.split(given) == (ours, theirs)


def test_deciding_loads_next_to_nothing(place: Place) -> None:
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "from codexmem.codecli import exec_through; exec_through.split([])"],
        env=place.environ, capture_output=True, text=True, check=True,
    ).stderr  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in said.splitlines()}
    assert "codexmem.codecli.exec_through" in loaded
    assert not loaded & {"re", "enum", "typing", "pathlib", "json", "click", "subprocess", "signal", "dataclasses",
                         "tomllib", "socket", "threading", "contextlib", "shutil"}  # fmt: skip
