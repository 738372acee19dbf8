"""`codexmem embed`: models that make vectors, fetched, carried to machines without a network, and listed."""

from dataclasses import asdict
from pathlib import Path

import click

from codexmem.console.command import Command, Group, current, option, setting_option
from codexmem.console.messages import explain, say
from codexmem.console.output import UsageProblem, table
from codexmem.console.progress import bar
from codexmem.console.store import chosen
from codexmem.kernel.embed import local
from codexmem.kernel.embed.hub import HUB, Hub, adopt
from codexmem.kernel.embed.model_folder import FIRST_CHOICE, MODELS, ModelLock, bundle, fetched, place_of, verify
from codexmem.kernel.model.errors import Unavailable

_data_dir = setting_option("data_dir", metavar="DIR")


@click.group("embed", cls=Group, key="embed", no_args_is_help=True)
def embed() -> None:
    """The encoders."""


@embed.command("fetch", cls=Command, key="embed.fetch")
@click.argument("model", required=False, metavar="[MODEL]")
@option("--from", "source", type=click.Path(path_type=Path, exists=True), metavar="PATH", key="embed.from")
@option("--revision", metavar="COMMIT", key="embed.revision")
@option("--again", is_flag=True, key="embed.again")
@_data_dir
def fetch(model: str | None, source: Path | None, revision: str | None, again: bool, data_dir: str | None) -> None:
    """Put a model into the data folder, with its lock."""
    settings, output = chosen(data_dir=data_dir), current()
    models = settings.data_dir / MODELS
    if source is not None:
        if revision or again:
            raise UsageProblem(say("embed.from_alone"), hint=say("usage.see_help", command="codexmem embed fetch"))
        lock = adopt(models, source.absolute(), model)
    else:
        hub = Hub(models, url=settings.model_hub or HUB, token=settings.model_hub_token)
        with bar(say("embed.fetching", model=model or FIRST_CHOICE)) as progress:
            lock = hub.fetch(model or FIRST_CHOICE, progress, revision=revision or "main",
                             again=again or revision is not None)  # fmt: skip
    folder = place_of(models, lock.model)
    output.result({**asdict(lock), "digest": lock.digest, "folder": str(folder)}, str(folder))
    size = sum(each.bytes for each in lock.files)
    output.note(say("embed.fetched", model=lock.model, files=len(lock.files), size=_size(size),
                    source=lock.source, licence=lock.licence or say("embed.no_licence")), good=True)  # fmt: skip
    if settings.embedder != f"fastembed:{lock.model}":
        output.note(say("embed.use", model=lock.model))


@embed.command("bundle", cls=Command, key="embed.bundle")
@click.argument("model", metavar="MODEL")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@_data_dir
def pack(model: str, file: Path, data_dir: str | None) -> None:
    """Write one file for a machine without a network."""
    bundle(place_of(chosen(data_dir=data_dir).data_dir / MODELS, model), file)
    size = file.stat().st_size
    current().result({"file": str(file), "bytes": size}, str(file))
    current().note(say("embed.bundled", size=_size(size), file=file), good=True)


@embed.command("ls", cls=Command, key="embed.ls")
@option("--check", is_flag=True, key="embed.check")
@_data_dir
def ls(check: bool, data_dir: str | None) -> None:
    """List the encoders of this machine."""
    settings = chosen(data_dir=data_dir)
    packaged = {"local": local.small(threads=1), "local-better": local.better(threads=1)}
    found = [
        {"embedder": name, "model": each.model, "installed": each.installed, "used": _used(settings.embedder, name)}
        for name, each in packaged.items()
    ]
    rows = [
        [str(each["embedder"]), say("embed.in_package" if each["installed"] else "embed.not_installed"), "",
         say("embed.used") if each["used"] and each["installed"] else ""] for each in found
    ]  # fmt: skip
    bad = False
    for folder, lock in fetched(settings.data_dir / MODELS):
        name = f"fastembed:{lock.model}"
        used = name in {settings.embedder, settings.reranker}
        entry = {"embedder": name, "model": lock.model, "installed": True, "used": used, "digest": lock.digest,
                 "source": lock.source, "revision": lock.revision, "licence": lock.licence,
                 "bytes": sum(each.bytes for each in lock.files)}  # fmt: skip
        state = say("embed.used") if used else ""
        if check:
            entry["unchanged"] = unchanged = _unchanged(folder, lock)
            state = f"{state} {say('embed.unchanged' if unchanged else 'embed.changed')}".strip()
            bad |= not unchanged
        found.append(entry)
        rows.append([name, _size(sum(each.bytes for each in lock.files)), lock.licence or "-", state])
    current().result({"encoders": found}, table(rows))
    if bad:
        click.get_current_context().exit(6)


def _unchanged(folder: Path, lock: ModelLock) -> bool:
    try:
        verify(folder, lock)
    except Unavailable as error:
        current().note(explain(error)[0], good=False)
        return False
    return True


def _used(setting: str, name: str) -> bool:
    return setting == name or (setting == "auto" and name == "local")


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
