"""Whether everything that names a version names the same one.

`python -m tests.packaging.releasing check [VERSION]` compares the package, the changelog, the chart and the image; with
VERSION also that one, and whether the workflows name their actions by commit. It changes nothing; what a release takes
is in docs/releasing.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.packaging.building import ROOT

# MAJOR.MINOR.PATCH, and what comes before a release in the form that Python's packages have.
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)((a|b|rc)(0|[1-9]\d*))?")
PLACES = {
    "package": ("src/codexmem/__init__.py", r'^__version__ = "(.*)"$'),
    "chart, appVersion": ("deploy/helm/codexmem/Chart.yaml", r'^appVersion: "(.*)"$'),
    "image, VERSION": ("deploy/container/Dockerfile", r"^ARG VERSION=(.*)$"),
}
_RELEASED = re.compile(r"^## \[?(\d+\.\d+\.\d+\S*?)\]?(?: .*)?$", re.MULTILINE)


def named(root: Path = ROOT) -> dict[str, str]:
    """The version by the place that names it."""
    found = {}
    for place, (path, pattern) in PLACES.items():
        match = re.search(pattern, (root / path).read_text(), re.MULTILINE)
        found[place] = match.group(1) if match else ""
    return found


def unpinned(root: Path = ROOT) -> set[str]:
    """Actions that a workflow names otherwise than by the commit."""
    texts = [path.read_text() for path in (root / ".github" / "workflows").glob("*.yml")]
    named_by = {found for text in texts for found in re.findall(r"^\s+(?:- )?uses: (\S+)", text, re.MULTILINE)}
    return {name for name in named_by if not re.search(r"@[0-9a-f]{40}$", name)}


def problems(version: str | None, root: Path = ROOT) -> list[str]:
    """What keeps this tree from being released, or from being consistent where no version is asked for."""
    places = named(root)
    wanted = version or places["package"]
    said = [] if VERSION.fullmatch(wanted) else [f"{wanted!r} is not MAJOR.MINOR.PATCH"]
    said += [f"{place} says {found or 'nothing'}, not {wanted}" for place, found in places.items() if found != wanted]
    released = _RELEASED.findall((root / "CHANGELOG.md").read_text())
    if version is not None and released[:1] != [version]:
        said.append(f"the first release in CHANGELOG.md is {released[0] if released else 'none'}, not {version}")
    if version is not None:
        said += [f"{name} is not pinned by commit" for name in sorted(unpinned(root))]
    return said


def main(arguments: Sequence[str]) -> int:
    """Say what does not agree."""
    if not arguments or arguments[0] != "check" or len(arguments) > 2:
        sys.stderr.write("usage: python -m tests.packaging.releasing check [VERSION]\n")
        return 2
    said = problems(arguments[1] if len(arguments) == 2 else None)
    for line in said:
        sys.stderr.write(f"error: {line}\n")
    if not said:
        sys.stdout.write(
            f"{named()['package']}: package, chart, image{' and changelog' if arguments[1:] else ''} agree\n"
        )
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
