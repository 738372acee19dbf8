"""A fresh environment with the wheel, what it depends on by the lock, and nothing else.

The gate needs no network for it: the files of the locked packages are taken from the environment that the tests run in,
by each package's own list. `python -m tests.packaging.fresh` installs from a registry instead, each file compared with
its hash, and prints what weighs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path

from packaging.markers import Marker

from tests.packaging.building import ROOT, build

LOCK = ROOT / "requirements" / "base.txt"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))? \\$", re.MULTILINE)
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Fresh:
    """An environment of its own."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def library(self) -> Path:
        """Where its packages are."""
        return next(self.folder.glob("lib/python*/site-packages"))

    def program(self, name: str) -> Path:
        """A program that came with a package."""
        return self.folder / "bin" / name

    def weights(self) -> dict[str, int]:
        """The bytes of each package, without what Python compiles from it."""
        return {
            _normal(each.metadata["Name"]): _weight(each) for each in metadata.distributions(path=[str(self.library)])
        }


def locked() -> dict[str, str]:
    """The version of every package that the lock names for this machine."""
    pins = _PIN.findall(LOCK.read_text())
    return {_normal(name): version for name, version, marker in pins if not marker or Marker(marker).evaluate()}


def from_here(folder: Path, wheel: Path) -> Fresh:
    """Made of the packages that this environment has; a version that is not the locked one is an error."""
    fresh = _empty(folder)
    for name, version in locked().items():
        found = metadata.distribution(name)
        if found.version != version:
            raise RuntimeError(f"{name} is {found.version} here, locked is {version}; run: just setup")
        for file in found.files or ():
            # Programs begin with the path of this environment's interpreter, and none of them is needed.
            if file.parts[0] != ".." and file.suffix != ".pyc":
                _copy(Path(str(found.locate_file(file))), fresh.library / file)
    _install(fresh, "--offline", "--no-deps", str(wheel))
    return fresh


def from_registry(folder: Path, wheel: Path) -> Fresh:
    """Installed as a user would who follows the lock: downloaded, and each file compared with its hash."""
    fresh = _empty(folder)
    _install(fresh, "--require-hashes", "--only-binary", ":all:", "--requirements", str(LOCK))
    _install(fresh, "--no-deps", str(wheel))
    return fresh


def table(weights: Mapping[str, int]) -> str:
    """What weighs, the heaviest first, and the sum."""
    rows = sorted(weights.items(), key=lambda each: -each[1])
    lines = [f"{size / MEGABYTE:8.2f} MB  {name}" for name, size in rows]
    return "\n".join([*lines, f"{sum(weights.values()) / MEGABYTE:8.2f} MB  {len(rows)} packages"])


def _empty(folder: Path) -> Fresh:
    venv.create(folder, with_pip=False, symlinks=True)
    return Fresh(folder)


def _copy(source: Path, target: Path) -> None:
    """With its time, and with what Python has compiled from it, which saves the tests that work again."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
    compiled = Path(cache_from_source(str(source)))
    if source.suffix == ".py" and compiled.exists():
        (target.parent / "__pycache__").mkdir(exist_ok=True)
        shutil.copyfile(compiled, cache_from_source(str(target)))


def _install(fresh: Fresh, *arguments: str) -> None:
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(fresh.python), *arguments]
    subprocess.run(command, check=True)


def _weight(package: metadata.Distribution) -> int:
    paths = (Path(str(package.locate_file(file))) for file in package.files or () if file.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.is_file())


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Install from the registry and print what weighs."""
    with tempfile.TemporaryDirectory(prefix="codexmem-fresh-") as folder:
        wheel = build(ROOT, Path(folder, "dist"), kinds=["wheel"], web=True)["wheel"]
        fresh = from_registry(Path(folder, "environment"), wheel)
        sys.stdout.write(f"{table(fresh.weights())}\n")
        subprocess.run([fresh.program("codexmem"), "version"], check=True)


if __name__ == "__main__":
    main()
