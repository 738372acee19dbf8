"""A hub of models as Hugging Face's: real HTTP on loopback, with its API, its redirects for large files, and ranges."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from codexmem.kernel.embed.model_folder import git_blob_of, sha256_of

_LARGE = (".onnx", ".onnx_data")


@dataclass
class ModelHub:
    """Serves folders; each has one commit, which is its contents."""

    models: dict[str, Path] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # path, range, authorization
    sent: int = 0  # bytes of files
    break_after: int | None = None  # bytes of the next large file, then the connection is cut
    spoil: bool = False  # send other bytes than described
    port: int = 0
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def commit(self, name: str) -> str:
        said = "".join(f"{path}{sha256_of(self.models[name] / path)}" for path in self._files(name))
        return hashlib.sha1(said.encode()).hexdigest()

    def __enter__(self) -> Self:
        hub = self

        class Endpoint(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                hub.answer(self, body=False)

            def do_GET(self) -> None:
                with contextlib.suppress(ConnectionError):
                    hub.answer(self, body=True)

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # a client that has its answer may reset the connection; a command's output must not show it

        self._server = Quiet(("127.0.0.1", 0), Endpoint)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: BaseHTTPRequestHandler, *, body: bool) -> None:
        """One request."""
        path = unquote(urlsplit(asked.path).path).lstrip("/")
        given = asked.headers.get("Range", "")
        self.asked.append((path, given, asked.headers.get("Authorization", "")))
        for name in self.models:
            commit = self.commit(name)
            if re.fullmatch(rf"api/models/{re.escape(name)}(/revision/(main|{commit}))?", path):
                return _say(asked, 200, json.dumps(self._described(name)).encode(), body=body)
            if path.startswith(f"api/models/{name}/tree/"):
                rows = [{"type": "file", "path": each["rfilename"], "size": each["size"], "oid": each["blobId"]}
                        | ({"lfs": {"oid": each["lfs"]["sha256"], "size": each["size"], "pointerSize": 130}}
                           if "lfs" in each else {}) for each in self._described(name)["siblings"]]  # fmt: skip
                return _say(asked, 200, json.dumps(rows).encode(), body=body)
            found = re.fullmatch(rf"{re.escape(name)}/resolve/(main|{commit})/(.+)", path)
            if found and found[2] in self._files(name):
                file = self.models[name] / found[2]
                headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
                if file.suffix in _LARGE:
                    # As the real one: what is large lies on another host.
                    headers |= {"X-Linked-Etag": f'"{sha256_of(file)}"', "X-Linked-Size": str(file.stat().st_size),
                                "Location": f"http://localhost:{self.port}/cdn/{name}/{found[2]}"}  # fmt: skip
                    return _say(asked, 302, b"", headers, body=body)
                return self._send(asked, file, headers | {"ETag": f'"{git_blob_of(file)}"'}, given, body=body)
            if path.startswith(f"cdn/{name}/"):
                return self._send(asked, self.models[name] / path.removeprefix(f"cdn/{name}/"), {}, given, body=body)
        return _say(asked, 404, b"{}", {"X-Error-Code": "RepoNotFound"}, body=body)

    def _send(self, asked: BaseHTTPRequestHandler, file: Path, headers: dict[str, str], given: str, *,
              body: bool) -> None:  # fmt: skip
        whole = file.read_bytes()
        if self.spoil and file.suffix in _LARGE:
            whole = bytes(reversed(whole))
        start = int(given.removeprefix("bytes=").removesuffix("-")) if given else 0
        rest = whole[start:]
        if given:
            headers |= {"Content-Range": f"bytes {start}-{len(whole) - 1}/{len(whole)}"}
        if self.break_after is not None and file.suffix in _LARGE and body:
            cut, self.break_after = rest[: self.break_after], None
            self.sent += len(cut)
            _say(asked, 206 if given else 200, cut, headers, length=len(rest))
            asked.close_connection = True
            return
        self.sent += len(rest) if body else 0
        _say(asked, 206 if given else 200, rest, headers, body=body)

    def _files(self, name: str) -> list[str]:
        folder = self.models[name]
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    def _described(self, name: str) -> dict[str, Any]:
        siblings: list[dict[str, Any]] = []
        for path in self._files(name):
            file = self.models[name] / path
            row: dict[str, Any] = {"rfilename": path, "size": file.stat().st_size, "blobId": git_blob_of(file)}
            if file.suffix in _LARGE:
                row["lfs"] = {"sha256": sha256_of(file), "size": row["size"], "pointerSize": 130}
            siblings.append(row)
        return {"_id": "1", "id": name, "modelId": name, "sha": self.commit(name), "private": False, "tags": [],
                "downloads": 0, "likes": 0, "cardData": {"license": "mit"}, "siblings": siblings}  # fmt: skip


def _say(asked: BaseHTTPRequestHandler, status: int, content: bytes, headers: dict[str, str] | None = None, *,
         body: bool = True, length: int | None = None) -> None:  # fmt: skip
    asked.send_response(status)
    for name, value in {"Content-Length": str(len(content) if length is None else length), **(headers or {})}.items():
        asked.send_header(name, value)
    asked.end_headers()
    if body:
        asked.wfile.write(content)
