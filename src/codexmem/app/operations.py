"""What operators ask for, put together from the parts of an open store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from codexmem.capture import service
from codexmem.capture.author_queue import AUTHOR
from codexmem.capture.job_log import TokenBudget
from codexmem.installation import install_command
from codexmem.kernel.embed.model import Embedder
from codexmem.kernel.events.live import Live
from codexmem.kernel.events.log import Log
from codexmem.kernel.events.review import Review
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.jobs.worker import Worker
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.search.copying import OutsideCopy
from codexmem.kernel.search.indexer import Indexer
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.services.usage import QuotaState, UsageLimits
from codexmem.kernel.store import inspection
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.event_pages import EventPages
from codexmem.kernel.store.index_backlog import CatchingUp
from codexmem.kernel.store.notify import Notifier
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tallies import Tallies
from codexmem.kernel.store.writable_index import WritableVectorIndex
from codexmem.lab.service.reconciling import Watch
from codexmem.operations.keys import Keys
from codexmem.operations.oidc import Issuer, OidcClient
from codexmem.operations.service import Operations
from codexmem.operations.service.backups import Backups, Copies, StoreCommands
from codexmem.operations.service.dashboard import Disk, ModelWatch, Spent, Standing, WorkerState
from codexmem.operations.service.reports import Reports, Trends
from codexmem.operations.service.upkeep import StoreUpkeep
from codexmem.operations.service.watching import DepthMeter, LiveWatching
from codexmem.operations.sign_in import SignIn, SignInPolicy
from codexmem.operations.transfer import BACKUPS
from codexmem.settings import Settings

# What the contract calls the work of each kind of job.
MESSAGE_TYPES = {service.EXTRACT: "observation", service.SUMMARIZE: "summarize", AUTHOR: "observation"}
_WAITED_FOR = (service.EXTRACT, service.SUMMARIZE)  # short turns wait for an author on purpose


@dataclass(frozen=True, slots=True)
class OperationsContext:
    """What an operator's questions are about beyond the store itself."""

    worker: Callable[[], WorkerState]
    spent: Callable[[], Spent]
    copies: Copies | None  # None where tenants share the store
    commands: StoreCommands
    data_dir: Path | None  # None, likewise
    told: bool  # whether callers may know where it lies
    quotas: Callable[[], Sequence[QuotaState]] = tuple  # of the acting tenant; none where one person owns the store


def operations_of(db: Database, notifier: Notifier, clock: Clock, *, live: Live, queue: Queue, indexer: Indexer,
                  vectors: WritableVectorIndex, embedder: Embedder | None, tallies: Tallies, memories: Memories,
                  model: ModelWatch, sign_in: SignIn, ground: OperationsContext) -> Operations:  # fmt: skip
    """Everything an operator asks for."""
    review = Review(EventPages(db))
    upkeep = StoreUpkeep(db.engine.name, indexer, outside_copy(db, vectors, embedder), tallies, queue, memories)
    return Operations(
        watching=LiveWatching(live, DepthMeter(db, notifier, _WAITED_FOR)),
        reports=Reports(review, MESSAGE_TYPES, memories),
        trends=Trends(review, clock),
        upkeep=upkeep,
        standing=Standing(
            db, clock, upkeep, Sessions(db), model, schema=inspection.expected_schema(), kinds=_WAITED_FOR,
            worker=ground.worker, spent=ground.spent, quotas=ground.quotas, followers=live.count,
            disk=Disk(ground.data_dir, BACKUPS) if ground.data_dir is not None else None,
            directory=str(ground.data_dir) if ground.told and ground.data_dir is not None else None,
        ),
        backups=Backups(ground.copies, ground.commands, clock),
        sign_in=sign_in,
    )  # fmt: skip


def ground_of(settings: Settings, worker: Worker, watch: Callable[[], Watch], budget: TokenBudget,
              quotas: Callable[[], Sequence[QuotaState]], copies: Copies) -> OperationsContext:  # fmt: skip
    """For a store of one person everything; of a shared one nothing that tenants should not know."""
    alone, told = not settings.on_postgres, settings.auth == ""
    return OperationsContext(
        worker=lambda: _worker_state(worker, watch()),
        spent=lambda: Spent(budget.name().partition(".")[2], budget.spent(), budget.limit),
        quotas=quotas if settings.on_postgres else tuple,
        copies=copies if alone else None,
        commands=StoreCommands(_flags(settings), settings.data_dir / BACKUPS) if alone and told else StoreCommands(),
        data_dir=settings.data_dir if alone else None,
        told=told,
    )


def sign_in_of(db: Database, keys: Keys, log: Log, clock: Clock, settings: Settings) -> SignIn:
    """With the issuer that is configured; nobody can sign in where it is not said who it is and for whom."""
    if not is_sign_in_configured(settings):
        return SignIn(db, keys, log.append, clock)
    groups: dict[str, frozenset[str]] = {}
    for pair in settings.oidc_groups:
        claim, _, group = pair.rpartition("=")
        groups[claim.strip()] = groups.get(claim.strip(), frozenset()) | {group.strip()}
    client = OidcClient(
        settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret, settings.oidc_scopes,
        settings.oidc_group_claim,
    )  # fmt: skip
    policy = SignInPolicy(
        settings.oidc_tenant, settings.public_url.rstrip("/"), groups, settings.oidc_join,
        settings.oidc_session_hours * 3_600_000, settings.oidc_key_days * 86_400_000,
    )  # fmt: skip
    return SignIn(db, keys, log.append, clock, Issuer(client), policy)


def is_sign_in_configured(settings: Settings) -> bool:
    """Whether people can sign in; what is said by halves is refused where a server starts."""
    told = (settings.oidc_issuer, settings.oidc_client_id, settings.oidc_tenant, settings.public_url)
    return settings.on_postgres and all(told)


def require_whole_sign_in(settings: Settings) -> None:
    """Refuse an issuer that nobody could sign in with."""
    if not settings.oidc_issuer:
        return
    missing = [
        name for name in ("oidc_client_id", "oidc_tenant", "public_url") if not getattr(settings, name)
    ]  # fmt: skip
    if not settings.on_postgres:
        missing.append("database_url (PostgreSQL)")
    if urlsplit(settings.public_url).path.strip("/"):
        missing.append("public_url without a path")
    if missing:
        raise InvalidArgument(
            f"oidc_issuer is set, and these are not: {', '.join(missing)}",
            hint="codexmem config list shows every setting",
            details={"reason": "half_sign_in", "missing": ", ".join(missing)},
        )
    if find_spec("jwt") is None or find_spec("cryptography") is None:
        command = install_command("oidc")
        raise InvalidArgument(
            "people sign in with an issuer, and the packages for that are not installed",
            hint=f"install them with: {command}",
            details={"reason": "no_oidc", "command": command},
        )


def usage_limits(settings: Settings) -> UsageLimits:
    """What one tenant of a team's server may use; the owner of a file has no quota."""
    if not settings.on_postgres:
        return UsageLimits()
    return UsageLimits(settings.daily_requests, settings.daily_events, settings.tenant_memories)


def _worker_state(worker: Worker, watch: Watch) -> WorkerState:
    progress = worker.progress()
    return WorkerState(
        watch.enabled, watch.running, watch.poll_interval_s, progress.running, progress.overdue,
        progress.oldest_ready_age_ms, progress.last_end_age_ms,
    )  # fmt: skip


def _flags(settings: Settings) -> tuple[str, ...]:
    """Which store a command is about, spelled so that the shell it is typed into need not know."""
    own = settings.database_url == f"sqlite:///{settings.data_dir / 'codexmem.db'}"
    return ("--data-dir", str(settings.data_dir), *(() if own else ("--database-url", settings.database_url)))


def outside_copy(db: Database, vectors: WritableVectorIndex, embedder: Embedder | None) -> OutsideCopy | None:
    """The vectors in a Chroma server, alone or beside the store's own; None if there is no such server."""
    indexes: tuple[Any, ...] = getattr(vectors, "indexes", (vectors,))
    found = next((index for index in indexes if index.name == "chroma"), None)
    return OutsideCopy(found, CatchingUp(db), embedder) if found is not None else None
