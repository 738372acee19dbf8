"""The command that installs this copy of codexmem again, with an extra more or anew.

It names the installer and the origin that this copy's metadata names: another installer would make a second copy, and
another origin other code. The distribution is `codexmem-cli`; `codexmem` on PyPI is another project.
"""

import json
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

DISTRIBUTION = "codexmem-cli"
_EXTRAS = re.compile(r"\[([\w,. -]+)\]")


def install_command(extra: str = "", *, anew: bool = False) -> str:
    """Render the command that adds an extra to this copy, or installs its packages anew."""
    from importlib import metadata

    origin, installer = {}, ""
    with suppress(metadata.PackageNotFoundError, ValueError):
        installed = metadata.distribution(DISTRIBUTION)
        installer = (installed.read_text("INSTALLER") or "").strip()
        origin = json.loads(installed.read_text("direct_url.json") or "{}")
    prefix = Path(sys.prefix)
    receipt, record = prefix / "uv-receipt.toml", prefix / "pipx_metadata.json"
    extras = {extra} - {""}
    if receipt.is_file():
        words, reinstall = ["uv", "tool", "install"], "--reinstall"
        extras |= _extras_of_uv(receipt)
    elif record.is_file():
        words, reinstall = ["pipx", "install", "--force"], ""
        extras |= _extras_of_pipx(record)
    elif "archive-v0" in prefix.parts:  # the cache of uvx, which nobody else may change
        return shlex.join(["uvx", "--from", _required(origin, extras)[-1], "codexmem"])
    elif installer == "uv":
        words, reinstall = ["uv", "pip", "install", "--python", sys.executable], "--reinstall"
    else:
        words, reinstall = [sys.executable, "-m", "pip", "install"], "--force-reinstall"
    return shlex.join([*words, *([reinstall] if anew and reinstall else []), *_required(origin, extras)])


def _required(origin: dict[str, Any], extras: set[str]) -> list[str]:
    """Render what was installed, with these extras: a folder, a file, a repository, or the distribution."""
    wanted = f"[{','.join(sorted(extras))}]" if extras else ""
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        revision = vcs.get("requested_revision")
        return [f"{DISTRIBUTION}{wanted} @ {vcs['vcs']}+{url}{f'@{revision}' if revision else ''}"]
    if url.startswith("file://"):
        from urllib.parse import unquote, urlsplit

        editable = origin.get("dir_info", {}).get("editable")
        return [*(["--editable"] if editable else []), unquote(urlsplit(url).path) + wanted]
    return [f"{DISTRIBUTION}{wanted} @ {url}" if url else f"{DISTRIBUTION}{wanted}"]


def _extras_of_uv(receipt: Path) -> set[str]:
    import tomllib

    with suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        required = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
        return {str(extra) for each in required if each["name"] == DISTRIBUTION for extra in each.get("extras", ())}
    return set()


def _extras_of_pipx(record: Path) -> set[str]:
    with suppress(OSError, ValueError, TypeError, KeyError):
        named = _EXTRAS.search(json.loads(record.read_text(encoding="utf-8"))["main_package"]["package_or_url"])
        return {extra.strip() for extra in named[1].split(",")} if named else set()
    return set()
