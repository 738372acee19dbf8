"""Models of `fastembed`, encoders and rerankers: by name, fetched from its hub at first use, or from a folder that is
already there.
"""

import importlib.util
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from codexmem.kernel.embed.model import unit
from codexmem.kernel.embed.rerank import DEPTH
from codexmem.kernel.model.errors import Unavailable

_TOGETHER = 8  # texts in one go: all are padded to the longest, so that more cost memory and save nothing


def folder_of(name: str) -> Path | None:
    """The folder that a model's name is the path of; None for a name that the hub knows."""
    folder = Path(name).expanduser()
    return folder if folder.is_absolute() or name.startswith(("./", "~")) else None


def loaded(make: Callable[[], Any], what: str, folder: Path | None, *, setting: str) -> Any:
    """What `make` imports and makes; whatever keeps it from that is `Unavailable`, with what to do about it."""
    if folder is not None and not folder.is_dir():
        raise Unavailable(f"there is no model folder {folder}", hint=f"{setting}=fastembed:/path/of/model")
    try:
        return make()
    except Unavailable:
        raise
    except ImportError as missing:
        raise Unavailable("fastembed is not installed", hint="pip install 'codexmem[fastembed]'") from missing
    except ValueError as error:
        raise Unavailable(f"fastembed does not take {what}: {error}") from error
    except Exception as error:
        raise Unavailable(
            f"{what} cannot be loaded: {type(error).__name__}",
            hint="its files are fetched at first use, which needs a network; or give the path of a folder",
        ) from error


class FastEmbedder:
    """One ONNX model, loaded at the first call; one call at a time encodes."""

    batch = 16

    def __init__(self, name: str, *, threads: int = 1) -> None:
        self._folder = folder_of(name)
        # A folder is known by its name: where it lies may differ between the machines that share a store.
        self.model = f"fastembed:{self._folder.name if self._folder else name}"
        self._name = name
        self._threads = threads
        self._turn = threading.Lock()
        self._encoder: Any = None
        self._dimension: int | None = None

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
                rows = list(self._loaded().passage_embed(list(texts[start : start + self.batch])))
            found += self._units(rows)
        return found

    def query(self, text: str) -> bytes:
        """One text."""
        with self._turn:
            rows = list(self._loaded().query_embed([text]))
        return self._units(rows)[0]

    def _units(self, rows: list[Any]) -> list[bytes]:
        if rows:
            self._dimension = len(rows[0])
        return [unit(row.tolist()) for row in rows]

    def _loaded(self) -> Any:
        if self._encoder is None:
            self._encoder = loaded(self._load, f"the model {self._name}", self._folder,
                                        setting="CODEXMEM_EMBEDDER")  # fmt: skip
        return self._encoder

    def _load(self) -> Any:
        from fastembed import TextEmbedding

        if self._folder is None:
            return TextEmbedding(model_name=self._name, threads=self._threads)
        return TextEmbedding(
            model_name=_own_encoder(self._folder), specific_model_path=str(self._folder), threads=self._threads
        )


def _own_encoder(folder: Path) -> str:
    """The name under which `TextEmbedding` knows a folder with a model of one's own, after telling it."""
    import json

    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"local/{folder.name}"
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.onnx"))
    config = folder / "config.json"
    if not files or not config.is_file():
        raise Unavailable(f"{folder} is not a model folder: it needs an .onnx file and config.json")
    size = json.loads(config.read_text(encoding="utf-8")).get("hidden_size")
    if not isinstance(size, int):
        raise Unavailable(f"{config} does not say hidden_size")
    known = {model["model"] for model in TextEmbedding.list_supported_models()}
    if name not in known:
        TextEmbedding.add_custom_model(
            model=name, pooling=PoolingType.MEAN, normalization=True, sources=ModelSource(hf=name), dim=size,
            model_file=files[0],
        )  # fmt: skip
    return name


class CrossEncoder:
    """One ONNX model, loaded at the first call; one call at a time judges."""

    def __init__(self, name: str, *, depth: int = DEPTH, threads: int = 1) -> None:
        self._folder = folder_of(name)
        self.depth = depth
        self._name = name
        self._threads = threads
        self._turn = threading.Lock()
        self._encoder: Any = None

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """As the model has them: of any size, comparable for one query only."""
        if not texts:
            return []
        with self._turn:
            if self._encoder is None:
                self._encoder = loaded(self._load, f"the reranker {self._name}", self._folder,
                                            setting="CODEXMEM_RERANKER")  # fmt: skip
            try:
                found = [float(score) for score in self._encoder.rerank(query, list(texts), batch_size=_TOGETHER)]
            except Exception as error:
                raise self._broken(type(error).__name__) from error
        if len(found) != len(texts) or not all(map(math.isfinite, found)):
            raise self._broken("not one score for each text")
        return found

    def _broken(self, what: str) -> Unavailable:
        return Unavailable(f"the reranker {self._name} does not work: {what}")

    def _load(self) -> Any:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        if self._folder is None:
            return TextCrossEncoder(model_name=self._name, threads=self._threads)
        return TextCrossEncoder(
            model_name=_own_reranker(self._folder), specific_model_path=str(self._folder), threads=self._threads
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
