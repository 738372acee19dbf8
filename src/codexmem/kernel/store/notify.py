"""Wake-ups between threads and processes: "there may be something new, look".

A ring carries no content and may be lost or repeated; whoever listens looks into the store, and also looks by itself
every few seconds. So a notifier makes things prompt, never correct. `LocalNotifier` reaches threads of one process.
"""

import logging
import threading
from collections.abc import Callable
from typing import Protocol

_log = logging.getLogger(__name__)


class Notifier(Protocol):
    """Something that wakes those who listen."""

    def notify(self, name: str) -> None:
        """Wake everyone who listens to this name, here and in other processes. Called after a commit, from any thread.

        Never blocks on the outside and never fails; rings in quick succession may be heard as one.
        """
        ...

    def listen(self, name: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at each ring until the returned function is called; the callback must be quick and thread-safe."""
        ...

    def close(self) -> None:
        """Nobody is woken any more; may be called twice."""
        ...


class LocalNotifier:
    """Heard inside this process only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str, list[Callable[[], None]]] = {}

    def notify(self, name: str) -> None:
        """Call every listener of the name, in the caller's thread."""
        with self._lock:
            callbacks = tuple(self._listeners.get(name, ()))
        _call(callbacks)

    def ring_all(self) -> None:
        """Call every listener: rings may have been missed."""
        with self._lock:
            callbacks = tuple(each for listeners in self._listeners.values() for each in listeners)
        _call(callbacks)

    def listen(self, name: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at each ring until stopped."""
        with self._lock:
            self._listeners.setdefault(name, []).append(callback)

        def stop() -> None:
            with self._lock:
                listeners = self._listeners.get(name, [])
                if callback in listeners:
                    listeners.remove(callback)
                if not listeners:
                    self._listeners.pop(name, None)

        return stop

    def close(self) -> None:
        """Forget every listener."""
        with self._lock:
            self._listeners.clear()


def _call(callbacks: tuple[Callable[[], None], ...]) -> None:
    for callback in callbacks:
        try:
            callback()
        except Exception:
            _log.exception("a listener failed; the others are still called")
