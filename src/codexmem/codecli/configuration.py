"""What `mem-codecli` is told: the values, with their defaults. Reading them from files is `config_files`'s business."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CommandConfig:
    """`[codecli]`: what is wrapped."""

    command: tuple[str, ...] = ("codecli",)  # if it is not on the PATH, the first agent that is
    adapter: str = "auto"  # auto, codex, codex-app-server, acp, claude-json, generic
    stream_format: str = "auto"  # auto, text, jsonl, sse
    # generic only: where a JSON line says what, as dotted paths
    mapping: dict[str, str] = field(default_factory=dict)
    marker: str = "TOOL_REQUEST:"


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """`[memory]`: the QA service."""

    on: bool = False
    base_url: str = ""  # empty: the codexmem server of this machine
    timeout_ms: int = 1_500
    api_key: str = ""  # MEMORY_API_KEY; never from a file in a project, never shown


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """`[search]`."""

    limit: int = 6
    min_score: float = 0.2
    query_chars: int = 1_500
    repository: bool = True  # whether the query may hold what the repository says of itself


@dataclass(frozen=True, slots=True)
class InjectConfig:
    """`[inject]`."""

    mode: str = "system"  # system, user, both
    template: str = ""  # a file; empty: ours
    max_chars: int = 8_000


@dataclass(frozen=True, slots=True)
class GatekeeperConfig:
    """`[gatekeeper]`."""

    mode: str = "soft"  # off, soft, hard


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """`[audit]`: what happens when an agent asks for a tool."""

    mode: str = "off"  # off: nothing is held back; prompt: policy, and a person where it says ask; auto: policy alone
    ask_timeout_s: int = 120
    untold: str = "stop"  # an agent that only prints, where a tool is denied: stop ends it, note lets it go on
    push: bool = False  # whether the server is sent the audit log


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """`[policy]`: rules as they are written, parsed by `domain.policy`."""

    allowlist: tuple[object, ...] = ()
    denylist: tuple[object, ...] = ()
    asklist: tuple[object, ...] = ()
    mode: str = "dev"  # dev, test, prod
    max_risk: str = "read"  # up to here what no rule names is allowed in its mode; beyond, it is asked


@dataclass(frozen=True, slots=True)
class RedactConfig:
    """`[redact]`."""

    level: str = "basic"  # off, basic, strict
    patterns: tuple[str, ...] = ()  # more of them, as RE2


@dataclass(frozen=True, slots=True)
class Config:
    """Everything."""

    project_id: str = ""
    codecli: CommandConfig = field(default_factory=CommandConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    inject: InjectConfig = field(default_factory=InjectConfig)
    gatekeeper: GatekeeperConfig = field(default_factory=GatekeeperConfig)
    audit: AuditConfig = field(default_factory=AuditConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    redact: RedactConfig = field(default_factory=RedactConfig)
