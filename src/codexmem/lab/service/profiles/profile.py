"""What a profile says, as values; and a profile from the plain values of a file, checked whole.

Everything that a run relies on is checked here: names that lead nowhere, a schema that is none, an example that does
not fit it. A message names the key and what was expected there; the reader adds the file.

Profiles from files: one that is shipped by its name, any other by its path. A wrong one is refused whole, with the
file, the key and what was expected there.
"""

import copy
import functools
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.lab.service.profiles import schemas

FORMAT = 1
TOOLS = ("kb_query", "kb_get", "kb_list", "mem_search", "mem_get", "mem_list")
MAX_ROLES = 16
MAX_NAMESPACES = 16
MAX_PROMPT = 20_000
MAX_DESCRIPTION = 500
MAX_SCHEMA_CHARS = 60_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
# Names that already mean something where roles are named.
_TAKEN = frozenset({"global", "system", "user", "assistant", "tool"})


class Cited(StrEnum):
    """Where an answer must cite the knowledge base."""

    NOWHERE = "nowhere"  # it may, and what it cites must be there
    ANYWHERE = "anywhere"  # at least once
    EACH_ITEM = "each_item"  # at least once in each item


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may take; each is a whole number."""

    depth: int = 3  # levels of delegation below the first role
    steps: int = 60  # model calls of the run
    task_steps: int = 16  # model calls of one task
    seconds: int = 1_800  # of model calls and tools, waiting in the queue not counted
    tokens: int = 600_000  # of prompts and replies
    context_tokens: int = 24_000  # of one prompt, as far as it can be shortened
    reply_tokens: int = 4_000  # of one reply
    repairs: int = 3  # times that an answer may be sent back
    call_seconds: int = 300  # of one model call


# What a limit may be set to.
BOUNDS: dict[str, tuple[int, int]] = {
    "depth": (0, 6), "steps": (1, 1_000), "task_steps": (1, 200), "seconds": (1, 3_000), "tokens": (1_000, 50_000_000),
    "context_tokens": (4_000, 200_000), "reply_tokens": (200, 32_000), "repairs": (0, 10), "call_seconds": (1, 300),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Namespace:
    """A part of the knowledge base."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """Somebody who works on a task."""

    name: str
    description: str  # for those who delegate to it
    prompt: str
    tools: tuple[str, ...]
    delegates: tuple[str, ...]  # roles that it may hand subtasks to
    namespaces: tuple[str, ...]  # parts of the knowledge base that it may ask


@dataclass(frozen=True, slots=True)
class Profile:
    """A laboratory: its roles and what it answers."""

    name: str
    title: str
    entry: str  # the role that gets the request
    roles: dict[str, Role]
    namespaces: dict[str, Namespace]
    schema: dict[str, Any]  # of an answer
    items: str  # the list in it that has as many entries as were asked for; empty if there is none
    cited: Cited
    limits: RunLimits
    example_request: str
    example_output: dict[str, Any]
    language: str = ""  # that answers are written in; empty: that of the request
    given: dict[str, object] = field(default_factory=dict, compare=False, repr=False)  # what it was read from

    def to_json(self) -> dict[str, object]:
        """What it was read from; `profile_of` makes the same profile of it."""
        return self.given

    def answer_schema(self, count: int) -> dict[str, Any]:
        """The schema of an answer with so many items."""
        schema = copy.deepcopy(self.schema)
        if self.items:
            place = schema["properties"][self.items]
            schema["properties"][self.items] = place | {"minItems": count, "maxItems": count}
            schema["required"] = list(dict.fromkeys([*schema.get("required", []), self.items]))
        return schema


def profile_of(given: dict[str, object], *, proven: bool = False) -> Profile:
    """The profile that these values describe, or InvalidArgument with the key and what was expected.

    `proven` spares the schema and its example, whose check costs a start of the program more than all else here.
    """
    if len(json.dumps(given, default=str)) > 400_000:
        raise _wrong("the profile", "at most 400,000 characters in all")
    _known(given, "", ("format", "name", "title", "entry", "language", "roles", "namespaces", "output", "limits",
                       "example"))  # fmt: skip
    if given.get("format") != FORMAT:
        raise _wrong("format", f"{FORMAT}, the only format there is")
    spaces = {
        name: Namespace(name, _described(each, f"namespaces.{name}.description", needed=False))
        for name, each in _tables(given, "namespaces", MAX_NAMESPACES, ("description",)).items()
    }
    tables = _tables(given, "roles", MAX_ROLES, ("description", "prompt", "tools", "delegates", "namespaces"))
    if not tables:
        raise _wrong("roles", "at least one table [roles.<name>]")
    roles = {name: _role(name, each, tuple(tables), tuple(spaces)) for name, each in tables.items()}
    entry = _text(given, "entry", 40)
    if entry not in roles:
        raise _wrong("entry", f"one of the roles: {', '.join(roles)}")
    output = _table(given, "output", ("schema", "items", "cited"))
    schema, items, cited = _output(output, proven=proven)
    example = _table(given, "example", ("request", "output"))
    made = Profile(
        name=_name(given.get("name"), "name"), title=_text(given, "title", MAX_DESCRIPTION, needed=False), entry=entry,
        roles=roles, namespaces=spaces, schema=schema, items=items, cited=cited, limits=_limits(given),
        example_request=_text(example, "example.request", 2_000, key="request"),
        example_output=_table(example, "output", None, "example.output"),
        language=_text(given, "language", 40, needed=False), given=given,
    )  # fmt: skip
    if not proven:
        _require_example(made)
    return made


def _role(name: str, given: dict[str, object], roles: tuple[str, ...], spaces: tuple[str, ...]) -> Role:
    place = f"roles.{name}"
    if name in _TAKEN:
        raise _wrong(place, f"another name: {', '.join(sorted(_TAKEN))} mean something else")
    tools = _names(given, f"{place}.tools", "tools", TOOLS, ())
    asked = _names(given, f"{place}.namespaces", "namespaces", spaces, spaces)
    if "kb_query" in tools and not asked:
        raise _wrong(f"{place}.tools", "no kb_query, because there is no namespace to ask; add [namespaces.<name>]")
    return Role(
        name, _described(given, f"{place}.description"),
        _text(given, f"{place}.prompt", MAX_PROMPT, key="prompt"), tools,
        _names(given, f"{place}.delegates", "delegates", roles, ()), asked,
    )  # fmt: skip


def _output(given: dict[str, object], *, proven: bool) -> tuple[dict[str, Any], str, Cited]:
    schema = _table(given, "schema", None, "output.schema")
    if len(json.dumps(schema, default=str)) > MAX_SCHEMA_CHARS:
        raise _wrong("output.schema", f"at most {MAX_SCHEMA_CHARS} characters")
    if not proven and (problem := schemas.unfit(schema)):
        raise _wrong("output.schema", problem)
    items = _text(given, "output.items", 200, key="items", needed=False)
    if items:
        listed = schema.get("properties", {}).get(items)
        if not isinstance(listed, dict) or listed.get("type") != "array":
            raise _wrong("output.items", f"the name of a list among the properties of the schema, not {items!r}")
    cited = given.get("cited", Cited.NOWHERE.value)
    if cited not in [each.value for each in Cited]:
        raise _wrong("output.cited", f"one of {', '.join(each.value for each in Cited)}")
    if cited == Cited.EACH_ITEM and not items:
        raise _wrong("output.cited", "another value than each_item, because output.items is not set")
    return schema, items, Cited(cited)


def _limits(given: dict[str, object]) -> RunLimits:
    limits = asdict(RunLimits())
    for key, value in _table(given, "limits", tuple(each.name for each in fields(RunLimits)), needed=False).items():
        least, most = BOUNDS[key]
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise _wrong(f"limits.{key}", f"a whole number from {least:,} to {most:,}")
        limits[key] = value
    return RunLimits(**limits)


def _require_example(profile: Profile) -> None:
    example = profile.example_output
    count = len(example.get(profile.items, ())) if profile.items else 0
    problems = schemas.problems(profile.answer_schema(count), example)
    if problems:
        raise _wrong("example.output", f"an answer that fits output.schema: {problems[0]}")
    if profile.items and not count:
        raise _wrong("example.output", f"at least one entry in {profile.items}")
    places = {Cited.NOWHERE: (), Cited.ANYWHERE: (example,), Cited.EACH_ITEM: example.get(profile.items, ())}
    for each in places[profile.cited]:
        if not re.search(r"\[C\d+\]", json.dumps(each)):
            raise _wrong("example.output", "a citation such as [C1] wherever output.cited demands one")


def _wrong(key: str, expected: str) -> InvalidArgument:
    return InvalidArgument(f"{key}: expected {expected}", details={"key": key})


def _known(given: Mapping[str, object], place: str, known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise _wrong(f"{place}{key}", f"another key; {place or 'a profile '}knows {', '.join(known)}")


def _table(given: Mapping[str, object], key: str, known: tuple[str, ...] | None, place: str = "", *,
           needed: bool = True) -> dict[str, Any]:  # fmt: skip
    found = given.get(key)
    if found is None and not needed:
        return {}
    if not isinstance(found, dict):
        raise _wrong(place or key, f"a table [{place or key}]")
    if known is not None:
        _known(found, f"{place or key}.", known)
    return found


def _tables(given: dict[str, object], key: str, most: int, known: tuple[str, ...]) -> dict[str, dict[str, object]]:
    found = _table(given, key, None, needed=False)
    if len(found) > most:
        raise _wrong(key, f"at most {most} of them")
    return {_name(name, f"{key}.{name}"): _table(found, name, known, f"{key}.{name}") for name in found}


def _name(given: object, place: str) -> str:
    if not isinstance(given, str) or not _NAME.fullmatch(given):
        raise _wrong(place, "a name of a-z, 0-9 and _, at most 40, that begins with a letter")
    return given


def _text(given: Mapping[str, object], place: str, most: int, *, key: str = "", needed: bool = True) -> str:
    found = given.get(key or place, "" if not needed else None)
    if not isinstance(found, str) or len(found) > most or (needed and not found.strip()):
        raise _wrong(place, f"a text of {'1 to' if needed else 'at most'} {most:,} characters")
    return found.strip()


def _described(given: dict[str, object], place: str, *, needed: bool = True) -> str:
    return _text(given, place, MAX_DESCRIPTION, key="description", needed=needed)


def _names(given: Mapping[str, object], place: str, key: str, known: tuple[str, ...],
           default: tuple[str, ...]) -> tuple[str, ...]:  # fmt: skip
    found = given.get(key, list(default))
    if not isinstance(found, list) or not all(each in known for each in found):
        raise _wrong(place, f"a list of names out of: {', '.join(known) or 'none are defined'}")
    return tuple(dict.fromkeys(found))


SHIPPED = ("c2xc",)  # the tests prove each
MAX_BYTES = 1_000_000
_HERE = Path(__file__).parent
_HINT = "see docs/profiles.md"


def load(name_or_path: str) -> Profile:
    """A profile by its name, if it is shipped, else by its path; InvalidArgument says what is wrong with it."""
    if name_or_path in SHIPPED:
        return _shipped(name_or_path)
    path = Path(name_or_path).expanduser()
    if path.suffix != ".toml":
        raise _refused(
            path, f"there is no profile of this name (shipped: {', '.join(SHIPPED)}), and a path ends in .toml"
        )
    return _profile(path)


@functools.cache
def _shipped(name: str) -> Profile:
    """Read once in a process: nobody changes it."""
    return _profile(_HERE / f"{name}.toml", proven=True)


def _profile(path: Path, *, proven: bool = False) -> Profile:
    given = _read(path)
    try:
        return profile_of(given, proven=proven)
    except InvalidArgument as error:
        raise InvalidArgument(f"{path}: {error.message}", hint=_HINT, details=error.details) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(_text_of(path))
        # Dates are no JSON, and what a run keeps of its profile is.
        given: dict[str, object] = json.loads(json.dumps(found))
    except (tomllib.TOMLDecodeError, TypeError, ValueError, RecursionError) as error:
        raise _refused(path, f"it is no TOML that can be used: {error}") from None
    output = given.get("output")
    if isinstance(output, dict) and "schema_file" in output:
        output["schema"] = _schema_beside(path, output)
        del output["schema_file"]
    return given


def _schema_beside(path: Path, output: Mapping[str, object]) -> Any:
    name = output["schema_file"]
    if "schema" in output:
        raise _refused(
            path, "output.schema_file: expected either it or output.schema, not both", key="output.schema_file"
        )
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".json"):
        raise _refused(
            path, "output.schema_file: expected the name of a .json file beside it", key="output.schema_file"
        )
    beside = path.with_name(name)
    try:
        return json.loads(_text_of(beside))
    except (ValueError, RecursionError) as error:
        raise _refused(beside, f"it is no JSON: {error}", key="output.schema_file") from None


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            octets = file.read(MAX_BYTES + 1)
        if len(octets) > MAX_BYTES:
            raise _refused(path, f"it is larger than {MAX_BYTES:,} bytes")
        return octets.decode("utf-8")
    except OSError as error:
        raise _refused(path, f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _refused(path, "it is no text in UTF-8") from None


def _refused(path: Path, why: str, *, key: str = "") -> InvalidArgument:
    return InvalidArgument(f"{path}: {why}", hint=_HINT, details={"key": key} if key else {})
