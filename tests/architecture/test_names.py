"""Our classes have names of their own, and the rule is shown to fail where two share one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.names import SHARED, unique_classes
from tests.architecture.tree import Violation, load

SOURCE = Path(__file__).parents[2] / "src"


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / "codexmem" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def judged(root: Path, files: dict[str, str], shared: dict[str, str]) -> list[Violation]:
    return sorted(unique_classes(load(plant(root, files)), shared))


@pytest.mark.slow
def test_every_class_of_ours_has_a_name_of_its_own() -> None:
    violations = sorted(unique_classes(load(SOURCE)))
    assert not violations, "\n" + "\n".join(map(str, violations))


def test_every_shared_name_is_there_and_says_why() -> None:
    declared = [line for path in SOURCE.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    for name, why in SHARED.items():
        assert why
        assert any(line.startswith((f"class {name}(", f"class {name}:")) for line in declared), f"{name} is gone"


def test_two_classes_of_one_name_are_found(tmp_path: Path) -> None:
    files = {"a.py": '"""A."""\n\n\nclass Place: ...\n', "room/b.py": '"""B."""\nX = 1\n\n\nclass Place: ...\n'}
    first, second = judged(tmp_path, files, {})
    assert str(first).startswith(f"{tmp_path / 'codexmem' / 'a.py'}:4 unique: class Place is also in room.b:")
    assert str(second).startswith(f"{tmp_path / 'codexmem' / 'room' / 'b.py'}:5 unique: class Place is also in a:")


def test_a_shared_name_may_repeat(tmp_path: Path) -> None:
    files = {"a.py": "class Services: ...\n", "b.py": "class Services: ...\n"}
    assert judged(tmp_path, files, {"Services": "a reason"}) == []


def test_a_permission_that_nobody_needs_is_found(tmp_path: Path) -> None:
    (only,) = judged(tmp_path, {"a.py": "class Services: ...\n"}, {"Services": "a reason"})
    assert "take it off the list" in str(only)


def test_private_and_inner_classes_may_repeat(tmp_path: Path) -> None:
    text = "class _Place: ...\n\n\nclass {}:\n    class Inner: ...\n"
    assert judged(tmp_path, {"a.py": text.format("One"), "b.py": text.format("Other")}, {}) == []
