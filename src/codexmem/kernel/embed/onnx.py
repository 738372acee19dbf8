"""What every model of `fastembed` has in common: where it is, and why it cannot be loaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import Unavailable


def folder_of(name: str) -> Path | None:
    """The folder that a model's name is the path of; None for a name that the hub knows."""
    folder = Path(name).expanduser()
    return folder if folder.is_absolute() or name.startswith(("./", "~")) else None


def loaded(make: Callable[[], Any], what: str, folder: Path | None, *, setting: str) -> Any:
    """What `make` imports and makes; whatever keeps it from that is `Unavailable`, with what to do about it."""
    if folder is not None and not folder.is_dir():
        raise Unavailable(f"there is no model folder {folder}", hint=f"{setting}=fastembed:/path/of/model")
    try:
        return make()
    except Unavailable:
        raise
    except ImportError as missing:
        raise Unavailable("fastembed is not installed", hint="pip install 'codexmem[fastembed]'") from missing
    except ValueError as error:
        raise Unavailable(f"fastembed does not take {what}: {error}") from error
    except Exception as error:
        raise Unavailable(
            f"{what} cannot be loaded: {type(error).__name__}",
            hint="its files are fetched at first use, which needs a network; or give the path of a folder",
        ) from error
