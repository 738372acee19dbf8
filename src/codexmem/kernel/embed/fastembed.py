"""Models of `fastembed`, encoders and rerankers: fetched by name beforehand, or in a folder of the person's own.

Nothing is downloaded here. A folder that was fetched is compared with its lock each time it is loaded.
"""

import importlib.util
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from codexmem.installation import install_command
from codexmem.kernel.embed.model import unit
from codexmem.kernel.embed.model_folder import ModelLock, lock_of, place_of, verify
from codexmem.kernel.embed.rerank import DEPTH
from codexmem.kernel.model.errors import Unavailable

_TOGETHER = 8  # texts in one go: all are padded to the longest, so that more cost memory and save nothing


class ModelFiles:
    """The folder that a model's name stands for: the path itself, or where it was fetched to."""

    def __init__(self, name: str, models: Path | None) -> None:
        path = Path(name).expanduser()
        self.by_path = path.is_absolute() or name.startswith(("./", "~"))
        self.name = path.name if self.by_path else name
        self.folder = path if self.by_path else place_of(models, name) if models else None

    def lock(self) -> ModelLock | None:
        """The lock beside the files, if they were fetched and are here."""
        return lock_of(self.folder) if self.folder is not None else None

    def loaded(self, make: Callable[[Path], Any], what: str, *, setting: str) -> Any:
        """What `make` imports and makes; whatever keeps it from that is `Unavailable`, with what to do about it."""
        what = f"the {what} {self.name}"
        missing = Unavailable("fastembed is not installed", hint=install_command("fastembed"))
        if importlib.util.find_spec("fastembed") is None:
            raise missing
        if self.folder is None or not self.folder.is_dir():
            if self.by_path:
                raise Unavailable(
                    f"there is no model folder {self.folder}", hint=f"{setting}=fastembed:/path/of/model",
                    details={"reason": "no_model_folder", "path": str(self.folder)},
                )  # fmt: skip
            raise Unavailable(
                f"{what} has not been fetched", hint=f"codexmem embed fetch {self.name}",
                details={"reason": "model_not_fetched", "name": self.name},
            )  # fmt: skip
        lock = self.lock()
        if lock is not None:
            verify(self.folder, lock)
        try:
            return make(self.folder)
        except Unavailable:
            raise
        except ImportError as error:
            raise missing from error
        except ValueError as error:
            raise Unavailable(f"fastembed does not take {what}: {error}") from error
        except Exception as error:
            raise Unavailable(
                f"{what} cannot be loaded: {type(error).__name__}",
                hint=f"check that {self.folder} holds a complete model",
            ) from error


class FastEmbedder:
    """One ONNX model, loaded at the first call; one call at a time encodes."""

    batch = 16

    def __init__(self, name: str, *, models: Path | None = None, threads: int = 1) -> None:
        self._files = ModelFiles(name, models)
        self._lock: ModelLock | None = None
        self._threads = threads
        self._turn = threading.Lock()
        self._encoder: Any = None
        self._dimension: int | None = None

    @property
    def model(self) -> str:
        """Its name without the path, which may differ between machines that share a store, and what the files are."""
        if self._lock is None:
            self._lock = self._files.lock()
        return f"fastembed:{self._files.name}" + (f"@{self._lock.digest}" if self._lock else "")

    @property
    def installed(self) -> bool:
        """Whether the package is there, without loading it."""
        return importlib.util.find_spec("fastembed") is not None

    @property
    def dimension(self) -> int | None:
        """Known after the first vector."""
        return self._dimension

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """Some at a time, so that a query can come in between."""
        found: list[bytes] = []
        for start in range(0, len(texts), self.batch):
            with self._turn:
                encoder, prefix = self._loaded(), self._lock.passage_prefix if self._lock else ""
                rows = list(encoder.passage_embed([prefix + text for text in texts[start : start + self.batch]]))
            found += self._units(rows)
        return found

    def query(self, text: str) -> bytes:
        """One text."""
        with self._turn:
            encoder, prefix = self._loaded(), self._lock.query_prefix if self._lock else ""
            rows = list(encoder.query_embed([prefix + text]))
        return self._units(rows)[0]

    def _units(self, rows: list[Any]) -> list[bytes]:
        if rows:
            self._dimension = len(rows[0])
        return [unit(row.tolist()) for row in rows]

    def _loaded(self) -> Any:
        if self._encoder is None:
            self._lock = self._files.lock()
            self._encoder = self._files.loaded(self._load, "model", setting="CODEXMEM_EMBEDDER")
        return self._encoder

    def _load(self, folder: Path) -> Any:
        from fastembed import TextEmbedding

        known = {each["model"].lower() for each in TextEmbedding.list_supported_models()}
        name = self._files.name if not self._files.by_path and self._files.name.lower() in known else None
        return TextEmbedding(
            model_name=name or _own_encoder(folder), specific_model_path=str(folder), threads=self._threads
        )


def _own_encoder(folder: Path) -> str:
    """The name under which `TextEmbedding` knows a folder with a model of one's own, after telling it."""
    import json

    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    # By its whole path: fastembed keeps one list per process, and two folders may have one name.
    name = folder.resolve().as_posix()
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.onnx"))
    config, pooling = folder / "config.json", folder / "1_Pooling" / "config.json"
    if not files or not config.is_file():
        raise Unavailable(f"{folder} is not a model folder: it needs an .onnx file and config.json")
    size = json.loads(config.read_text(encoding="utf-8")).get("hidden_size")
    if not isinstance(size, int):
        raise Unavailable(f"{config} does not say hidden_size")
    first = pooling.is_file() and json.loads(pooling.read_text(encoding="utf-8")).get("pooling_mode_cls_token") is True
    known = {model["model"] for model in TextEmbedding.list_supported_models()}
    if name not in known:
        TextEmbedding.add_custom_model(
            model=name, pooling=PoolingType.CLS if first else PoolingType.MEAN, normalization=True,
            sources=ModelSource(hf=name), dim=size, model_file=files[0],
        )  # fmt: skip
    return name


class CrossEncoder:
    """One ONNX model, loaded at the first call; one call at a time judges."""

    def __init__(self, name: str, *, models: Path | None = None, depth: int = DEPTH, threads: int = 1) -> None:
        self._files = ModelFiles(name, models)
        self.depth = depth
        self._threads = threads
        self._turn = threading.Lock()
        self._encoder: Any = None

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """As the model has them: of any size, comparable for one query only."""
        if not texts:
            return []
        with self._turn:
            if self._encoder is None:
                self._encoder = self._files.loaded(self._load, "reranker", setting="CODEXMEM_RERANKER")
            try:
                found = [float(score) for score in self._encoder.rerank(query, list(texts), batch_size=_TOGETHER)]
            except Exception as error:
                raise self._broken(type(error).__name__) from error
        if len(found) != len(texts) or not all(map(math.isfinite, found)):
            raise self._broken("not one score for each text")
        return found

    def _broken(self, what: str) -> Unavailable:
        return Unavailable(f"the reranker {self._files.name} does not work: {what}")

    def _load(self, folder: Path) -> Any:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        known = {each["model"].lower() for each in TextCrossEncoder.list_supported_models()}
        name = self._files.name if not self._files.by_path and self._files.name.lower() in known else None
        return TextCrossEncoder(
            model_name=name or _own_reranker(folder), specific_model_path=str(folder), threads=self._threads
        )


def _own_reranker(folder: Path) -> str:
    """The name under which `TextCrossEncoder` knows a folder with a model of one's own, after telling it."""
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.onnx"))
    if not files:
        raise Unavailable(f"{folder} is not a model folder: it needs an .onnx file and its tokenizer")
    # By its whole path: fastembed keeps one list per process, and two folders may have one name.
    name = folder.resolve().as_posix()
    known = {model["model"].lower() for model in TextCrossEncoder.list_supported_models()}
    if name.lower() not in known:
        TextCrossEncoder.add_custom_model(model=name, sources=ModelSource(hf=name), model_file=files[0])
    return name
