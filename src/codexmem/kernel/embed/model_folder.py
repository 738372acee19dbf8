"""Models of fastembed in folders: below the data folder under the name they were fetched by, or wherever a path says.

A fetched folder holds a lock file: where the model came from, how it is to be used, and the SHA-256 of every file. The
files are compared with it at each load, so that what makes vectors is what was fetched, and the lock is a part of the
model's name in the store: other files make other vectors, and those are never compared with each other.
"""

import hashlib
import json
import re
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from codexmem.kernel.model.errors import InvalidArgument, NotFound, Unavailable

MODELS = "models"  # of the data folder
LOCK = "codexmem-model.json"
# The authors' own files: multilingual, MIT, 384 dimensions; what `local-better` has with 4 bits a weight.
FIRST_CHOICE = "intfloat/multilingual-e5-small"
SIDE_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
              "1_Pooling/config.json")  # fmt: skip
_E5 = re.compile(r"(^|[/-])e5-(?!.*instruct)")
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class LockedFile:
    """One file of a model."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelLock:
    """What a fetched model is made of, where it came from, and how its texts begin."""

    model: str
    source: str
    revision: str
    licence: str
    files: tuple[LockedFile, ...]
    passage_prefix: str = ""
    query_prefix: str = ""

    @property
    def digest(self) -> str:
        """Tells apart whatever makes other vectors."""
        parts = [self.passage_prefix, self.query_prefix, *(f"{each.path} {each.sha256}" for each in self.files)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]

    def write(self, folder: Path) -> None:
        """Put it beside the files; the last thing that is written there."""
        (folder / LOCK).write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def place_of(models: Path, name: str) -> Path:
    """The folder of a model that is known by name."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", name, re.ASCII):
        raise InvalidArgument(
            f"{name!r} is not the name of a model",
            hint=f"a name as the hub has it, e.g. {FIRST_CHOICE}",
            details={"reason": "model_name", "name": name, "first": FIRST_CHOICE},
        )
    return models / name.replace("/", "--")


def lock_of(folder: Path) -> ModelLock | None:
    """The folder's lock; None where it has none."""
    try:
        said: dict[str, Any] = json.loads((folder / LOCK).read_text(encoding="utf-8"))
        said["files"] = tuple(LockedFile(**each) for each in said["files"])
        lock = ModelLock(**said)
    except FileNotFoundError:
        return None
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise Unavailable(
            f"the lock file {folder / LOCK} cannot be read",
            hint=f"remove {folder} and run codexmem embed fetch again",
            details={"reason": "model_lock", "path": str(folder / LOCK), "folder": str(folder)},
        ) from error
    for each in lock.files:
        path = PurePosixPath(each.path)
        if path.is_absolute() or ".." in path.parts or "\\" in each.path:
            raise Unavailable(f"the lock file {folder / LOCK} names a file elsewhere: {each.path}")
    return lock


def made_lock(folder: Path, name: str, *, source: str, revision: str = "", licence: str = "") -> ModelLock:
    """The lock of the files that lie in a folder now."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    files = tuple(
        LockedFile(path, (folder / path).stat().st_size, sha256_of(folder / path)) for path in paths if path != LOCK
    )
    prefixes = ("passage: ", "query: ") if _E5.search(name) else ("", "")
    return ModelLock(name, source, revision, licence, files, *prefixes)


def verify(folder: Path, lock: ModelLock) -> None:
    """Raise unless every file is the one of the lock."""
    for each in lock.files:
        path = folder / each.path
        same = path.is_file() and path.stat().st_size == each.bytes and sha256_of(path) == each.sha256
        if not same:
            raise Unavailable(
                f"{path} is not the file that was fetched",
                hint=f"if you did not change it, find out who did; then: codexmem embed fetch --again {lock.model}",
                details={"reason": "model_changed", "path": str(path), "model": lock.model},
            )


def fetched(models: Path) -> Iterator[tuple[Path, ModelLock]]:
    """Every model that is here, by name."""
    for folder in sorted(models.glob("*")) if models.is_dir() else ():
        lock = lock_of(folder) if folder.is_dir() and not folder.name.endswith(".partial") else None
        if lock is not None:
            yield folder, lock


def bundle(folder: Path, target: Path) -> None:
    """One file with the model and its lock, for a machine without a network; compared with the lock before."""
    lock = lock_of(folder)
    if lock is None:
        raise NotFound(
            f"there is no fetched model in {folder}", hint="codexmem embed ls",
            details={"reason": "no_model_folder", "path": str(folder)},
        )  # fmt: skip
    verify(folder, lock)
    with tarfile.open(target, "x") as archive:
        for path in (LOCK, *(each.path for each in lock.files)):
            archive.add(folder / path, arcname=path, recursive=False, filter=_plain)


def unpack(source: Path, folder: Path) -> ModelLock | None:
    """Copy a bundle, or a folder with a model, into `folder`; returns the lock that came with it, compared."""
    if source.is_dir():
        import shutil

        shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".*"))
    else:
        try:
            with tarfile.open(source) as archive:
                archive.extractall(folder, filter="data")
        except (OSError, tarfile.TarError) as error:
            raise InvalidArgument(
                f"{source} is neither a folder nor a bundle", hint="codexmem embed bundle MODEL FILE makes one",
                details={"reason": "no_bundle", "path": str(source)},
            ) from error  # fmt: skip
    lock = lock_of(folder)
    if lock is not None:
        verify(folder, lock)
    return lock


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob_of(path: Path) -> str:
    """The name that git gives a file with these bytes: how the hub names its small ones."""
    found = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry
