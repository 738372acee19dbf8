"""Spans and figures by OpenTelemetry's SDK, sent over OTLP/HTTP; loaded only where the environment names an endpoint.

The provider is our own, not the process's: libraries that record spans of themselves would put into them what ours
never hold. Names of errors are recorded, their texts are not, and of a statement its verb and its table. What a job
was enqueued by is a link: one request may cause many jobs, and a job may run after the trace has been looked at.
"""

import logging
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.samples import Sample

from codexmem import __version__
from codexmem.kernel.model import ids, spans
from codexmem.kernel.store.database import tell_statements
from codexmem.settings.telemetry import Telemetry

_NAME = "codexmem"
_FLUSH_MS = 3_000  # of a stop's grace
_MOST_KINDS = 20  # of statements that one span names
_VERB = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|[A-Z]+)\b", re.IGNORECASE)
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:ONLY\s+)?\"?([a-z_][a-z0-9_]*)", re.IGNORECASE)
_W3C = TraceContextTextMapPropagator()
_log = logging.getLogger(__name__)
_group: ContextVar[Counter[str] | None] = ContextVar("codexmem_statements", default=None)
# Not the one that libraries know: the MCP SDK puts a span that nobody records around each message.
_present: ContextVar[trace.Span] = ContextVar("codexmem_span", default=trace.INVALID_SPAN)


class TelemetryExport:
    """What a process sends while it lives."""

    def __init__(self, wanted: Telemetry, registry: CollectorRegistry) -> None:
        self._deaf = None
        self._provider: TracerProvider | None = None
        self._figures: _Figures | None = None
        resource = _resource()
        if wanted.traces:
            self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
            self._provider.sampler = FollowingCause(self._provider.sampler)
            self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
            spans.record_spans(OpenTelemetrySpans(self._provider.get_tracer(_NAME, __version__)))
            self._deaf = tell_statements()
        if wanted.metrics:
            self._figures = _Figures(registry, resource, wanted.interval_s)

    def close(self) -> None:
        """Send what is left and record no more."""
        if self._deaf is not None:
            self._deaf()
        if self._provider is not None:
            spans.record_spans(None)
            self._provider.force_flush(_FLUSH_MS)
            self._provider.shutdown()
        if self._figures is not None:
            self._figures.close()


def _resource() -> Resource:
    ours = {"service.name": _NAME, "service.version": __version__, "service.instance.id": ids.bare()}
    return Resource.create(ours).merge(OTELResourceDetector().detect())  # the environment's names win


class FollowingCause(Sampler):
    """Decides as another sampler, but a job is recorded where the request that enqueued it was."""

    def __init__(self, others: Sampler) -> None:
        self._others = others

    def should_sample(self, parent_context: Context | None, trace_id: int, name: str, kind: Any = None,
                      attributes: Any = None, links: Sequence[trace.Link] | None = None,
                      trace_state: Any = None) -> SamplingResult:  # fmt: skip
        """A linked span of another trace decides where there is one."""
        if links:
            caused = any(link.context.trace_flags.sampled for link in links)
            return SamplingResult(Decision.RECORD_AND_SAMPLE if caused else Decision.DROP, attributes)
        return self._others.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)

    def get_description(self) -> str:
        """As the SDK shows it."""
        return f"FollowingCause({self._others.get_description()})"


class RecordedSpan:
    """A span of ours on one of the SDK's."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, **attributes: str | int) -> None:
        """Names with dots."""
        for name, value in attributes.items():
            self._span.set_attribute(name.replace("__", "."), value)

    def name(self, name: str) -> None:
        """The name that counts."""
        self._span.update_name(name)

    def failed(self, kind: str) -> None:
        """Without a description, which would be an error's text."""
        self._span.set_attribute("error.type", kind)
        self._span.set_status(trace.Status(trace.StatusCode.ERROR))


class OpenTelemetrySpans:
    """Records spans with the SDK."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[spans.Span]:
        """Below the span that `traceparent` names, if it names one."""
        given = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
        return self._recorded("request", trace.SpanKind.SERVER, _W3C.extract(given, Context()))

    def job(self, kind: str, cause: object) -> AbstractContextManager[spans.Span]:
        """A trace of its own, with a link."""
        carried = _W3C.extract({"traceparent": cause}, Context()) if isinstance(cause, str) else Context()
        caused_by = trace.get_current_span(carried).get_span_context()
        links = [trace.Link(caused_by)] if caused_by.is_valid else []
        return self._recorded(f"job {kind}", trace.SpanKind.CONSUMER, Context(), links)

    def part(self, name: str) -> AbstractContextManager[spans.Span]:
        """Below the present span."""
        return self._recorded(name, trace.SpanKind.INTERNAL) if _is_recorded() else spans.NOTHING

    def statements(self, name: str) -> AbstractContextManager[spans.Span]:
        """Likewise, with what was asked."""
        return self._counted(name) if _is_recorded() else spans.NOTHING

    def statement(self, text: str) -> None:
        """Counted for the present group."""
        if (group := _group.get()) is not None:
            group[summary(text)] += 1

    def cause(self) -> str | None:
        """As W3C writes it; only of a trace that is recorded."""
        if not _is_recorded():
            return None
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, trace.set_span_in_context(_present.get(), Context()))
        return carrier.get("traceparent")

    @contextmanager
    def _recorded(self, name: str, kind: trace.SpanKind, context: Context | None = None,
                  links: Sequence[trace.Link] = ()) -> Iterator[RecordedSpan]:  # fmt: skip
        above = context if context is not None else trace.set_span_in_context(_present.get(), Context())
        given = self._tracer.start_span(name, above, kind, links=links)
        token = _present.set(given)
        span = RecordedSpan(given)
        try:
            yield span
        except Exception as error:
            # No more of it: its text and its stack may hold what is remembered.
            span.failed(type(error).__qualname__)
            raise
        finally:
            _present.reset(token)
            given.end()

    @contextmanager
    def _counted(self, name: str) -> Iterator[RecordedSpan]:
        group: Counter[str] = Counter()
        token = _group.set(group)
        try:
            with self._recorded(name, trace.SpanKind.CLIENT) as span:
                try:
                    yield span
                finally:
                    span.set(
                        codexmem__statements=group.total(),
                        db__query__summary="; ".join(
                            f"{what} x{count}" if count > 1 else what for what, count in group.most_common(_MOST_KINDS)
                        ),
                    )
        finally:
            _group.reset(token)


def _is_recorded() -> bool:
    return _present.get().is_recording()


@lru_cache(maxsize=1024)
def summary(statement: str) -> str:
    """The verb of a statement and the first table it names."""
    verb, table = _VERB.match(statement), _TABLE.search(statement)
    return " ".join([verb[1].upper() if verb else "?", *([table[1].lower()] if table else [])])


class _Figures:
    """Sends what a scrape of this process would be given, at intervals and once more at the end."""

    def __init__(self, registry: CollectorRegistry, resource: Resource, interval_s: float) -> None:
        self._registry = registry
        self._resource = resource
        self._interval_s = interval_s
        self._clock = ids.SystemClock()
        self._began_ns = self._clock.now_ms() * 1_000_000
        self._exporter = OTLPMetricExporter()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send_all, name="codexmem-figures", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send them a last time."""
        self._over.set()
        self._thread.join(2 * _FLUSH_MS / 1000)
        with suppress(Exception):
            self._exporter.shutdown(_FLUSH_MS)

    def _send_all(self) -> None:
        while not self._over.wait(self._interval_s):
            self._send()
        self._send()

    def _send(self) -> None:
        try:
            self._exporter.export(self._present())
        except Exception:
            _log.warning("figures could not be sent; trying again", exc_info=True)

    def _present(self) -> MetricsData:
        now_ns = self._clock.now_ms() * 1_000_000
        found = [metric for family in self._registry.collect() for metric in _metrics(family, self._began_ns, now_ns)]
        scope = ScopeMetrics(InstrumentationScope(_NAME, __version__), found, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])


def _metrics(family: Family, began_ns: int, now_ns: int) -> Iterator[Metric]:
    """A family as Prometheus has it, in the form of the SDK."""
    cumulative = AggregationTemporality.CUMULATIVE
    if family.type == "histogram":
        points = [_histogram(each, began_ns, now_ns) for each in _series(family)]
        yield Metric(family.name, family.documentation, family.unit, Histogram(points, cumulative))
        return
    is_count = family.type == "counter"
    numbers = [
        NumberDataPoint(dict(sample.labels), began_ns if is_count else 0, now_ns, sample.value)
        for sample in family.samples
        if sample.name.endswith("_total") or not is_count
    ]
    if numbers:
        data = Sum(numbers, cumulative, is_monotonic=True) if is_count else Gauge(numbers)
        yield Metric(family.name, family.documentation, family.unit, data)


def _series(family: Family) -> list[list[Sample]]:
    found: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    for sample in family.samples:
        labels = tuple(sorted((name, value) for name, value in sample.labels.items() if name != "le"))
        found.setdefault(labels, []).append(sample)
    return list(found.values())


def _histogram(samples: Sequence[Sample], began_ns: int, now_ns: int) -> HistogramDataPoint:
    named = {each.name.rpartition("_")[2]: each for each in samples}
    buckets = sorted((float(each.labels["le"]), int(each.value)) for each in samples if each.name.endswith("_bucket"))
    reached = [count for _, count in buckets]
    counts = [count - before for count, before in zip(reached, [0, *reached[:-1]], strict=True)]
    labels = {name: value for name, value in samples[0].labels.items() if name != "le"}
    return HistogramDataPoint(
        labels, began_ns, now_ns, int(named["count"].value), named["sum"].value, counts,
        [bound for bound, _ in buckets[:-1]], None, None,  # type: ignore[arg-type]  # not known, and left out
    )  # fmt: skip
