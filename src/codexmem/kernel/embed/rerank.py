"""A second look at the best candidates by something slower and better: what a reranker is, and one behind HTTP.

`POST {url}/rerank` is spoken by Cohere, Jina, vLLM, Infinity, LocalAI and others. They agree on
`{model, query, documents, top_n}` and `{results: [{index, relevance_score}]}`; text-embeddings-inference wants `texts`
and answers with a bare list of `{index, score}`. Which of the two a server speaks is found out by its refusing the
first. It has two seconds to answer, is asked once, and left alone for a while if it does not. The key appears in no
message: errors are written here, not passed on.
"""

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from codexmem.installation import install_command
from codexmem.kernel.model import ids
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, RateLimited, Unavailable

DEPTH = 30
ASK_S = 2.0
_REFUSED = frozenset({400, 413, 422})  # what was sent is at fault, or its form


class Reranker(Protocol):
    """Judges a query and a text together. Every call may come from any thread."""

    depth: int  # how many of the best it looks at

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One finite score for each text, in their order, higher is better.

        Whatever keeps it from that is raised as `Unavailable` or another `CodexmemError`, and soon: a person waits.
        """
        ...


class ApiReranker:
    """One model of one server; an empty name leaves the choice to the server."""

    def __init__(self, url: str, *, model: str = "", api_key: str = "", depth: int = DEPTH, ask_s: float = ASK_S,
                 breaker: Breaker | None = None, now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self.depth = depth
        self._url = url.rstrip("/") + "/rerank"
        self._place = urlsplit(url).hostname or "?"
        self._model = model
        self._key = api_key
        self._ask_s = ask_s
        self._breaker = breaker or Breaker()
        self._now_s = now_s
        self._made = threading.Lock()
        self._http: Any = None
        self._forms = (self._common, self._inference)  # the one that the server is thought to take comes first

    def __repr__(self) -> str:
        return f"ApiReranker({self._place!r}, model={self._model!r}, depth={self.depth})"  # never the key

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One short request, or none while the server is known not to answer."""
        if not texts:
            return []
        if not self._breaker.lets(self._now_s()):
            raise Unavailable(f"the reranker at {self._place} did not answer recently; retrying later")
        until_s = self._now_s() + self._ask_s
        try:
            scores = self._asked(query, list(texts), until_s)
        except InvalidArgument:
            self._breaker.worked()  # it answers, and may like the next texts better
            raise
        except CodexmemError:
            self._breaker.failed(self._now_s())
            raise
        except Exception as error:
            self._breaker.failed(self._now_s())
            if "Timeout" in type(error).__name__:
                raise Unavailable(f"the reranker at {self._place} did not answer in time") from None
            raise self._broken(type(error).__name__) from None
        self._breaker.worked()
        return scores

    def _asked(self, query: str, texts: list[str], until_s: float) -> list[float]:
        first, second = self._forms
        status, answer = self._posted(first(query, texts), until_s)
        if status in _REFUSED:
            status, answer = self._posted(second(query, texts), until_s)
            if status < 300:
                self._forms = (second, first)
        if status >= 300:
            raise self._meant(status)
        return self._read(answer, len(texts))

    def _common(self, query: str, texts: list[str]) -> dict[str, object]:
        return {**self._named(), "query": query, "documents": texts, "top_n": len(texts)}

    def _inference(self, query: str, texts: list[str]) -> dict[str, object]:
        return {**self._named(), "query": query, "texts": texts, "truncate": True}

    def _named(self) -> dict[str, object]:
        return {"model": self._model} if self._model else {}

    def _posted(self, body: Mapping[str, object], until_s: float) -> tuple[int, Any]:
        """Status and, of a good one, the answer's JSON."""
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        left_s = max(0.01, until_s - self._now_s())
        reply = self._connected().post(self._url, json=body, headers=headers, timeout=left_s)
        return reply.status_code, reply.json() if reply.status_code < 300 else None

    def _read(self, answer: Any, expected: int) -> list[float]:
        rows: Any = answer.get("results") if isinstance(answer, dict) else answer
        try:
            found = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            found = {}
        if found.keys() != set(range(expected)) or not all(map(math.isfinite, found.values())):
            raise self._broken("not one score for each text")
        return [found[number] for number in range(expected)]

    def _connected(self) -> Any:
        with self._made:
            if self._http is None:
                try:
                    import httpx2
                except ImportError as missing:
                    raise Unavailable("the HTTP client is missing", hint=install_command(anew=True)) from missing
                # At info level a line for each request, with the whole address.
                for name in ("httpx2", "httpcore2"):
                    logging.getLogger(name).setLevel(logging.WARNING)
                self._http = httpx2.Client()
            return self._http

    def _meant(self, status: int) -> CodexmemError:
        """The error in our words. What the server said stays out: it may repeat the texts or the key."""
        if status in _REFUSED:
            hint = "check CODEXMEM_RERANK_MODEL, and that it takes texts of some hundred words"
            return InvalidArgument(f"the reranker at {self._place} refuses the texts", hint=hint)
        if status in (401, 403):
            return Unavailable(
                f"the reranker at {self._place} refuses the API key", hint="check CODEXMEM_RERANK_API_KEY"
            )
        if status == 404:
            hint = "check CODEXMEM_RERANK_URL, to which /rerank is added, and CODEXMEM_RERANK_MODEL"
            return Unavailable(f"the reranker at {self._place} has no such address or model", hint=hint)
        if status == 429:
            return RateLimited(f"the reranker at {self._place} asks for fewer requests")
        return self._broken(f"status {status}")

    def _broken(self, what: str) -> Unavailable:
        return Unavailable(
            f"the reranker at {self._place} does not answer as expected: {what}",
            hint="check CODEXMEM_RERANK_URL and that the server is running",
        )
