"""The distribution is `codexmem-cli`: no page or hint tells people to install `codexmem`, another project on PyPI."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from codexmem.installation import DISTRIBUTION

ROOT = Path(__file__).parents[2]
_INSTALLER = r"(?:pip3?|pipx|uv|uvx|poetry|pdm|conda|rye)"
_VERB = r"(?:(?:pip|tool|install|upgrade|add|run|inject|uninstall|reinstall|(?!--from\b)--?[\w-]+(?:[= ]\S+)?)\s+)*"
STRANGER = re.compile(
    rf"\b{_INSTALLER}\s+{_VERB}[\"'`]?codexmem(?![\w.-])"  # pip install codexmem
    r"|(?<![\w/-])codexmem\[(?:[a-z]|\{)"  # codexmem[embed], codexmem[{extra}]
    r"|(?<![\w-])codexmem\s?(?:==|>=|~=|@ (?:git|file|http))"
    r"|pypi\.org/(?:project|simple|pypi)/codexmem(?![\w-])"
)  # fmt: skip


@pytest.mark.process
def test_nothing_tells_people_to_install_the_other_project() -> None:
    """Pages of the reference are made from texts that are searched here; the changelog tells what was."""
    command = [
        "git",
        "grep",
        "-I",
        "-h",
        "-B1",
        "-F",
        "codexmem",
        "--",
        ".",
        ":!CHANGELOG.md",
        ":!docs/reference",
        ":!share/man",
        f":!{Path(__file__).relative_to(ROOT)}",
    ]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, errors="replace").stdout
    assert len(text) > 100_000
    assert [each[0] for each in STRANGER.finditer(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "pip install codexmem", "pip install -U codexmem", "pip install 'codexmem[embed]'", "uv tool install codexmem",
        "uv tool upgrade codexmem", "uvx codexmem mcp", "pipx install `codexmem`", "uv pip install codexmem",
        "python -m pip install --index-url http://x codexmem", "pipx run codexmem", "codexmem==0.1",
        "codexmem[{extra}]", "https://pypi.org/project/codexmem/",
    ],
)  # fmt: skip
def test_a_planted_hint_is_found(text: str) -> None:
    assert STRANGER.search(text)
    assert not STRANGER.search(text.replace("codexmem", DISTRIBUTION))


@pytest.mark.parametrize(
    "text",
    [
        "uvx --from 'codexmem-cli[embed]' codexmem",
        "pip install . && codexmem init",
        "uv tool install '.[embed]'",
        "codexmem install",
    ],
)
def test_our_own_commands_are_not(text: str) -> None:
    assert not STRANGER.search(text)


def test_the_package_and_the_registry_entry_have_the_name() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == DISTRIBUTION
    entry = json.loads((ROOT / "server.json").read_text())["packages"][0]
    assert (entry["identifier"], entry["packageArguments"][:2]) == (
        DISTRIBUTION, [{"type": "positional", "value": "mcp"}, {"type": "positional", "value": "--toolset"}],
    )  # fmt: skip
