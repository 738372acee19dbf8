"""Every setting there is: its name, what it may be, and whether a checkout may set it."""

from collections.abc import Mapping
from dataclasses import dataclass

from codexmem.domain.skipped_tools import SKIPPED_TOOLS
from codexmem.domain.written import Parse, choice, integer, switch, text, web_url
from codexmem.settings.parse import collection, database_url, model, names, path

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
    secret: bool = False  # shown with what must not be seen masked
    aliases: tuple[str, ...] = ()  # further environment variables, which a contract or custom spells out

    @property
    def env(self) -> str:
        """The environment variable."""
        return PREFIX + self.name.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("host", text, "127.0.0.1", "Address to listen on; beyond loopback it needs authentication.",
            in_project=False),
    Setting("port", integer(0, 65535), "37877", "Port to listen on; 0 picks a free one."),
    Setting("data_dir", path, "the platform's user-data folder", "Folder of the store, backups, token, server.json.",
            in_project=False),
    Setting("database_url", database_url, "SQLite in the data directory", "postgresql://… for a team.",
            in_project=False, secret=True),
    Setting("database_direct_url", database_url, "database_url", "PostgreSQL itself, where database_url is a pooler's: "
            "for wake-ups, upgrades and backups.", in_project=False, secret=True),
    Setting("auth", choice("", "token"), "off", "'token' asks also on loopback for the token in the data directory.",
            in_project=False),
    Setting("allowed_hosts", names, "none", "Further Host names under which the server may be addressed.",
            in_project=False),
    Setting("worker_threads", integer(1, 64), "4", "Jobs that one worker runs at a time."),
    Setting("pool_size", integer(2, 500), "20", "Connections to PostgreSQL per process."),
    Setting("statement_timeout_s", integer(1, 3600), "30", "Seconds that PostgreSQL may work on one statement of a "
            "request or job."),
    Setting("lock_timeout_s", integer(1, 3600), "10", "Seconds that such a statement may wait for a lock."),
    Setting("log_level", choice(*_LEVELS), "info", "How much to log: debug, info, warning or error."),
    Setting("log_format", choice("text", "json"), "text", "Log lines for people (text) or for machines (json)."),
    Setting("max_body_bytes", integer(1024, 1 << 30), "4194304", "Largest request body that is accepted."),
    Setting("lang", choice("auto", "en", "zh"), "auto", "Language of messages: en, zh, or auto for the locale's."),
    Setting("pg_bin_dir", path, "found on PATH", "Folder of pg_dump, pg_restore and psql, for backups.",
            in_project=False),
    # None of these is for a checkout: they say where texts are sent, and which model file is loaded.
    Setting("embedder", model(*_EMBEDDERS), "auto", "What turns text into vectors: auto, none, local, "
            "local-better, openai or fastembed:<name or path>.", in_project=False),
    Setting("embedder_threads", integer(1, 64), "1", "Threads of a local embedder or reranker.", in_project=False),
    Setting("openai_base_url", web_url, "https://api.openai.com/v1", "Server with OpenAI's interface.",
            in_project=False, secret=True),
    Setting("openai_api_key", text, "none", "Its key; OPENAI_API_KEY is read too.", in_project=False, secret=True,
            aliases=("OPENAI_API_KEY",)),
    Setting("openai_embedding_model", text, "none", "Its model for vectors; with auto, naming one chooses it.",
            in_project=False),
    Setting("openai_embedding_base_url", web_url, "openai_base_url", "Server for vectors, if another.",
            in_project=False, secret=True),
    Setting("openai_embedding_api_key", text, "openai_api_key", "Key of that server, if another.", in_project=False,
            secret=True),
    Setting("vector_backend", choice("sqlite", "chroma", "hybrid"), "sqlite",
            "Where vectors are: sqlite (in the store, whatever its engine), chroma, or hybrid for both.",
            in_project=False),
    Setting("chroma_url", web_url, "none", "Chroma server, e.g. http://127.0.0.1:8000.", in_project=False,
            secret=True),
    Setting("chroma_collection", collection, "codexmem", "What names of Chroma collections begin with.",
            in_project=False),
    Setting("reranker", model(*_RERANKERS), "none", "What looks at the best results a second time: none, api or "
            "fastembed:<name or path>.", in_project=False),
    Setting("rerank_url", web_url, "none", "Server of the api reranker; /rerank is added.", in_project=False,
            secret=True),
    Setting("rerank_model", text, "the server's", "Its model.", in_project=False),
    Setting("rerank_api_key", text, "none", "Its key.", in_project=False, secret=True),
    Setting("rerank_depth", integer(2, 200), "30", "How many of the best results a reranker looks at.",
            in_project=False),
    # Nor these: they say who reads what is captured, what it may cost, and what is not captured at all.
    Setting("provider", choice("openai", "rules"), "openai", "What writes observations: openai (any server with its "
            "interface; without key and address, rules) or rules.", in_project=False),
    Setting("openai_model", text, DEFAULT_MODEL, "The model that writes observations and summaries.", in_project=False),
    Setting("daily_tokens", integer(0, 10**12), "2000000", "Tokens a day that extraction may spend, then rules go on; "
            "0 for no limit.", in_project=False),
    Setting("skip_tools", names, ",".join(SKIPPED_TOOLS), "Tools that are not captured.", in_project=False),
    Setting("exclude_projects", names, "none", "Folders that are not captured: patterns with *, ** and ?, of the whole "
            "path or its last name.", in_project=False),
    Setting("capture_days", integer(1, 3650), "30", "Days that captured events are kept after extraction.",
            in_project=False),
    Setting("batch_events", integer(1, 50), "5", "Captured events that one model call takes together, at most."),
    Setting("batch_wait_s", integer(0, 3600), "10", "Seconds that captured events wait for others to join them."),
    # Nor these: they say which folders the lab reads, where its requests go, and what it tells about itself.
    Setting("kb_principles_dir", path, "the shipped sample", "The lab's knowledge base of principles: a folder of "
            "documents or of LightRAG.", in_project=False),
    Setting("kb_modulation_dir", path, "the shipped sample", "The lab's knowledge base of modulation: likewise.",
            in_project=False),
    Setting("kb_roots", names, "none", "Folders below which a batch may choose another knowledge base.",
            in_project=False),
    Setting("lab_api_bases", names, "none", "Model servers that a batch may name besides openai_base_url; our key is "
            "not sent to them.", in_project=False),
    Setting("lab_profile", text, "c2xc", "Who answers in the lab and how: a shipped profile's name or a .toml file.",
            in_project=False),
    Setting("lab_learn", switch, "on", "Whether saved feedback is learned from without being asked.", in_project=False),
    Setting("enable_debug_endpoints", switch, "off", "Whether /api/v1/_debug answers; C2XC_ENABLE_DEBUG_ENDPOINTS is "
            "read too.", in_project=False, aliases=("C2XC_ENABLE_DEBUG_ENDPOINTS",)),
    # Nor these: they say which server clients trust with what they send.
    Setting("url", web_url, "told by the server in the data directory", "Server that hooks and bridges speak to.",
            in_project=False),
    Setting("api_key", text, "the token in the data directory", "Key that hooks and bridges bring.", in_project=False,
            secret=True),
    Setting("autostart", switch, "on", "Whether hooks and bridges start a server where there is none.",
            in_project=False),
)  # fmt: skip
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}
