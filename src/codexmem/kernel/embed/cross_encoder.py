"""Rerankers of `fastembed`: cross-encoders by name, fetched from its hub at first use, or from a folder."""

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codexmem.kernel.embed import onnx
from codexmem.kernel.embed.rerank import DEPTH
from codexmem.kernel.model.errors import Unavailable

_TOGETHER = 8  # texts in one go: all are padded to the longest, so that more cost memory and save nothing


class CrossEncoder:
    """One ONNX model, loaded at the first call; one call at a time judges."""

    def __init__(self, name: str, *, depth: int = DEPTH, threads: int = 1) -> None:
        self._folder = onnx.folder_of(name)
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
                self._encoder = onnx.loaded(self._load, f"the reranker {self._name}", self._folder,
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
        return TextCrossEncoder(**_own_model(self._folder), threads=self._threads)


def _own_model(folder: Path) -> dict[str, Any]:
    """What `TextCrossEncoder` must be told about a folder with a model of one's own."""
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
    return {"model_name": name, "specific_model_path": str(folder)}
