"""`python -m tests.clients.install.plugins` writes the published plugins and `server.json` anew; `just plugins`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from codexmem.agents.install.plugins import registry_entry, tree

ROOT = Path(__file__).parents[3]
FOLDERS = (".agents", ".claude-plugin", "plugins")  # ours as a whole


def published() -> dict[str, str]:
    """Every file that is made, by its path in the repository."""
    return {**tree(), "server.json": registry_entry()}


def there() -> dict[str, str]:
    """Every such file as it is in the repository."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in [*paths, ROOT / "server.json"]}


if __name__ == "__main__":
    for folder in FOLDERS:
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    for name, text in published().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(published())} files\n")
