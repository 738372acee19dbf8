"""Texts on a command line that a TOML reader understands as they were meant."""

from __future__ import annotations

import tomllib

import hypothesis.strategies as st
from hypothesis import given

from codexmem.codecli.agents import codex_options


@given(text=st.text())
def test_a_text_comes_back(text: str) -> None:
    assert tomllib.loads(f"a = {codex_options.quoted(text)}")["a"] == text


def test_what_no_text_may_hold_is_replaced() -> None:
    text = codex_options.quoted("x\ud800y")
    assert tomllib.loads(f"a = {text}")["a"] == "x?y"


def test_a_value_is_toml_or_itself() -> None:
    assert codex_options.value_of('"quoted"') == "quoted"
    assert codex_options.value_of("just words") == "just words"
    assert codex_options.value_of("[1, 2]") == [1, 2]


def test_a_whole_value_on_one_line() -> None:
    value = {"a.b": [{"matcher": "*", "n": 5, "on": True, "x": 1.5}], "好": "\n"}
    assert codex_options.value_of(codex_options.inline(value)) == value
