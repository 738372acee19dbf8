"""Models of `fastembed`: by name, fetched from its hub at first use, or from a folder that is already there."""

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codexmem.kernel.embed import onnx
from codexmem.kernel.embed.model import unit
from codexmem.kernel.model.errors import Unavailable


class FastEmbedder:
    """One ONNX model, loaded at the first call; one call at a time encodes."""

    batch = 16

    def __init__(self, name: str, *, threads: int = 1) -> None:
        self._folder = onnx.folder_of(name)
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
            self._encoder = onnx.loaded(self._load, f"the model {self._name}", self._folder,
                                        setting="CODEXMEM_EMBEDDER")  # fmt: skip
        return self._encoder

    def _load(self) -> Any:
        from fastembed import TextEmbedding

        if self._folder is None:
            return TextEmbedding(model_name=self._name, threads=self._threads)
        return TextEmbedding(**_own_model(self._folder), threads=self._threads)


def _own_model(folder: Path) -> dict[str, Any]:
    """What `TextEmbedding` must be told about a folder with a model of one's own."""
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
    return {"model_name": name, "specific_model_path": str(folder)}
