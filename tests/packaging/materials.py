"""The bill of materials: what a base install is made of, as CycloneDX, from the locked requirements and their hashes.

`python -m tests.packaging.materials [DIR]` writes `codexmem.cdx.json` there, by default into `dist/`. The same lock and
version give the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from codexmem import __version__
from tests.packaging.building import DIST, ROOT
from tests.packaging.linting import tool

NAME = "codexmem.cdx.json"


def write(folder: Path) -> Path:
    """Make the document and check what it holds against the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / NAME
    done = tool(
        "cyclonedx-py", "requirements", str(ROOT / "requirements" / "base.txt"),
        "--pyproject", str(ROOT / "pyproject.toml"),
        "--output-reproducible", "--spec-version", "1.6", "--output-format", "JSON", "--validate",
        "--output-file", str(target),
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"error: no bill of materials was made\n{done.stderr}")
    document = json.loads(target.read_text())
    # The version is the package's own, which the tool cannot read from the table of the project.
    document["metadata"]["component"]["version"] = __version__
    target.write_text(f"{json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True)}\n")
    return target


def main(arguments: list[str]) -> None:
    """Write it and say what it holds."""
    path = write(Path(arguments[0]) if arguments else DIST)
    components = json.loads(path.read_text())["components"]
    hashed = sum(bool(each.get("hashes") or _hashes_beside(each)) for each in components)
    sys.stdout.write(f"{path}: {len(components)} components, {hashed} with hashes\n")


def _hashes_beside(component: dict[str, list[dict[str, object]]]) -> bool:
    return any(each.get("hashes") for each in component.get("externalReferences", []))


if __name__ == "__main__":
    main(sys.argv[1:])
