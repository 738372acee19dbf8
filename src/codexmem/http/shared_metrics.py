"""One scrape for several servers behind one port, whichever of them it reaches.

Each server hands its figures to the others on a socket. In the answer every series has a label `process`, the number of
its server, which stays when one is started anew; what all of them read from the store they share stands there once,
without it. How many were to answer and did is told besides, so that one that is missing does not pass for a quiet one.
"""

import logging
import socket
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from codexmem.http.group import ServerOrders
from codexmem.http.metrics import Metrics

log = logging.getLogger(__name__)

OF_STORE = frozenset({"codexmem_queue_stalled", "codexmem_queue_oldest_seconds", "codexmem_jobs"})
_WAIT_S = 1.0
_PIECE = 1 << 16


class SharedMetrics:
    """A server's place among those whose figures are told together."""

    def __init__(self, metrics: Metrics, folder: Path, orders: ServerOrders) -> None:
        self._metrics = metrics
        self._folder = folder
        self._number = orders["number"]
        self._count = orders["processes"]
        self._listener: socket.socket | None = None
        metrics.gathered = self.gathered

    def start(self) -> None:
        """Answer the others, in place of the server that had our number."""
        self._listener = socket.socket(socket.AF_UNIX)
        place = self._folder / f"{self._number}.sock"
        place.unlink(missing_ok=True)
        self._listener.bind(str(place))
        self._listener.listen(16)
        threading.Thread(target=self._answer, args=(self._listener,), name="codexmem-metrics", daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        if self._listener is not None:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def gathered(self) -> bytes:
        """The figures of all servers that answer."""
        texts = {self._number: self._metrics.text()}
        for number in range(1, self._count + 1):
            if number != self._number and (text := self._asked(number)) is not None:
                texts[number] = text
        registry = CollectorRegistry()
        registry.register(_Together(texts, self._number, self._count))
        return generate_latest(registry)

    def _asked(self, number: int) -> bytes | None:
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(_WAIT_S)
                line.connect(str(self._folder / f"{number}.sock"))
                pieces = []
                while piece := line.recv(_PIECE):
                    pieces.append(piece)
                return b"".join(pieces) or None
        except OSError:
            return None

    def _answer(self, listener: socket.socket) -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            with line, suppress(OSError):
                line.settimeout(_WAIT_S)
                line.sendall(self._metrics.text())


class _Together(Collector):
    def __init__(self, texts: Mapping[int, bytes], own: int, count: int) -> None:
        self._texts = texts
        self._own = own
        self._count = count

    def collect(self) -> Iterable[Metric]:
        families: dict[str, Metric] = {}
        once: set[str] = set()
        # Our own first: what is told once is what we have read.
        for number in sorted(self._texts, key=lambda each: (each != self._own, each)):
            seen = set()
            for family in text_string_to_metric_families(self._texts[number].decode()):
                if family.name in once:
                    continue
                whole = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                shared = family.name in OF_STORE
                if shared:
                    seen.add(family.name)
                for sample in family.samples:
                    labels = sample.labels if shared else {**sample.labels, "process": str(number)}
                    whole.add_sample(sample.name, labels, sample.value)
            once |= seen
        yield GaugeMetricFamily("codexmem_processes_wanted", "Servers behind this port", self._count)
        yield GaugeMetricFamily("codexmem_processes_answering", "Those whose figures are here", len(self._texts))
        yield from families.values()
