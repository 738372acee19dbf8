"""The documentation site: `python -m tests.docs.building` lays out each language, builds it strictly, and says where.

The generator knows one language per project, so each language is laid out as a project of its own: its pages under the
names that both share, and everything that is no page. The Chinese one lies in `zh/` of the same site.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.docs.pages import ALSO, DOCS, LANGUAGES, NO_PAGES, ROOT, Language, pages, relinked

BUILD = ROOT / "build" / "docs"
SITE = "site"


def lay_out(build: Path, docs: Path = DOCS) -> None:
    """Both languages as the generator wants them, in an emptied folder."""
    shutil.rmtree(build, ignore_errors=True)
    shutil.copytree(docs / "site", build)
    for language in LANGUAGES:
        target = build / language
        shutil.copytree(docs, target, ignore=shutil.ignore_patterns("*.md", *NO_PAGES))
        for page in pages(docs):
            # A record is there in every language; a page in its own alone.
            if page.language == language or page.is_record:
                place = target / page.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(relinked(page.text, name=page.name, language=page.language))
        for source, name in ALSO.items():
            (target / name).write_text(_own(source))


def build_language(build: Path, language: Language) -> str:
    """Build one language strictly; returns what the generator said, which is an error if it warned."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", f"{language}.toml"]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"} | {"NO_COLOR": "1"}
    done = subprocess.run(command, cwd=build, env=env, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode != 0 or "warning" in said.lower():
        raise SystemExit(f"error: the {language} site was not built\n{said}")
    return said


def build_site(build: Path = BUILD, docs: Path = DOCS) -> Path:
    """Both languages; the folder to publish. English first: its build empties the folder that Chinese lies in."""
    lay_out(build, docs)
    for language in LANGUAGES:
        build_language(build, language)
    return build / SITE


def _own(source: str) -> str:
    """A file from above `docs/`, with its links as they are from inside."""
    text = (ROOT / source).read_text()
    return relinked(text.replace("](docs/", "]("), name=ALSO[source], language="en")


def main(arguments: Sequence[str]) -> None:
    """Build; with `serve` also show the site on http://127.0.0.1:8000 until Ctrl-C."""
    site = build_site()
    sys.stdout.write(f"{site / 'index.html'}\n")
    if list(arguments) == ["serve"]:
        subprocess.run([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(site), "8000"],
                       check=False)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
