"""Where OpenTelemetry's own variables say that spans and figures are to be sent.

Their names and meanings are the standard's, so that one environment serves all programs of a machine. We read of them
whether anything is sent at all and how often; addresses, headers, sampling and the rest the SDK reads by itself.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
PROTOCOL = "http/protobuf"
_INTERVAL_MS = 60_000


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What is to be sent."""

    traces: bool
    metrics: bool
    interval_s: float  # between two sendings of figures
    refused: str = ""  # a protocol that somebody asked for and that we do not speak

    @property
    def wanted(self) -> bool:
        """Whether anything is."""
        return self.traces or self.metrics


def telemetry(environ: Mapping[str, str] | None = None) -> Telemetry:
    """What the environment asks for; nothing unless it names an endpoint."""
    environ = os.environ if environ is None else environ
    off = _said(environ, "OTEL_SDK_DISABLED") == "true"
    wanted = {
        signal: not off
        and bool(environ.get(_ENDPOINT, "").strip() or environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "").strip())
        and _said(environ, f"OTEL_{signal}_EXPORTER") in {"", "otlp"}
        for signal in ("TRACES", "METRICS")
    }
    refused = ""
    for signal, value in wanted.items():
        named = _said(environ, f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or _said(environ, _PROTOCOL) or PROTOCOL
        if value and named != PROTOCOL:
            wanted[signal], refused = False, named
    interval = _said(environ, "OTEL_METRIC_EXPORT_INTERVAL")
    ms = int(interval) if interval.isascii() and interval.isdigit() and 0 < len(interval) < 10 else _INTERVAL_MS
    return Telemetry(wanted["TRACES"], wanted["METRICS"], max(1, ms) / 1000, refused)


def _said(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip().lower()
