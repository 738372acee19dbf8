"""Fetching models from the hub, or from a mirror that speaks as it does.

The hub says which commit is meant, which files it holds and what their hashes are; each file is fetched of that very
commit and compared. What has arrived stays when the connection breaks, and the next run goes on from there. A model
takes its place whole, with its lock, or not at all.
"""

import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from codexmem.installation import install_command
from codexmem.kernel.embed.model_folder import (
    SIDE_FILES,
    ModelLock,
    git_blob_of,
    lock_of,
    made_lock,
    place_of,
    sha256_of,
    unpack,
    verify,
)
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound, Unavailable
from codexmem.kernel.model.key_transport import may_carry_key, refusal

HUB = "https://huggingface.co"
_PLACES = ("onnx/model.onnx", "model.onnx")
_WAIT_S = 30.0

Progress = Callable[[int, int], None]  # so many bytes are here, of so many


@dataclass(frozen=True, slots=True)
class _Remote:
    """One file as the hub describes it."""

    path: str
    bytes: int
    sha256: str  # of a large one
    blob: str  # of a small one: the name that git gives it

    def is_at(self, path: Path) -> bool:
        """Whether these are its bytes."""
        if not path.is_file() or path.stat().st_size != self.bytes:
            return False
        return sha256_of(path) == self.sha256 if self.sha256 else git_blob_of(path) == self.blob


class Hub:
    """One server with models."""

    def __init__(self, models: Path, *, url: str = HUB, token: str = "") -> None:
        self._models = models
        self._url = url.rstrip("/")
        self._token = token

    def __repr__(self) -> str:
        return f"Hub({urlsplit(self._url).hostname!r})"  # never the token

    def fetch(self, name: str, progress: Progress, *, revision: str = "main", again: bool = False) -> ModelLock:
        """The model in its place; nothing is sent where it is there already, unless `again`."""
        place = place_of(self._models, name)
        with _alone(place):
            lock = lock_of(place)
            if lock is not None and not again:
                verify(place, lock)
                return lock
            repository, file = _known(name)
            commit, licence, files = self._described(repository, revision, file)
            beginning = place.with_name(f"{place.name}.partial")
            total, here = sum(each.bytes for each in files), 0
            for each in files:
                count = partial(_step, progress, here, total)
                self._file(f"{repository}/resolve/{commit}/{quote(each.path)}", each, beginning / each.path, count)
                here += each.bytes
            for left in beginning.rglob("*"):  # of a run that fetched another commit
                if left.is_file() and left.relative_to(beginning).as_posix() not in {each.path for each in files}:
                    left.unlink()
            lock = made_lock(beginning, name, source=f"{self._url}/{repository}", revision=commit, licence=licence)
            _settle(beginning, place, lock)
            return lock

    def _described(self, repository: str, revision: str, file: str | None) -> tuple[str, str, list[_Remote]]:
        """Commit, licence, and the files that the encoder needs."""
        address = f"api/models/{repository}/revision/{quote(revision, safe='')}"
        with self._asked(address, params={"blobs": "true"}) as answer:
            answer.read()
            try:
                said: dict[str, Any] = answer.json()
                commit = str(said["sha"])
                there = {
                    each["rfilename"]: _Remote(
                        each["rfilename"], int(each["size"]), (each.get("lfs") or {}).get("sha256", ""),
                        str(each.get("blobId", "")),
                    )
                    for each in said["siblings"]
                }  # fmt: skip
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise self._broken("its description of the model is not as expected") from error
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            raise self._broken("it names no commit")
        model = file or next((place for place in _PLACES if place in there), None)
        if model is None or model not in there:
            raise NotFound(
                f"{repository} has no ONNX file that fastembed could load",
                hint=f"a model with {' or '.join(_PLACES)} is needed",
                details={"reason": "no_onnx", "name": repository},
            )
        wanted = re.compile("|".join((*map(re.escape, SIDE_FILES), re.escape(model) + r"(_data(_\d+)?)?")))
        files = [each for path, each in sorted(there.items()) if wanted.fullmatch(path)]
        licence = (said.get("cardData") or {}).get("license")
        return commit, licence if isinstance(licence, str) else "", files

    def _file(self, address: str, wanted: _Remote, path: Path, progress: Callable[[int], None]) -> None:
        """One file, from where the last run stopped; once anew if what was there was of another file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        resumed = path.is_file() and path.stat().st_size > 0
        if not wanted.is_at(path):
            self._rest(address, wanted, path, progress)
            if resumed and not wanted.is_at(path):
                path.unlink()
                self._rest(address, wanted, path, progress)
            if not wanted.is_at(path):
                path.unlink()
                raise self._broken(f"{wanted.path} is not what it says it is")
        progress(wanted.bytes)

    def _rest(self, address: str, wanted: _Remote, path: Path, progress: Callable[[int], None]) -> None:
        here = path.stat().st_size if path.is_file() else 0
        if here >= wanted.bytes:
            path.unlink(missing_ok=True)
            here = 0
        with self._asked(address, headers={"Range": f"bytes={here}-"} if here else {}) as answer:
            if answer.status_code != 206:
                here = 0
            with path.open("ab" if here else "wb") as file:
                for piece in answer.iter_raw():
                    here += len(piece)
                    if here > wanted.bytes:
                        raise self._broken(f"{wanted.path} is longer than it says")
                    file.write(piece)
                    progress(here)

    @contextmanager
    def _asked(self, address: str, *, params: Mapping[str, str] | None = None,
               headers: Mapping[str, str] | None = None) -> Iterator[Any]:  # fmt: skip
        import httpx2

        if self._token and not may_carry_key(self._url):
            problem, hint = refusal(self._url)
            raise InvalidArgument(problem, hint=hint)
        for name in ("httpx2", "httpcore2"):  # at info level a line for each request
            logging.getLogger(name).setLevel(logging.WARNING)
        sent = {"Accept-Encoding": "identity", **(headers or {})}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        try:
            with (
                httpx2.Client(timeout=_WAIT_S, follow_redirects=True) as http,
                http.stream("GET", f"{self._url}/{address}", params=params, headers=sent) as answer,
            ):
                if answer.status_code in {401, 403, 404}:
                    raise NotFound(
                        f"{self._url} has no such model, or does not show it to us",
                        hint="check its name; for one that needs a login set CODEXMEM_MODEL_HUB_TOKEN",
                        details={"reason": "no_such_model", "url": self._url},
                    )
                if answer.status_code >= 300:
                    raise self._broken(f"status {answer.status_code}")
                yield answer
        except httpx2.HTTPError as error:
            raise self._broken(type(error).__name__) from error

    def _broken(self, what: str) -> Unavailable:
        return Unavailable(
            f"the model could not be fetched from {self._url}: {what}",
            hint="run the same command again: it goes on where it stopped. Without internet: a mirror by "
            "CODEXMEM_MODEL_HUB, or a bundle by codexmem embed fetch --from FILE",
            details={"reason": "hub_broken", "url": self._url, "problem": what},
        )


def adopt(models: Path, source: Path, name: str | None) -> ModelLock:
    """Take a bundle, or a folder with a model, as the model of its lock; without a lock, as `name`."""
    models.mkdir(parents=True, exist_ok=True)
    copy = models / f"{source.name}.from.partial"
    shutil.rmtree(copy, ignore_errors=True)
    try:
        lock = unpack(source, copy)
        if lock is None:
            if name is None:
                raise InvalidArgument(
                    f"{source} does not say which model it is",
                    hint="give its name: codexmem embed fetch MODEL --from …",
                    details={"reason": "nameless_model", "path": str(source)},
                )  # fmt: skip
            if not list(copy.rglob("*.onnx")):
                raise NotFound(
                    f"{source} has no ONNX file", hint="give the folder that holds the .onnx file and tokenizer.json",
                    details={"reason": "no_onnx", "name": str(source)},
                )  # fmt: skip
            lock = made_lock(copy, name, source=str(source))
        elif name is not None and name != lock.model:
            raise Conflict(
                f"{source} holds {lock.model}, not {name}", hint="leave the name out",
                details={"reason": "other_model", "path": str(source), "found": lock.model, "name": name},
            )  # fmt: skip
        place = place_of(models, lock.model)
        with _alone(place):
            _settle(copy, place, lock)
        return lock
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _step(progress: Progress, before: int, total: int, count: int) -> None:
    progress(before + count, total)


def _known(name: str) -> tuple[str, str | None]:
    """Repository and file of a model as fastembed knows them; otherwise its own repository."""
    try:
        from fastembed import TextEmbedding
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError as missing:
        raise Unavailable("fastembed is not installed", hint=install_command("fastembed")) from missing
    for each in (*TextEmbedding.list_supported_models(), *TextCrossEncoder.list_supported_models()):
        if each["model"].lower() == name.lower() and each["sources"]["hf"]:
            return each["sources"]["hf"], each["model_file"]
    return name, None


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(place.with_name(f".{place.name}.lock"), timeout=0):
            yield
    except Timeout as error:
        raise Conflict(
            f"{place.name} is being fetched by another process", hint="wait until it is done",
            details={"reason": "model_busy", "name": place.name},
        ) from error  # fmt: skip


def _settle(arrived: Path, place: Path, lock: ModelLock) -> None:
    """The new folder in the old one's place; a process that has loaded the old one keeps it."""
    lock.write(arrived)
    former = place.with_name(f"{place.name}.former.partial")
    shutil.rmtree(former, ignore_errors=True)
    if place.exists():
        place.rename(former)
    arrived.rename(place)
    shutil.rmtree(former, ignore_errors=True)
