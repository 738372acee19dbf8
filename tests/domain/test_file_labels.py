"""Labels of files: the path, its ends, and what may begin one."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.file_labels import file_labels, label_beginnings


@pytest.mark.parametrize(
    "path, labels",
    [
        ("app.py", ["app.py"]),
        ("src/app.py", ["src/app.py", "app.py"]),
        ("/a/b/c/d/e.py", ["/a/b/c/d/e.py", "e.py", "d/e.py", "c/d/e.py", "b/c/d/e.py"]),
        ("C:\\项目\\主.cpp", ["C:\\项目\\主.cpp", "主.cpp", "项目/主.cpp", "C:/项目/主.cpp"]),
        ("./src//x", ["./src//x", "x", "src/x"]),
        ("src/", ["src/", "src"]),
        ("/", ["/"]),
    ],
)
def test_labels(path: str, labels: list[str]) -> None:
    assert list(file_labels(path)) == labels


@pytest.mark.parametrize(
    "part, beginnings",
    [
        ("app.py", ["app.py"]),
        (" src/ ", ["src/"]),
        ("./src", ["./src", "src"]),
        ("/code/src", ["/code/src", "code/src"]),
        ("src\\app", ["src\\app", "src/app"]),
        ("", []), ("/", []), ("./", []), (" . ", []),
    ],
)  # fmt: skip
def test_beginnings(part: str, beginnings: list[str]) -> None:
    assert label_beginnings(part) == beginnings


@given(st.lists(st.text("ab.登", min_size=1).filter(lambda name: name.strip(".")), min_size=1, max_size=8), st.data())
def test_a_part_that_begins_at_one_of_the_last_names_finds_its_file(names: list[str], data: st.DataObject) -> None:
    labels = file_labels("/" + "/".join(names))
    end = "/".join(names[-data.draw(st.integers(1, min(4, len(names)))) :])
    part = end[: data.draw(st.integers(1, len(end)))]
    found = [label for beginning in label_beginnings(part) for label in labels if label.startswith(beginning)]
    assert found or not part.strip("./")


def test_an_observation_is_labelled_with_both_its_lists() -> None:
    attrs = ObservationAttrs(files_read=("a/b.py",), files_modified=("c.py", "a/b.py"), concepts=("gotcha",))
    assert set(attrs.facets()) == {("concept", "gotcha"), ("file", "a/b.py"), ("file", "b.py"), ("file", "c.py")}
