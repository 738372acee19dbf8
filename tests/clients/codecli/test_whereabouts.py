"""Which project, which memory and which agent a run is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.client import starting
from codexmem.codecli import project_context
from codexmem.codecli.agents import choosing
from codexmem.codecli.config_table import BY_NAME
from codexmem.codecli.configuration import CommandConfig, Config, MemoryConfig
from codexmem.kernel.model.errors import InvalidArgument, NotFound


def test_a_project_is_named_or_derived_as_the_hooks_do_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.com:team/商店.git\n')
    assert project_context.project(Config(project_id="named"), str(tmp_path)) == ("named", False)
    assert project_context.project(Config(), str(tmp_path)) == ("商店", True)
    assert project_context.given_project(Config(project_id="named")) == "named"
    with pytest.raises(InvalidArgument, match="no project is named"):
        project_context.given_project(Config())


def test_the_memory_is_where_it_is_configured_with_its_own_key_alone(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of this machine")
    environ = {"HOME": str(tmp_path), "CODEXMEM_DATA_DIR": str(tmp_path)}
    config = Config(memory=MemoryConfig(base_url="https://memory.example.com/api"))
    place = project_context.place(config, environ)
    assert (starting.address(place), starting.headers(place)) == ("https://memory.example.com/api", {})
    assert not place.may_start
    keyed = project_context.place(Config(memory=MemoryConfig(base_url="https://m.example", api_key="mine")), environ)
    assert starting.headers(keyed) == {"Authorization": "Bearer mine"}


def test_else_the_memory_is_the_server_of_this_machine(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "CODEXMEM_DATA_DIR": str(tmp_path), "CODEXMEM_PORT": "4711"}
    place = project_context.place(Config(), environ)
    assert (starting.address(place), place.may_start) == ("http://127.0.0.1:4711", False)
    (tmp_path / "server.json").write_text('{"url": "http://127.0.0.1:4712", "pid": 1}')
    (tmp_path / "token").write_text("of this machine")
    place = project_context.place(Config(), environ)
    assert starting.address(place) == "http://127.0.0.1:4712"
    assert starting.headers(place) == {"Authorization": "Bearer of this machine"}
    mine = project_context.place(Config(memory=MemoryConfig(api_key="mine")), environ)
    assert starting.headers(mine) == {"Authorization": "Bearer mine"}


def test_the_server_that_hooks_are_told_of_is_asked_too(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "CODEXMEM_URL": "https://team.example", "CODEXMEM_TOKEN": "of the team"}
    place = project_context.place(Config(), environ)
    assert starting.address(place) == "https://team.example"
    assert starting.headers(place) == {"Authorization": "Bearer of the team"}


def test_an_agent_is_what_is_configured_or_in_place_of_the_default_one_that_is_there(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    with pytest.raises(NotFound, match="nor is any agent we know"):
        project_context.agent(Config(), environ)
    program = tmp_path / "qwen"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert project_context.agent(Config(), environ) == ("qwen",)
    with pytest.raises(NotFound, match=r"mine is not on the PATH$"):
        project_context.agent(Config(codecli=CommandConfig(command=("mine", "-x"))), environ)
    assert project_context.agent(Config(codecli=CommandConfig(command=("qwen", "-x"))), environ) == ("qwen", "-x")


def test_every_adapter_and_stream_format_can_be_configured() -> None:
    for name in choosing.NAMES:
        assert BY_NAME["codecli.adapter"].parse(name) == name
    for name in choosing.STREAM_FORMATS:
        assert BY_NAME["codecli.stream_format"].parse(name) == name
    for key, names in (("codecli.adapter", choosing.NAMES), ("codecli.stream_format", choosing.STREAM_FORMATS)):
        with pytest.raises(ValueError, match=", ".join(names)):
            BY_NAME[key].parse("other")
