"""Embeddings from any server that speaks OpenAI's `/embeddings`.

A query waits two seconds at most and is tried once; while the server is known not to answer it is not asked at all.
Passages wait longer and are tried again. The key appears in no message: errors are written here, not passed on.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from codexmem.installation import install_command
from codexmem.kernel.embed.model import unit
from codexmem.kernel.model import ids
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, RateLimited, Unavailable

DEFAULT_BASE_URL = "https://api.openai.com/v1"
QUERY_S = 2.0
PASSAGES_S = 60.0
TRIES = 3
_NO_KEY = "none"  # servers at home ask for no key, the SDK does


class OpenAIEmbedder:
    """One model of one server."""

    batch = 128

    def __init__(self, model: str, *, base_url: str = DEFAULT_BASE_URL, api_key: str = "", query_s: float = QUERY_S,
                 passages_s: float = PASSAGES_S, breaker: Breaker | None = None,
                 now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        place = urlsplit(base_url)
        self.model = f"openai:{model}@{place.hostname or ''}"
        self._name = model
        self._base_url = base_url
        self._place = place.hostname or base_url
        self._key = api_key
        self._query_s = query_s
        self._passages_s = passages_s
        self._breaker = breaker or Breaker()
        self._now_s = now_s
        self._made = threading.Lock()
        self._client: Any = None
        self._dimension: int | None = None

    @property
    def dimension(self) -> int | None:
        """Known after the first answer."""
        return self._dimension

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """In requests of bounded size, each tried a few times."""
        found: list[bytes] = []
        for start in range(0, len(texts), self.batch):
            found += self._asked(list(texts[start : start + self.batch]), timeout=self._passages_s, tries=TRIES)
        return found

    def query(self, text: str) -> bytes:
        """One short request, or none while the server is known not to answer."""
        if not self._breaker.lets(self._now_s()):
            raise Unavailable(f"the embedding server {self._place} did not answer recently; retrying later")
        return self._asked([text], timeout=self._query_s, tries=1)[0]

    def _asked(self, texts: list[str], *, timeout: float, tries: int) -> list[bytes]:
        client = self._connected()
        import openai

        try:
            # Empty text is refused by many servers; a space means as little.
            answer = client.with_options(timeout=timeout, max_retries=tries - 1).embeddings.create(
                model=self._name, input=[text or " " for text in texts], encoding_format="float"
            )
        except openai.APIError as error:
            meant = self._meant(error)
            if not isinstance(meant, InvalidArgument):
                self._breaker.failed(self._now_s())
            raise meant from None
        except Exception as error:
            self._breaker.failed(self._now_s())
            raise self._broken(type(error).__name__) from None
        return self._read(answer, len(texts))

    def _read(self, answer: Any, expected: int) -> list[bytes]:
        try:
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = [unit(row.embedding) for row in rows]
            sizes = {len(row.embedding) for row in rows}
        except (AttributeError, TypeError, ValueError):
            vectors, sizes = [], set()
        if len(vectors) != expected or len(sizes) != 1:
            self._breaker.failed(self._now_s())
            raise self._broken("not one vector for each text")
        self._breaker.worked()
        self._dimension = sizes.pop()
        return vectors

    def _connected(self) -> Any:
        if not self._key and self._base_url == DEFAULT_BASE_URL:
            raise Unavailable("no API key for embeddings", hint="set OPENAI_API_KEY, or CODEXMEM_EMBEDDER=local")
        with self._made:
            if self._client is None:
                try:
                    import openai
                except ImportError as missing:
                    raise Unavailable(
                        "the openai package is not installed", hint=install_command(anew=True)
                    ) from missing
                # At debug level these write whole texts into the log, at info level a line for each request.
                for name in ("openai", "httpx2", "httpcore2"):
                    logging.getLogger(name).setLevel(logging.WARNING)
                self._client = openai.OpenAI(api_key=self._key or _NO_KEY, base_url=self._base_url)
            return self._client

    def _meant(self, error: Exception) -> CodexmemError:
        """The error in our words. What the server said stays out: it may repeat the text or the key."""
        import openai

        match error:
            case openai.APITimeoutError():
                return Unavailable(f"the embedding server {self._place} did not answer in time")
            case openai.RateLimitError():
                return RateLimited(f"the embedding server {self._place} asks for fewer requests")
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                hint = "check CODEXMEM_OPENAI_EMBEDDING_API_KEY, CODEXMEM_OPENAI_API_KEY or OPENAI_API_KEY"
                return Unavailable(f"the embedding server {self._place} refuses the API key", hint=hint)
            case openai.NotFoundError():
                hint = "check CODEXMEM_OPENAI_EMBEDDING_MODEL and CODEXMEM_OPENAI_EMBEDDING_BASE_URL"
                return Unavailable(f"the embedding server {self._place} has no model {self._name}", hint=hint)
            case openai.BadRequestError() | openai.UnprocessableEntityError():
                return InvalidArgument(f"the embedding server {self._place} refuses the text")
            case openai.APIStatusError(status_code=status):
                return Unavailable(f"the embedding server {self._place} answered with status {status}")
            case openai.APIConnectionError():
                return self._broken("no connection")
        return self._broken(type(error).__name__)

    def _broken(self, what: str) -> Unavailable:
        return Unavailable(
            f"the embedding server {self._place} does not answer as expected: {what}",
            hint="check CODEXMEM_OPENAI_EMBEDDING_BASE_URL and that the server is running",
        )
