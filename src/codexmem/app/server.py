"""A server: it listens before its store is open, so that health can be asked from the first moment, opens the store in
the background, and drains before it ends. The store has one owner at a time, and only the owner says in `server.json`
where it listens.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from codexmem import __version__
from codexmem.app import mcp, worker_api
from codexmem.app.core import Core, open_core
from codexmem.app.gauges import gauges, telemetry_sent
from codexmem.app.operations import is_sign_in_configured, require_whole_sign_in
from codexmem.app.services import Services
from codexmem.app.spooled import Spooled
from codexmem.features import FEATURES
from codexmem.http import web
from codexmem.http.admission import Admission, AdmissionLimits
from codexmem.http.assemble import build_asgi
from codexmem.http.bind import require_safe_bind
from codexmem.http.group import Line
from codexmem.http.guard import Authenticate, GuardSettings
from codexmem.http.json_body import BodyLimits
from codexmem.http.metrics import Metrics, Sample
from codexmem.http.serving import Bound, serve
from codexmem.http.shared_metrics import SharedMetrics
from codexmem.http.signals import ending_signals
from codexmem.http.surface import Surface
from codexmem.kernel.feature import load
from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.kernel.model.ids import Clock, SystemClock
from codexmem.kernel.model.tenant import Identity
from codexmem.kernel.services.live_sessions import LiveSessions
from codexmem.kernel.services.status import ServerStatus, StoreWatch
from codexmem.kernel.services.usage import EVENTS, REQUESTS, asked
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import require_writable, sqlite_path
from codexmem.kernel.store.sqlite.lock import OwnerLock
from codexmem.operations.announcement import Announcement
from codexmem.operations.http import sign_in
from codexmem.operations.keys import LocalToken
from codexmem.operations.sign_in import cookie_name
from codexmem.operations.transfer import tell_notices
from codexmem.recall import http as memory_api
from codexmem.settings import Settings

log = logging.getLogger(__name__)

SURFACES: tuple[Surface[Services], ...] = (
    worker_api.SURFACE, memory_api.SURFACE, mcp.SURFACE, sign_in.SURFACE,
    *(load(place, Surface) for feature in FEATURES for place in feature.surfaces),
    web.SURFACE,
)  # fmt: skip
GRACE_S = 5.0
# How long a thread keeps the interpreter while others want it: by default five milliseconds, which a request that asks
# the database ten times would wait for ten times beside a single search that computes.
_SWITCH_S = 0.001
# What the server needs connections for besides requests: jobs that it runs itself, keys, readiness.
_OTHER_CONNECTIONS = 6
# What hooks report, which the quota of events counts.
_EVENT_PATHS = frozenset(
    {"/api/sessions/init", "/api/sessions/observations", "/api/sessions/summarize", "/api/transcripts"}
)
# Where one sees what is spent, and why.
_ALWAYS = frozenset({"/api/ops/system", "/metrics"})
_RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)
_NOTICES_S = 30.0
_LINGER_S = 1.0  # for a connection that was accepted to bring its request, where another process could serve the next


class App:
    """One server."""

    def __init__(self, settings: Settings, *, work: bool, clock: Clock | None = None, line: Line | None = None) -> None:
        """`line` leads to the parent, if this is one of several servers behind a port."""
        self.settings = settings
        self._line = line
        self.status = ServerStatus(
            version=__version__, clock=clock or SystemClock(), pid=line.orders["group"] if line else None
        )
        self.services = Services(self.status)
        self._clock = clock
        self._speaking = LiveSessions()
        self._work = work
        self._began = False
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._drained = threading.Event()
        self._owner = threading.Thread(target=self._own, name="codexmem-owner", daemon=True)
        self._bound: Bound | None = None
        self._spooled: Spooled | None = None
        self._announcement = Announcement(settings.data_dir)
        self._tended: set[str] = set()
        self._watch: StoreWatch | None = None
        self._token: LocalToken | None = None
        self._opened_store = threading.Event()
        metrics = self._metrics = Metrics()
        metrics.register(self._gauges)
        self._shared = SharedMetrics(metrics, line.folder, line.orders) if line else None
        admission = self._admission()
        if admission is not None:
            metrics.register(admission.gauges)
        guard = GuardSettings(
            self._authenticator(),
            _requested if settings.on_postgres else acting_as,
            known=self._known,
            person=lambda: self._token,
            admission=admission,
            names=(*settings.allowed_hosts, *filter(None, [urlsplit(settings.public_url).netloc])),
            session_cookie=cookie_name(settings.public_url) if is_sign_in_configured(settings) else "",
            limits=BodyLimits(body_bytes=settings.max_body_bytes),
            sessions=self._speaking,
        )
        self.asgi = build_asgi(
            SURFACES, self.services, guard, version=__version__, lifespan=[self._living], metrics=metrics
        )

    def run(self, *, on_bound: Callable[[str], None] | None = None) -> None:
        """Listen and serve until a signal or `stop()`; raises what kept the store from opening."""
        addresses = require_safe_bind(self.settings.host, _authenticates(self.settings))
        sys.setswitchinterval(_SWITCH_S)
        _refuse_early(self.settings)
        if not self.settings.on_postgres:
            self._token = LocalToken(self.settings.data_dir / "token")
        if self._line is not None and self._line.orders["late"] and not self._open_first():
            return

        def bound(where: Bound) -> None:
            self._bound = where
            if on_bound:
                on_bound(where.url)

        with telemetry_sent(self._metrics):
            serve(
                self.asgi, addresses, self.settings.port, on_bound=bound, on_stop=self._stopping,
                shutdown_grace=GRACE_S, stop=self._stop, sockets=self._line.sockets() if self._line else None,
                linger_s=_LINGER_S if self._line else 0.0,
            )  # fmt: skip
        if self._error is not None:
            raise self._error

    def _open_first(self) -> bool:
        """Open the store before anything is accepted, because others serve; False if we are to leave instead."""
        with ending_signals(lambda _: self._stop.set()):
            self._owner.start()
            while not self._opened_store.wait(0.02) and not self._stop.is_set():
                pass
        if not self._stop.is_set():
            return True
        self._drained.set()
        self._owner.join(3 * GRACE_S)
        if self._error is not None:
            raise self._error
        return False

    def stop(self) -> None:
        """Begin to stop; `run` returns when all is drained."""
        self._stop.set()

    def _stopping(self) -> None:
        if self._line is None:  # else others serve on this port, and what still comes here is answered
            self.status.stopping()
        self.services.stopping()

    @contextmanager
    def _living(self) -> Iterator[None]:
        if not self._opened_store.is_set():
            self._owner.start()
        try:
            yield
        finally:
            self._stop.set()
            self._drained.set()
            # Not for ever: a request that hangs inside the store must not keep the process alive.
            self._owner.join(3 * GRACE_S)

    def _own(self) -> None:
        """Open the store, hold it until requests are drained, give it back: one thread's life."""
        try:
            core = self._opened()
        except Exception as error:
            self._fail(error)
            return
        if core is None:
            return
        try:
            self._begin(core)
            while not self._drained.wait(_NOTICES_S):
                self._tell_notices(core)
        except Exception as error:
            self._fail(error)
            self._drained.wait()
        finally:
            if self._spooled is not None:
                self._spooled.stop()
            if self._watch is not None:
                self._watch.close()
                core.usage.close()
            if self._began:
                core.stop(GRACE_S)
            self._announcement.withdraw()
            if self._shared is not None:
                self._shared.close()
            core.close()

    def _begin(self, core: Core) -> None:
        self.services.opened(core)
        self._tell_notices(core)
        if core.db.engine.ambient_tenant is not None:
            if self._work:
                core.housekeeping.begin()
            core.indexing.begin()
        core.begin(work=self._work)
        self._began = True
        if self._bound is not None and self._line is None:
            where = self._bound
            self._announcement.tell(url=where.url, host=where.host, port=where.port, version=__version__)
            if not self.settings.on_postgres:
                self._spooled = Spooled(self.settings.data_dir, where.url)
                self._spooled.start()
        self.status.opened(core.db)
        if self.settings.on_postgres:
            self._prepare_search(core)
            self._watch = StoreWatch(core.db)
            self._watch.start()
            core.usage.start()
        # Not earlier: what can be read of a damaged store is served, and beginning writes.
        core.db.engine.watch()
        log.info("ready: %s %s", core.db.engine.name, core.db.engine.version)
        self._opened_store.set()
        if self._shared is not None and self._line is not None:
            self._shared.start()
            self._line.ready()

    def _prepare_search(self, core: Core) -> None:
        """A team's server has its encoder before somebody searches, and before it accepts where others serve."""
        if self._line is not None and self._line.orders["late"]:
            core.recall.prepare()
        else:
            threading.Thread(target=core.recall.prepare, name="codexmem-prepare", daemon=True).start()

    def _fail(self, error: Exception) -> None:
        self._error = error
        self.status.failed(error.message if isinstance(error, CodexmemError) else "the store could not be opened")
        self._stop.set()

    def _tell_notices(self, core: Core) -> None:
        try:
            tell_notices(core.db, self.settings.data_dir)
        except Exception:
            log.warning("notices could not be told; trying again", exc_info=True)

    def _opened(self) -> Core | None:
        tries = 0
        while not self._stop.is_set():
            try:
                return open_core(self.settings, self._clock, self._speaking)
            except Unavailable as error:
                # A database server may come up after us; a file that another process owns is not going to be ours.
                if not self.settings.on_postgres:
                    raise
                log.warning("the store does not answer yet: %s", error.message)
                self.status.waiting_for(error.message)
                self._stop.wait(_RETRY_S[min(tries, len(_RETRY_S) - 1)])
                tries += 1
        return None

    def _admission(self) -> Admission | None:
        """Fairness between the tenants of a team's server; the owner of a file is alone and never refused."""
        settings = self.settings
        if not settings.on_postgres:
            return None
        slots = min(settings.request_slots, max(1, settings.pool_size - _OTHER_CONNECTIONS))
        return Admission(
            AdmissionLimits(slots, settings.tenant_slots, tenant_rate=settings.tenant_rate),
            answers=lambda: self._watch is None or self._watch.answers(),
            refusal=self._spent,
        )

    def _spent(self, tenant: str, method: str, path: str) -> CodexmemError | None:
        """Why this request exceeds a quota of its tenant; None where it does not, and then it is counted."""
        if path in _ALWAYS or not self.status.initialized:
            return None
        usage = self.services.core.usage
        events = method == "POST" and path in _EVENT_PATHS
        if (refusal := usage.refusal(tenant, events=events)) is None:
            usage.count(tenant, REQUESTS)
            if events:
                usage.count(tenant, EVENTS)
        return refusal

    def _known(self, bearer: str) -> Identity | None:
        """Whom a key acts for that was looked up a moment ago; never waits."""
        if not self.status.initialized:
            return None
        identity = self.services.core.keys.remembered(bearer)
        return identity if identity is not None and identity.tenant in self._tended else None

    def _authenticator(self) -> Authenticate | None:
        if not _authenticates(self.settings):
            return None

        def authenticate(bearer: str | None) -> Identity | None:
            if self._token is not None and (found := self._token.authenticate(bearer)) is not None:
                return found
            identity = self.services.core.keys.authenticate(bearer)
            if identity is not None and identity.tenant not in self._tended:
                self._tend(identity.tenant)
            return identity

        return authenticate

    def _tend(self, tenant: str) -> None:
        # A tenant we have not seen in this process: its chores begin with its first request.
        self._tended.add(tenant)
        try:
            with acting_as(tenant):
                self.services.core.housekeeping.begin()
                self.services.core.indexing.begin()
                self.services.core.lab.begin(alone=False)
        except CodexmemError:
            self._tended.discard(tenant)
            log.warning("housekeeping of a tenant could not be enqueued; trying again", exc_info=True)

    def _gauges(self) -> Iterable[Sample]:
        return gauges(self.status, self.services.core if self.status.initialized else None)


@contextmanager
def _requested(tenant: str) -> Iterator[None]:
    """A request of a tenant."""
    with acting_as(tenant), asked():
        yield


def _authenticates(settings: Settings) -> bool:
    # A team's server always asks for a key. Beyond loopback authentication must be on too, or we refuse to listen.
    return settings.on_postgres or settings.auth == "token"


def _refuse_early(settings: Settings) -> None:
    """Say before listening that the store cannot be ours; the lock that counts is taken when it opens."""
    require_whole_sign_in(settings)
    path = sqlite_path(settings.database_url)
    require_writable(path.parent if path is not None else settings.data_dir)
    if path is not None and path.exists():
        lock = OwnerLock(path)
        lock.acquire()
        lock.release()


def open_app(settings: Settings, *, work: bool = True, clock: Clock | None = None) -> App:
    """The server for these settings; its store opens when it runs."""
    return App(settings, work=work, clock=clock)
