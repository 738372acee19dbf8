"""Which embedder and which reranker, from what the settings say.

One that is named but not installed is chosen all the same: it says so when it is asked, search goes on without it, and
the hint tells what to install.
"""

from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.embed import local
from codexmem.kernel.embed.fastembed import CrossEncoder, FastEmbedder
from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.embed.model_folder import MODELS
from codexmem.kernel.embed.openai import DEFAULT_BASE_URL, OpenAIEmbedder
from codexmem.kernel.embed.rerank import DEPTH, ApiReranker, Reranker
from codexmem.kernel.model.errors import InvalidArgument

FASTEMBED = "fastembed:"
NAMES = ("auto", "none", "local", "local-better", "openai")


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The settings that bear on the choice."""

    name: str = "auto"
    threads: int = 1
    data_dir: Path | None = None  # below which fetched models lie
    openai_model: str = ""
    openai_base_url: str = ""
    openai_api_key: str = ""

    def __repr__(self) -> str:
        return f"EmbedderChoice({self.name!r}, openai_model={self.openai_model!r})"  # never the key


def choose(wish: EmbedderChoice) -> Embedder | None:
    """The embedder, or None where search goes by words alone."""
    small = local.small(threads=wish.threads)
    if wish.name == "none":
        return None
    if wish.name == "auto":
        if wish.openai_model:
            return _openai(wish)
        return small if small.installed else None
    if wish.name == "local":
        return small
    if wish.name == "local-better":
        return local.better(threads=wish.threads)
    if wish.name == "openai":
        return _openai(wish)
    if wish.name.startswith(FASTEMBED) and len(wish.name) > len(FASTEMBED):
        return FastEmbedder(wish.name.removeprefix(FASTEMBED), models=_models(wish.data_dir), threads=wish.threads)
    raise InvalidArgument(
        f"{wish.name!r} is not an embedder",
        hint=f"CODEXMEM_EMBEDDER is {', '.join(NAMES)} or {FASTEMBED}<name or path>",
    )


def _openai(wish: EmbedderChoice) -> Embedder:
    if not wish.openai_model:
        raise InvalidArgument(
            "no model for embeddings", hint="set CODEXMEM_OPENAI_EMBEDDING_MODEL, e.g. text-embedding-3-small"
        )
    return OpenAIEmbedder(
        wish.openai_model, base_url=wish.openai_base_url or DEFAULT_BASE_URL, api_key=wish.openai_api_key
    )


def _models(data_dir: Path | None) -> Path | None:
    return data_dir / MODELS if data_dir is not None else None


@dataclass(frozen=True, slots=True)
class RerankerChoice:
    """The settings that bear on the choice of a reranker."""

    name: str = "none"
    threads: int = 1
    data_dir: Path | None = None
    url: str = ""
    model: str = ""
    api_key: str = ""
    depth: int = DEPTH

    def __repr__(self) -> str:
        return f"RerankWish({self.name!r}, model={self.model!r})"  # never the key


def choose_reranker(wish: RerankerChoice) -> Reranker | None:
    """The reranker, or None where the first order stands."""
    if wish.name == "none":
        return None
    if wish.name == "api":
        if not wish.url:
            raise InvalidArgument("no server for reranking", hint="set CODEXMEM_RERANK_URL, e.g. http://127.0.0.1:8080")
        return ApiReranker(wish.url, model=wish.model, api_key=wish.api_key, depth=wish.depth)
    if wish.name.startswith(FASTEMBED) and len(wish.name) > len(FASTEMBED):
        name = wish.name.removeprefix(FASTEMBED)
        return CrossEncoder(name, models=_models(wish.data_dir), depth=wish.depth, threads=wish.threads)
    raise InvalidArgument(
        f"{wish.name!r} is not a reranker", hint=f"CODEXMEM_RERANKER is none, api or {FASTEMBED}<name or path>"
    )
