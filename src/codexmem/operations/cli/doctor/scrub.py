"""What a support bundle must not hold, and how it is taken out: secrets, who and where somebody is, what was said.

Secrets that we know by value are masked wherever they stand, the others by the rules that guard the memory. The home
folder becomes `~`. Of a log only lines of a known form are kept, and of them nothing that was quoted.
"""

from __future__ import annotations

import json
import os
import platform
import pwd
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from codexmem.hook import surroundings
from codexmem.kernel.model import json_text, redaction
from codexmem.settings import SETTINGS, masked

if TYPE_CHECKING:
    from codexmem.settings import Settings

USER, HOST, LEFT_OUT = "<user>", "<host>", "[… lines of another form were left out]"
_LEAST = 3  # shorter names are parts of ordinary words
_NOBODY = frozenset(("root", "home", "user", "users", "localhost", "nobody"))
_LONGEST = 300  # characters of a message
_RECORD = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ +[\w.]+: )(.*)")
_FRAME = re.compile(r'[\s|]*(File "[^"]+", line \d+, in [\w<>.]+)')
_RAISED = re.compile(r"[\s|]*([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Timeout|Warning|Refused))\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|«[^»]*»|“[^”]*”|「[^」]*」")
_OF_RECORD = ("at", "level", "logger", "method", "route", "status", "ms")


class Scrub:
    """Takes out what one person's bundle must not hold."""

    def __init__(self, known: Sequence[str], home: Path, names: Sequence[str], hosts: Sequence[str]) -> None:
        self._known = sorted({each for each in known if len(each) > _LEAST}, key=len, reverse=True)
        self._homes = sorted({str(home), str(home.resolve())} - {"/"}, key=len, reverse=True)
        self._names = [(_word(name), sign) for some, sign in ((names, USER), (hosts, HOST)) for name in some]

    def text(self, text: str) -> str:
        """A text without what must not be in it."""
        return redaction.redact(self._placed(text), level="strict")

    def value(self, value: Any) -> Any:
        """A JSON value likewise; what a telling key holds is masked as a whole."""
        return redaction.redact_value(self._walked(value), level="strict")

    def log(self, text: str) -> str:
        """A log: its events without what they quote, and of a traceback where it happened and what was raised."""
        kept: list[str] = []
        for line in text.splitlines():
            said = _kept(line)
            if said is not None:
                kept.append(self.text(said))
            elif kept[-1:] != [LEFT_OUT]:
                kept.append(LEFT_OUT)
        return "".join(f"{line}\n" for line in kept)

    def _placed(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, redaction.masked("known"))
        for home in self._homes:
            text = text.replace(home, "~")
        for name, sign in self._names:
            text = name.sub(sign, text)
        return text

    def _walked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._placed(value)
        if isinstance(value, dict):
            return {self._placed(str(key)): self._walked(each) for key, each in value.items()}
        return [self._walked(each) for each in value] if isinstance(value, list | tuple) else value


def scrub_for(settings: Settings) -> Scrub:
    """What is known of this person and these settings."""
    home = Path.home()
    secrets = [str(getattr(settings, each.name)) for each in SETTINGS if each.secret]
    inside = [part for each in SETTINGS for part in _secrets_in(str(getattr(settings, each.name) or ""))]
    known = [*(each for each in secrets if "://" not in each), *inside, surroundings.stored_token(settings.data_dir)]
    names = {home.name}
    with suppress(KeyError):  # a number without a name, as in containers
        names.add(pwd.getpwuid(os.geteuid()).pw_name)
    return Scrub(
        [*known, *surroundings.look().secrets], home, [name for name in names if _tells(name)],
        [name for name in {platform.node(), platform.node().partition(".")[0]} if _tells(name)],
    )  # fmt: skip


def shown(settings: Settings, name: str) -> str:
    """A setting as a stranger may see it: no passwords, and of lists of names only how long they are."""
    value = getattr(settings, name)
    if isinstance(value, tuple):
        return f"({len(value)})"
    said = settings.shown(name)
    return masked(said) if "://" in said else said


def _secrets_in(url: str) -> Iterator[str]:
    """The passwords of an address, as they stand there and as they are meant."""
    if "://" not in url:
        return
    parts = urlsplit(url)
    said = parts.netloc.rpartition("@")[0].partition(":")[2]
    yield from (said, unquote(said))
    for _, given in parse_qsl(parts.query):
        yield given


def _kept(line: str) -> str | None:
    if line.startswith("{"):
        return _of_json(line)
    if record := _RECORD.fullmatch(line):
        return record[1] + _unquoted(record[2])
    if frame := _FRAME.match(line):
        return f"    | {frame[1]}"
    raised = _RAISED.match(line)
    return f"    | {raised[1]}" if raised else None


def _of_json(line: str) -> str | None:
    try:
        said = json_text.loads(line)
    except ValueError:
        return None
    kept = {name: said[name] for name in _OF_RECORD if name in said}
    kept["message"] = _unquoted(str(said.get("message", "")))
    trace = [known for each in str(said.get("traceback", "")).splitlines() if (known := _kept(each))]
    return json.dumps(kept | ({"traceback": trace} if trace else {}), ensure_ascii=False)


def _unquoted(message: str) -> str:
    bare = _QUOTED.sub("'…'", message)
    return bare if len(bare) <= _LONGEST else f"{bare[:_LONGEST]}…"


def _tells(name: str) -> bool:
    return len(name) >= _LEAST and name.lower() not in _NOBODY


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")
