"""What `doctor` finds out about the memory server: one live round trip, looked at from several sides."""

from functools import cached_property

from codexmem.client import starting
from codexmem.codecli import probing, project_context
from codexmem.codecli.configuration import Config
from codexmem.codecli.probing import Answered, Certificate, Reached
from codexmem.kernel.model.key_transport import is_loopback
from codexmem.operations.cli.doctor.finding import Finding, State

_SOON_DAYS = 14


class ServerChecks:
    """The memory server as a run would meet it; every step is tried once."""

    def __init__(self, config: Config, project: str) -> None:
        self._config = config
        self._project = project
        self._place = project_context.place(config)
        self._url = starting.address(self._place)
        self._bad: State = "failure" if config.memory.on else "warning"

    def reachable(self) -> Finding:
        """Whether something listens there."""
        values = {"url": self._url, "ms": self._reached.took_ms, "problem": self._reached.problem}
        if not self._reached.problem:
            return Finding("server", "ok", "codecli.doctor.server", values)
        if self._config.memory.on:
            return Finding("server", "failure", "codecli.doctor.server_away", values)
        return Finding("server", "warning", "codecli.doctor.server_off", values)

    def tls(self) -> Finding:
        """Whether nobody can listen in or pretend to be the server."""
        if not self._url.startswith("https://"):
            if is_loopback(self._url):
                return Finding("tls", "ok", "codecli.doctor.tls_loopback")
            if not self._place.may_have_key and self._place.key:
                return Finding("tls", "warning", "codecli.doctor.tls_key_in_clear", {"url": self._url})
            return Finding("tls", "warning", "codecli.doctor.tls_none", {"url": self._url})
        if self._reached.problem:
            return Finding("tls", "ok", "codecli.doctor.skipped", {"check": "tls"})
        found = self._certificate
        values = {"days": found.days_left, "problem": found.problem, "url": self._url}
        if found.state == "valid":
            if found.days_left < _SOON_DAYS:
                return Finding("tls", "warning", "codecli.doctor.tls_soon", values)
            return Finding("tls", "ok", "codecli.doctor.tls", values)
        match found.state:
            case "expired" | "not-yet":
                return Finding("tls", self._bad, "codecli.doctor.tls_expired", values)
            case "wrong-host":
                return Finding("tls", self._bad, "codecli.doctor.tls_wrong_host", values)
            case "unknown-issuer":
                return Finding("tls", self._bad, "codecli.doctor.tls_unknown", values)
        return Finding("tls", self._bad, "codecli.doctor.tls_failed", values)

    def authentication(self) -> Finding:
        """Whether the server takes our key: 401 and 403 are told apart."""
        if not self._speaks:
            return Finding("authentication", "ok", "codecli.doctor.skipped", {"check": "authentication"})
        values = {"url": self._url, "status": self._answered.status}
        has_key = self._place.may_have_key and bool(starting.headers(self._place))
        if self._answered.status == 401:
            key = "codecli.doctor.auth_wrong" if has_key else "codecli.doctor.auth_missing"
            return Finding("authentication", self._bad, key, values)
        if self._answered.status == 403:
            return Finding("authentication", self._bad, "codecli.doctor.auth_forbidden", values)
        if not has_key:
            return Finding("authentication", "ok", "codecli.doctor.auth_none", values)
        return Finding("authentication", "ok", "codecli.doctor.auth", values)

    def round_trip(self) -> Finding:
        """Whether a search comes back with what a search comes back with."""
        if not self._speaks or self._answered.status in {401, 403}:
            return Finding("round_trip", "ok", "codecli.doctor.skipped", {"check": "round_trip"})
        found = self._answered
        values = {"ms": found.took_ms, "status": found.status, "problem": found.problem, "project": self._project}
        if found.status == 200 and not found.problem:
            return Finding("round_trip", "ok", "codecli.doctor.round_trip", values)
        if found.status == 0:
            return Finding("round_trip", self._bad, "codecli.doctor.round_trip_silent", values)
        if found.status == 404:
            return Finding("round_trip", self._bad, "codecli.doctor.round_trip_other", values)
        return Finding("round_trip", self._bad, "codecli.doctor.round_trip_bad", values)

    def timeout(self) -> Finding:
        """Whether the memory is as fast as an agent waits for it."""
        allowed = self._config.memory.timeout_ms
        if not self._speaks or self._answered.status != 200:
            return Finding("timeout", "ok", "codecli.doctor.skipped", {"check": "timeout"})
        values = {"ms": self._answered.took_ms, "allowed": allowed}
        if self._answered.took_ms > allowed:
            return Finding("timeout", self._bad, "codecli.doctor.timeout_slow", values)
        if self._answered.took_ms * 2 > allowed:
            return Finding("timeout", "warning", "codecli.doctor.timeout_close", values)
        return Finding("timeout", "ok", "codecli.doctor.timeout", values)

    @property
    def _speaks(self) -> bool:
        if self._reached.problem:
            return False
        return not self._url.startswith("https://") or self._certificate.state == "valid"

    @cached_property
    def _reached(self) -> Reached:
        return probing.reach(self._url)

    @cached_property
    def _certificate(self) -> Certificate:
        return probing.certificate(self._url)

    @cached_property
    def _answered(self) -> Answered:
        return probing.search(self._url, self._place, self._project, probing.STEP_S)
