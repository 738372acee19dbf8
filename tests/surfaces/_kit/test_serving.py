"""A real server on a real socket: the guard from outside, limits on connections, and stopping."""

import gc
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from codexmem.http.serving import Bound, ServingLimits, listen, serve
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotReady
from tests._support.waiting import eventually
from tests.surfaces._kit.endpoints import ROUTES, Endpoints, application
from tests.surfaces._kit.variants import ALLOWED, FORBIDDEN

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]


@dataclass
class Running:
    """A server in a thread of this process."""

    port: int
    stop: threading.Event
    thread: threading.Thread
    outcome: list[bool]

    def talk(self, data: bytes) -> bytes:
        """Send bytes, read until the server closes or answers completely."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(data)
            return read_reply(connection)

    def end(self) -> bool:
        self.stop.set()
        self.thread.join(15)
        assert not self.thread.is_alive()
        return self.outcome[0]


def read_reply(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        if not part:
            return received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            while len(body) < int(line.partition(b":")[2]):
                body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except ConnectionRefusedError:
        return True
    return False


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


@contextmanager
def running(app: ASGIApp, *, grace: float = 5.0, limits: ServingLimits | None = None) -> Iterator[Running]:
    bound: list[Bound] = []
    outcome: list[bool] = []
    ready, stop = threading.Event(), threading.Event()

    def on_bound(where: Bound) -> None:
        bound.append(where)
        ready.set()

    def run() -> None:
        outcome.append(serve(app, "127.0.0.1", 0, on_bound=on_bound, shutdown_grace=grace, limits=limits, stop=stop))

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    server = Running(bound[0].port, stop, thread, outcome)
    try:
        yield server
    finally:
        stop.set()
        thread.join(15)
        # A server that was stopped leaves connections to the end of its process, which is not this one's.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


def raw(method: str, path: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if body:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def test_the_guard_holds_on_a_real_socket(app: ASGIApp, endpoints: Endpoints) -> None:
    routes = [(method, path.replace("{item}", "5").replace("{how}", "missing")) for method, path in ROUTES]
    with running(app) as server:
        for number, variant in enumerate(FORBIDDEN):
            for method, path in routes[number % 2 :: 2]:
                reply = server.talk(raw(method, path, variant.at(server.port), variant.body or b""))
                # The HTTP parser itself refuses a few of these as malformed.
                assert status(reply) in {variant.status, 400}, variant.name
                assert b"access-control" not in reply.lower()
        ours = f"host: 127.0.0.1:{server.port}\r\n"
        for request in [
            "GET /api/health HTTP/1.0\r\n\r\n",
            "GET /api/health HTTP/1.1\r\n\r\n",
            f"GET /api/health HTTP/1.1\r\n{ours}{ours}\r\n",
            f"GET /api/health HTTP/1.1\r\n{ours}host: evil.test\r\n\r\n",
            f"GET http://evil.test/api/health HTTP/1.1\r\n{ours}\r\n",
            f"GET /api/health HTTP/1.1\r\n{ours} folded: x\r\n\r\n",
            f"POST /api/reset HTTP/1.1\r\n{ours}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            f"POST /api/echo HTTP/1.1\r\n{ours}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
            + ("ffff\r\n" + "x" * 65535 + "\r\n") * 2,
            f"POST /api/echo HTTP/1.1\r\n{ours}content-type: application/json\r\ncontent-length: 99999999\r\n\r\n[",
            f"GET /api/health HTTP/1.1\r\n{ours}x: {'x' * 40_000}\r\n\r\n",
        ]:
            assert status(server.talk(request.encode())) in {400, 413, 421, 431}, request[:60]
        assert endpoints.total == 0
        for variant in ALLOWED:
            assert status(server.talk(raw("GET", "/api/health", variant.at(server.port)))) == 200
        assert endpoints.total == len(ALLOWED)
        upgrade = [("host", f"127.0.0.1:{server.port}"), ("connection", "upgrade"), ("upgrade", "websocket")]
        assert status(server.talk(raw("GET", "/api/health", upgrade))) == 200  # answered as plain HTTP, never upgraded


def test_no_100_continue_for_a_refused_body(app: ASGIApp) -> None:
    with running(app) as server:
        headers = [("host", "evil.test"), ("content-type", "application/json"), ("expect", "100-continue")]
        reply = server.talk(raw("POST", "/api/echo", headers)[:-2] + b"content-length: 5\r\n\r\n")
        assert status(reply) == 421


@pytest.mark.parametrize(
    "headers, expected",
    [
        ({"content-type": "application/json"}, 413),
        ({"content-type": "application/json", "transfer-encoding": "chunked"}, 413),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json", "host": "evil.test"}, 421),
    ],
    ids=["declared", "chunked", "no JSON", "another host"],
)
def test_a_client_that_sends_far_too_much_can_read_why_it_is_refused(
    app: ASGIApp, headers: dict[str, str], expected: int
) -> None:
    """More than the sockets' buffers hold, from a client that reads only when it has sent everything."""
    body = b"x" * (24 << 20)
    with running(app) as server:
        for method, path in ROUTES:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            where = path.replace("{item}", "5").replace("{how}", "missing")
            chunked = "transfer-encoding" in headers
            connection.request(method, where, iter([body]) if chunked else body, headers, encode_chunked=chunked)
            reply = connection.getresponse()
            said = json.loads(reply.read()) if method != "HEAD" else {}
            assert (reply.status, reply.getheader("connection")) == (expected, "close")
            connection.close()
            if expected == 413 and said:
                assert "larger than" in str(said)
                assert "max_body_bytes" in str(said)


def test_replies_do_not_name_the_server(app: ASGIApp) -> None:
    with running(app) as server:
        reply = server.talk(raw("GET", "/api/health", [("host", f"localhost:{server.port}")]))
        assert b"uvicorn" not in reply.lower()
        assert b"\r\nserver:" not in reply.lower()


@contextmanager
def dribbling(server: Running, count: int) -> Iterator[list[socket.socket]]:
    """Connections that never come to the end of their first head; one of them not even to its beginning."""
    with ExitStack() as stack:
        address = ("127.0.0.1", server.port)
        drips = [stack.enter_context(socket.create_connection(address, timeout=60)) for _ in range(count)]
        for connection in drips[1:]:
            connection.sendall(b"GET /api/health HTTP/1.1\r\nhost: 127")
        yield drips


def is_cut_off(connection: socket.socket) -> bool:
    """Wait for the end of a connection on which nothing comes."""
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


def test_dribbled_heads_delay_nobody(app: ASGIApp) -> None:
    with running(app, limits=ServingLimits(header_seconds=3_600)) as server, dribbling(server, 100):
        assert status(server.talk(raw("GET", "/api/health", [("host", f"127.0.0.1:{server.port}")]))) == 200


def test_a_dribbled_head_is_cut_off(app: ASGIApp) -> None:
    with running(app, limits=ServingLimits(header_seconds=0.5)) as server, dribbling(server, 100) as drips:
        assert all(is_cut_off(each) for each in drips)


def test_a_kept_connection_serves_many_requests_within_the_deadlines(app: ASGIApp, endpoints: Endpoints) -> None:
    limits = ServingLimits(header_seconds=3, keep_alive_seconds=60)
    with (
        running(app, limits=limits) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=60) as kept,
        dribbling(server, 1) as (other,),
    ):
        request = raw("GET", "/api/health", [("host", f"127.0.0.1:{server.port}")])
        while not select.select([other], [], [], 0.2)[0]:  # until it is cut off: so long has passed
            kept.sendall(request)
            assert status(read_reply(kept)) == 200
        assert is_cut_off(other)
        kept.sendall(request)
        assert status(read_reply(kept)) == 200
    assert endpoints.entries["health"] > 3


def test_a_slow_request_outlives_the_head_deadline(app: ASGIApp, endpoints: Endpoints) -> None:
    with running(app, limits=ServingLimits(header_seconds=0.2)) as server:
        threading.Timer(0.6, endpoints.slow_may_end.set).start()
        assert status(server.talk(raw("GET", "/api/slow", [("host", f"127.0.0.1:{server.port}")]))) == 200


def test_more_connections_than_allowed_are_answered_503(app: ASGIApp) -> None:
    with running(app, limits=ServingLimits(connections=3)) as server:
        held = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(3)]
        request = raw("GET", "/api/health", [("host", f"127.0.0.1:{server.port}")])
        eventually(lambda: status(server.talk(request)) == 503)
        for connection in held:
            connection.close()


def test_stopping_lets_a_request_in_flight_finish(app: ASGIApp, endpoints: Endpoints) -> None:
    with running(app) as server:
        replies: list[bytes] = []
        request = raw("GET", "/api/slow", [("host", f"127.0.0.1:{server.port}")])
        client = threading.Thread(target=lambda: replies.append(server.talk(request)))
        client.start()
        assert endpoints.slow_entered.wait(5)
        server.stop.set()
        eventually(lambda: refuses(server.port))
        endpoints.slow_may_end.set()
        client.join(5)
        assert server.end() is True
        assert status(replies[0]) == 200


def test_a_hanging_request_does_not_hold_the_stop(app: ASGIApp, endpoints: Endpoints) -> None:
    with running(app, grace=1) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            connection.sendall(raw("GET", "/api/slow", [("host", f"127.0.0.1:{server.port}")]))
            assert endpoints.slow_entered.wait(5)
            drained = server.end()
            endpoints.slow_may_end.set()
            reply = read_reply(connection)
        assert (drained, status(reply)) == (False, 503)
        assert b"may or may not have taken effect" in reply


SCRIPT = """
import sys, threading
from codexmem.http.logs import configure
from codexmem.http.serving import serve
from tests.surfaces._kit.endpoints import Endpoints, application
configure("info", json=True)
endpoints = Endpoints()
def on_stop():
    print("stopping", flush=True)
    threading.Timer(0.5, endpoints.slow_may_end.set).start()
def tell():
    endpoints.slow_entered.wait()
    print("entered", flush=True)
threading.Thread(target=tell, daemon=True).start()
def on_bound(at):
    print(at.url, flush=True)
print("drained", serve(application(endpoints), ("127.0.0.1",), 0, on_bound=on_bound, on_stop=on_stop))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_returns(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(raw("GET", "/api/slow", [("host", f"127.0.0.1:{port}")]))
            assert process.stdout.readline() == "entered\n"
            process.send_signal(number)
            assert status(read_reply(connection)) == 200
        output, errors = process.communicate(timeout=15)
    assert (process.returncode, output.split()) == (0, ["stopping", "drained", "True"])
    lines = [json.loads(line) for line in errors.splitlines()]
    assert [line["route"] for line in lines if line["logger"] == "codexmem.requests"] == ["/api/slow"]


IDLE_SCRIPT = """
import signal, threading
from codexmem.http.serving import serve
from tests.surfaces._kit.endpoints import Endpoints, application
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
serve(application(Endpoints()), ("127.0.0.1",), 0, on_bound=lambda at: print(at.url, flush=True))
"""


def test_a_signal_that_does_not_interrupt_the_loop_still_stops_an_idle_server() -> None:
    # As when it arrives in the moment in which the loop goes to sleep: Python's own handler then waits until the loop
    # is woken by something else, and nothing else happens on an idle server.
    with subprocess.Popen(
        [sys.executable, "-c", IDLE_SCRIPT],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(raw("GET", "/api/none", [("host", f"127.0.0.1:{port}"), ("connection", "close")]))
            read_reply(connection)
        eventually(lambda: b") S " in Path(f"/proc/{process.pid}/stat").read_bytes())  # it sleeps
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(10) == 0
        finally:
            process.kill()


def test_a_start_that_fails_says_so_and_frees_the_port(endpoints: Endpoints) -> None:
    def broken() -> None:
        raise RuntimeError("no database")

    ports: list[int] = []
    app = application(endpoints, lifespan=(broken,))  # type: ignore[arg-type]
    with pytest.raises(NotReady, match="could not start"):
        serve(app, "127.0.0.1", 0, on_bound=lambda at: ports.append(at.port))
    listen(["127.0.0.1"], ports[0], 5)[0].close()


def test_a_port_in_use_is_a_clear_error() -> None:
    [taken] = listen(["127.0.0.1"], 0, 5)
    with taken, pytest.raises(Conflict, match="in use") as refused:
        listen(["127.0.0.1"], taken.getsockname()[1], 5)
    assert refused.value.hint is not None
    assert "--port" in refused.value.hint


def test_all_addresses_share_one_port() -> None:
    sockets = listen(["127.0.0.1", "127.0.0.2"], 0, 5)
    assert len({opened.getsockname()[1] for opened in sockets}) == 1
    for opened in sockets:
        opened.close()


def test_an_address_this_machine_lacks_is_passed_over_unless_it_is_the_only_one() -> None:
    sockets = listen(["127.0.0.1", "192.0.2.1"], 0, 5)
    assert len(sockets) == 1
    sockets[0].close()
    with pytest.raises(InvalidArgument, match="none of the addresses"):
        listen(["192.0.2.1"], 0, 5)


def test_only_addresses_are_bound() -> None:
    with pytest.raises(InvalidArgument, match="not an IP address"):
        listen(["localhost"], 0, 5)


def test_urls_bracket_ipv6() -> None:
    assert Bound("::1", 80).url == "http://[::1]:80"
    assert Bound("127.0.0.1", 80).url == "http://127.0.0.1:80"
