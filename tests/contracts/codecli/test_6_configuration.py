"""Contract 001 §6: both configuration files with every key that it names, the key of the memory, and what wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

NAMED = {
    "project_id": "shop",
    "memory.base_url": "https://memory.example.com",
    "memory.timeout_ms": 900,
    "search.limit": 11,
    "search.min_score": 0.4,
    "inject.mode": "both",
    "gatekeeper.mode": "hard",
    "audit.mode": "auto",
    "policy.allowlist": ["Read"],
    "policy.denylist": ["Bash"],
    "redact.level": "strict",
}
TOML = """\
project_id = "shop"
[memory]
base_url = "https://memory.example.com"
timeout_ms = 900
[search]
limit = 11
min_score = 0.4
[inject]
mode = "both"
[gatekeeper]
mode = "hard"
[audit]
mode = "auto"
[policy]
allowlist = ["Read"]
denylist = ["Bash"]
[redact]
level = "strict"
"""


def values(call: Call) -> dict[str, object]:
    said = call("config", "list", "--json")
    assert said.code == 0, said.out
    return {name: each["value"] for name, each in said.json["config"].items() if name in NAMED}


def origins(call: Call) -> set[str]:
    listed = call("config", "list", "--json").json["config"]
    return {listed[name]["origin"] for name in NAMED}


@pytest.mark.clause("001 §6.1", "~/.config/mem-codecli/config.toml with every key of the contract")
def test_the_users_file(call: Call, home: Path) -> None:
    path = home / ".config/mem-codecli/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(TOML)
    assert values(call) == NAMED
    assert origins(call) == {f"user file {path}"}


@pytest.mark.clause("001 §6.1", ".mem-codecli.toml in the project, once a person trusts it")
def test_the_projects_file(call: Call, work: Path) -> None:
    path = work / ".mem-codecli.toml"
    path.write_text(TOML)
    assert call("config", "trust").code == 0
    assert values(call) == NAMED
    assert origins(call) == {f"project file {path}"}


@pytest.mark.clause("001 §1.2.4", "project, address, thresholds, template and redaction by file, and by environment")
def test_everything_is_configurable_by_file_and_by_environment(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("project_id", "memory.base_url", "search.min_score", "inject.template", "redact.level")
    wanted = ("shop", "https://memory.example.com", 0.4, "~/memory.txt", "strict")
    path = home / ".config" / "mem-codecli" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(TOML.replace('mode = "both"\n', 'mode = "both"\ntemplate = "~/memory.txt"\n'))
    listed = call("config", "list", "--json").json["config"]
    assert tuple(listed[name]["value"] for name in names) == wanted
    path.unlink()
    for name, value in zip(names, wanted, strict=True):
        monkeypatch.setenv("MEM_CODECLI_" + name.replace(".", "_").upper(), str(value))
    listed = call("config", "list", "--json").json["config"]
    assert tuple(listed[name]["value"] for name in names) == wanted


@pytest.mark.clause("001 §6.2", "MEMORY_API_KEY is read from the environment and printed by no command")
def test_the_key_is_printed_by_no_command(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "cm_verysecret_0123456789"
    monkeypatch.setenv("MEMORY_API_KEY", secret)
    monkeypatch.setenv("MEM_CODECLI_MEMORY_ON", "1")
    for args in (["config", "list", "--show-origin"], ["config", "get", "memory.api_key"], ["doctor"],
                 ["memory", "search", "--query", "x", "--project-id", "p"]):  # fmt: skip
        for form in ([], ["--json"], ["--debug"]):
            said = call(*args, *form)
            assert secret not in said.out + said.err
    assert call("config", "list", "--json").json["config"]["memory.api_key"]["origin"] == "environment MEMORY_API_KEY"
