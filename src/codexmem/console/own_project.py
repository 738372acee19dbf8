"""The project that a command was started in."""

from pathlib import Path


def own_project(folder: Path | None = None) -> str:
    """Its name, or that of the project in another folder; empty where the folder is gone."""
    from codexmem.kernel.model.project import identity

    try:
        return identity(str(folder or Path.cwd()), _text_of)
    except OSError:  # it has been removed under us
        return ""


def own_folder() -> str:
    """The folder that a command was started in; empty where it is gone."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def _text_of(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
