"""The pins of the agents: exact, with hashes, naming no host; and the network that the tests run on."""

from __future__ import annotations

import errno
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from tests import issuer
from tests._support.npm_packages import LOCK, MANIFEST
from tests.agents.installation import HERE, Installation

PINNED = (HERE, Path(issuer.__file__).parent)


def read(name: str, folder: Path = HERE) -> Any:
    return json.loads((folder / name).read_text())


@pytest.mark.parametrize("folder", PINNED, ids=lambda each: each.name)
def test_every_package_of_the_lock_has_its_hash(folder: Path) -> None:
    packages = {name: package for name, package in read(LOCK, folder)["packages"].items() if name}
    assert packages
    assert [name for name, package in packages.items() if not package.get("integrity", "").startswith("sha512-")] == []


@pytest.mark.parametrize("folder", PINNED, ids=lambda each: each.name)
def test_the_lock_names_no_host(folder: Path) -> None:
    assert "resolved" not in (folder / LOCK).read_text()
    assert re.findall(r"https?://[^\"]+", (folder / LOCK).read_text()) == []


@pytest.mark.parametrize("folder", PINNED, ids=lambda each: each.name)
def test_the_lock_is_made_from_the_manifest(folder: Path) -> None:
    assert read(LOCK, folder)["packages"][""]["dependencies"] == read(MANIFEST, folder)["dependencies"]


def test_the_programs_are_the_pinned_ones(installation: Installation) -> None:
    pins = read(MANIFEST)["dependencies"]
    assert installation.describe().startswith(
        f"agents: codex-cli {pins['@openai/codex']}, Qwen Code {pins['@qwen-code/qwen-code']} (Node v"
    )


def test_an_installation_of_another_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "installed.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="--setup-only"):
        Installation.find(tmp_path)


@pytest.mark.process
def test_tests_of_agents_reach_loopback_and_nothing_else(alone: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(listener.getsockname(), timeout=5).close()
    if alone:
        # An address that is reserved for documentation: with any way out, connecting takes its time or fails otherwise.
        with pytest.raises(OSError, match=r"unreachable") as refused:
            socket.create_connection(("192.0.2.1", 80), timeout=5)
        assert refused.value.errno == errno.ENETUNREACH
