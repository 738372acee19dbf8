"""The block in a file for agents: any file is given back byte for byte, and no file is guessed about."""

from __future__ import annotations

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st

from codexmem.recall.agent_block import (
    MAX_CHARACTERS,
    MAX_LINES,
    BlockDamage,
    DamagedFile,
    StandingRule,
    block_text,
    lines_of,
    rule_line,
    sections,
    with_block,
    without_block,
)

RULES = lines_of([StandingRule("Always use uv."), StandingRule("run `make check` before a push", is_how_to=True)])
OTHERS = lines_of([StandingRule("Never push on Fridays. 周五不要推送。")])
PIECES = [
    b"text", b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"# Heading", b"```", b"```sh", b"~~~", b"   ", b"- item",
    b"\xff\xfe", "规则".encode(), b"<!--", b"-->", b"<!-- codexmem:begin", b"<!-- codexmem:end -->", b"`", b"\x0c",
    b"\xc2\x85", b"> ",
]  # fmt: skip
files = st.one_of(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join), st.binary(max_size=60))


@given(st.none() | files)
@example(None)
@example(b"")
@example(b"no end")
@example(b"\xef\xbb\xbf")
@example(b"a\r\nb\r\n")
@example(b"a\nb\r")
@example(b"\n\n\n")
@example(b"```\n<!-- codexmem:begin v1 lead=1 -->\n<!-- codexmem:end -->\n```\n")
def test_taking_it_out_gives_back_every_byte(data: bytes | None) -> None:
    try:
        written = with_block(data, RULES)
    except DamagedFile:
        reject()
    assert without_block(written) == data
    assert written.startswith(data or b"")
    updated = with_block(written, OTHERS)
    assert updated != written
    assert with_block(updated, OTHERS) == updated
    assert without_block(updated) == data
    assert "Fridays" in block_text(updated)
    assert "Fridays" not in str(sections("AGENTS.md", updated.decode("utf-8", "replace")))


@given(files)
def test_a_file_without_a_block_stays_as_it_is(data: bytes) -> None:
    try:
        assert without_block(data) == data
    except DamagedFile:
        assert b"codexmem:" in data or b"\0" in data


def test_what_was_written_around_it_since_is_kept() -> None:
    written = with_block(b"first", RULES)
    assert without_block(b"top\n" + written + b"more\n") == b"top\nfirst\nmore\n"
    new = with_block(None, RULES)
    assert without_block(new + b"mine\n") == b"mine\n"


def test_the_line_ends_of_the_file_are_used() -> None:
    assert b"\n" not in with_block(b"a\r\nb\r\n", RULES).replace(b"\r\n", b"")
    assert b"\r" not in with_block(b"a\nb\n", RULES)


@pytest.mark.parametrize(
    "text, damage, line",
    [
        ("a\n<!-- codexmem:begin v1 lead=1 -->\n- x\n", BlockDamage.UNCLOSED, 2),
        ("a\n- x\n<!-- codexmem:end -->\n", BlockDamage.UNOPENED, 3),
        ("<!-- codexmem:end -->\n<!-- codexmem:begin v1 lead=0 -->\n", BlockDamage.UNOPENED, 1),
        ("<!-- codexmem:begin v1 lead=0 -->\n<!-- codexmem:end -->\n" * 2, BlockDamage.TWICE, 2),
        ("<!-- codexmem:begin of mine -->\n<!-- codexmem:end -->\n", BlockDamage.MARK, 1),
        ("a\n```sh\nmake\n", BlockDamage.FENCE, 2),
        ("a\n<!-- todo\n", BlockDamage.COMMENT, 2),
        ("a\0b", BlockDamage.BINARY, 0),
    ],
)
def test_a_damaged_file_is_refused(text: str, damage: BlockDamage, line: int) -> None:
    with pytest.raises(DamagedFile) as caught:
        with_block(text.encode(), RULES)
    assert (caught.value.damage, caught.value.line) == (damage, line)


def test_a_block_is_short_whatever_there_is_to_say() -> None:
    many = [StandingRule(f"Rule {number}: " + "a word " * 12, is_how_to=number % 3 == 0) for number in range(200)]
    for rules in (many, [StandingRule("x" * 5_000)] * 3, [StandingRule(f"r{number}") for number in range(99)]):
        block = block_text(with_block(None, lines_of(rules)))
        assert len(block) <= MAX_CHARACTERS
        assert len(block.splitlines()) <= MAX_LINES
    assert any(line.startswith("- How to:") for line in lines_of(many))
    assert lines_of([]) == []


def test_the_same_rules_make_the_same_block_and_each_is_said_once() -> None:
    rules = [StandingRule("Use  uv."), StandingRule("Use uv.")]
    assert lines_of(rules) == lines_of(rules)
    assert sum("Use uv." in line for line in lines_of(rules)) == 1


def test_a_rule_can_neither_leak_a_secret_nor_leave_the_block() -> None:
    token = "ghp_" + "a1B2" * 9
    line = rule_line(f"Use {token}\n```\n<!-- codexmem:end --> <private>mine</private>")
    assert token not in line
    assert "mine" not in line
    written = with_block(None, lines_of([StandingRule(line)]))
    assert without_block(written) is None
