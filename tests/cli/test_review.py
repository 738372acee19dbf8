"""`codexmem review`: what waits for a person, and the decisions, by command and in both languages."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Call

OLD, NEW = "The dev server listens on port 5179.", "The dev server listens on port 6000."


@pytest.fixture
def pair(call: Call) -> str:
    """A contradiction that waits, as its id."""
    for text in (OLD, NEW, "Staging is wiped every night."):
        assert call("remember", text, "-q").code == 0
    done = call("review", "scan", "--json").json
    assert done == {"claims": 3, "found": 1, "merged": 0, "deltas": []}
    (item,) = call("review", "--json").json["items"]
    assert (item["reason"], item["sentences"], item["older"]["content"]) == ("contradiction", [NEW, OLD], OLD)
    return str(item["id"])


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "lang, listed, done, nothing",
    [
        ("en", "contradiction  100%  work", "the newer memory has replaced the older one", "nothing waits"),
        ("zh", "矛盾  100%  work", "较新的记忆已取代较旧的", "没有等待裁定的内容"),
    ],
)
def test_a_pair_is_listed_decided_and_brought_back(
    call: Call, pair: str, lang: str, listed: str, done: str, nothing: str
) -> None:
    said = call("review", "--lang", lang)
    assert said.out.splitlines()[0] == f"{pair}  {listed}"
    assert [OLD in said.out, NEW in said.out] == [True, True]
    decided = call("review", "supersede", pair, "--because", "moved", "--lang", lang)
    assert (decided.code, done in decided.err) == (0, True)
    empty = call("review", "--lang", lang)
    assert (empty.out, nothing in empty.err) == ("", True)
    assert call("undo", decided.out.strip(), "--yes").code == 0
    assert call("review", "list", "--reason", "contradiction", "--json").json["counts"]["contradiction"] == 1


@pytest.mark.sqlite
def test_keeping_both_is_taken_back_by_name(call: Call, pair: str) -> None:
    kept = call("review", "keep", pair)
    assert f"codexmem review keep {pair} --off" in kept.err
    assert call("review", "--json").json["items"] == []
    assert call("review", "keep", pair, "--off").code == 0
    assert len(call("review", "--json").json["items"]) == 1


@pytest.mark.sqlite
def test_what_cannot_be_decided_is_said_with_its_code(call: Call, pair: str) -> None:
    newer, _, older = pair.partition(":")
    for args, code, english, chinese in (
        (("merge", "x"), 2, "x is not a pair such as 12:7", "x 不是一对记忆，例如 12:7"),
        (("approve", pair), 2, f"{pair} is not the number of a memory", "不是记忆的编号"),
        (("keep", f"{newer}:999"), 3, "2:999 never waited for a decision", "2:999 从未等待裁定"),
        (("approve", older), 5, f"#{older} is not proposed", "不是待同意的提议"),
    ):
        for language, expected in (("en", english), ("zh", chinese)):
            said = call("review", *args, "--lang", language)
            assert (said.code, expected in said.err) == (code, True), said


@pytest.mark.sqlite
def test_a_rejected_change_brings_back_what_was_agreed_to(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    call("memory", "create", "core://rules", "Run the linter", "--priority", "1")
    (item,) = call("review", "--json").json["items"]
    number = str(item["id"])
    with monkeypatch.context() as typing:
        typing.setattr("codexmem.console.backend.is_person", lambda: True)
        assert call("review", "approve", number).code == 0
    refused = call("memory", "delete", "core://rules", "--yes", "--lang", "zh")
    assert (refused.code, "是已同意的核心笔记：只有人可以移除它" in refused.err) == (5, True)
    assert "it is proposed" in call("memory", "update", "core://rules", "--priority", "6").err
    assert "Run the linter" in call("context").out
    monkeypatch.setattr("codexmem.console.backend.is_person", lambda: True)
    done = call("review", "reject", number)
    assert (done.code, "it says again what was agreed to before" in done.err) == (0, True)
    assert call("memory", "read", "core://rules", "--json").json["priority"] == 1


@pytest.mark.sqlite
@pytest.mark.parametrize("lang, line", [("en", "priority: 1 → 9"), ("zh", "优先级：1 → 9")])
def test_a_proposal_that_changes_only_the_priority_says_so(
    call: Call, lang: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("memory", "create", "core://rules", "Run the linter", "--priority", "1").code == 0
    (item,) = call("review", "--json").json["items"]
    with monkeypatch.context() as somebody:
        somebody.setattr("codexmem.console.backend.is_person", lambda: True)
        assert (item["changes"], call("review", "approve", item["id"]).code) == ([], 0)
    assert call("memory", "update", "core://rules", "--priority", "9").code == 0
    assert line in call("review", "--lang", lang).out
