"""Wheel and source distribution, by the lock and without isolation: `python -m tests.packaging.building` fills `dist`.

The same commit gives the same bytes, wherever and whenever it is built. `reproduce` shows that: it builds two clean
clones in different places, with other file times and modes, time zones and languages, and the wheel once more from the
source distribution, with neither git nor Node at hand.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
# Two surroundings that have nothing in common but the commit.
SURROUNDINGS = (
    {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1", "umask": "022", "CI": "true"},
    {"TZ": "Asia/Shanghai", "LC_ALL": "C", "PYTHONHASHSEED": "2", "umask": "077"},
)


def build(root: Path, target: Path, *, kinds: Sequence[str] = ("sdist", "wheel"), web: bool = True) -> dict[str, Path]:
    """Build what is asked for from a tree; the files by kind. With `web` the application is built anew first."""
    target.mkdir(parents=True, exist_ok=True)
    if web:
        _run([sys.executable, "-c", "from tests.web import building as b; b.install(); b.build()"], root)
    asked = [word for kind in kinds for word in ("-t", kind)]
    _run([sys.executable, "-m", "hatchling", "build", *asked, "-d", str(target)], root)
    return {kind: next(target.glob({"sdist": "*.tar.gz", "wheel": "*.whl"}[kind])) for kind in kinds}


def build_from(sdist: Path, work: Path) -> Path:
    """The wheel of an unpacked source distribution, with no program on the PATH."""
    with tarfile.open(sdist) as packed:
        packed.extractall(work, filter="data")
    tree = work / sdist.name.removesuffix(".tar.gz")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(work)], tree, {"PATH": "/nowhere"})
    return next(work.glob("*.whl"))


def digest(path: Path) -> str:
    """SHA-256, as `sha256sum` prints it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(path: Path) -> dict[str, str]:
    """What an archive holds: the mode and a hash of each file by its name."""
    if path.suffix == ".whl":
        with ZipFile(path) as packed:
            return {each.filename: f"{each.external_attr >> 16:o} {each.date_time} {_hash(packed.read(each))}"
                    for each in packed.infolist()}  # fmt: skip
    with tarfile.open(path) as packed_tar:
        found = {}
        for member in packed_tar:
            body = packed_tar.extractfile(member)
            found[member.name] = f"{member.mode:o} {member.mtime} {member.uid} {_hash(body.read() if body else b'')}"
        return found


def differences(one: Path, other: Path) -> list[str]:
    """What two archives do not share, by name."""
    left, right = contents(one), contents(other)
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))


def reproduce(source: Path = ROOT) -> bool:
    """Build the last commit twice and compare; says what differs."""
    with tempfile.TemporaryDirectory(prefix="codexmem-reproduce-") as folder:
        builds = []
        for number, surroundings in enumerate(SURROUNDINGS, 1):
            tree = Path(folder, *["deeper"] * number, f"clone-{number}")
            _run(["git", "clone", "--quiet", f"file://{source}", str(tree)], Path(folder), surroundings)
            builds.append(_build_apart(tree, Path(folder, f"dist-{number}"), surroundings))
        same = True
        for kind in ("sdist", "wheel"):
            same &= _compare(f"{kind} of two clones", builds[0][kind], builds[1][kind])
        again = build_from(builds[0]["sdist"], Path(folder, "from-sdist"))
        same &= _compare("wheel from git, from sdist", builds[0]["wheel"], again)
    return same


def _build_apart(tree: Path, target: Path, surroundings: Mapping[str, str]) -> dict[str, Path]:
    """A build in a process of its own; every file is given another time first, each clone its own."""
    for number, path in enumerate(sorted(tree.rglob("*"))):
        if ".git" not in path.parts and not path.is_symlink():
            os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number * len(surroundings)))
    _run([sys.executable, "-m", "tests.packaging.building", str(target)], tree, surroundings)
    return {"sdist": next(target.glob("*.tar.gz")), "wheel": next(target.glob("*.whl"))}


def _compare(what: str, one: Path, other: Path) -> bool:
    _say(f"{what}: {one.name}\n  {digest(one)}\n  {digest(other)}")
    if one.read_bytes() == other.read_bytes():
        _say("  equal")
        return True
    _say("  DIFFERENT: " + (", ".join(differences(one, other)[:20]) or "only the packing"))
    return False


def _run(command: Sequence[str], where: Path, more: Mapping[str, str] | None = None) -> str:
    # A caller's date would make the bytes depend on the caller; without one, the build backend has a date of its own,
    # which whoever builds from the source distribution gets too.
    dropped = {"SOURCE_DATE_EPOCH", "PYTHONPATH"}
    env = {name: value for name, value in os.environ.items() if name not in dropped}
    env |= {"CODEXMEM_WEB": "1", **(more or {})}  # a release without its pages is none
    mask = int(env.pop("umask", "022"), 8)
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False, umask=mask)
    if done.returncode != 0:
        raise SystemExit(f"error: {' '.join(command[:6])} failed\n{done.stdout}{done.stderr}")
    return done.stdout


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Build into `dist/` or the folder that is named; `reproduce` compares builds instead."""
    if list(arguments) == ["reproduce"]:
        return 0 if reproduce() else 1
    target = Path(arguments[0]) if arguments else DIST
    shutil.rmtree(target, ignore_errors=True)
    for path in build(ROOT, target).values():
        _say(f"{digest(path)}  {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
