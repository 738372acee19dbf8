"""What a batch may set for itself: folders below our roots, servers on our list, and no secrets in what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.lab.model import Overrides
from codexmem.lab.service.runs import LabConfig, bare, snapshot


@pytest.fixture
def ground(tmp_path: Path) -> LabConfig:
    (tmp_path / "kb" / "原理").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "kb" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "kb" / "file.md").write_text("x")
    return LabConfig(
        "model-a", "https://me:hunter2@api.test/v1?key=hunter2", tmp_path / "elsewhere", None,
        (str(tmp_path / "kb"),), ("https://other.test/v1",),
    )  # fmt: skip


def test_without_overrides_it_is_the_configuration(ground: LabConfig, tmp_path: Path) -> None:
    assert snapshot(ground, Overrides()) == {
        "kb_principles_dir": str(tmp_path / "elsewhere"), "kb_modulation_dir": "", "llm_model": "model-a",
        "openai_api_base": "https://api.test/v1", "overrides": {}, "profile": "",
    }  # fmt: skip


def test_overrides_are_used_and_told(ground: LabConfig, tmp_path: Path) -> None:
    folder = str(tmp_path / "kb" / "原理")
    made = snapshot(ground, Overrides(folder, folder + "/../原理", "模型-b", "https://other.test/v1/"))
    assert made["overrides"] == {
        "kb_principles_dir": folder, "kb_modulation_dir": folder, "llm_model": "模型-b",
        "openai_api_base": "https://other.test/v1",
    }  # fmt: skip
    assert {name: made[name] for name in made["overrides"]} == made["overrides"]


@pytest.mark.parametrize("path", ["/etc", "{}/elsewhere", "{}/kb/link", "{}/kb/../elsewhere", "{}/kb/none",
                                  "{}/kb/file.md", "kb", "\0", "{}/kbx", "~root", "x" * 2_000])  # fmt: skip
def test_a_folder_outside_the_roots_is_refused(ground: LabConfig, tmp_path: Path, path: str) -> None:
    with pytest.raises(InvalidArgument, match="kb_modulation_dir"):
        snapshot(ground, Overrides(kb_modulation_dir=path.format(tmp_path)))


@pytest.mark.parametrize("address", ["https://other.test", "https://other.test/v1.evil", "http://other.test/v1",
                                     "https://other.test@evil.test/v1", "file:///etc/passwd", "x"])  # fmt: skip
def test_a_server_that_is_not_listed_is_refused(ground: LabConfig, address: str) -> None:
    with pytest.raises(InvalidArgument, match="openai_api_base"):
        snapshot(ground, Overrides(openai_api_base=address))


def test_our_own_server_may_be_named(ground: LabConfig) -> None:
    assert (
        snapshot(ground, Overrides(openai_api_base="https://api.test/v1"))["openai_api_base"] == "https://api.test/v1"
    )


def test_a_name_is_a_name(ground: LabConfig) -> None:
    for name in ("x" * 201, "a\nb"):
        with pytest.raises(InvalidArgument, match="llm_model"):
            snapshot(ground, Overrides(llm_model=name))


def test_an_address_is_told_without_what_may_be_secret() -> None:
    assert bare("https://user:pw@host:8443/v1/?token=1#frag") == "https://host:8443/v1"
    assert bare("") == ""
