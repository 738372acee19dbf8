"""What we depend on: the licence of every locked package, and where every native library in their wheels comes from.

`python -m tests.packaging.dependencies` writes `docs/dependencies.md` in both languages from the lock files and what
installed packages say of themselves (`--check` only compares). It ends with 1 if a licence is new among those that ask
something of whoever passes the package on, or is not stated; whoever has read it names it below.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageMetadata, distributions

from tests.packaging.building import ROOT

# Licences that ask nothing but to be kept with the package.
_FREE = re.compile(
    r"0BSD|3-Clause BSD License|Apache License, Version 2\.0|Apache Software License|Apache-2\.0|BSD License|"
    r"BSD-[23]-Clause|CC0-1\.0|CNRI-Python|ISC License|ISCL?|MIT License|MIT-0|MIT-CMU|MIT|PSF-2\.0|"
    r"Python Software Foundation License|Zlib"
)
# What was read. Weak copyleft: we pass these on unchanged, as wheels of their own, which the licence allows.
READ: Mapping[str, str] = {
    "certifi": "MPL-2.0", "hypothesis": "MPL-2.0", "orjson": "MPL-2.0", "pathspec": "MPL-2.0", "psycopg": "LGPL-3.0",
    "psycopg-binary": "LGPL-3.0", "tqdm": "MPL-2.0",
    # Not stated in the package's metadata, but in the licence that it ships.
    "py-rust-stemmers": "MIT", "pysqlite3": "Zlib", "rust-just": "CC0-1.0",
}  # fmt: skip
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
_UPSTREAM = {"sqlite-vec": "https://github.com/asg017/sqlite-vec"}  # whose own word is a placeholder
_NATIVE = re.compile(r"\.(so(\.[\d.]+)?|dylib|pyd|dll)$")
_TEXTS = {
    "en": (
        "Dependencies",
        "Written by `just dependencies` from the lock files and the installed packages ({platform}); a test compares "
        "it. What is locked for other systems or Pythons is listed without a licence. **base** is what everybody "
        "installs, **extra** comes with `postgres`, `embed` or another extra, **dev** develops and tests and is "
        "never installed with us.",
        "Licences",
        ("package", "version", "in", "licence"),
        "for other systems or Pythons",
        "not stated",
        "Native libraries",
        "Of base and extra packages: every compiled file, by the SHA-256 that the wheel's own list has for it. The "
        "lock files hold the hash of the wheel itself. Files below `….libs` are other projects' libraries, which the "
        "package's builder put into the wheel.",
        ("package", "upstream", "file", "SHA-256"),
    ),
    "zh": (
        "依赖",
        "由 `just dependencies` 根据锁文件和已安装的软件包 ({platform}) 生成，并由测试核对。"
        "只为其他系统或其他 Python 锁定的软件包不列许可证。**base** 是所有人都会安装的，"
        "**extra** 随 `postgres`、`embed` 等附加包安装，**dev** 只用于开发和测试，不会随我们安装。",
        "许可证",
        ("软件包", "版本", "属于", "许可证"),
        "用于其他系统或其他 Python",
        "未说明",
        "原生库",
        "base 与 extra 软件包中的每个编译文件，及 wheel 自身清单中的 SHA-256。wheel 本身的哈希值在锁文件中。"
        "`….libs` 下的文件是其他项目的库，由该软件包的构建者放入 wheel。",
        ("软件包", "上游", "文件", "SHA-256"),
    ),
}


@dataclass(frozen=True)
class Locked:
    """One package of the lock files."""

    name: str
    version: str
    place: str
    installed: Distribution | None

    @property
    def licence(self) -> str:
        """As the package states it, in one line; empty if it does not."""
        if self.installed is None:
            return ""
        told = self.installed.metadata
        classes = [line.split(" :: ") for line in told.get_all("Classifier") or []]
        named = [parts[-1] for parts in classes if parts[0] == "License" and len(parts) > 2]
        first = _first(told, "License").strip().split("\n")[0]
        return _first(told, "License-Expression") or ", ".join(named) or (first if len(first) < 80 else "")

    @property
    def upstream(self) -> str:
        """Where its source is, by its own word."""
        assert self.installed is not None
        told = self.installed.metadata
        urls = dict(line.split(", ", 1) for line in told.get_all("Project-URL") or [])
        by_label = {re.sub(r"[^a-z]", "", label.lower()): url for label, url in urls.items()}
        labels = ("source", "sourcecode", "repository", "github", "code", "homepage")
        home = _UPSTREAM.get(_plain(told["Name"]), _first(told, "Home-page"))
        return next((by_label[each] for each in labels if each in by_label), home or "-")

    def libraries(self) -> Iterator[tuple[str, str]]:
        """Every compiled file and its hash."""
        for file in (self.installed.files or ()) if self.installed else ():
            if _NATIVE.search(file.name) and file.hash is not None:
                yield str(file), base64.urlsafe_b64decode(f"{file.hash.value}==").hex()


def locked() -> list[Locked]:
    """Every package of the lock files, by name."""
    found = {_plain(each.metadata["Name"]): each for each in distributions()}
    files = {name: (ROOT / "requirements" / f"{name}.txt").read_text() for name in ("base", "dev")}
    base = {_plain(name) for name, _ in _LOCKED.findall(files["base"])}
    extra = _extras(files["dev"])
    return [
        Locked(
            name,
            version,
            "base" if name in base else "extra" if name in extra else "dev",
            _same(found.get(name), version),
        )
        for name, version in sorted((_plain(name), version) for name, version in _LOCKED.findall(files["dev"]))
    ]


def _same(found: Distribution | None, version: str) -> Distribution | None:
    # A package may be locked in one version for one Python and in another for the next.
    return found if found is not None and found.version == version else None


def _extras(lock: str) -> set[str]:
    """What an extra brings: named by it, or by what it brings."""
    import tomllib

    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {_plain(re.split(r"[\[<>=!;~ ]", each)[0]) for extra in asked.values() for each in extra}
    blocks = re.findall(r"^([A-Za-z0-9._-]+)==.*\n((?:[ \t].*\n?)*)", lock, re.MULTILINE)
    brought_by = {_plain(name): set(map(_plain, re.findall(r"^    #\s+(?:via )?([\w.-]+)$", block, re.MULTILINE)))
                  for name, block in blocks}  # fmt: skip
    while more := {name for name, by in brought_by.items() if by & named} - named:
        named |= more
    return named


def objections(packages: list[Locked]) -> list[str]:
    """Licences that nobody has read, and readings of what is not there any more."""
    found = {each.name: each.licence for each in packages if each.installed is not None and _asks(each.licence)}
    said = [f"{name}: {licence or 'no licence stated'}" for name, licence in found.items() if name not in READ]
    return said + [f"{name} is named in READ and asks nothing" for name in sorted(READ.keys() - found.keys())]


def _asks(licence: str) -> bool:
    parts = re.split(r" AND | OR |, (?!Version)|[()]", licence)
    return not licence or not all(_FREE.fullmatch(part.strip()) or not part.strip() for part in parts)


def page(language: str, packages: list[Locked]) -> str:
    """The page, in one language."""
    title, about, licences, head, elsewhere, unstated, native, meaning, columns = _TEXTS[language]
    version = f"CPython {sys.version_info.major}.{sys.version_info.minor}, {sys.platform}"
    lines = [f"# {title}", "", about.format(platform=version), "", f"## {licences}", "", *_row(head, rule=True)]
    for each in packages:
        licence = (each.licence or READ.get(each.name) or unstated) if each.installed else elsewhere
        lines += _row((each.name, each.version, each.place, licence))
    lines += ["", f"## {native}", "", meaning, "", *_row(columns, rule=True)]
    for each in packages:
        for file, digest in sorted(each.libraries()) if each.place != "dev" else ():
            lines += _row((f"{each.name} {each.version}", each.upstream, f"`{file}`", f"`{digest}`"))
    return "\n".join(lines) + "\n"


def _row(cells: tuple[str, ...], *, rule: bool = False) -> list[str]:
    return [f"| {' | '.join(cells)} |"] + ([f"|{'---|' * len(cells)}"] if rule else [])


def _first(told: PackageMetadata, field: str) -> str:
    return next(iter(told.get_all(field) or []), "")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Write both pages, or compare them."""
    packages = locked()
    said = objections(packages)
    for language, suffix in (("en", ".md"), ("zh", ".zh.md")):
        path = ROOT / "docs" / f"dependencies{suffix}"
        if "--check" not in arguments:
            path.write_text(page(language, packages), encoding="utf-8")
        elif path.read_text(encoding="utf-8") != page(language, packages):
            said.append(f"{path.name} is not what the packages say: just dependencies")
    sys.stdout.write("".join(f"{each}\n" for each in said) or f"{len(packages)} packages\n")
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
