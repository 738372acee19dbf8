"""The few calls of Chroma's HTTP interface (version 2) that vectors need.

Written against the interface rather than the vendor's package, which brings a hundred and fifty megabytes for six
requests and cannot be installed beside the server's own. Whatever goes wrong is `Unavailable`; a server that does not
answer is left alone for a while.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from codexmem.installation import install_command
from codexmem.kernel.model import ids
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.errors import CodexmemError, Unavailable

FIND_S = 2.0
WRITE_S = 30.0
_DATABASE = "/api/v2/tenants/default_tenant/databases/default_database/collections"


class ChromaClient:
    """One server; every call may come from any thread."""

    def __init__(self, url: str, *, find_s: float = FIND_S, write_s: float = WRITE_S, breaker: Breaker | None = None,
                 now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self._url = url.rstrip("/")
        self.place = urlsplit(url).hostname or url
        self._find_s = find_s
        self._write_s = write_s
        self._breaker = breaker or Breaker()
        self._now_s = now_s
        self._made = threading.Lock()
        self._http: Any = None
        self._known: dict[str, str] = {}  # id of each collection by its name

    def close(self) -> None:
        """Give back the connections."""
        with self._made:
            if self._http is not None:
                self._http.close()
                self._http = None

    def require(self) -> None:
        """Raise unless the server answers soon; asked even while searches leave it alone."""
        if self._asked("GET", "", None, {"limit": 1}, self._find_s) is None:
            raise self._broken("not found")

    def names(self, prefix: str) -> list[str]:
        """The collections whose names begin so."""
        found: list[str] = []
        while True:
            page = self._write("GET", "", params={"limit": 100, "offset": len(found)})
            self._known.update({each["name"]: each["id"] for each in page})
            found += [each["name"] for each in page]
            if len(page) < 100:
                return [name for name in found if name.startswith(prefix)]

    def create(self, name: str) -> None:
        """Make sure that the collection exists, compared by cosine."""
        if name not in self._known:
            made = self._write("POST", "", {
                "name": name, "get_or_create": True, "configuration": {"hnsw": {"space": "cosine"}},
            })  # fmt: skip
            self._known[name] = made["id"]

    def remove(self, name: str) -> None:
        """Remove the collection; nothing happens if there is none."""
        self._write("DELETE", f"/{name}", missing=None)
        self._known.pop(name, None)

    def upsert(self, name: str, keys: Sequence[str], vectors: Sequence[list[float]],
               metadatas: Sequence[Mapping[str, object]]) -> None:  # fmt: skip
        """Store records, replacing those of the same keys."""
        self.create(name)
        body = {"ids": list(keys), "embeddings": list(vectors), "metadatas": list(metadatas)}
        self._of(name, "upsert", body)

    def delete(
        self, name: str, *, keys: Sequence[str] | None = None, where: Mapping[str, object] | None = None
    ) -> None:
        """Remove records by key or by what they say of themselves."""
        self._of(name, "delete", {"ids": list(keys)} if keys is not None else {"where": where})

    def get(self, name: str, *, keys: Sequence[str] | None = None, where: Mapping[str, object] | None = None,
            include: Sequence[str] = (), limit: int | None = None, offset: int = 0) -> dict[str, Any]:  # fmt: skip
        """Records by key or by what they say of themselves; empty if there is no such collection."""
        body = {"ids": list(keys) if keys is not None else None, "where": where, "include": list(include),
                "limit": limit, "offset": offset}  # fmt: skip
        found: dict[str, Any] = self._of(name, "get", body) or {"ids": []}
        return found

    def query(self, name: str, vector: list[float], where: Mapping[str, object], limit: int) -> list[tuple[str, float]]:
        """Keys and distances, nearest first; asked only while the server is known to answer."""
        if not self._breaker.lets(self._now_s()):
            raise Unavailable(f"Chroma at {self.place} did not answer recently; retrying later")
        body = {"query_embeddings": [vector], "n_results": limit, "where": where, "include": ["distances"]}
        found = self._of(name, "query", body, timeout=self._find_s)
        if not found:
            return []
        try:
            return list(zip(found["ids"][0], found["distances"][0], strict=True))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise self._broken("an answer of another shape") from error

    def _of(self, name: str, verb: str, body: Mapping[str, object], timeout: float | None = None) -> Any:
        """Ask one collection; None if there is none. Its id is looked up again if it has been made anew since."""
        for _ in range(2):
            if name not in self._known:
                found = self._asked("GET", f"/{name}", None, {}, timeout or self._write_s)
                if found is None:
                    return None
                self._known[name] = found["id"]
            answer = self._asked("POST", f"/{self._known[name]}/{verb}", body, {}, timeout or self._write_s)
            if answer is not None:
                return answer
            del self._known[name]
        return None

    def _write(self, method: str, path: str, body: Any = None, *, params: Mapping[str, object] | None = None,
               missing: Any = ...) -> Any:  # fmt: skip
        answer = self._asked(method, path, body, params or {}, self._write_s)
        if answer is None:
            if missing is ...:
                raise self._broken("not found")
            return missing
        return answer

    def _asked(self, method: str, path: str, body: Any, params: Mapping[str, object], timeout: float) -> Any:
        """The answer's JSON, None for "not found"."""
        try:
            reply = self._connected().request(
                method, self._url + _DATABASE + path, json=body, params=params, timeout=timeout
            )
            if reply.status_code == 404:
                self._breaker.worked()
                return None
            if reply.status_code >= 400:
                raise self._broken(f"status {reply.status_code}")
            answer = reply.json() if reply.content else {}
        except CodexmemError:
            self._breaker.failed(self._now_s())
            raise
        except Exception as error:
            self._breaker.failed(self._now_s())
            raise self._broken(type(error).__name__) from error
        self._breaker.worked()
        return {} if answer is None else answer

    def _connected(self) -> Any:
        with self._made:
            if self._http is None:
                try:
                    import httpx2
                except ImportError as missing:
                    raise Unavailable("the HTTP client is missing", hint=install_command("chroma")) from missing
                logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for each request is nobody's interest
                # A Chroma server is a neighbour; texts' vectors do not travel by a proxy that nobody named.
                self._http = httpx2.Client(trust_env=False)
            return self._http

    def _broken(self, what: str) -> Unavailable:
        return Unavailable(
            f"Chroma at {self.place} does not answer as expected: {what}",
            hint="check CODEXMEM_CHROMA_URL and that the server is running",
        )
