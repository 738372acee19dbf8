"""Profiles from files: one that is shipped by its name, any other by its path. A wrong one is refused whole, with the
file, the key and what was expected there."""

import json
import tomllib
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.lab.service.profiles.profile import Profile, profile_of

SHIPPED = ("c2xc",)  # the tests prove each
MAX_BYTES = 1_000_000
_HERE = Path(__file__).parent
_HINT = "see docs/profiles.md"


def load(name_or_path: str) -> Profile:
    """A profile by its name, if it is shipped, else by its path; InvalidArgument says what is wrong with it."""
    path = _HERE / f"{name_or_path}.toml" if name_or_path in SHIPPED else Path(name_or_path).expanduser()
    if name_or_path not in SHIPPED and path.suffix != ".toml":
        raise _wrong(
            path, f"there is no profile of this name (shipped: {', '.join(SHIPPED)}), and a path ends in .toml"
        )
    given = _read(path)
    try:
        return profile_of(given, proven=name_or_path in SHIPPED)
    except InvalidArgument as error:
        raise InvalidArgument(f"{path}: {error.message}", hint=_HINT, details=error.details) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(_text(path))
        # Dates are no JSON, and what a run keeps of its profile is.
        given: dict[str, Any] = json.loads(json.dumps(found))
    except (tomllib.TOMLDecodeError, TypeError, ValueError, RecursionError) as error:
        raise _wrong(path, f"it is no TOML that can be used: {error}") from None
    output = given.get("output")
    if isinstance(output, dict) and "schema_file" in output:
        output["schema"] = _schema_beside(path, output)
        del output["schema_file"]
    return given


def _schema_beside(path: Path, output: dict[str, Any]) -> Any:
    name = output["schema_file"]
    if "schema" in output:
        raise _wrong(
            path, "output.schema_file: expected either it or output.schema, not both", key="output.schema_file"
        )
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".json"):
        raise _wrong(path, "output.schema_file: expected the name of a .json file beside it", key="output.schema_file")
    beside = path.with_name(name)
    try:
        return json.loads(_text(beside))
    except (ValueError, RecursionError) as error:
        raise _wrong(beside, f"it is no JSON: {error}", key="output.schema_file") from None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            octets = file.read(MAX_BYTES + 1)
        if len(octets) > MAX_BYTES:
            raise _wrong(path, f"it is larger than {MAX_BYTES:,} bytes")
        return octets.decode("utf-8")
    except OSError as error:
        raise _wrong(path, f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _wrong(path, "it is no text in UTF-8") from None


def _wrong(path: Path, why: str, *, key: str = "") -> InvalidArgument:
    return InvalidArgument(f"{path}: {why}", hint=_HINT, details={"key": key} if key else {})
