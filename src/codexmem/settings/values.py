"""The values of all settings, as everything else receives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from codexmem.kernel.model.skipped_tools import SKIPPED_TOOLS
from codexmem.kernel.model.writer import RULES, MemoryWriter, writer_of
from codexmem.settings.table import BY_NAME, DEFAULT_MODEL, SETTINGS

PROJECT_ORIGIN = "project file"  # how the origin of a value begins that a checkout's file gives
_NAMED_FOR_US = ("provider", "openai_base_url", "openai_model")


@dataclass(frozen=True, slots=True)
class Settings:
    """The values, and where each came from."""

    data_dir: Path
    database_url: str
    database_direct_url: str = ""
    database_replica_url: str = ""
    database_replica_s: int = 5
    host: str = "127.0.0.1"
    port: int = 37877
    auth: str = ""
    allowed_hosts: tuple[str, ...] = ()
    worker_threads: int = 4
    pool_size: int = 20
    statement_timeout_s: int = 30
    lock_timeout_s: int = 10
    request_slots: int = 12
    tenant_slots: int = 1
    tenant_rate: int = 200
    daily_requests: int = 0
    daily_events: int = 0
    tenant_memories: int = 0
    public_url: str = ""
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_tenant: str = ""
    oidc_scopes: tuple[str, ...] = ("openid", "profile", "email")
    oidc_group_claim: str = "groups"
    oidc_groups: tuple[str, ...] = ()
    oidc_join: bool = False
    oidc_session_hours: int = 12
    oidc_key_days: int = 30
    log_level: str = "info"
    log_format: str = "text"
    max_body_bytes: int = 4 * 1024 * 1024
    lang: str = "auto"
    pg_bin_dir: Path | None = None
    embedder: str = "auto"
    embedder_threads: int = 1
    model_hub: str = ""
    model_hub_token: str = ""
    openai_base_url: str = ""
    openai_api_key: str = ""
    openai_embedding_model: str = ""
    openai_embedding_base_url: str = ""
    openai_embedding_api_key: str = ""
    vector_backend: str = "sqlite"
    chroma_url: str = ""
    chroma_collection: str = "codexmem"
    reranker: str = "none"
    rerank_url: str = ""
    rerank_model: str = ""
    rerank_api_key: str = ""
    rerank_depth: int = 30
    provider: str = "openai"
    openai_model: str = DEFAULT_MODEL
    author_tokens: int = 8_000
    daily_calls: int = 400
    daily_tokens: int = 2_000_000
    skip_tools: tuple[str, ...] = SKIPPED_TOOLS
    exclude_projects: tuple[str, ...] = ()
    author_exclude_projects: tuple[str, ...] = ()
    rules_only: bool = False
    capture_days: int = 30
    batch_events: int = 5
    batch_wait_s: int = 10
    kb_principles_dir: Path | None = None
    kb_modulation_dir: Path | None = None
    kb_roots: tuple[str, ...] = ()
    lab_api_bases: tuple[str, ...] = ()
    lab_profile: str = "c2xc"
    lab_learn: bool = True
    enable_debug_endpoints: bool = False
    url: str = ""
    api_key: str = ""
    autostart: bool = True
    trust_agents: bool = False
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def on_postgres(self) -> bool:
        """Whether the store is a team's server rather than a file of one developer."""
        return not self.database_url.startswith("sqlite:")

    @property
    def direct_url(self) -> str:
        """The store without a pooler in between."""
        return self.database_direct_url or self.database_url

    @property
    def writer(self) -> MemoryWriter:
        """Who writes memories from what is captured; what one checkout refuses holds for that checkout alone."""
        if self.rules_only and not self.origins.get("rules_only", "").startswith(PROJECT_ORIGIN):
            return MemoryWriter(RULES)
        return writer_of(
            self.provider, model=self.openai_model, base_url=self.openai_base_url, api_key=self.openai_api_key,
            decided=self.decided_on_model,
        )  # fmt: skip

    @property
    def decided_on_model(self) -> bool:
        """Whether a person said that a model may be asked: by naming one for us, not by a key that others use too."""
        if any(self.origins.get(name, "default") != "default" for name in _NAMED_FOR_US):
            return True
        return self.origins.get("openai_api_key", "default") not in {"default", "environment OPENAI_API_KEY"}

    def shown(self, name: str) -> str:
        """A value as it may be printed: never a password."""
        value = getattr(self, name)
        if BY_NAME[name].secret:
            return masked(str(value))
        return ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)

    def __repr__(self) -> str:
        shown = (f"{setting.name}={self.shown(setting.name)!r}" for setting in SETTINGS)
        return f"Settings({', '.join(shown)})"


def masked(url: str) -> str:
    """The address without its password and without query values, which may be passwords too; of a key, nothing."""
    if "://" not in url:
        return "***" if url else ""
    parts = urlsplit(url)
    if not parts.netloc and not parts.query:
        return url
    user, at, place = parts.netloc.rpartition("@")
    user = f"{user.partition(':')[0]}:***" if ":" in user else user
    query = "&".join(f"{pair.partition('=')[0]}=***" for pair in parts.query.split("&") if pair)
    return urlunsplit((parts.scheme, user + at + place, parts.path, query, ""))


def field_names() -> Sequence[str]:
    """The names of the fields that are settings, to compare with the table."""
    return [each.name for each in fields(Settings) if each.name != "origins"]
