"""Evidence of runs: aliases in the order of first sight, never another piece's, kept as they were seen."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.job import Canceled
from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.store.database import acting_as
from codexmem.lab.model import Overrides, RunTask
from codexmem.lab.service import evidence as service
from codexmem.lab.service.evidence import RunShelf, place_of
from tests._support.documents import written
from tests._support.lab import SECRET, LabBench, StepAgent
from tests.services.lab.conftest import Build

KB = "kb_principles"


def task_of(bench: LabBench, **fields: Any) -> RunTask:
    batch, (run,) = bench.order(**fields)
    return RunTask(run, batch.user_request, 1, 0.0, False, batch.config_snapshot)


def shelf_of(bench: LabBench, task: RunTask) -> RunShelf:
    return bench.lab.shelving.shelves.shelf(task)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(
        tmp_path / "kb", copper="# Copper\n\nCopper couples CO.", silver="# Silver\n\nSilver gives CO.",
        zh="# 铜\n\n铜位点有利于偶联 CO。",
    )  # fmt: skip


@pytest.fixture
def bench(build: Build, folder: Path) -> LabBench:
    return build(StepAgent(), kb_principles_dir=folder)


def test_aliases_are_given_in_order_and_stay(bench: LabBench, folder: Path) -> None:
    task = task_of(bench)
    shelf = shelf_of(bench, task)
    (copper,) = shelf.query(KB, "couples", "words", 1)
    assert (copper.alias, copper.source, copper.kb_namespace) == ("C1", "copper.md", KB)
    assert copper.ref == f"kb:{KB}__{copper.chunk_id}"
    more = shelf.query(KB, "CO", "words", 5)
    assert sorted(each.alias for each in more) == ["C1", "C2", "C3"]
    assert next(each for each in more if each.alias == "C1") == copper
    # After a crash another attempt has another shelf over the same aliases.
    again = shelf_of(bench, task)
    assert again.query(KB, "CO", "words", 5) == more
    assert (again.get("C1"), again.list(2)) == (copper, (3, ["C1", "C2"]))
    for alias in ("C4", "C0", "c1", "C01", "C-1", "", "C99999999999999999999", "[C1]"):
        assert again.get(alias) is None
    # Another run begins at C1 with what it sees first.
    other = shelf_of(bench, task_of(bench))
    (silver,) = other.query(KB, "silver", "words", 1)
    assert (silver.alias, silver.ref != copper.ref, other.list(5)) == ("C1", True, (1, ["C1"]))


def test_evidence_keeps_what_was_seen(bench: LabBench, folder: Path) -> None:
    task = task_of(bench)
    shelf = shelf_of(bench, task)
    (seen,) = shelf.query(KB, "couples", "words", 1)
    library, evidence = bench.lab.shelving.library, bench.lab.shelving.evidence
    library.remove(KB, str(folder), ["copper.md"], WriteContext("test"))
    assert shelf.query(KB, "couples", "words", 1) == []
    assert evidence.one(task.run.id, "C1") == seen
    assert evidence.of(task.run.id, "C1") == seen
    library.get(seen.ref)  # an archived piece can still be read by its reference
    every = Filter(frozenset({Kind.CHUNK}), statuses=frozenset(Status))
    library._history.forget(
        [memory.seq for memory in bench.memories.page(every, PageRequest(500)).items], WriteContext("test")
    )
    assert bench.memories.page(every, PageRequest(500)).items == ()
    assert evidence.one(task.run.id, "C1").content == "# Copper\n\nCopper couples CO."


def test_pages_and_what_is_not_there(bench: LabBench) -> None:
    task = task_of(bench)
    evidence = bench.lab.shelving.evidence
    assert evidence.page(task.run.id) == ([], None)
    shelf_of(bench, task).query(KB, "CO", "words", 5)
    first, after = evidence.page(task.run.id, limit=2)
    assert ([each.alias for each in first], [each.content for each in first], after) == (["C1", "C2"], ["", ""], 2)
    rest, end = evidence.page(task.run.id, after=2, limit=2, content=True)
    assert ([each.alias for each in rest], bool(rest[0].content), end) == (["C3"], True, None)
    for run_id, alias in ((task.run.id, "C9"), (task.run.id, "x"), ("run_none", "C1")):
        with pytest.raises(NotFound):
            evidence.one(run_id, alias)
    with pytest.raises(NotFound):
        evidence.page("run_none")


def test_two_attempts_at_once_share_one_numbering(bench: LabBench, tmp_path: Path) -> None:
    task = task_of(bench)
    words = ["couples", "silver", "偶联", "CO"]
    tenant, failures = bench.db.acting_tenant(), []
    shelf_of(bench, task).query(KB, "nothing at all", "words", 1)

    def ask(word: str) -> None:
        try:
            with acting_as(tenant):
                shelf_of(bench, task).query(KB, word, "words", 3)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(word,)) for word in words * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    shown, _ = bench.lab.shelving.evidence.page(task.run.id, content=True)
    assert [each.alias for each in shown] == [f"C{number}" for number in range(1, len(shown) + 1)]
    assert len({each.ref for each in shown}) == len(shown) >= 3


def test_a_key_of_ours_is_masked_in_evidence_too(bench: LabBench, folder: Path) -> None:
    written(folder, leak=f"# Leak\n\nThe key is {SECRET} and more.")
    (seen,) = shelf_of(bench, task_of(bench)).query(KB, "leak", "words", 1)
    assert SECRET not in seen.content


def test_a_folder_is_read_before_the_first_answer_and_not_again_for_a_while(
    bench: LabBench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bench.lab.shelving.library.holdings() == []
    shelf_of(bench, task_of(bench)).query(KB, "CO", "words", 5)
    written(folder, gold="# Gold\n\nGold gives CO.")
    assert len(shelf_of(bench, task_of(bench)).query(KB, "CO", "words", 5)) == 3
    monkeypatch.setattr("codexmem.lab.service.syncing.FRESH_S", 0.0)
    assert len(shelf_of(bench, task_of(bench)).query(KB, "CO", "words", 5)) == 4
    # A disk that is away for a while takes nothing with it.
    folder.rename(folder.with_name("away"))
    assert len(shelf_of(bench, task_of(bench)).query(KB, "CO", "words", 5)) == 4
    assert shelf_of(bench, task_of(bench)).query("kb_modulation", "CO", "words", 5) == []


def test_overrides_lie_below_roots_and_are_kept_apart(
    build: Build, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots, outside = tmp_path / "roots", written(tmp_path / "outside", a="# A\n\nCO outside.")
    mine = written(roots / "mine", a="# A\n\nCO in mine.")
    (roots / "link").symlink_to(outside)
    bench = build(StepAgent(), kb_principles_dir=folder, kb_roots=(str(roots),))
    for bad in (outside, roots / "link", roots / ".." / "outside", roots / "missing", mine / "a.md"):
        with pytest.raises(InvalidArgument, match="not a folder below a configured root"):
            bench.order(overrides=Overrides(kb_principles_dir=str(bad)))
    task = task_of(bench, overrides=Overrides(kb_principles_dir=str(mine)))
    (seen,) = shelf_of(bench, task).query(KB, "CO", "words", 5)
    assert (seen.content, seen.ref.startswith(f"kb:{KB}__chunk-")) == ("# A\n\nCO in mine.", True)
    assert {each.source for each in shelf_of(bench, task_of(bench)).query(KB, "CO", "words", 5)} == {
        "copper.md", "silver.md", "zh.md",
    }  # fmt: skip
    # What was a folder when the batch was made, and is a link by now, is not followed.
    mine.rename(roots / "moved")
    mine.symlink_to(outside)
    with pytest.raises(InvalidArgument, match="has become a link"):
        shelf_of(bench, task).query(KB, "CO", "words", 5)
    mine.unlink()
    monkeypatch.setattr("codexmem.lab.service.syncing.FRESH_S", 0.0)
    with pytest.raises(NotFound):
        shelf_of(bench, task).query(KB, "CO", "words", 5)


def test_an_override_of_the_configured_folder_is_the_configured_folder(folder: Path) -> None:
    config = {"overrides": {"kb_principles_dir": str(folder)}}
    assert place_of(KB, config, {"kb_principles_dir": str(folder)}).apart == ""
    assert place_of(KB, config, {"kb_principles_dir": ""}).apart == str(folder)
    assert place_of("kb_own", {}, {}).folder is None


def test_a_cancel_is_heard_while_a_folder_is_read(
    bench: LabBench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_LOOK_S", 0.0)
    task = task_of(bench)
    bench.lab.runs.cancel_run(task.run.id)
    with pytest.raises(Canceled):
        shelf_of(bench, task).query(KB, "CO", "words", 5)
    # Nobody is kept waiting by the one who gave up.
    assert shelf_of(bench, task_of(bench)).query(KB, "CO", "words", 5)
