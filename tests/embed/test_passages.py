"""Passages: where a text is cut, in Chinese, English and code, and that it costs its length."""

from __future__ import annotations

import time

import pytest

from codexmem.kernel.embed.passages import LIMIT, passages


def test_a_short_text_is_one_passage_under_its_head() -> None:
    assert passages("Ports", "The API listens on 37877.") == ["Ports\nThe API listens on 37877."]
    assert passages("", "The API listens on 37877.") == ["The API listens on 37877."]
    assert passages("Ports", "") == ["Ports"]
    assert passages("", " \n ") == []


def test_a_head_that_begins_the_text_is_not_repeated() -> None:
    assert passages("Use WAL", "Use WAL mode.") == ["Use WAL mode."]


def test_text_is_cut_at_sentences_of_both_languages() -> None:
    english = passages("", "One two three. Four five six! Seven eight nine?", size=20)
    assert english == ["One two three.", "Four five six!", "Seven eight nine?"]
    chinese = passages("", "我们使用预写日志。缓存在启动时加载！端口是多少？", size=10)
    assert chinese == ["我们使用预写日志。", "缓存在启动时加载！", "端口是多少？"]


def test_code_is_cut_at_lines_and_names_stay_whole() -> None:
    code = "".join(f"value_{number} = settings.load({number}).port\n" for number in range(20))
    cut = passages("", code, size=100)
    assert all(line.startswith("value_") and line.endswith(".port") for part in cut for line in part.split("\n"))
    assert "\n".join(cut) + "\n" == code


def test_paragraphs_are_kept_together_where_they_fit() -> None:
    first, second = "a b. " * 12, "c d. " * 12
    assert passages("", f"{first}\n\n{second}", size=100) == [first.strip(), second.strip()]


@pytest.mark.parametrize("length", [LIMIT + 1, 100, 1000])
def test_of_many_passages_some_are_chosen_evenly_with_both_ends(length: int) -> None:
    body = "".join(f"sentence number {number:04d} stands here. " for number in range(length))
    cut = passages("", body, size=40)
    assert len(cut) == LIMIT
    assert "0000" in cut[0]
    assert f"{length - 1:04d}" in cut[-1]
    assert len(set(cut)) == LIMIT


def test_nothing_is_lost_of_a_text_that_fits() -> None:
    body = "甲乙丙。" * 300 + "no end at all " * 50
    assert "".join("".join(passages("", body, size=200, limit=100)).split()) == "".join(body.split())


@pytest.mark.parametrize("unit", ["x", "。", ". ", "\n", "a.b;c!d?e", " ", "…", "\n\n"])
def test_a_megabyte_of_anything_is_cut(unit: str) -> None:
    assert len(passages("head", unit * ((1 << 20) // len(unit)))) <= LIMIT


@pytest.mark.parametrize("unit", ["x", "。", ". ", "\n", "a.b;c!d?e", " ", "…", "\n\n"])
def test_a_megabyte_of_anything_costs_a_moment(unit: str) -> None:
    started = time.perf_counter()
    passages("head", unit * ((1 << 20) // len(unit)))
    assert time.perf_counter() - started < 5.0
