"""Packages that were installed or removed, whichever tool did it."""

from collections.abc import Iterator

from codexmem.domain.capture import CapturedEvent
from codexmem.llm.clip import line
from codexmem.llm.rules.records import Ran
from codexmem.llm.rules.wording import Words
from codexmem.llm.shell import Command

_INSTALLERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(install), frozenset(remove))
    for name, install, remove in (
        ("pip", ("install",), ("uninstall",)), ("pip3", ("install",), ("uninstall",)),
        ("npm", ("install", "i", "add", "ci"), ("uninstall", "remove", "rm")),
        ("pnpm", ("install", "i", "add"), ("remove", "rm")), ("yarn", ("install", "add"), ("remove",)),
        ("bun", ("install", "add", "i"), ("remove",)), ("uv", ("add", "sync"), ("remove",)),
        ("poetry", ("add", "install"), ("remove",)), ("cargo", ("add", "install"), ("remove", "uninstall")),
        ("gem", ("install",), ("uninstall",)), ("bundle", ("install", "add"), ("remove",)),
        ("apt", ("install",), ("remove", "purge")), ("apt-get", ("install",), ("remove", "purge")),
        ("brew", ("install",), ("uninstall", "remove")), ("apk", ("add",), ("del",)),
        ("dnf", ("install",), ("remove",)),
        ("composer", ("require", "install"), ("remove",)), ("conda", ("install",), ("remove",)),
    )
}  # fmt: skip


def installer(command: Command) -> tuple[str, bool, list[str]] | None:
    """Which tool installs or removes what; None for another command."""
    texts = list(command.texts)
    if len(texts) > 2 and texts[0].rpartition("/")[2].startswith("python") and texts[1] == "-m":
        texts = texts[2:]
    if texts[:2] == ["uv", "pip"]:
        texts = texts[1:]
    if not texts:
        return None
    name = texts[0].rpartition("/")[2]
    if name not in _INSTALLERS:
        return None
    verb = next((text for text in texts[1:] if not text.startswith("-")), "")
    install, remove = _INSTALLERS[name]
    if verb not in install | remove:
        return None
    after = texts[texts.index(verb) + 1 :]
    named = [text for text in after if not text.startswith(("-", ".", "/")) and not text.endswith((".txt", ".toml"))]
    return name, verb in remove, named


def records(event: CapturedEvent, found: list[Command], words: Words) -> Iterator[Ran]:
    """What these commands, which have succeeded, installed or removed."""
    for command in found:
        if (installed := installer(command)) is None:
            continue
        name, removed, named = installed
        if not named:
            title = words.say("installed.all", tool=name)
        else:
            title = words.say("uninstalled" if removed else "installed", names=words.several(named), tool=name)
        yield Ran(event, line(" ".join(command.texts), 60), "install", title)
