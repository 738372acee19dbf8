"""Other projects' own tests, run on our adapters. Not part of the gate: their tests come with their sources only.

    python -m tests.client.upstream SOURCES…

`SOURCES` are unpacked source distributions of langgraph-checkpoint or openai-agents. Needs pytest-asyncio and
pytest-mock. As a plugin of pytest this module puts our classes where those tests find theirs; what remains to fail
looks into the other implementation (its embeddings, its SQLite connections).
"""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from codexmem.client import Client

ROOT = Path(__file__).parents[2]
CHOSEN = {
    "langgraph": ["tests/test_store.py"],
    "openai": ["tests/memory/test_session.py", "tests/memory/test_session_limit.py"],
}
_numbers = itertools.count(1)
_domains: dict[object, str] = {}


def pytest_configure() -> None:
    """Ours for theirs, each in a domain of its own."""
    client = Client()
    with contextlib.suppress(ImportError):
        import langgraph.store.memory

        from codexmem.client.adapters.langgraph import CodexmemStore

        class Store(CodexmemStore):
            def __init__(self, **_: Any) -> None:
                super().__init__(client, domain=f"store-{next(_numbers)}")

        setattr(langgraph.store.memory, "InMemoryStore", Store)  # noqa: B010  replaces a class
    with contextlib.suppress(ImportError):
        import agents

        from codexmem.client.adapters.openai_agents import CodexmemSession

        class Session(CodexmemSession):
            def __init__(self, session_id: str, db_path: object = ":memory:", *_: Any, **given: Any) -> None:
                file = object() if db_path == ":memory:" else str(db_path)
                domain = _domains.setdefault(file, f"session-{next(_numbers)}")
                super().__init__(session_id, client, domain=domain, session_settings=given.get("session_settings"))

            def close(self) -> None:
                pass

        setattr(agents, "SQLiteSession", Session)  # noqa: B010  replaces a class


def main(sources: list[str]) -> int:
    """Run them on a server of our own; the worst exit code."""
    from tests._support.server import Server, environment  # those whom it is a plugin for have a `tests` of their own

    worst = 0
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder), settings={"CODEXMEM_EMBEDDER": "none"}):
        places = [each for each in sys.path if each not in {"", str(ROOT)}]
        env = environment(Path(folder), PYTHONPATH=":".join((str(Path(__file__).parent), *places)))
        for source in map(Path, sources):
            chosen = next(tests for name, tests in CHOSEN.items() if source.name.startswith(name))
            command = [sys.executable, "-m", "pytest", "-p", "upstream", "-q", "--tb=line",
                       "-o", "asyncio_mode=auto", *chosen]  # fmt: skip
            worst = max(worst, subprocess.run(command, cwd=source, env=env, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
