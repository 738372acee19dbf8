"""Signals, told at once, however little the process does.

Python runs a handler on the main thread, between two of its instructions. A signal that arrives just before that thread
goes to sleep is told only when something else wakes it, and an idle server sleeps for long. The number of each signal
is therefore also written into a socket by the C handler, and a thread waits there.
"""

import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

_ENDING = (signal.SIGINT, signal.SIGTERM)


def ending_signals(on_signal: Callable[[int], None]) -> AbstractContextManager[None]:
    """Call `on_signal` with SIGINT and SIGTERM during the block."""
    return told_signals(_ENDING, on_signal)


@contextmanager
def told_signals(wanted: Sequence[int], on_signal: Callable[[int], None]) -> Iterator[None]:
    """Call `on_signal` with the number of each of these signals, on a thread of its own.

    Only the main thread can ask for it; in another nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def listen() -> None:
        with receiver:
            while numbers := receiver.recv(16):
                for number in numbers:
                    if number in wanted:
                        on_signal(number)

    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    previous = {number: signal.signal(number, lambda *_: None) for number in wanted}
    listener = threading.Thread(target=listen, name="codexmem-signals", daemon=True)
    listener.start()
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        sender.close()
        listener.join(1.0)
