"""Every setting there is: its name, what it may be, and whether a checkout may set it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model.key_transport import may_carry_key
from codexmem.kernel.model.parse_value import Parse, choice, integer, switch, text, web_url
from codexmem.kernel.model.skipped_tools import SKIPPED_TOOLS
from codexmem.kernel.model.writer import PROVIDERS


def path(value: object) -> Path:
    """An absolute path; `~` is the home folder."""
    given = text(value)
    if not given:
        raise ValueError("a path")
    return Path(given).expanduser().absolute()


def names(value: object) -> tuple[str, ...]:
    """Several names, as a list or separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("names separated by commas, or a list of names")
    return tuple(part.strip() for part in parts if part.strip())


def collection(value: object) -> str:
    """A name that Chroma takes."""
    given = text(value)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", given):
        raise ValueError("1 to 63 of letters, digits, '.', '_' and '-'")
    return given


def model(*allowed: str) -> Parse:
    """One of these, or a model of fastembed."""

    def parse(value: object) -> str:
        given = text(value)
        if given.lower() in allowed:
            return given.lower()
        if not given.startswith("fastembed:") or not given.removeprefix("fastembed:"):
            raise ValueError("one of " + ", ".join(map(repr, allowed)) + " or 'fastembed:<name or path>'")
        return given

    return parse


def issuer(value: object) -> str:
    """The address of an OpenID Connect issuer, spelled as it spells itself, or nothing."""
    web_url(value)
    given = text(value)
    if given and not may_carry_key(given):
        raise ValueError("https://…, or http:// on this machine")
    return given


def pairs(value: object) -> tuple[str, ...]:
    """Pairs such as claim=group."""
    found = names(value)
    if not all(part.rpartition("=")[0].strip() and part.rpartition("=")[2].strip() for part in found):
        raise ValueError("pairs such as claim=group, separated by commas")
    return found


def database_url(value: object) -> str:
    """An address of a store, or nothing for the default."""
    given = text(value)
    if given and not given.startswith(("sqlite:///", "postgresql://", "postgres://")):
        raise ValueError("sqlite:///path or postgresql://user@host/database")
    return given


def tenant(value: object) -> str:
    """The name of a tenant, or nothing."""
    from codexmem.kernel.model.errors import InvalidArgument
    from codexmem.kernel.model.tenant import tenant_name

    given = text(value)
    try:
        return tenant_name(given) if given else given
    except InvalidArgument as error:
        raise ValueError("1 to 63 of a-z, 0-9, _ and -") from error


PREFIX = "CODEXMEM_"
_EMBEDDERS = ("auto", "none", "local", "local-better", "openai")
_RERANKERS = ("none", "api")
DEFAULT_MODEL = "gpt-5.6-luna"  # the smallest current one that OpenAI offers with strict schemas
_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as documentation, `config` and the parser see it."""

    name: str
    parse: Parse
    default: str  # as people read it; the values themselves are the fields' defaults
    help: str
    in_project: bool = True  # whether a project file may set it
    only_on: bool = False  # whether a project file may switch it on, and not off
    secret: bool = False  # shown with what must not be seen masked
    aliases: tuple[str, ...] = ()  # further environment variables, which a contract or custom spells out

    @property
    def env(self) -> str:
        """The environment variable."""
        return PREFIX + self.name.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("host", text, "127.0.0.1", "Address to listen on; anything but loopback needs authentication.",
            in_project=False),
    Setting("port", integer(0, 65535), "37877", "Port to listen on; 0 picks a free one."),
    Setting("data_dir", path, "the platform's user-data folder", "Folder of the store, backups, token, server.json.",
            in_project=False),
    Setting("database_url", database_url, "SQLite in the data directory", "postgresql://… for a team.",
            in_project=False, secret=True),
    Setting("database_direct_url", database_url, "database_url",
            "PostgreSQL itself, if database_url is a pooler: for wake-ups, upgrades and backups.",
            in_project=False, secret=True),
    Setting("database_replica_url", database_url, "none",
            "A standby of this PostgreSQL that searches read, as long as it is near enough.",
            in_project=False, secret=True),
    Setting("database_replica_s", integer(1, 3600), "5",
            "Maximum age in seconds of what is read there; an older standby is left for the primary.",
            in_project=False),
    Setting("auth", choice("", "token"), "off", "'token' requires the token in the data directory on loopback too.",
            in_project=False),
    Setting("allowed_hosts", names, "none", "Additional Host names that the server accepts.",
            in_project=False),
    Setting("worker_threads", integer(1, 64), "4", "Jobs that one worker runs at a time."),
    Setting("pool_size", integer(2, 500), "20", "Connections to PostgreSQL per process."),
    Setting("statement_timeout_s", integer(1, 3600), "30",
            "Maximum seconds for one PostgreSQL statement of a request or job."),
    Setting("lock_timeout_s", integer(1, 3600), "10", "Maximum seconds that such a statement waits for a lock."),
    Setting("request_slots", integer(1, 500), "12",
            "Requests of tenants that one server on PostgreSQL answers at once; others wait for their turn. Never more "
            "than pool_size less 6.", in_project=False),
    Setting("tenant_slots", integer(1, 500), "1",
            "How many of them may be one tenant's while other tenants are active.", in_project=False),
    Setting("tenant_rate", integer(0, 10**6), "200",
            "Requests a second of one tenant that one server on PostgreSQL answers, five times as many at once; 0 for "
            "no limit.", in_project=False),
    Setting("daily_requests", integer(0, 10**12), "0",
            "Requests a day of one tenant, on PostgreSQL; 0 for no limit.", in_project=False),
    Setting("daily_events", integer(0, 10**12), "0",
            "Captured events a day of one tenant, on PostgreSQL; 0 for no limit.", in_project=False),
    Setting("tenant_memories", integer(0, 10**9), "0",
            "Memories that one tenant may store, on PostgreSQL; 0 for no limit.", in_project=False),
    # Who may sign in is not for a checkout to say.
    Setting("public_url", issuer, "none", "Address by which people reach this server; sign-in needs it.",
            in_project=False),
    Setting("oidc_issuer", issuer, "none", "OpenID Connect issuer that people sign in with, on PostgreSQL.",
            in_project=False),
    Setting("oidc_client_id", text, "none", "How this server is registered there.", in_project=False),
    Setting("oidc_client_secret", text, "none", "Its secret; none for a public client.", in_project=False,
            secret=True),
    Setting("oidc_tenant", tenant, "none", "Tenant that people who sign in are members of.", in_project=False),
    Setting("oidc_scopes", names, "openid,profile,email", "Scopes that are asked for.", in_project=False),
    Setting("oidc_group_claim", text, "groups", "Claim that names a person's groups.", in_project=False),
    Setting("oidc_groups", pairs, "none",
            "Which group of the tenant a value of that claim stands for: claim=group, separated by commas.",
            in_project=False),
    Setting("oidc_join", switch, "off", "Whether somebody new becomes a member at the first sign-in, if a claim names "
            "a group.", in_project=False),
    Setting("oidc_session_hours", integer(1, 720), "12", "Hours until a browser must sign in again.",
            in_project=False),
    Setting("oidc_key_days", integer(1, 365), "30", "Days that a key of codexmem login lasts.", in_project=False),
    Setting("log_level", choice(*_LEVELS), "info", "How much to log: debug, info, warning or error."),
    Setting("log_format", choice("text", "json"), "text", "Log lines for people (text) or for machines (json)."),
    Setting("max_body_bytes", integer(1024, 1 << 30), "4194304", "Largest request body that is accepted."),
    Setting("lang", choice("auto", "en", "zh"), "auto", "Language of messages: en, zh, or auto for the locale."),
    Setting("pg_bin_dir", path, "found on PATH", "Folder of pg_dump, pg_restore and psql, for backups.",
            in_project=False),
    # None of these is for a checkout: they say where texts are sent, and which model file is loaded.
    Setting("embedder", model(*_EMBEDDERS), "auto", "What turns text into vectors: auto, none, local, "
            "local-better, openai or fastembed:<name or path>.", in_project=False),
    Setting("embedder_threads", integer(1, 64), "1", "Threads of a local embedder or reranker.", in_project=False),
    Setting("model_hub", web_url, "https://huggingface.co",
            "Where codexmem embed fetch gets models: the hub or a mirror.", in_project=False, secret=True),
    Setting("model_hub_token", text, "none", "What that server knows you by, if it asks.", in_project=False,
            secret=True),
    Setting("openai_base_url", web_url, "https://api.openai.com/v1", "Server with an OpenAI-compatible API.",
            in_project=False, secret=True),
    Setting("openai_api_key", text, "none", "Its key; OPENAI_API_KEY is read too.", in_project=False, secret=True,
            aliases=("OPENAI_API_KEY",)),
    Setting("openai_embedding_model", text, "none",
            "Model for vectors; with embedder auto, setting it selects this server.",
            in_project=False),
    Setting("openai_embedding_base_url", web_url, "openai_base_url", "Server for vectors, if different.",
            in_project=False, secret=True),
    Setting("openai_embedding_api_key", text, "openai_api_key", "Key of that server, if different.", in_project=False,
            secret=True),
    Setting("vector_backend", choice("sqlite", "chroma", "hybrid"), "sqlite",
            "Where vectors are stored: sqlite (in the store, whatever its engine), chroma, or hybrid for both.",
            in_project=False),
    Setting("chroma_url", web_url, "none", "Chroma server, e.g. http://127.0.0.1:8000.", in_project=False,
            secret=True),
    Setting("chroma_collection", collection, "codexmem", "Prefix of Chroma collection names.",
            in_project=False),
    Setting("reranker", model(*_RERANKERS), "none",
            "Second ranking of the best results: none, api or fastembed:<name or path>.", in_project=False),
    Setting("rerank_url", web_url, "none", "Server of the api reranker; /rerank is added.", in_project=False,
            secret=True),
    Setting("rerank_model", text, "the server's", "Its model.", in_project=False),
    Setting("rerank_api_key", text, "none", "Its key.", in_project=False, secret=True),
    Setting("rerank_depth", integer(2, 200), "30", "How many of the best results are reranked.",
            in_project=False),
    # Nor these: they say who reads what is captured, what it may cost, and what is not captured at all.
    Setting("provider", choice(*PROVIDERS), "openai", "Who says what turns mean, besides rules: openai (any server "
            "with a compatible API; without key and address nobody), rules (nobody), agent (the first of your agents "
            "that is installed), codex, claude, qwen, gemini, opencode, or sampling (the model of an agent that is "
            "connected over MCP and offers sampling).", in_project=False),
    Setting("openai_model", text, DEFAULT_MODEL, "The model that is asked what turns mean.", in_project=False),
    Setting("author_tokens", integer(800, 60000), "8000", "Size of a question to the author; below 3,000 it is a "
            "simpler one, for small models.", in_project=False),
    Setting("daily_calls", integer(0, 10**9), "400", "Questions a day to the author; 0 for no limit.",
            in_project=False),
    Setting("daily_tokens", integer(0, 10**12), "2000000",
            "Tokens a day that extraction of one tenant may spend before rules take over; 0 for no limit.",
            in_project=False),
    Setting("skip_tools", names, ",".join(SKIPPED_TOOLS), "Tools that are not captured.", in_project=False),
    Setting("exclude_projects", names, "none",
            "Folders that are not captured: patterns with *, ** and ?, matching the whole path or its last part.",
            in_project=False),
    Setting("author_exclude_projects", names, "none",
            "Folders that are captured and that only rules read, whoever the author is: patterns likewise.",
            in_project=False),
    Setting("rules_only", switch, "off", "Whether nobody but rules reads what is done here, whoever the author is. "
            "In a checkout's file it holds for that checkout, and can be switched on only.", only_on=True),
    Setting("trust_agents", switch, "off", "Whether what agents write into the core, or for every project, needs no "
            "person's approval.", in_project=False),
    Setting("capture_days", integer(1, 3650), "30", "Days that captured events are kept after extraction.",
            in_project=False),
    Setting("batch_events", integer(1, 50), "5", "Captured events that rules read together."),
    Setting("batch_wait_s", integer(0, 3600), "10",
            "Seconds that captured events wait for others; short turns wait 90 times as long for an agent as author."),
    # Nor these: they say which folders the lab reads, where its requests go, and what it tells about itself.
    Setting("kb_principles_dir", path, "the shipped sample",
            "The lab's library of principles: a folder of documents or of LightRAG.", in_project=False),
    Setting("kb_modulation_dir", path, "the shipped sample", "The lab's library of modulation: likewise.",
            in_project=False),
    Setting("kb_roots", names, "none", "Folders below which a batch may choose another library.",
            in_project=False),
    Setting("lab_api_bases", names, "none",
            "Model servers that a batch may use besides openai_base_url; the configured key is not sent to them.",
            in_project=False),
    Setting("lab_profile", text, "c2xc",
            "Who answers in the lab and how: the name of a built-in profile or a .toml file.",
            in_project=False),
    Setting("lab_learn", switch, "on", "Whether the lab learns from saved feedback automatically.", in_project=False),
    Setting("enable_debug_endpoints", switch, "off", "Whether /api/v1/_debug answers; C2XC_ENABLE_DEBUG_ENDPOINTS is "
            "read too.", in_project=False, aliases=("C2XC_ENABLE_DEBUG_ENDPOINTS",)),
    # Nor these: they say which server clients trust with what they send.
    Setting("url", web_url, "server.json in the data directory", "Server that hooks and bridges use.",
            in_project=False),
    Setting("api_key", text, "the token in the data directory", "Key that hooks and bridges send.", in_project=False,
            secret=True),
    Setting("autostart", switch, "on", "Whether hooks and bridges start a server if none is running.",
            in_project=False),
)  # fmt: skip
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}
