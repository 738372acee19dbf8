"""Which project files a person has looked at and trusts: by path and by content, so that a changed file asks anew.

Each trusted file has a small file of its own in the state directory. Writing one is a rename, so two commands at once
cannot lose each other's, and forgetting one touches no other.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from codexmem.codecli import surroundings


def digest(content: bytes) -> str:
    """What a file's content is known by."""
    return hashlib.sha256(content).hexdigest()


def is_trusted(path: Path, content: bytes, state_dir: Path) -> bool:
    """Whether exactly this content at this place is trusted."""
    try:
        known = json.loads(_mark(path, state_dir).read_bytes())
        return bool(known["path"] == _whole(path) and known["sha256"] == digest(content))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def trust(path: Path, content: bytes, state_dir: Path) -> None:
    """Trust this content at this place from now on, and no other."""
    mark = _mark(path, state_dir)
    mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    note = {"path": _whole(path), "sha256": digest(content), "trusted_ms": surroundings.now_ms()}
    fresh = mark.with_suffix(f".{surroundings.fresh_id()}")
    file = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(file, json.dumps(note, ensure_ascii=False).encode())
    finally:
        os.close(file)
    fresh.replace(mark)


def untrust(path: Path, state_dir: Path) -> bool:
    """Trust this place no longer; False if it was not trusted."""
    try:
        _mark(path, state_dir).unlink()
    except FileNotFoundError:
        return False
    return True


def _whole(path: Path) -> str:
    return os.path.realpath(path)


def _mark(path: Path, state_dir: Path) -> Path:
    return state_dir / "trusted" / f"{digest(os.fsencode(_whole(path)))[:40]}.json"
