"""Cells of a terminal, and text that may be printed there."""

from __future__ import annotations

import sys

import pytest

from codexmem.console.output import Output, table
from codexmem.console.terminal_width import cells, cut, folded, one_line


@pytest.mark.parametrize(
    "text,count", [("", 0), ("abc", 3), ("端口", 4), ("ａ", 2), ("e\u0301", 1), ("a\u200db", 2), ("…", 1), ("ﾊﾟ", 2)]
)
def test_cells(text: str, count: int) -> None:
    assert cells(text) == count


@pytest.mark.parametrize(
    "text,width,shown",
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("服务器端口", 10, "服务器端口"),
        ("服务器端口", 9, "服务器端…"),
        ("服务器端口", 8, "服务器…"),  # half of a character is not shown
        ("two words", 5, "two…"),
        ("", 1, ""),
    ],
)
def test_a_cut_fits_and_says_that_it_is_one(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert cells(shown) <= width


@pytest.mark.parametrize(
    "text,shown",
    [
        ("\n\n  first \nsecond", "first"),
        ("red \x1b[31mtext\x07", "red  [31mtext"),
        ("file\u202egnp.exe", "file gnp.exe"),
        ("a\u2028b", "a"),
        ("tab\there", "tab here"),
        ("👩\u200d👧 保留", "👩\u200d👧 保留"),
        ("\ud800", ""),
        ("", ""),
    ],
)
def test_nothing_that_a_terminal_acts_upon_is_printed(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize(
    "text,width,shown",
    [
        ("can say what it means", 12, "can say what\nit means"),
        ("can say what it means", 11, "can say\nwhat it\nmeans"),
        ("  2  written by your login", 16, "  2  written by\n     your login"),
        ("- one two\n- three", 7, "- one\n  two\n- three"),
        ("记忆由规则写成，内容不离开", 14, "记忆由规则写\n成，内容不离开"),
        ("写入 config.toml 之后", 13, "写入\nconfig.toml\n之后"),
        ("abcdefghij", 4, "abcd\nefgh\nij"),
        ("fits", 9, "fits"),
        ("", 9, ""),
    ],
)
def test_a_message_breaks_between_words(text: str, width: int, shown: str) -> None:
    assert folded(text, width) == shown


def test_a_message_fits_its_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = "  1  memories are written by rules on this machine; nothing leaves it, whatever happens"
    Output().note(text)
    assert capsys.readouterr().err == f"{text}\n"  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    Output().note(text)
    assert capsys.readouterr().err.splitlines() == [
        "  1  memories are written by rules on this machine; nothing", "     leaves it, whatever happens",
    ]  # fmt: skip


def test_columns_line_up_with_wide_characters() -> None:
    assert table([["端口", "x"], ["abc", "y"]]) == "端口  x\nabc   y"
