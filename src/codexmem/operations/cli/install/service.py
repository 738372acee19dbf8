"""`codexmem start`, `stop`, `status`, `logs` and `open`: the server in the background, whoever keeps it running."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from codexmem.console.command import Command, current, option, setting_option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import chosen, place_of
from codexmem.kernel.model.errors import Conflict, Unavailable
from codexmem.operations.cli.install.text import person

if TYPE_CHECKING:
    from codexmem.client.background import Running
    from codexmem.client.supervisors import Supervisor
    from codexmem.settings import Settings

_NOT_RUNNING = 6
_LAST_PORT = 65535
_PAGES = {"viewer": "/viewer", "memories": "/ui/memories", "timeline": "/ui/timeline", "qa": "/ui/qa",
          "runs": "/ui/batches", "system": "/ui/system"}  # fmt: skip


class _Taken(Conflict):
    """Another program has what ours would need; its text comes from the catalogue."""

    spoken = True


class _Elsewhere(Unavailable):
    """The server is not ours to start; its text comes from the catalogue."""

    spoken = True


@click.command("start", cls=Command, key="start")
@setting_option("port", metavar="PORT")
@setting_option("data_dir", metavar="DIR")
def start(port: str | None, data_dir: str | None) -> None:
    """Start the server unless it runs."""
    settings = chosen(port=port, data_dir=data_dir)
    running, fresh = started(settings)
    output = current()
    output.result(_document(settings, running) | {"started": fresh}, running.url)
    output.note(say("start.done" if fresh else "start.running", url=running.url, pid=running.pid), good=True)


@click.command("stop", cls=Command, key="stop")
@setting_option("data_dir", metavar="DIR")
def stop(data_dir: str | None) -> None:
    """Stop the server if it runs."""
    from codexmem.client import background

    settings = chosen(data_dir=data_dir)
    _require_own(settings)
    output = current()
    running = background.look(place_of(settings))
    if running is None:
        output.result({"running": False, "stopped": False})
        output.note(say("stop.none"))
        return
    if not running.own:
        raise _Taken(say("stop.not_own", url=running.url, pid=running.pid, data=settings.data_dir),
                     hint=say("stop.not_own_hint"))  # fmt: skip
    supervisor = _in_charge()
    # One that a hook started is unknown to the system, also where there is a unit.
    if supervisor is not None:
        supervisor.stop()
    if not background.stop(running):
        raise Unavailable(say("stop.stays", pid=running.pid), hint=say("stop.stays_hint", pid=running.pid))
    # It did not fail: who needs it next need not wait as after an attempt that did.
    background.forget_attempt(settings.data_dir)
    output.result({"running": False, "stopped": True, "pid": running.pid})
    output.note(say("stop.done", pid=running.pid), good=True)
    if settings.autostart:
        output.note(say("stop.again"))


def restarted(settings: Settings) -> None:
    """Let a running server of ours begin anew with other settings; one that does not run is left alone."""
    from codexmem.client import background

    running = None if settings.url else background.look(place_of(settings))
    if running is None or not running.own:
        return
    supervisor = _in_charge()
    if supervisor is not None:
        supervisor.stop()
    if not background.stop(running):
        raise Unavailable(say("stop.stays", pid=running.pid), hint=say("stop.stays_hint", pid=running.pid))
    background.forget_attempt(settings.data_dir)
    started(settings)


@click.command("status", cls=Command, key="status")
@setting_option("data_dir", metavar="DIR")
def status(data_dir: str | None) -> None:
    """Say whether the server runs; exit 6 if not."""
    from codexmem.client import background

    settings = chosen(data_dir=data_dir)
    running = background.look(place_of(settings))
    document = _document(settings, running)
    lines = [say("status.running", url=running.url, pid=running.pid, version=running.version,
                 uptime=_uptime(running.uptime_ms)) if running else say("status.none"),
             say("status.kept_by", who=_keeper(document["kept_by"])),
             say("status.places", data=settings.data_dir, log=document["log"])]  # fmt: skip
    from codexmem.console import writer

    lines.append(writer.line(settings))
    document["writer"] = None if settings.url else writer.seen(settings).document()
    current().result(document, "\n".join(lines))
    if running is None:
        current().note(say("status.next"))
        click.get_current_context().exit(_NOT_RUNNING)


@click.command("logs", cls=Command, key="logs")
@option("-n", "--lines", "count", type=click.IntRange(0, 100_000), default=100, key="logs.lines")
@option("-f", "--follow", is_flag=True, key="logs.follow")
@setting_option("data_dir", metavar="DIR")
def logs(count: int, follow: bool, data_dir: str | None) -> None:
    """Print the end of the server's log."""
    from codexmem.client import background

    settings = chosen(data_dir=data_dir)
    output = current()
    if follow and output.as_json:
        raise UsageProblem(say("logs.json_follow"), hint=say("usage.see_help", command="codexmem logs"))
    log = settings.data_dir / background.LOG
    text = background.last_lines(log, count)
    output.result({"log": str(log), "exists": log.exists(), "lines": text.splitlines()}, text.rstrip("\n"))
    if not log.exists():
        output.note(say("logs.none", path=log))
    if follow:
        for added in background.following(log):
            click.echo(added, nl=False)


@click.command("open", cls=Command, key="open")
@click.argument("page", default="viewer", type=click.Choice(list(_PAGES)), metavar="[PAGE]")
@option("--print", "only_print", is_flag=True, key="open.print")
@setting_option("data_dir", metavar="DIR")
def open_page(page: str, only_print: bool, data_dir: str | None) -> None:
    """Show a page of the web application in the browser; the server is started if need be."""
    settings = chosen(data_dir=data_dir)
    url = settings.url.rstrip("/") or started(settings)[0].url
    address = url + _PAGES[page]
    opened = False
    if not only_print:
        import webbrowser

        opened = webbrowser.open(address)
    output = current()
    output.result({"url": address, "opened": opened}, address)
    if not opened and not only_print:
        output.note(say("open.by_hand"))


def started(settings: Settings) -> tuple[Running, bool]:
    """The running server, and whether it was started just now; Unavailable says why there is none."""
    from codexmem.client import background, starting

    _require_own(settings)
    running = background.look(place_of(settings))
    if running is not None and running.own:
        return running, False
    require_port(settings)
    place = place_of(settings)
    supervisor = _in_charge()
    if supervisor is not None:
        problem = supervisor.start()
        # It is on its way; starting another one beside it would be a race for the store.
        if not problem and (running := background.awaited(place_of(settings))) is not None:
            return running, True
        current().note(say("start.unit_failed", who=supervisor.name, problem=problem or "-"), good=False)
    if not settings.autostart:
        place = replace(place, may_start=True)
    # A person asks: that a hook has tried a moment ago is no reason not to. Of two servers one finds the store owned.
    background.forget_attempt(settings.data_dir)
    starting.ensure(place)
    running = background.look(place_of(settings))
    if running is None or not running.own:
        # Another program answers there, or it went at once.
        require_port(settings)
        raise _Elsewhere(say("start.foreign", url=starting.address(place)), hint=say("start.foreign_hint"))
    return running, True


def require_port(settings: Settings) -> None:
    """Refuse where a server of this data directory could not listen: somebody else does, or it does so elsewhere."""
    from codexmem.client import background
    from codexmem.hook.surroundings import announcement

    own, _ = announcement(settings.data_dir)
    running = background.at(own, settings.data_dir) if own else None
    if running is not None and running.own:
        if place_of(settings).port_given and settings.port and not running.url.endswith(f":{settings.port}"):
            values = {"data": settings.data_dir, "url": running.url, "pid": running.pid, "port": settings.port}
            raise _Taken(say("start.own_elsewhere", **values), hint=say("start.own_elsewhere_hint"))
        return
    holder = background.holder(settings.port, settings.data_dir)
    if holder is not None:
        who = say("start.another_program")
        if holder.name:
            who = say("start.by_program", name=holder.name, pid=holder.pid)
        elif holder.pid:
            who = say("start.by_codexmem", pid=holder.pid)
        other = settings.port + 1 if settings.port < _LAST_PORT else settings.port - 1
        raise _Taken(
            say("start.port_taken", port=settings.port, holder=who), hint=say("start.port_taken_hint", other=other)
        )


def _require_own(settings: Settings) -> None:
    if settings.url:
        raise _Elsewhere(say("start.elsewhere", url=settings.url), hint=say("start.elsewhere_hint"))


def _in_charge() -> Supervisor | None:
    from codexmem.client import supervisors

    whose = person()
    return supervisors.in_charge(whose.environ, whose.home)


def _document(settings: Settings, running: Running | None) -> dict[str, Any]:
    from codexmem.client import background

    supervisor = _in_charge()
    keeper = supervisor.name if supervisor is not None else "hook" if settings.autostart else "nobody"
    return {
        "running": running is not None,
        "url": running.url if running else None,
        "pid": running.pid if running else None,
        "version": running.version if running else None,
        "uptime_ms": running.uptime_ms if running else None,
        "kept_by": keeper,
        "data_dir": str(settings.data_dir),
        "log": str(settings.data_dir / background.LOG),
    }


def _keeper(name: str) -> str:
    return {"hook": say("status.by_hook"), "nobody": say("status.by_nobody")}.get(name, name)


def _uptime(milliseconds: int) -> str:
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
