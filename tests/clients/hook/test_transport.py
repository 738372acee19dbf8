"""HTTP by hand against real sockets: every way in which an answer may come, or not come."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from codexmem.hook import surroundings, transport
from codexmem.hook.transport import Away, Server, quoted
from tests._support.hook_endpoint import HookEndpoint

pytestmark = pytest.mark.process

Reach = Callable[..., Server]


@pytest.fixture
def server() -> Iterator[Reach]:
    """The server at an address, let go of when the test ends."""
    made: list[Server] = []

    def reach(url: str, seconds: float = 2.0, token: str = "") -> Server:
        made.append(Server(url, token, surroundings.monotonic() + seconds))
        return made[-1]

    yield reach
    for each in made:
        each.close()


@contextmanager
def answering(*answers: bytes, wait_s: float = 0.0) -> Iterator[str]:
    """A server that says these bytes on each connection and hangs up."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1 << 16)
                    for answer in answers:
                        over.wait(wait_s)
                        try:
                            connection.sendall(answer)
                        except OSError:
                            break

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        over.set()


def test_one_connection_carries_many_requests(endpoint: HookEndpoint, server: Reach) -> None:
    endpoint.context = "端口 8123"
    speaking = server(endpoint.url, token="t-1")
    assert speaking.request("POST", "/api/x", '{"a":"一"}'.encode()) == (200, b'{"status":"queued"}')
    assert speaking.request("GET", f"/api/context?project={quoted('我的 app&x')}") == (200, "端口 8123".encode())
    first, second = endpoint.asked
    assert (first.body, first.headers["Authorization"]) == ({"a": "一"}, "Bearer t-1")
    assert first.headers["Content-Type"] == "application/json"
    assert first.headers["Host"] == f"127.0.0.1:{endpoint.port}"
    assert second.query == {"project": "我的 app&x"}


def test_an_answer_in_pieces(endpoint: HookEndpoint, server: Reach) -> None:
    endpoint.chunked = True
    assert server(endpoint.url).request("POST", "/api/x", b"{}") == (200, b'{"status":"queued"}')


def test_a_server_that_hangs_up_between_requests_is_called_again(endpoint: HookEndpoint, server: Reach) -> None:
    endpoint.hang_up = True
    speaking = server(endpoint.url)
    for _ in range(3):
        assert speaking.request("POST", "/api/x", b"{}")[0] == 200
    assert len(endpoint.asked) == 3


def test_a_path_before_ours(endpoint: HookEndpoint, server: Reach) -> None:
    server(f"{endpoint.url}/memory/").request("GET", "/api/x")
    assert endpoint.asked[0].path == "/memory/api/x"


@pytest.mark.parametrize("status", [200, 204, 400, 401, 429, 500, 503])
def test_every_status_is_an_answer(status: int, endpoint: HookEndpoint, server: Reach) -> None:
    with answering(b"HTTP/1.1 %d X\r\nContent-Length: 2\r\n\r\n{}" % status) as url:
        assert server(url).request("GET", "/")[0] == status


def test_nobody_there(server: Reach) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with pytest.raises(Away) as away:
        server(url).open()
    assert away.value.refused


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\n\r\nwithout a length",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000,
        b"HTTP/1.1 abc\r\n\r\n",
    ],
)
def test_answers_that_are_none(answer: bytes, server: Reach) -> None:
    with answering(answer) as url, pytest.raises(Away) as away:
        server(url).request("POST", "/", b"{}")
    assert not away.value.refused


def test_an_interim_answer_is_passed_over(server: Reach) -> None:
    with answering(
        b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", wait_s=0.02
    ) as url:
        assert server(url).request("POST", "/", b"{}") == (200, b"")


@pytest.mark.parametrize("pace_s", [0.05, 5.0])
def test_a_slow_server_is_not_waited_for_beyond_the_deadline(pace_s: float, server: Reach) -> None:
    with answering(*[b"H"] * 10_000, wait_s=pace_s) as url, pytest.raises(Away):
        server(url, seconds=0.3).request("GET", "/")


@contextmanager
def swallowing() -> Iterator[str]:
    """A full backlog: nobody accepts, nothing is refused."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        for each in waiting:
            each.close()


def test_an_address_that_swallows_everything_is_given_up(server: Reach) -> None:
    with swallowing() as url, pytest.raises(Away) as away:
        server(url, seconds=600).request("GET", "/")
    assert not away.value.refused


def test_an_address_that_swallows_everything_costs_a_moment(server: Reach) -> None:
    began = time.monotonic()
    with swallowing() as url, pytest.raises(Away):
        server(url).request("GET", "/")
    assert transport.CONNECT_S <= time.monotonic() - began < transport.CONNECT_S + 0.5


def test_a_name_that_takes_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch, server: Reach) -> None:
    over = threading.Event()

    def slow(*_: object) -> object:
        over.wait()
        raise OSError("no such name")

    monkeypatch.setattr("_socket.getaddrinfo", slow)
    with pytest.raises(Away, match="no address"):
        server("http://memory.example.org").open()
    over.set()


@pytest.mark.parametrize(
    "place, host, port",
    [
        ("127.0.0.1:37877", "127.0.0.1", 37877),
        ("[::1]:37877", "::1", 37877),
        ("localhost", "localhost", 80),
        ("h:port", "h", 80),
    ],
)
def test_addresses(place: str, host: str, port: int) -> None:
    assert transport._host_and_port(place, 80) == (host, port)


def test_localhost_and_ipv6(endpoint: HookEndpoint, server: Reach) -> None:
    assert server(f"http://localhost:{endpoint.port}").request("GET", "/")[0] == 200
    if not socket.has_ipv6:
        return
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listening:

        def answer() -> None:
            with listening.accept()[0] as connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        assert server(f"http://[::1]:{listening.getsockname()[1]}").request("GET", "/") == (200, b"")


def test_https_speaks_tls(endpoint: HookEndpoint, server: Reach) -> None:
    with pytest.raises(Away, match=r"(?i)ssl|tls|wrong version|record"):
        server(f"https://127.0.0.1:{endpoint.port}").request("GET", "/")
