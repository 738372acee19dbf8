"""Measurements for Prometheus, in a registry of our own.

Requests are counted by route template and status class. Everything that is a state rather than a count (queue depth,
rows, lag) is read when scraped, by collectors that the composition root registers; one that fails is logged and left
out, and never makes the scrape fail.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from fastapi import Response
from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

log = logging.getLogger(__name__)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """One gauge reading; samples of one name carry the same labels."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


Collect = Callable[[], Iterable[Sample]]


class Metrics:
    """The process's registry and the request measurements in it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.gathered: Callable[[], bytes] = self.text  # what a scrape is given
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "codexmem_http_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "codexmem_http_request_seconds", "Time to answer", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        self._running = Gauge("codexmem_http_requests_running", "Requests being answered", registry=self.registry)
        self._failures = Counter(
            "codexmem_collector_failures", "Gauge collectors that failed during a scrape", registry=self.registry
        )

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        known = method if method in METHODS else "OTHER"
        self._requests.labels(known, route, f"{status // 100}xx").inc()
        self._seconds.labels(route).observe(seconds)

    def running(self) -> AbstractContextManager[object]:
        """Count a request as running while the context is open."""
        return self._running.track_inprogress()

    def register(self, collect: Collect) -> None:
        """Ask this callable for gauges at every scrape; it runs in a worker thread, without a tenant of its own."""
        self.registry.register(_Collector(collect, self._failures))

    def endpoint(self) -> Response:
        """The scrape itself."""
        return Response(self.gathered(), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    def text(self) -> bytes:
        """The figures of this process."""
        return generate_latest(self.registry)


class _Collector(Collector):
    def __init__(self, collect: Collect, failures: Counter) -> None:
        self._collect = collect
        self._failures = failures

    def collect(self) -> Iterable[GaugeMetricFamily]:
        families: dict[str, GaugeMetricFamily] = {}
        try:
            for sample in self._collect():
                if sample.name not in families:
                    families[sample.name] = GaugeMetricFamily(sample.name, sample.help, labels=list(sample.labels))
                families[sample.name].add_metric(list(sample.labels.values()), sample.value)
        except Exception:
            self._failures.inc()
            log.exception("a metrics collector failed")
            return []
        return families.values()
