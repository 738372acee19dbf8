"""Wheel and source distribution: whole, nothing stray in them, and the same bytes by either way."""

from __future__ import annotations

import subprocess
import tarfile
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

from codexmem import __version__
from codexmem.installation import DISTRIBUTION
from tests.packaging.building import ROOT, build_from, differences, digest
from tests.web.building import DIST


def tracked() -> set[str]:
    """What git holds or would, had it been asked; files that are deleted are not there."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def application() -> set[str]:
    return {str(path.relative_to(ROOT)) for path in DIST.rglob("*") if path.is_file()}


def test_the_source_distribution_holds_what_git_holds_and_the_built_application(built: dict[str, Path]) -> None:
    with tarfile.open(built["sdist"]) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert held - {"PKG-INFO"} == tracked() | application()


def test_a_wheel_from_the_source_distribution_is_the_wheel(built: dict[str, Path], tmp_path: Path) -> None:
    again = build_from(built["sdist"], tmp_path)
    assert differences(built["wheel"], again) == []
    assert digest(built["wheel"]) == digest(again)


def test_the_wheel_holds_the_package_its_pages_and_its_manual(built: dict[str, Path]) -> None:
    with ZipFile(built["wheel"]) as packed:
        names = set(packed.namelist())
        about = message_from_bytes(packed.read(f"codexmem_cli-{__version__}.dist-info/METADATA"))
        modes = {each.external_attr >> 16 & 0o777 for each in packed.infolist()}
    source = {name.removeprefix("src/") for name in tracked() | application() if name.startswith("src/codexmem/")}
    beside = {name for name in names if name.partition("/")[0] != "codexmem"}
    assert names - beside == source
    assert {name.partition("/")[2] for name in beside} == {
        "METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE",
        "scripts/codexmem-hook", *(f"data/{name}" for name in tracked() if name.startswith("share/man/")),
    }  # fmt: skip
    assert (about["Name"], about["Version"], about["Requires-Python"]) == (DISTRIBUTION, __version__, ">=3.11")
    assert modes <= {0o644, 0o755}
