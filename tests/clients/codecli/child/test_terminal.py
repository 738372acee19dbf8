"""On a real terminal: the agent has one too, keys reach it once, and the person's is given back on every way out."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import termios

import pytest

from tests._support.waiting import eventually
from tests._support.wrapping import BETWEEN, BOTH, Place, screen

ways = pytest.mark.parametrize("way", BOTH)
REPORT = """
import fcntl, os, struct, sys, termios
def size():
    return struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))[:2]
print("ttys", [os.isatty(fd) for fd in (0, 1, 2)], "size", size(), "leads", os.tcgetpgrp(0) == os.getpgrp(), flush=True)
"""


@ways
def test_the_agent_has_a_terminal_like_ours(place: Place, way: str) -> None:
    place.program(REPORT)
    with screen(place, way, rows=33, columns=77) as shown:
        assert shown.wait() == 0
    assert b"ttys [True, True, True] size (33, 77) leads True\r\n" in shown.seen


@pytest.mark.clause("001 §1.2.1", "on a terminal, the same bytes are shown as without us")
@ways
def test_what_is_shown_is_what_would_be_shown(place: Place, way: str) -> None:
    place.program(
        "import os\nos.write(1, b'one\\ntwo\\r\\n\\x1b[31mred\\x1b[0m\\n' + '中文\\n'.encode() + b'\\xff\\x00x')"
    )
    with screen(place, "bare") as bare:
        bare.wait()
    with screen(place, way) as shown:
        shown.wait()
    assert shown.seen == bare.seen


@ways
def test_the_window_may_change(place: Place, way: str) -> None:
    waiting = "import signal, time\ngot = []\nsignal.signal(signal.SIGWINCH, lambda *_: got.append(1))\n"
    place.program(f"{REPORT}{waiting}print('ready', flush=True)\nwhile not got: time.sleep(0.02)\nprint('now', size())")
    with screen(place, way) as shown:
        shown.until(b"ready")
        shown.resize(50, 132)
        shown.until(b"now (50, 132)")
        assert shown.wait() == 0


@ways
def test_ctrl_c_reaches_the_agent_once(place: Place, way: str) -> None:
    counting = (
        "import os, signal, sys\ngot = []\nsignal.signal(2, lambda *_: (got.append(1), os.write(1, b'caught')))\n"
    )
    place.program(f"{counting}print('ready', flush=True)\nsys.stdin.readline()\nprint('got', len(got), flush=True)")
    with screen(place, way) as shown:
        shown.until(b"ready")
        shown.type(b"\x03")
        shown.until(b"caught")
        shown.type(b"\n")
        shown.until(b"got 1\r\n")
        assert shown.wait() == 0


@ways
def test_ctrl_c_kills_an_agent_that_does_not_mind_and_us_in_the_same_way(place: Place, way: str) -> None:
    place.shell("echo ready; exec sleep 20")
    with screen(place, way) as shown:
        shown.until(b"ready")
        shown.type(b"\x03")
        assert shown.wait() == -signal.SIGINT
        assert shown.settings == shown.before


@ways
def test_the_end_of_input_by_key(place: Place, way: str) -> None:
    place.program("import sys\nprint('ready', flush=True)\nprint('read', repr(sys.stdin.read()), flush=True)")
    with screen(place, way) as shown:
        shown.until(b"ready")
        shown.type("中文\n".encode())
        shown.type(b"\x04")
        shown.until("read '中文\\n'".encode())
        assert shown.wait() == 0


@ways
def test_an_agent_that_reads_keys_gets_each_as_it_is(place: Place, way: str) -> None:
    place.program("""
        import os, termios, tty
        old = termios.tcgetattr(0)
        tty.setraw(0)
        os.write(1, b'ready')
        got = b''
        while len(got) < 4:
            got += os.read(0, 1)
        termios.tcsetattr(0, 0, old)
        print(repr(got))
    """)
    with screen(place, way) as shown:
        shown.until(b"ready")
        shown.type(b"\x03\x1a\x04q")
        shown.until(rb"b'\x03\x1a\x04q'")
        assert shown.wait() == 0


@pytest.mark.parametrize(
    "ending",
    ["exit 3", "kill -KILL $$", "stty raw -echo; exit 0"],
)
def test_the_terminal_is_given_back(place: Place, ending: str) -> None:
    place.shell(f"echo ready; read line; {ending}")
    with screen(place, BETWEEN) as shown:
        shown.until(b"ready")
        _until_raw(shown.slave)
        shown.type(b"go\n")
        shown.wait()
        assert shown.settings == shown.before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_terminal_is_given_back_when_we_are_told_to_end(place: Place, number: signal.Signals) -> None:
    place.shell("echo ready; exec sleep 20")
    with screen(place, BETWEEN) as shown:
        shown.until(b"ready")
        _until_raw(shown.slave)
        os.kill(shown.process.pid, number)
        assert shown.wait() == -number
        assert shown.settings == shown.before


def test_stopping_and_going_on_by_key(place: Place) -> None:
    place.program("import sys, time\nprint('ready', flush=True)\nprint('read', sys.stdin.readline(), flush=True)")
    with screen(place, BETWEEN) as shown:
        shown.until(b"ready")
        _until_raw(shown.slave)
        shown.type(b"\x1a")
        _, status = os.waitpid(shown.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        assert shown.settings == shown.before
        os.kill(shown.process.pid, signal.SIGCONT)
        _until_raw(shown.slave)
        shown.type(b"on\n")
        shown.until(b"read on")
        assert shown.wait() == 0
        assert shown.settings == shown.before


def test_a_question_of_ours_gets_the_keys_and_then_the_agent_does(place: Place) -> None:
    place.more["TEST_ASK"] = "1"
    place.program("import sys\nprint('ASK', flush=True)\nprint('agent read', sys.stdin.readline(), flush=True)")
    with screen(place, BETWEEN) as shown:
        shown.until(b"really? ")
        assert shown.settings == shown.before
        shown.type(b"yes\n")
        shown.until(b"(yes)")
        _until_raw(shown.slave)
        shown.type(b"for the agent\n")
        shown.until(b"agent read for the agent")
        assert shown.wait() == 0
        assert shown.settings == shown.before


@ways
def test_output_to_a_pipe_and_keys_from_the_terminal(place: Place, way: str) -> None:
    place.program(REPORT + "print(sys.stdin.readline().upper(), flush=True)")
    near, far = os.pipe()
    with screen(place, way, streams={1: far}) as shown:
        os.close(far)
        shown.type(b"typed\n")
        assert shown.wait() == 0
    said = os.read(near, 1000)
    os.close(near)
    assert b"ttys [True, False, True]" in said
    assert b"TYPED" in said
    assert b"TYPED" not in shown.seen


@ways
def test_input_from_a_pipe_and_output_on_the_terminal(place: Place, way: str) -> None:
    place.shell("test -t 0 || echo no keys; test -t 1 && echo shown; echo err >&2; test -t 2 && cat")
    near, far = os.pipe()
    os.write(far, b"piped")
    os.close(far)
    with screen(place, way, streams={0: near}) as shown:
        os.close(near)
        assert shown.wait() == 0
    assert shown.seen == b"no keys\r\nshown\r\nerr\r\npiped"


@ways
def test_errors_to_a_file_on_a_terminal(place: Place, way: str) -> None:
    place.shell("echo out; echo err >&2; test -t 2 || echo plain")
    with (place.home / "err").open("wb") as err, screen(place, way, streams={2: err.fileno()}) as shown:
        assert shown.wait() == 0
    assert shown.seen == b"out\r\nplain\r\n"
    assert (place.home / "err").read_bytes() == b"err\n"


@ways
def test_much_output_on_a_terminal_is_whole(place: Place, way: str) -> None:
    place.program("import os\nfor n in range(20_000):\n    os.write(1, b'line %d\\n' % n)")
    with screen(place, way) as shown:
        assert shown.wait() == 0
    assert [int(n) for n in re.findall(rb"line (\d+)\r\n", shown.seen)] == list(range(20_000))


def _until_raw(slave: int) -> None:
    """Until the person's terminal is put aside: keys that come before are still read as lines."""
    eventually(lambda: not termios.tcgetattr(slave)[3] & termios.ICANON)


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path: object) -> object:
    yield
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False).stdout.split()
    assert not left
