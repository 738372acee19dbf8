"""Whether every package of the base install has a wheel wherever the product is meant to run.

`python -m tests.packaging.wheels` asks the registry through uv, for each platform and Python, and prints a table. It
ends with 1 if a package would have to be compiled by whoever installs.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.packaging.fresh import LOCK

PLATFORMS = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux ARM": "aarch64-manylinux_2_28",
    "macOS ARM": "aarch64-apple-darwin",
    "Windows x86-64": "x86_64-pc-windows-msvc",
}
PYTHONS = ("3.11", "3.12", "3.13")
# What a platform goes without by the lock's own markers, and what the product does there instead.
INSTEAD = {"pysqlite3": "Python's own SQLite, if it is 3.51.3 or newer"}
_LACKS = re.compile(r"Because ([a-z0-9._-]+)==\S+ has no (?:usable )?wheels")
_WOULD = re.compile(r"^ \+ ([a-z0-9._-]+)==", re.MULTILINE)


def resolved(platform: str, python: str) -> tuple[set[str], list[str]]:
    """The packages that have wheels there, and those that have none."""
    lock = LOCK.read_text()
    lacking: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder, "requirements.txt")
        while True:
            asked.write_text(lock)
            command = [
                sys.executable,
                "-m",
                "uv",
                "pip",
                "install",
                "--dry-run",
                "--no-deps",
                "--target",
                f"{folder}/none",
            ]
            command += ["--python-platform", platform, "--python-version", python, "--only-binary", ":all:"]
            done = subprocess.run([*command, "-r", str(asked)], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return set(_WOULD.findall(done.stderr)), lacking
            found = _LACKS.search(done.stderr)
            if found is None:
                raise SystemExit(f"error: uv could not say\n{done.stderr}")
            lacking.append(found.group(1))
            lock = re.sub(rf"^{re.escape(found.group(1))}==.*?(?=^\S)", "", lock, flags=re.MULTILINE | re.DOTALL)


def main() -> int:
    """Print the table."""
    compiled = False
    for name, platform in PLATFORMS.items():
        for python in PYTHONS:
            wheels, lacking = resolved(platform, python)
            said = f"{len(wheels)} wheels" + (f", NONE for {', '.join(lacking)}" if lacking else "")
            without = [f"{each}: {instead}" for each, instead in INSTEAD.items() if each not in {*wheels, *lacking}]
            sys.stdout.write(f"{name:15} Python {python}  {said}{''.join(f'; without {each}' for each in without)}\n")
            sys.stdout.flush()
            compiled |= bool(lacking)
    return 1 if compiled else 0


if __name__ == "__main__":
    raise SystemExit(main())
