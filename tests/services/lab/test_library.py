"""The library: folders read into namespaces, again and again, undone, found, and kept apart."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from codexmem.kernel.model.attrs import ChunkAttrs
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.services.history import History
from codexmem.kernel.store.database import Database, acting_as
from codexmem.lab.library_model import DocumentPiece, Part, chunk_id, parsed_ref, project_of, ref_of
from codexmem.lab.service import syncing
from codexmem.lab.service.documents import Folder
from codexmem.lab.service.library import Library
from codexmem.lab.service.syncing import Freshness, LibraryTarget, SyncReport, sync
from tests._support.documents import long_text, written
from tests._support.lab import LabBench, StepAgent
from tests.services.lab.conftest import Build

KB = "kb_principles"
ME = WriteContext("test")
TOGETHER = 20  # pieces written at a time, in the test of large documents


@pytest.fixture
def bench(build: Build) -> LabBench:
    return build(StepAgent())


@pytest.fixture
def library(bench: LabBench) -> Library:
    return bench.lab.shelving.library


def read(library: Library, path: Path, namespace: str = KB, apart: str = "") -> SyncReport:
    folder = Folder(path)
    return sync(LibraryTarget(library, namespace, ME, apart), folder, folder.label, lambda: None)


def counts(report: SyncReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.removed, report.unchanged


def everything(bench: LabBench, statuses: frozenset[Status] = frozenset(Status)) -> list[Memory]:
    wanted = Filter(frozenset({Kind.CHUNK}), statuses=statuses)
    return list(bench.memories.page(wanted, PageRequest(500)).items)


def standing(bench: LabBench) -> set[str]:
    """What is visible, to the letter."""
    return {f"{each.id} {each.state.to_json()}" for each in everything(bench) if each.state.status is Status.ACTIVE}


def test_a_folder_is_read_once_and_then_only_what_changed(bench: LabBench, library: Library, tmp_path: Path) -> None:
    folder = written(tmp_path / "kb", copper="# Copper\n\nCopper couples CO.", zh="# 钛\n\n二氧化钛吸收紫外光。")
    first = read(library, folder)
    assert (counts(first), first.pieces, first.left) == ((2, 0, 0, 0), 2, 0)
    assert first.delta is not None
    again = read(library, folder)
    assert (counts(again), again.delta) == ((0, 0, 0, 2), None)
    written(
        folder, copper="# Copper\n\nCopper couples CO. Silver does not.", zh="", zr="# Zr\n\nZirconium holds water off."
    )
    third = read(library, folder)
    assert counts(third) == (1, 1, 1, 0)
    shown, after = library.list(KB, limit=10)
    assert [(each.document, each.pieces, each.folder) for each in shown] == [
        ("copper.md", 1, str(folder)), ("zr.md", 1, str(folder)),
    ]  # fmt: skip
    assert after is None
    assert library.query(KB, "紫外光") == []
    assert [each.content for each in library.query(KB, "silver")] == ["# Copper\n\nCopper couples CO. Silver does not."]
    # What went is archived under the same name, and comes back under it.
    written(folder, zh="# 钛\n\n二氧化钛吸收紫外光。")
    assert counts(read(library, folder)) == (1, 0, 0, 2)
    (found,) = library.query(KB, "紫外光")
    assert found.ref == ref_of(KB, chunk_id("zh.md", "# 钛\n\n二氧化钛吸收紫外光。"))
    assert library.get(found.ref).content == found.content
    assert [(each.namespace, each.documents, each.pieces) for each in library.holdings()] == [(KB, 3, 3)]
    chunks = everything(bench)
    assert {each.state.project for each in chunks} == {"lab/kb_principles"}
    assert {each.state.attrs.namespace for each in chunks if isinstance(each.state.attrs, ChunkAttrs)} == {KB}


def test_a_reading_is_one_delta_and_taking_it_back_is_exact(bench: LabBench, library: Library, tmp_path: Path) -> None:
    folder = written(tmp_path / "kb", a="# A\n\nOne.", b="# B\n\nTwo.", c=long_text("copper", 4))
    read(library, folder)
    before = standing(bench)
    written(folder, a="# A\n\nOther.", b="", d="# D\n\nNew.")
    second = read(library, folder)
    assert second.delta is not None
    assert standing(bench) != before
    history: History = library._history
    back = history.rollback_delta(second.delta, Mode.STRICT, ME)
    assert standing(bench) == before
    # The reading is forgotten with what it wrote: the next one finds the same to do.
    third = read(library, folder)
    assert counts(third) == counts(second)
    after = standing(bench)
    history.rollback_delta(back.delta.id, Mode.STRICT, ME)
    assert standing(bench) == after
    assert counts(read(library, folder)) == (0, 0, 0, 3)


def test_a_large_document_is_written_in_parts_and_a_break_is_fixed(
    bench: LabBench, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "MAX_TOGETHER", TOGETHER)
    folder = written(tmp_path / "kb", big=long_text("titanium", TOGETHER + 30), small="# S\n\nSmall.")

    class Broken(LibraryTarget):
        """Fails after two writes."""

        written = 0

        def put(self, part: Part, delta: str | None) -> str:
            Broken.written += 1
            if Broken.written > 2:
                raise Conflict("the cable was pulled")
            return LibraryTarget.put(self, part, delta)

    with pytest.raises(Conflict):
        sync(Broken(library, KB, ME), Folder(folder), Folder(folder).label, lambda: None)
    assert library.known(KB, str(folder)) == {"big.md": ""}
    half = library.list(KB, limit=10)[0]
    assert (half[0].document, half[0].pieces, half[0].digest) == ("big.md", TOGETHER + 30, "")
    # A document that was begun and is gone again leaves nothing behind.
    gone = dict.fromkeys(["big.md"])
    assert library.remove(KB, str(folder), list(gone), ME)[1] == TOGETHER + 1
    assert everything(bench, frozenset({Status.ACTIVE})) == []
    report = read(library, folder)
    assert (counts(report), report.pieces) == ((2, 0, 0, 0), TOGETHER + 31)
    assert counts(read(library, folder)) == (0, 0, 0, 2)
    (found,) = library.query(KB, "titanium 27", top_k=1)
    assert found.title.endswith("titanium 27")
    written(folder, big=long_text("titanium", 3))
    assert counts(read(library, folder)) == (0, 1, 0, 1)
    assert len(everything(bench, frozenset({Status.ACTIVE}))) == 4


def test_nothing_goes_because_it_could_not_be_read(library: Library, tmp_path: Path) -> None:
    folder = written(tmp_path / "kb", a="# A\n\nOne.", b="# B\n\nTwo.")
    read(library, folder)
    (folder / "a.md").write_bytes(bytes(range(256)) * 10)
    report = read(library, folder)
    assert (counts(report), [each.reason for each in report.told]) == ((0, 0, 0, 1), ["it is not text in UTF-8"])
    assert library.query(KB, "one")
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(NotFound, match="holds no document any more"):
        read(library, folder)
    folder.rmdir()
    with pytest.raises(NotFound, match="cannot be read"):
        read(library, folder)
    assert len(library.list(KB, limit=10)[0]) == 2


def test_folders_of_one_namespace_do_not_disturb_each_other(library: Library, tmp_path: Path) -> None:
    one = written(tmp_path / "one", same="# S\n\nThe same text.", a="# A\n\nOnly here.")
    two = written(tmp_path / "two", same="# S\n\nThe same text.")
    assert counts(read(library, one)) == (2, 0, 0, 0)
    assert counts(read(library, two)) == (1, 0, 0, 0)
    refs = {each.ref for each in library.query(KB, "same text")}
    assert len(refs) == 2
    assert counts(read(library, one)) == (0, 0, 0, 2)
    assert counts(read(library, two)) == (0, 0, 0, 1)
    assert library.remove(KB, str(one), ["same.md", "a.md", "never.md"], ME)[1] == 2
    (left,) = library.query(KB, "same text")
    assert left.ref in refs
    assert counts(read(library, two)) == (0, 0, 0, 1)


def test_a_folder_can_be_kept_apart(library: Library, tmp_path: Path) -> None:
    folder, other = written(tmp_path / "a", a="# A\n\nCopper here."), written(tmp_path / "b", a="# A\n\nCopper there.")
    read(library, folder)
    read(library, other, apart=str(other))
    assert [each.content for each in library.query(KB, "copper")] == ["# A\n\nCopper here."]
    (found,) = library.query(KB, "copper", apart=str(other))
    assert (found.content, found.namespace) == ("# A\n\nCopper there.", KB)
    assert parsed_ref(found.ref)[0] == KB
    assert [each.namespace for each in library.holdings()] == [KB]
    assert project_of(KB, str(other)).startswith("lab/kb_principles@")


def test_modes_and_bad_questions(library: Library, tmp_path: Path) -> None:
    read(library, written(tmp_path / "kb", a="# A\n\nCopper.", b="# B\n\n铜位点。"))
    for mode in ("hybrid", "words", "meaning"):
        assert [each.document for each in library.query(KB, "铜", mode, 1)] == ["b.md"]
    for namespace, text, mode, top in (
        (KB, "x", "naive", 1), (KB, " ", "words", 1), (KB, "x" * 2_001, "words", 1), (KB, "x", "words", 0),
        (KB, "x", "words", 51), ("a__b", "x", "words", 1), ("../x", "x", "words", 1), ("", "x", "words", 1),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            library.query(namespace, text, mode, top)
    assert library.query("kb_nowhere", "copper") == []
    for ref in ("kb:x", "kb_principles__chunk-a", "kb:__chunk-a", ""):
        with pytest.raises(InvalidArgument):
            library.get(ref)
    with pytest.raises(NotFound):
        library.get("kb:kb_principles__chunk-missing")


PIECE = DocumentPiece("chunk-1", 1, "T", "text")
SOUND = Part("f", "d", "s", "digest", (PIECE,), 1, 1, last=True)


@pytest.mark.parametrize(
    "part",
    [
        replace(SOUND, folder=""), replace(SOUND, document="x" * 401), replace(SOUND, source="\0"),
        replace(SOUND, digest=""), replace(SOUND, pieces=()), replace(SOUND, pieces=(PIECE, PIECE)),
        replace(SOUND, opening=2), replace(SOUND, parts=0), replace(SOUND, document="\ud800"),
        replace(SOUND, pieces=(replace(PIECE, chunk_id="a/b"),)), replace(SOUND, pieces=(replace(PIECE, content=" "),)),
        replace(SOUND, pieces=(replace(PIECE, content="a\0b"),)),
        replace(SOUND, pieces=(replace(PIECE, title="t" * 501),)),
    ],
)  # fmt: skip
def test_parts_that_make_no_sense(bench: LabBench, library: Library, part: Part) -> None:
    with pytest.raises(InvalidArgument):
        library.put(KB, part, ME)
    assert everything(bench) == []


def test_a_delta_of_something_else_is_refused(bench: LabBench, library: Library) -> None:
    other = library._history.open_delta("run:r", "learn", ME)
    with pytest.raises(InvalidArgument):
        library.put(KB, SOUND, ME, delta=other.id)
    with pytest.raises(NotFound):
        library.put(KB, SOUND, ME, delta="delta_none")


def test_many_readers_of_one_folder_come_to_one_end(bench: LabBench, library: Library, tmp_path: Path) -> None:
    folder = written(tmp_path / "kb", **{f"d{number}": f"# D\n\nCopper {number}." for number in range(12)})
    db: Database = bench.db
    tenant = db.acting_tenant()
    freshness, reports, failures = Freshness(), [], []

    def ask(fresh: Freshness) -> None:
        try:
            with acting_as(tenant):
                target = LibraryTarget(library, KB, ME)
                reports.append(fresh.ensure(target, folder, (tenant, KB), lambda: None))
        except BaseException as error:
            failures.append(error)

    # Four threads of one process, and another process beside it.
    threads = [threading.Thread(target=ask, args=(each,)) for each in (*[freshness] * 4, Freshness())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert sum(report is not None for report in reports) == 2
    assert len(library.list(KB, limit=50)[0]) == len(everything(bench, frozenset({Status.ACTIVE}))) == 12
    assert freshness.ensure(LibraryTarget(library, KB, ME), folder, (tenant, KB), lambda: None) is None
