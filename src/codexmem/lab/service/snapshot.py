"""With which configuration a batch runs: the settings of its time and what it may override, never a secret.

A folder may be overridden only below configured roots, and the model's server only by one on a configured list: our key
goes to our own server alone, so a batch cannot carry it elsewhere.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.lab.model import Overrides

MAX_NAME = 200
MAX_PATH = 1_000


@dataclass(frozen=True, slots=True)
class LabConfig:
    """What is configured for the lab."""

    llm_model: str = ""
    openai_api_base: str = ""
    kb_principles_dir: Path | None = None
    kb_modulation_dir: Path | None = None
    kb_roots: tuple[str, ...] = ()  # folders that overrides may point below
    api_bases: tuple[str, ...] = ()  # servers that overrides may name
    profile: str = ""


def snapshot(ground: LabConfig, wanted: Overrides) -> dict[str, Any]:
    """What a batch runs with; InvalidArgument for an override that is not allowed."""
    used = {
        "kb_principles_dir": _folder(ground, "kb_principles_dir", wanted.kb_principles_dir),
        "kb_modulation_dir": _folder(ground, "kb_modulation_dir", wanted.kb_modulation_dir),
        "llm_model": _model(wanted.llm_model),
        "openai_api_base": _base(ground, wanted.openai_api_base),
    }
    overridden = {name: value for name, value in used.items() if value}
    configured = {
        "kb_principles_dir": _text(ground.kb_principles_dir),
        "kb_modulation_dir": _text(ground.kb_modulation_dir),
        "llm_model": ground.llm_model,
        "openai_api_base": bare(ground.openai_api_base),
    }
    return configured | overridden | {"overrides": overridden, "profile": ground.profile}


def bare(address: str) -> str:
    """An address without user, password, query and fragment, any of which may be a secret."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def _folder(ground: LabConfig, name: str, given: str) -> str:
    if not given:
        return ""
    if len(given) > MAX_PATH or "\0" in given:
        raise InvalidArgument(f"overrides.{name} is not a path")
    try:
        # Resolved before it is compared: a link inside a root may lead out of it.
        path = Path(given).expanduser().resolve(strict=True)
        roots = [Path(root).expanduser().resolve() for root in ground.kb_roots]
    except (OSError, RuntimeError, ValueError):
        path, roots = Path(given), []
    if not any(path.is_relative_to(root) for root in roots) or not path.is_dir():
        raise InvalidArgument(
            f"overrides.{name} is not a folder below a configured root",
            hint="name the root in CODEXMEM_KB_ROOTS, or leave the override out",
        )
    return str(path)


def _model(given: str) -> str:
    if len(given) > MAX_NAME or any(ord(letter) < 0x20 for letter in given):
        raise InvalidArgument(f"overrides.llm_model is longer than {MAX_NAME} characters, or no name")
    return given


def _base(ground: LabConfig, given: str) -> str:
    if not given:
        return ""
    if given.rstrip("/") not in {
        each.rstrip("/") for each in (*ground.api_bases, bare(ground.openai_api_base)) if each
    }:
        raise InvalidArgument(
            "overrides.openai_api_base is not on the list of allowed servers",
            hint="add it to CODEXMEM_LAB_API_BASES, or leave the override out",
        )
    return given.rstrip("/")


def _text(path: Path | None) -> str:
    return str(path) if path is not None else ""
