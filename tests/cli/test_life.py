"""Acts on memories from the command line, in both languages; lists of what is hidden; bringing back what was undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("person")]


@pytest.fixture
def saved(call: Call) -> list[str]:
    """Numbers of three memories of the project `work`."""
    texts = ("the port is 8080", "端口是 9090", "tests need DB_URL")
    return [str(call("remember", text, "--json").json["id"]) for text in texts]


def recent(call: Call, *wanted: str) -> list[str]:
    return [str(row["seq"]) for row in call("recent", *wanted, "--json").json["memories"]]


def test_hidden_ones_are_listed_and_shown_again(call: Call, saved: list[str]) -> None:
    first, second, third = saved
    done = call("hide", first, f"#{second}", "--reason", "wrong")
    assert (done.code, done.out) == (0, f"#{first}  hidden\n#{second}  hidden\n")
    delta = call("hide", third, "--json").json["delta"]
    assert "2 memories changed" in done.err
    assert "to revert this: codexmem undo delta_" in done.err
    assert (recent(call), recent(call, "--life", "hidden")) == ([], [third, second, first])
    assert "已隐藏" in call("recent", "--life", "hidden", "--lang", "zh").out
    assert f"nothing to do for #{first}" in call("hide", first).err
    assert call("hide", "--off", first, second).out == f"#{first}  active\n#{second}  active\n"
    assert call("undo", delta, "--yes").code == 0
    assert recent(call) == [third, second, first]


def test_words_are_changed_merged_and_split(call: Call, saved: list[str], tmp_path: Path) -> None:
    first, second, third = saved
    assert call("edit", first, "the port is 7070", "--title", "Port").code == 0
    shown = call("show", first, "--json").json
    assert (shown["content"], shown["title"], shown["version"]) == ("the port is 7070", "Port", 2)
    stale = call("edit", first, "x", "--seen", "1", "--lang", "zh")
    assert (stale.code, "已被修改（现为第 2 版）" in stale.err) == (5, True)
    assert "(superseded)" not in call("merge", first, "--into", second, "--text", "端口是 7070").out
    assert recent(call, "--life", "superseded") == [first]
    assert "superseded" in call("show", first).out
    assert call("supersede", second, "--by", third).code == 0
    file = tmp_path / "parts.txt"
    file.write_text("one\n---\ntwo\nlines\n---\n")
    made = call("split", third, "--file", str(file), "--json").json
    assert [each["life"] for each in made["changed"]] == ["deprecated", "active", "active"]
    assert call("show", str(made["changed"][2]["id"]), "--json").json["content"] == "two\nlines"


def test_marks_are_told(call: Call, saved: list[str]) -> None:
    first, second, _ = saved
    assert call("pin", first).out == f"#{first}  active, pinned\n"
    assert "## Pinned\n" in call("context").out
    assert call("withhold", second, "--lang", "zh").out == f"#{second}  有效, 不交给智能体\n"
    assert "端口是 9090" not in call("context").out
    assert "withheld from agents" in call("show", second).out
    assert recent(call, "--mark", "withheld") == [second]
    assert call("search", "端口").out.rstrip().endswith("withheld from agents")
    assert call("withhold", "--off", second).code == call("pin", "--off", first).code == 0
    assert call("context").out.count("Pinned") == 0


def test_what_carries_the_text_is_counted_before_it_goes(call: Call, saved: list[str]) -> None:
    first, _, third = saved
    later = str(call("remember", "Ann says: the port is 8080, since May", "--json").json["id"])
    would = call("forget", first, "--follow", "--dry-run")
    assert would.out.startswith(f"this erases 2 memories (#{first} and 1 more, listed above):\n  #{first}  ")
    assert f"1 other memory carries the text and goes with it:\n  #{later}  " in would.err
    assert "no other memory carries the text\n" in call("forget", third, "--follow", "--dry-run").err
    assert "已彻底删除 2 条记忆" in call("forget", f"#{first}", "--follow", "--yes", "--lang", "zh").err
    assert call("show", later).code == 3


def test_refusals_say_what_to_do(call: Call, saved: list[str]) -> None:
    missing = call("hide", "99999", "--lang", "zh")
    assert (missing.code, "没有名为 #99999 的记忆" in missing.err) == (3, True)
    call("hide", saved[0])
    hidden = call("edit", saved[0], "x")
    assert (hidden.code, f"memory #{saved[0]} is hidden" in hidden.err) == (5, True)
    assert call("split", saved[1], "one").code == 2
    assert call("supersede", saved[1]).code == 2


def test_what_was_undone_is_brought_back_at_any_time(call: Call, saved: list[str]) -> None:
    delta = call("hide", *saved, "--json").json["delta"]
    undone = call("undo", delta, "--yes", "--json").json["delta"]
    again = call("undo", delta)
    assert (again.code, "nothing to undo" in again.err) == (3, True)
    assert call("undo", undone, "--yes").code == 0
    assert recent(call, "--life", "hidden") == saved[::-1]
