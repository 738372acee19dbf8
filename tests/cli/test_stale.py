"""`codexmem stale`: what has changed in the checkout, and what still holds, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.app import open_core
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.settings import load
from tests._support.git import Repository
from tests.cli.conftest import Call

pytestmark = [pytest.mark.sqlite, pytest.mark.process]


@pytest.fixture
def shop(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Three memories of three files, one of which was changed since, one moved and one removed."""
    made = Repository(tmp_path / "shop")
    made.commit("begin", "src/cart.py", "src/pay.py", "src/stock.py", "src/same.py")
    (made.path / "src/pay.py").write_text("pay\n")
    (made.path / "src/stock.py").write_text("stock\n")
    core = open_core(load({}))
    try:
        for name in ("cart", "pay", "stock", "same"):
            blob = f"{made.git('hash-object', f'src/{name}.py')} src/{name}.py"
            attrs = ObservationAttrs(files_modified=(f"src/{name}.py",), blobs=(blob,))
            state = State("x", attrs, project="shop", type="bugfix", title=f"About {name}")
            core.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.TOOL), WriteContext("test"))
    finally:
        core.close()
    (made.path / "src/cart.py").write_text("changed\n")
    made.git("add", ".")
    made.git("mv", "src/pay.py", "src/payment.py")
    made.git("rm", "-qf", "src/stock.py")
    monkeypatch.chdir(made.path / "src")
    return made


def test_it_lists_what_changed_and_renews_what_holds(call: Call, shop: Repository) -> None:
    said = call("stale")
    assert said.code == 0
    rows = [" ".join(line.split()) for line in said.out.splitlines()]
    assert [row.split()[0] for row in rows] == ["#1", "#2", "#3"]
    assert [row.endswith(end) for row, end in zip(rows, (
        "About cart src/cart.py", "src/pay.py → src/payment.py", "About stock src/stock.py"
    ), strict=True)] == [True] * 3  # fmt: skip
    assert "project shop: 4 compared, 1 changed, 0 changed nearby, 1 moved, 1 gone" in said.err
    chinese = call("stale", "--lang", "zh")
    assert "已变化" in chinese.out
    assert "已不存在 1 条" in chinese.err

    listed = call("stale", "--json", "-n", "2").json
    assert (listed["checked"], listed["more"], listed["root"]) == (4, True, str(shop.path))
    assert listed["counts"] == {"changed": 1, "nearby": 0, "moved": 1, "gone": 1}
    assert listed["memories"][1]["files"] == [
        {"path": "src/pay.py", "state": "moved", "moved_to": "src/payment.py"}
    ]  # fmt: skip

    renewed = call("stale", "--renew-all")
    assert sorted(renewed.out.split()) == ["#1", "#2"]
    assert "1 left because their files are gone" in renewed.err
    assert call("stale", "--json").json["counts"] == {"changed": 0, "nearby": 0, "moved": 0, "gone": 1}
    done = call("stale", "--renew", "3", "--json").json
    assert done["renewed"] == [3]
    assert "no file has changed" in call("stale").err
    assert call("undo", done["deltas"][0], "--yes").code == 0
    assert call("stale", "--json").json["counts"]["gone"] == 1
    assert "renew" in call("why", "#1").out


def test_commits_are_left_out_and_that_is_said(call: Call, shop: Repository) -> None:
    shop.commit(
        "fix: cap attempts\n\nThe upstream resets its window after 13 seconds, so more attempts fail.", "src/a.py"
    )
    assert call("import", "git", str(shop.path)).code == 0
    (shop.path / "src/a.py").write_text("changed since\n")
    said = call("stale")
    assert "1 imported commit was left out; to compare them as well: codexmem stale --commits" in said.err
    assert "4 compared" in said.err
    assert "5 compared, 2 changed" in call("stale", "--commits").err
    assert call("stale", "--project", "none", "--json").json["commits_left_out"] == 0
    shown = call("show", "5").out
    assert "cap attempts" in shown
    assert "blobs" not in shown


def test_what_is_refused_says_why(call: Call, shop: Repository, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = call("stale", "--renew", "4", "--lang", "zh")
    assert (said.code, "4 不是此项目中" in said.err) == (3, True)
    assert call("stale", "--renew", "1", "--renew-all").code == 2
    monkeypatch.chdir(home)
    said = call("stale")
    assert (said.code, "is not in a git checkout" in said.err) == (3, True)
