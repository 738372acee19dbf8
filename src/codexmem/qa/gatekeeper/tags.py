"""What a question and its answer are about, as far as they name it: languages, tools, frameworks, classes of errors."""

from __future__ import annotations

import re

MAX_TAGS = 12
_LOOK_AT = 20_000  # characters
# name of the tag: spellings in lower case; one that is also a plain word needs company to count (see `_WEAK`)
_NAMES: dict[str, tuple[str, ...]] = {
    "python": ("python", "python3", "py"), "javascript": ("javascript", "js"), "typescript": ("typescript", "ts"),
    "go": ("golang", "go"), "rust": ("rust", "cargo"), "java": ("java", "jvm"), "kotlin": ("kotlin",),
    "swift": ("swift",), "c++": ("c++", "cpp"), "c#": ("c#", "csharp", "dotnet", ".net"), "ruby": ("ruby",),
    "php": ("php",), "shell": ("bash", "sh", "zsh", "shell", "console"), "sql": ("sql",), "html": ("html",),
    "css": ("css",),
    "yaml": ("yaml", "yml"), "toml": ("toml",), "json": ("json", "jsonl"), "regex": ("regex", "re2"),
    "git": ("git", "rebase"), "github": ("github",), "gitlab": ("gitlab",), "github-actions": ("github actions",),
    "docker": ("docker", "dockerfile", "docker-compose"), "kubernetes": ("kubernetes", "kubectl", "k8s", "helm"),
    "terraform": ("terraform",), "ansible": ("ansible",), "nginx": ("nginx",), "linux": ("linux", "systemd"),
    "postgresql": ("postgresql", "postgres", "psql", "pgvector", "jsonb"), "mysql": ("mysql", "mariadb", "innodb"),
    "sqlite": ("sqlite", "sqlite3", "fts5"), "redis": ("redis",), "mongodb": ("mongodb", "mongo"),
    "elasticsearch": ("elasticsearch", "opensearch"), "kafka": ("kafka",), "rabbitmq": ("rabbitmq",),
    "sqlalchemy": ("sqlalchemy",), "alembic": ("alembic",), "django": ("django",), "flask": ("flask",),
    "fastapi": ("fastapi", "starlette", "uvicorn"), "pydantic": ("pydantic",), "asyncio": ("asyncio", "aiohttp"),
    "numpy": ("numpy",), "pandas": ("pandas",), "pytorch": ("pytorch", "torch"), "pytest": ("pytest",),
    "mypy": ("mypy",), "ruff": ("ruff",), "pip": ("pip",), "uv": ("uv",), "poetry": ("poetry",), "conda": ("conda",),
    "npm": ("npm", "package-lock.json"), "pnpm": ("pnpm",), "yarn": ("yarn",), "node": ("node", "node.js", "nodejs"),
    "react": ("react", "jsx"), "vue": ("vue", "vue.js"), "angular": ("angular",), "svelte": ("svelte",),
    "next.js": ("next.js", "nextjs"), "vite": ("vite",), "webpack": ("webpack",), "jest": ("jest",),
    "spring": ("spring", "spring-boot"), "maven": ("maven",), "gradle": ("gradle",), "protobuf": ("protobuf", "grpc"),
    "graphql": ("graphql",), "http": ("http", "https", "csrf", "cors"), "tls": ("tls", "ssl"), "ssh": ("ssh",),
    "oauth": ("oauth", "oidc", "saml"), "jwt": ("jwt",), "mcp": ("mcp",), "json-rpc": ("json-rpc",), "tmux": ("tmux",),
    "windows": ("windows", "powershell"), "macos": ("macos",), "aws": ("aws", "s3", "ec2"), "gcp": ("gcp",),
    "azure": ("azure",), "make": ("makefile",), "just": ("justfile",), "prometheus": ("prometheus", "grafana"),
}  # fmt: skip
_BY_SPELLING = {spelling: tag for tag, spellings in _NAMES.items() for spelling in spellings}
_WEAK = frozenset(("go", "rust", "node", "spring", "uv", "ts", "js", "py", "sh", "console", "make", "react", "swift"))
_WORD = re.compile(r"[a-z0-9][a-z0-9+#.\-]{0,31}|\.net\b")
_FENCE = re.compile(r"^```([a-z0-9+#]{1,16})", re.MULTILINE)
_ERROR = re.compile(r"\b[A-Z][A-Za-z0-9]{2,40}(?:Error|Exception|Warning)\b")


def tags_of(question: str, answer: str) -> tuple[str, ...]:
    """Tags, those named most often first; what the question names comes before what only the answer does."""
    text = f"{question}\n{answer}"[:_LOOK_AT]
    lowered = text.lower()
    counts: dict[str, int] = {}
    for spelling in (found.group().rstrip(".-") for found in _WORD.finditer(lowered)):
        tag = _BY_SPELLING.get(spelling)
        if tag and (spelling not in _WEAK or _is_name(spelling, text)):
            counts[tag] = counts.get(tag, 0) + 1
    for fence in _FENCE.findall(lowered):
        if (tag := _BY_SPELLING.get(fence)) is not None:
            counts[tag] = counts.get(tag, 0) + 2
    if "github actions" in lowered:
        counts["github-actions"] = counts.get("github-actions", 0) + 3
    asked = set(_WORD.findall(question.lower()))
    for tag in counts:
        if asked & set(_NAMES[tag]):
            counts[tag] += 5
    errors = list(dict.fromkeys(_ERROR.findall(text)))[:4]
    return (*errors, *sorted(counts, key=lambda tag: (-counts[tag], tag)))[:MAX_TAGS]


def _is_name(spelling: str, text: str) -> bool:
    """Whether a plain word is written as the name of a language or tool."""
    return (
        spelling.capitalize() in text or spelling.upper() in text or f"`{spelling}" in text or f"```{spelling}" in text
    )
