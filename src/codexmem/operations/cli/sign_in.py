"""`codexmem login`, `logout` and `whoami`: a key of one's own for this machine, by signing in with the issuer.

The key is written where every command, hook and bridge looks for one: the user's settings file, which nobody else may
read from then on.
"""

import time
from typing import Any

import click

from codexmem.client import starting
from codexmem.console.backend import Answer, Remote, backend, server_of
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.store import chosen, place_of, store_options
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, Unauthorized, Unavailable
from codexmem.kernel.model.key_transport import may_carry_key, refusal
from codexmem.kernel.model.tenant import TenantRole
from codexmem.operations.cli.config import write_user_file
from codexmem.operations.cli.key import day
from codexmem.settings import Settings, user_file

_SLOWER_S = 5  # RFC 8628 §3.5
_BY = {"session": "whoami.by_session", "key": "whoami.by_key", "none": "whoami.by_none"}


@click.command("login", cls=Command, key="login")
@click.argument("url", required=False, metavar="[URL]")
@option("--role", type=click.Choice([each.value for each in TenantRole]), default=TenantRole.WRITER.value,
        key="login.role")  # fmt: skip
def login(url: str | None, role: str) -> None:
    """Sign in and keep a key."""
    output, settings = current(), chosen()
    server = Remote(_server(settings, url))
    asked = server.post("/api/sign-in/device", {})
    output.note(say("login.open", url=_shown(asked["verification_uri"]), code=_shown(asked["user_code"])))
    if asked["verification_uri_complete"]:
        output.note(say("login.open_whole", url=_shown(asked["verification_uri_complete"])))
    made = _polled(server, asked, role)
    path = user_file()
    if path.exists():
        path.chmod(0o600)  # before there is a secret in it
    write_user_file({"api_key": made["secret"], **({"url": server.url} if url is not None else {})})
    document = {name: made[name] for name in ("member", "tenant", "role", "expires_ms")}
    output.result({**document, "url": server.url, "file": str(path)}, made["member"])
    output.note(
        say("login.done", name=made["member"], tenant=made["tenant"], day=day(made["expires_ms"]), path=path), good=True
    )
    _tell_outvoted()


@click.command("logout", cls=Command, key="logout")
def logout() -> None:
    """End the key and forget it."""
    output, settings = current(), chosen()
    ended, problem = False, None
    if settings.api_key:
        try:
            server = Remote(_server(settings, None), {"Authorization": f"Bearer {settings.api_key}"})
            ended = bool(server.post("/api/sign-in/out", {})["ended"])
        except Unauthorized:
            pass  # it opens nothing any more
        except CodexmemError as error:
            problem = error
    removed = settings.origins["api_key"].startswith("user file")
    if removed:
        write_user_file({"api_key": None})
    output.result({"ended": ended, "removed": removed}, "")
    if problem is not None:
        output.note(say("logout.still_valid", problem=problem.message), good=False)
    elif ended or removed:
        output.note(say("logout.done"), good=True)
    else:
        output.note(say("logout.nothing"))
    _tell_outvoted()


@click.command("whoami", cls=Command, key="whoami")
@store_options
def whoami(data_dir: str | None, database_url: str | None) -> None:
    """Show for whom commands act here."""
    settings = chosen(data_dir=data_dir, database_url=database_url)
    if settings.on_postgres and server_of(settings) is None:
        raise Unavailable(
            "no server is known here, and a key acts for somebody only there",
            hint="sign in with: codexmem login URL", details={"reason": "no_server_known"},
        )  # fmt: skip
    with backend(tenant=None, data_dir=data_dir, database_url=database_url) as server:
        told = server.get("/api/whoami")
    current().result(told, _described(told))


def _server(settings: Settings, url: str | None) -> str:
    """The server that is meant; refuses one to which a key would travel for everybody to read."""
    place = starting.given(url, None).url if url is not None else starting.address(place_of(settings))
    if not may_carry_key(place):
        why, hint = refusal(place)
        raise InvalidArgument(why, hint=hint, details={"reason": "key_in_clear", "url": place[:200]})
    return place


def _polled(server: Remote, asked: Answer, role: str) -> Answer:
    """The answer when the person has ended the sign-in elsewhere."""
    pause, until = float(asked["interval"]), time.monotonic() + asked["expires_in"]
    body = {"device_code": asked["device_code"], "machine": _machine(), "role": role}
    while time.monotonic() < until:
        time.sleep(pause)
        told = server.post("/api/sign-in/device/token", body)
        if told["status"] == "done":
            return told
        pause += _SLOWER_S if told["status"] == "slow_down" else 0
    raise Unavailable(
        "nobody typed the code in before it expired",
        hint="run codexmem login again",
        details={"reason": "code_expired"},
    )


def _machine() -> str:
    """What the key is called after."""
    import platform

    name = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "-" for each in platform.node())
    return name.lstrip("._-")[:60] or "machine"


def _shown(text: Any) -> str:
    """What an issuer says, as a terminal may show it."""
    return "".join(each for each in str(text) if each.isprintable())[:500]


def _described(told: Answer) -> str:
    until = f", {say('key.until', day=day(told['expires_ms']))}" if told["expires_ms"] is not None else ""
    who = told["member"] or told["actor"]
    everywhere = [[say("grant.everywhere"), told["everywhere"]]] if told["everywhere"] else []
    rows = everywhere + [[each["project"] or say("grant.nowhere"), each["role"]] for each in told["projects"]]
    return f"{who} · {told['tenant']} · {say(_BY[told['by']])}{until}" + (f"\n{table(rows)}" if rows else "")


def _tell_outvoted() -> None:
    """Say where another key is taken all the same."""
    settings = chosen()
    origin = settings.origins["api_key"]
    if settings.api_key and not origin.startswith("user file"):
        current().note(say("login.outvoted", origin=origin), good=False)
