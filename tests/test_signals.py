"""A signal is told although the main thread sleeps and is not interrupted."""

import signal
import subprocess
import sys
import threading

import pytest

from codexmem.http.signals import ending_signals

# The main thread does not take signals, as one does not that is just about to wait.
WAITING = """
import signal, sys, threading
from codexmem.http.signals import ending_signals
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
told, seen = threading.Event(), []
with ending_signals(lambda number: (seen.append(number), told.set())):
    print("waiting", flush=True)
    told.wait()
print(*seen)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_waiting_main_thread_is_told(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(number)
        try:
            output, _ = process.communicate(timeout=10)
        finally:
            process.kill()
    assert (process.returncode, output) == (0, f"{int(number)}\n")


def test_what_was_there_before_is_there_again() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with ending_signals(lambda _: None), ending_signals(lambda _: None):
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_another_thread_changes_nothing() -> None:
    seen: list[object] = []

    def ask() -> None:
        with ending_signals(lambda _: None):
            seen.append(signal.getsignal(signal.SIGTERM))

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join(10)
    assert seen == [signal.getsignal(signal.SIGTERM)]
