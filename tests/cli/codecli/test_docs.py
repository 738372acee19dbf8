"""The pages about `mem-codecli` say what the program does: every key with its variables, default and reach."""

from __future__ import annotations

import re

import pytest

from codexmem.codecli.cli.root import cli
from codexmem.codecli.config_table import KEYS, CheckoutAccess, Key
from tests.cli.codecli.test_help import paths
from tests.cli.conftest import ROOT

ENGLISH = (ROOT / "docs" / "codecli.md").read_text()
CHINESE = (ROOT / "docs" / "codecli.zh.md").read_text()
REACH = {
    CheckoutAccess.FREE: "是",
    CheckoutAccess.STRICTER: "仅收紧",
    CheckoutAccess.TRUSTED: "信任后",
    CheckoutAccess.NEVER: "从不",
}


def default(key: Key) -> str:
    value = key.default
    if isinstance(value, bool):
        return "`on`" if value else "`off`"
    if not value and not isinstance(value, int | float):
        return "–"
    return f"`{' '.join(value) if isinstance(value, tuple) else value}`"


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_the_reference_has_every_key_as_it_is(key: Key) -> None:
    variables = ", ".join(f"`{name}`" for name in (*key.variables, key.env))
    assert f"| `{key.name}` | {variables} | {default(key)} | {key.reach.value} | {key.help} |" in ENGLISH
    assert f"| `{key.name}` | {variables} | {default(key)} | {REACH[key.reach]} | " in CHINESE


def test_the_reference_has_no_other_key() -> None:
    for page, head in ((ENGLISH, "\n## Configuration\n"), (CHINESE, "\n## 配置\n")):
        section = page.partition(head)[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `([a-z_.]+)` \| `", section, re.MULTILINE)
        assert rows == [key.name for key in KEYS]


def test_every_command_is_on_the_page() -> None:
    assert cli.name == "mem-codecli"
    for page in (ENGLISH, CHINESE):
        missing = [path for path in paths() if path and not (path[0] in page and path[-1] in page)]
        assert missing == []


def test_every_check_of_doctor_is_on_the_page() -> None:
    source = (ROOT / "src" / "codexmem" / "codecli" / "cli" / "checks.py").read_text()
    checks = {"configuration", *re.findall(r'^        \("([a-z_]+)", ', source, re.MULTILINE)}
    assert len(checks) == 12
    for page in (ENGLISH, CHINESE):
        assert {check for check in checks if f"| {check} | " not in page} == set()


def test_links_lead_somewhere() -> None:
    for name, page in (("codecli.md", ENGLISH), ("codecli.zh.md", CHINESE)):
        for link in re.findall(r"\]\(([^)#:]+)\)", page):
            assert (ROOT / "docs" / link).exists(), f"{name}: {link}"
