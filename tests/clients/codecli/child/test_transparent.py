"""Transparent byte for byte, whether the process becomes the agent or we sit between: pipes, endings, signals."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.codecli.agents.protocol import Launch
from codexmem.codecli.child.process import Between, ProcessPlan
from codexmem.codecli.child.spawning import Connected
from tests._support.wrapping import BETWEEN, BOTH, STRAIGHT, Place

ways = pytest.mark.parametrize("way", BOTH)
GARBAGE = bytes(range(256)) * 3 + b"\xff\xfe\x00\x1b[31m\r\n\r" + "中文 🦊".encode() + b"\xe4\xb8"


@pytest.mark.clause("001 §1.2.1", "standard input (stdin) reaches stdout, unchanged, byte for byte; stderr too")
@ways
@pytest.mark.parametrize("given", [b"", GARBAGE, b"y" * 3_000_000 + b"\nno end"])
def test_bytes_pass_unchanged(place: Place, way: str, given: bytes) -> None:
    place.shell("cat; cat /dev/null >&2")
    done = place.run(way, given=given)
    assert (done.returncode, done.stdout, done.stderr) == (0, given, b"")


@pytest.mark.clause("001 §1.2.1", "arguments reach the agent to the letter")
@ways
def test_arguments_reach_the_agent(place: Place, way: str) -> None:
    place.program("import os, sys\nos.write(1, b'\\0'.join(map(os.fsencode, sys.argv[1:])))")
    given = ["exec", "--json", "-q", "--memory-on", "--", "", " spaced ", "中文", "*", "$HOME", "--help", "a\nb"]
    done = place.run(way, *given)
    assert done.stdout.decode().split("\0") == given


@ways
def test_both_streams_busy_lose_nothing_and_keep_their_order(place: Place, way: str) -> None:
    place.program("""
        import os, threading
        def lines(stream, name):
            for first in range(0, 40_000, 100):
                os.write(stream, b"".join(b"%s %d\\n" % (name, n) for n in range(first, first + 100)))
        threads = [threading.Thread(target=lines, args=each) for each in ((1, b"out"), (2, b"err"))]
        [t.start() for t in threads]; [t.join() for t in threads]
    """)
    done = place.run(way)
    assert done.stdout == b"".join(b"out %d\n" % n for n in range(40_000))
    assert done.stderr == b"".join(b"err %d\n" % n for n in range(40_000))


@pytest.mark.clause("001 §7.2", "two streams to one place keep the order in which they were written")
@ways
def test_streams_that_share_a_file_keep_their_common_order(place: Place, way: str) -> None:
    place.shell('i=0; while [ $i -lt 200 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done')
    with (place.home / "log").open("wb") as log:
        place.start(way, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT).wait(30)
    assert (place.home / "log").read_text() == "".join(f"out {n}\nerr {n}\n" for n in range(200))


@ways
def test_much_input_arrives_whole(place: Place, way: str) -> None:
    place.program("import sys, hashlib\nprint(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())")
    given = os.urandom(1 << 20) * 12
    assert place.run(way, given=given).stdout.decode().strip() == hashlib.sha256(given).hexdigest()


@ways
def test_an_agent_that_stops_reading_is_no_problem(place: Place, way: str) -> None:
    place.program("import os\nos.write(1, os.read(0, 4)); os.close(0); os.write(1, b'!')")
    done = place.run(way, given=b"abcdefgh" * 500_000)
    assert (done.returncode, done.stdout) == (0, b"abcd!")


@ways
def test_the_end_of_input_is_passed_on_while_output_goes_on(place: Place, way: str) -> None:
    place.shell('cat >/dev/null; sleep 0.2; echo "after the end"')
    agent = place.start(way)
    assert agent.stdin is not None
    assert agent.stdout is not None
    agent.stdin.write(b"all of it")
    agent.stdin.close()
    assert agent.stdout.read() == b"after the end\n"
    assert agent.wait(10) == 0
    _close(agent)


@ways
def test_what_the_agent_leaves_is_there_for_the_next_reader(place: Place, way: str) -> None:
    place.program("import os\nos.write(1, os.read(0, 6))")
    done = place.in_shell(way, "{}; cat", input=b"first\nsecond\n")
    assert done.stdout == b"first\nsecond\n"


@ways
def test_the_first_bytes_are_not_held_back(place: Place, way: str) -> None:
    place.program("import os, sys\nos.write(1, b'prompt> ')\nos.write(1, os.read(0, 10)[::-1])")
    agent = place.start(way)
    assert agent.stdin is not None
    assert agent.stdout is not None
    assert os.read(agent.stdout.fileno(), 100) == b"prompt> "
    agent.stdin.write(b"abc")
    agent.stdin.flush()
    assert agent.stdout.read() == b"cba"
    agent.stdin.close()
    agent.wait(10)
    _close(agent)


@ways
def test_a_reader_that_goes_away_ends_the_agent_as_ever(place: Place, way: str) -> None:
    place.shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy || exit 9; done")
    agent = place.start(way, stdin=subprocess.DEVNULL)
    assert agent.stdout is not None
    assert agent.stdout.read(2) == b"yy"
    agent.stdout.close()
    assert agent.wait(10) in {-signal.SIGPIPE, 128 + signal.SIGPIPE, 9}
    _close(agent)


@ways
def test_other_descriptors_are_inherited(place: Place, way: str) -> None:
    place.program("import os, sys\nout, given = map(int, sys.argv[1:])\nos.write(out, os.read(given, 99) + b'!')")
    near, far = os.pipe()
    os.write(far, b"from another")
    os.close(far)
    with (place.home / "other").open("wb") as other:
        numbers = (other.fileno(), near)
        done = place.run(way, *map(str, numbers), pass_fds=numbers)
    os.close(near)
    assert (done.returncode, (place.home / "other").read_bytes()) == (0, b"from another!")


@ways
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_stay_closed(place: Place, way: str, closed: str) -> None:
    place.shell('for fd in 0 1 2; do test -e /proc/self/fd/$fd && echo $fd >> "$HOME/open"; done; exit 5')
    done = place.in_shell(way, f"{{}} {closed}", stdin=subprocess.DEVNULL)
    assert done.returncode == 5
    number = {"<&-": "0", ">&-": "1", "2>&-": "2"}[closed]
    # The shell that runs the agent opens nothing in the place of a closed stream.
    assert (place.home / "open").read_text().split() == [each for each in "012" if each != number]


@ways
def test_signals_mean_to_the_agent_what_they_mean_without_us(place: Place, way: str) -> None:
    place.shell("grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status")
    assert _masks(place.run(way).stdout) == _masks(place.run("bare").stdout)


def _masks(said: bytes) -> dict[str, int]:
    """The masks, without the two signals that the C library keeps to itself and sets up anew where it needs them."""
    rows = (line.split(":") for line in said.decode().splitlines())
    return {name: int(mask, 16) & ~0x1_8000_0000 for name, mask in rows}


@pytest.mark.clause("001 §1.2.1", "the exit code is the agent's")
@ways
@pytest.mark.parametrize("code", [1, 130, 255])
def test_the_exit_code_is_the_agents(place: Place, way: str, code: int) -> None:
    place.shell(f"exit {code}")
    assert place.run(way).returncode == code


def test_exit_codes_are_told() -> None:
    nowhere = Connected((False, False, False), (False, False, False))
    environ = {"PATH": "/usr/bin:/bin"}
    for code in (*range(4), *range(7, 256, 31), *range(124, 131), 137, 143, 254, 255):
        assert (
            Between(ProcessPlan(Launch(("sh", "-c", f"exit {code}"), environ, ""), connected=nowhere)).run().code
            == code
        )


@ways
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_death_by_a_signal_is_the_same_death(place: Place, way: str, number: signal.Signals) -> None:
    place.program(f"import os, signal\nsignal.signal({int(number)}, signal.SIG_DFL) if {int(number)} != 9 else 0\n"
                  f"os.write(1, b'last words')\nos.kill(os.getpid(), {int(number)})")  # fmt: skip
    done = place.run(way)
    assert (done.returncode, done.stdout) == (-number, b"last words")


@pytest.fixture
def counting(place: Place) -> Place:
    """An agent that counts the signals it gets, and ends when told so."""
    place.program("""
        import os, signal, sys
        got = []
        for number in (1, 2, 3, 10, 12, 15):
            signal.signal(number, lambda n, _: (got.append(n), os.write(1, b"%d\\n" % n)))
        os.write(1, b"ready\\n")
        sys.stdin.readline()
        os.write(1, repr(got).encode())
    """)
    return place


@ways
def test_a_signal_to_us_reaches_the_agent_once(counting: Place, way: str) -> None:
    numbers = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT]
    agent = counting.start(way)
    assert agent.stdin is not None
    assert agent.stdout is not None
    assert agent.stdout.readline() == b"ready\n"
    for number in numbers:
        agent.send_signal(number)
        assert agent.stdout.readline() == b"%d\n" % number
    agent.stdin.write(b"tell\n")
    agent.stdin.close()
    assert agent.stdout.read().decode() == repr([int(number) for number in numbers])
    assert agent.wait(10) == 0
    _close(agent)


@ways
def test_an_agent_that_is_stopped_stops_us_and_goes_on_with_us(place: Place, way: str) -> None:
    place.program("import os, signal\nos.write(1, b'1'); os.kill(os.getpid(), signal.SIGSTOP); os.write(1, b'2')")
    agent = place.start(way, stdin=subprocess.DEVNULL)
    _, status = os.waitpid(agent.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    agent.send_signal(signal.SIGCONT)
    assert agent.stdout is not None
    assert agent.stdout.read() == b"12"
    assert agent.wait(10) == 0
    _close(agent)


@pytest.mark.parametrize("way", [BETWEEN])
def test_a_process_left_behind_is_not_waited_for(place: Place, way: str) -> None:
    place.shell('sleep 600 & echo $! > "$HOME/left"; echo done')
    agent = place.start(way, stdin=subprocess.DEVNULL)
    assert agent.wait(60) == 0
    assert agent.stdout is not None
    assert agent.stdout.read() == b"done\n"
    os.kill(int((place.home / "left").read_text()), signal.SIGKILL)
    _close(agent)


@pytest.mark.parametrize("way", [STRAIGHT, BETWEEN])
def test_an_agent_that_is_not_there(place: Place, way: str) -> None:
    done = place.run(way)
    assert done.returncode == 127
    assert b"codecli is not on the PATH" in done.stderr


def test_an_agent_that_cannot_be_run(place: Place) -> None:
    place.script("#!/no/such/interpreter\n", "codecli")
    done = place.run(BETWEEN)
    assert done.returncode == 126
    assert b"cannot be run" in done.stderr


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path: Path) -> Iterator[None]:
    """No process of a test outlives it."""
    yield
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False).stdout.split()
    assert not left


def _close(agent: subprocess.Popen[bytes]) -> None:
    for stream in (agent.stdin, agent.stdout, agent.stderr):
        if stream is not None:
            stream.close()
