"""Both languages say the same things: same keys, same placeholders, nothing unused and nothing missing."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from codexmem.cli.root import cli
from codexmem.console import messages
from codexmem.console.output import EXIT_CODES
from codexmem.kernel.model import errors
from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.kernel.services.usage import EVENTS, MEMORIES, REQUESTS

EN, ZH = messages.texts("en"), messages.texts("zh")
CODES, ERRORS, HINTS, NOTES = (messages.chinese_errors()[part] for part in ("codes", "errors", "hints", "notes"))
SOURCE = Path(messages.__file__).parents[2]
# Of this command: the other one has its own texts.
CLI = [
    path.read_text()
    for path in SOURCE.rglob("*.py")
    if {"cli", "console"} & set(path.relative_to(SOURCE).with_suffix("").parts)
    and path.relative_to(SOURCE).parts[0] != "codecli"
]


def commands(group: click.Group = cli) -> Iterator[click.Command]:
    yield group
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found)
        else:
            yield found


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_catalogues_have_the_same_keys() -> None:
    assert EN.keys() == ZH.keys()
    assert all(EN.values())
    assert all(ZH.values())


def test_both_catalogues_name_the_same_values() -> None:
    assert {key for key in EN if placeholders(EN[key]) != placeholders(ZH[key])} == set()


def test_every_key_is_used() -> None:
    literals = {found for text in CLI for found in re.findall(r"""["']([a-z_]+(?:\.[a-z_]+)+)["']""", text)}
    of_commands = {
        f"{command.key}.{what}"  # type: ignore[attr-defined]
        for command in commands()
        for what in ("help", "example", "short")
    }
    parts = ("why", "how", "would")
    of_findings = {f"{key}.{what}" for key in literals if key.startswith("doctor.") for what in parts}
    of_settings = {key for key in EN if key.startswith("setting.")}
    unused = EN.keys() - literals - of_commands - of_findings - of_settings
    assert unused == set()
    assert (of_commands - {"codexmem.short"}) <= EN.keys()


def test_every_reason_has_its_chinese_text() -> None:
    told = re.compile(r'(?:"reason": |SignInRefused\(\s*)"([a-z_]+)"')
    reasons = {found for path in SOURCE.rglob("*.py") for found in told.findall(path.read_text())}
    # Limits are named by what they limit.
    limits = {REQUESTS, EVENTS, MEMORIES, "rate", "concurrency"}
    assert reasons | limits == ERRORS.keys()
    assert HINTS.keys() <= ERRORS.keys()


def test_notes_that_are_translated_are_those_of_the_search() -> None:
    """The Chinese of a note goes by its beginning, so that each must be one the search still says."""
    said = "".join((SOURCE / "kernel" / name).read_text() for name in ("search/finder.py", "model/search.py"))
    assert {note for note in NOTES if f'"{note}' not in said} == set()
    messages.use("zh")
    try:
        assert messages.say_note("no vectors: the server is away") == "没有用到向量：the server is away"
        assert messages.say_note("something new") == "something new"
    finally:
        messages.use("en")
    assert messages.say_note("no vectors: x") == "no vectors: x"


def test_every_error_code_has_a_chinese_name() -> None:
    codes = {
        value.code for value in vars(errors).values() if isinstance(value, type) and issubclass(value, CodexmemError)
    }
    assert codes <= CODES.keys()
    assert EXIT_CODES.keys() <= CODES.keys()


@pytest.mark.parametrize(
    "error,text",
    [
        (CodexmemError("boom"), "内部错误：boom"),
        (Unavailable("away"), "暂不可用：away"),
        (Unavailable("x", details={"reason": "store_in_use", "path": "/d"}), "数据库 /d 正在使用中"),
    ],
)
def test_errors_are_told_in_chinese_by_reason_then_by_code(error: CodexmemError, text: str) -> None:
    messages.use("zh")
    try:
        assert messages.explain(error)[0] == text
    finally:
        messages.use("en")
    assert messages.explain(error) == (error.message, error.hint)


@pytest.mark.parametrize(
    "count,said", [(0, "0 memories"), (1, "1 memory"), ("1", "1 memory"), ("1,001", "1,001 memories")]
)
def test_words_fit_their_counts(count: object, said: str) -> None:
    assert messages.say("undo.done", count=count) == f"{said} undone"
