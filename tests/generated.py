"""Everything in git that is made from code, locks or kept figures: `python -m tests.generated` writes what differs.

`--check` writes nothing, shows what differs and ends with 1 if anything does. Nothing is measured, and `.venv` is all
that is needed. A function of the table reads its files only where people write around what is made; one that cannot
make them raises `SystemExit` with the reason. Left out, because they need more: pictures of pages (Chromium) and what
real agents print, which have recipes of their own.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
AGAIN = "run: just generated"
Files = Mapping[Path, str]
_EXCERPT_LINES = 8
_EXCERPT_WIDTH = 300


# Each imports what it needs when it is called: together that is most of the product, and the tests of this module need
# none of it.
def _reference() -> Files:
    from tests.docs.reference import made

    return made.documents()


def _openapi() -> Files:
    from tests.contracts.lab_api import openapi as lab
    from tests.surfaces.web import openapi

    return {openapi.PATH: openapi.text(), lab.PATH: lab.text()}


def _manual() -> Files:
    from tests.packaging import manual

    return manual.documents()


def _plugins() -> Files:
    from codexmem.agents.install.plugins import registry_entry, tree

    return {ROOT / name: text for name, text in {**tree(), "server.json": registry_entry()}.items()}


def _dependencies() -> Files:
    from tests.packaging import dependencies

    return dependencies.documents()


def _facts() -> Files:
    from tests.docs import facts

    return facts.documents()


def _contracts() -> Files:
    from tests.contracts import clauses

    return clauses.documents()


def _growth() -> Files:
    from bench import growth

    return growth.documents()


def _performance() -> Files:
    from bench import performance

    return performance.documents()


def _effect() -> Files:
    from bench import effect

    return effect.documents()


def _retrieval() -> Files:
    from bench import plot_retrieval

    return plot_retrieval.documents()


TABLE: Mapping[str, Callable[[], Files]] = {
    "openapi": _openapi,
    "reference": _reference,
    "facts": _facts,
    "manual": _manual,
    "plugins": _plugins,
    "dependencies": _dependencies,
    "contracts": _contracts,
    "growth": _growth,
    "performance": _performance,
    "effect": _effect,
    "retrieval": _retrieval,
}
# In these lies nothing else: a file that is not made any more goes.
FOLDERS = tuple(ROOT / name for name in ("docs/reference", "share/man/man1", ".agents", ".claude-plugin", "plugins"))


def differences(made: Files) -> Iterator[tuple[Path, str, str | None]]:
    """Every file that is not as it is made: its text, empty if it is not there, and what it should be, if anything."""
    for path, text in made.items():
        kept = path.read_text(encoding="utf-8") if path.is_file() else ""
        if kept != text or not path.is_file():
            yield path, kept, text
    for folder in FOLDERS:
        if any(path.is_relative_to(folder) for path in made):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path not in made:
                    yield path, path.read_text(encoding="utf-8"), None


def write(path: Path, text: str | None) -> None:
    """Make the file what it should be."""
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def excerpt(kept: str, text: str) -> str:
    """The first lines that differ, with a sign before each."""
    _, _, *lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), n=0, lineterm="")
    rest = ["…"] if len(lines) > _EXCERPT_LINES else []
    return "".join(f"\n    {line[:_EXCERPT_WIDTH]}" for line in [*lines[:_EXCERPT_LINES], *rest])


def main(argv: Sequence[str] | None = None) -> int:
    """Write, or compare; a line for each entry of the table, and for each file that differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something is not as it is made")
    check = parser.parse_args(argv).check
    wrong = False
    for name, make in TABLE.items():
        try:
            made = make()
        except SystemExit as refused:
            wrong = True
            _say(f"{name}: cannot be made:\n{refused}")
            continue
        found = list(differences(made))
        _say(f"{name}: {len(made)} files")
        for path, kept, text in found:
            shown = os.path.relpath(path, ROOT)
            what = "is not made any more" if text is None else "differs" if path.is_file() else "is missing"
            if check:
                _say(f"  {shown} {what}{excerpt(kept, text) if text and kept else ''}")
            else:
                write(path, text)
                _say(f"  {shown}: {'removed' if text is None else 'written'}")
        wrong |= check and bool(found)
    if check and wrong:
        _say(AGAIN)
    return 1 if wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
