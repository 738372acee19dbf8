"""HTTP/1.1 by hand: one connection to the server, kept for all that one hook has to say, and never past a deadline.

`http.client` and `urllib` take longer to load than the hook may live, and so does `socket`; its C part does not. Only
what our own server speaks is understood. For `https` the libraries are loaded after all.
"""

from __future__ import annotations

try:
    import _socket
except ImportError:  # other Pythons than CPython
    import socket as _socket  # type: ignore[no-redef]

from codexmem.hook.surroundings import monotonic, traceparent

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

CONNECT_S = 0.3
_REPLY_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16


class Away(Exception):
    """The server did not answer in time, or not at all; the request may or may not have been taken."""

    def __init__(self, why: str, *, refused: bool = False) -> None:
        super().__init__(why)
        self.refused = refused  # whether nobody listens there


class Server:
    """The server at one address, until a moment on the monotonic clock."""

    def __init__(self, base: str, token: str, until: float) -> None:
        scheme, _, rest = base.partition("://")
        place, slash, prefix = rest.partition("/")
        self._tls = scheme.lower() == "https"
        self._prefix = slash + prefix.rstrip("/")
        self._named = place.rpartition("@")[2]
        self._host, self._port = _host_and_port(self._named, 443 if self._tls else 80)
        self._token = token
        self._trace = traceparent()
        self.until = until
        self._socket: socket.socket | None = None
        self._fresh = True  # whether nothing was asked on this connection yet

    def open(self) -> None:
        """Connect, if that has not happened."""
        if self._socket is not None:
            return
        try:
            self._socket = self._connected()
        except OSError as error:
            self.close()
            raise Away(str(error), refused=isinstance(error, ConnectionRefusedError)) from None
        self._fresh = True

    def request(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Ask, and return status and answer. A connection that the server has let go of is made anew, once."""
        self.open()
        reused = not self._fresh
        try:
            return self._exchange(method, path, body)
        except (OSError, ValueError) as error:
            self.close()
            if not reused or monotonic() >= self.until:
                raise Away(str(error)) from None
        self.open()
        try:
            return self._exchange(method, path, body)
        except (OSError, ValueError) as error:
            self.close()
            raise Away(str(error)) from None

    @property
    def connected(self) -> bool:
        """Whether there is a connection, and the last answer came."""
        return self._socket is not None

    def close(self) -> None:
        """Let go of the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connected(self) -> socket.socket:
        wait = min(CONNECT_S, self._left())
        if self._tls:
            import socket
            import ssl

            plain = socket.create_connection((self._host, self._port), wait)
            plain.settimeout(self._left())
            return ssl.create_default_context().wrap_socket(plain, server_hostname=self._host)
        family, address = self._address(wait)
        made = _socket.socket(family, _socket.SOCK_STREAM)
        try:
            made.settimeout(wait)
            made.connect(address)
            made.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        except OSError:
            made.close()
            raise
        return made  # type: ignore[return-value]  # as good as its wrapper for what we do with it

    def _address(self, wait: float) -> tuple[int, tuple[str, int]]:
        host = "127.0.0.1" if self._host.lower() == "localhost" else self._host
        if ":" in host:
            return _socket.AF_INET6, (host, self._port)
        if not host.replace(".", "").isdigit():
            host = _resolved(host, wait)
        return _socket.AF_INET, (host, self._port)

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        self._fresh = False
        head = [f"{method} {self._prefix}{path} HTTP/1.1", f"Host: {self._named}", "Accept: */*"]
        if self._token:
            head.append(f"Authorization: Bearer {self._token}")
        if self._trace:
            head.append(f"traceparent: {self._trace}")
        if body is not None:
            head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self._send("\r\n".join([*head, "", ""]).encode("latin-1", "replace") + (body or b""))
        while True:
            status, headers, rest = self._head()
            if status >= 200:
                return status, self._body(status, headers, rest)

    def _send(self, message: bytes) -> None:
        assert self._socket is not None
        self._socket.settimeout(self._left())
        self._socket.sendall(message)

    def _more(self) -> bytes:
        assert self._socket is not None
        self._socket.settimeout(self._left())
        got = self._socket.recv(1 << 16)
        if not got:
            raise ConnectionResetError("the server hung up")
        return got

    def _head(self) -> tuple[int, dict[str, str], bytes]:
        got = b""
        while b"\r\n\r\n" not in got:
            if len(got) > _HEAD_BYTES:
                raise OSError("too long a head")
            got += self._more()
        head, _, rest = got.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        if not first.startswith("HTTP/1.") or not first[9:12].isdigit():
            raise OSError("no HTTP")
        pairs = (line.partition(":") for line in lines)
        return int(first[9:12]), {name.strip().lower(): value.strip() for name, _, value in pairs}, rest

    def _body(self, status: int, headers: dict[str, str], got: bytes) -> bytes:
        if status in {204, 304}:
            return b""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks(got)
        length = headers.get("content-length", "")
        if not length.isdigit():
            self.close()
            raise OSError("an answer without a length")
        wanted = int(length)
        if wanted > _REPLY_BYTES:
            raise OSError("too long an answer")
        while len(got) < wanted:
            got += self._more()
        if headers.get("connection", "").lower() == "close":
            self.close()
        return got[:wanted]

    def _chunks(self, got: bytes) -> bytes:
        body = b""
        while True:
            while b"\r\n" not in got:
                got += self._more()
            line, _, got = got.partition(b"\r\n")
            size = int(line.partition(b";")[0].strip() or b"x", 16)
            while len(got) < size + 2:
                if len(got) > _REPLY_BYTES:
                    raise OSError("too long an answer")
                got += self._more()
            if size == 0:
                return body
            body, got = body + got[:size], got[size + 2 :]
            if len(body) > _REPLY_BYTES:
                raise OSError("too long an answer")

    def _left(self) -> float:
        left = self.until - monotonic()
        if left <= 0:
            raise TimeoutError("out of time")
        return left


def quoted(text: str) -> str:
    """Text for a query of an address."""
    if text.isascii() and text.isalnum():
        return text
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def _host_and_port(place: str, default: int) -> tuple[str, int]:
    if place.startswith("["):
        host, _, rest = place[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        host, _, port = place.partition(":")
    return host, int(port) if port.isascii() and port.isdigit() and len(port) < 6 else default


def _resolved(host: str, wait: float) -> str:
    """The address of a name. Asking cannot be interrupted, so a thread asks, which ends with the process."""
    import _thread

    found: list[str] = []
    done = _thread.allocate_lock()
    done.acquire()

    def ask() -> None:
        try:
            found.append(str(_socket.getaddrinfo(host, None, _socket.AF_INET, _socket.SOCK_STREAM)[0][4][0]))
        except (OSError, UnicodeError):
            return
        finally:
            done.release()

    _thread.start_new_thread(ask, ())
    if not done.acquire(timeout=wait) or not found:
        raise OSError(f"no address for {host}")
    return found[0]
