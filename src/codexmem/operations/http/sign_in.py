"""Signing in and out, and who a request acts for.

`/sign-in` sends a browser's window to the issuer, which sends it back to `/sign-in/callback`. That comes from another
site, so nothing there goes by a session: the window shows a page of ours, which leads on by itself. Under `/api` are
what devices ask, which have no key yet, and what ends a session or a key.
"""

# ruff: noqa: RUF001

import base64
import hashlib
import html
import logging
from typing import Protocol
from urllib.parse import quote, unquote

from fastapi import APIRouter, Query, Request, Response

from codexmem.http.errors import REASONED, STATUSES
from codexmem.http.guard import ANYONE, identity_of
from codexmem.http.surface import Surface, router
from codexmem.http.web.plain import preferred
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.memory import Kind
from codexmem.operations.service import Operations
from codexmem.operations.sign_in import ATTEMPT_S, SignInAttempt, SignInPolicy, page_after
from codexmem.operations.wire import sign_in as wire

INTERVAL_S = 5  # between two questions of a device, where the issuer does not say (RFC 8628 §3.2)

log = logging.getLogger(__name__)

_STYLE = "body{font:16px/1.5 system-ui;max-width:40rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}"
_STYLE_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_DIGEST}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
}
_TEXTS = {
    "en": {
        "lang": "en", "done": "You are signed in", "on": "Continue", "refused": "You are not signed in",
        "again": "Back to the sign-in page",
    },
    "zh": {
        "lang": "zh-CN", "done": "已登录", "on": "继续", "refused": "未能登录", "again": "返回登录页",
    },
}  # fmt: skip
# What an error itself says is English; by its reason, or for what is not listed, in the other language.
_CHINESE = {
    "state": "这次登录不是由此浏览器发起的，或已超时、已被使用过。请重新登录。",
    "unknown": "您不是此服务器的成员。请联系管理员用 codexmem member link 把您加入。",
    "no_group": "您在身份提供方的任何组都未对应到此服务器的组。请联系管理员。",
    "removed": "您已被移出此服务器。请联系管理员。",
    "disabled": "您在此服务器的成员资格已停用。请联系管理员。",
    "oidc_silent": "身份提供方没有正常应答。请稍后再试。",
    "signing_in": "此刻登录的人太多。请稍后再试。",
    "no_issuer": "此服务器没有设置身份提供方，无法登录。请使用 API 密钥。",
}
_OTHERWISE = "身份提供方的答复未被接受。请重新登录；若仍不成功，请联系管理员。"


class SignInServices(Protocol):
    """What these routes need."""

    @property
    def operations(self) -> Operations: ...


def routes(services: SignInServices) -> APIRouter:
    """The routes on the services of an open store."""
    api = router()

    @api.get("/sign-in", include_in_schema=False)
    def leave_for_issuer(request: Request, next: str = Query(default="/ui", max_length=2_000)) -> Response:
        language = preferred(request.headers.get("accept-language", ""))
        try:
            sign_in = services.operations.sign_in
            attempt = SignInAttempt.new()
            place, policy = sign_in.begin(attempt), sign_in.policy
        except CodexmemError as error:
            return _page(language, error=error)
        kept = f"{attempt.secret}.{quote(page_after(next), safe='')}"
        cookie = _cookie(policy, f"{policy.cookie}-attempt", kept, ATTEMPT_S, "Lax")
        return Response(status_code=303, headers={"Location": place, "Set-Cookie": cookie, **_HEADERS})

    @api.get("/sign-in/callback", include_in_schema=False)
    def come_back(request: Request) -> Response:
        language = preferred(request.headers.get("accept-language", ""))
        try:
            sign_in = services.operations.sign_in
            policy = sign_in.policy
            name = f"{policy.cookie}-attempt"
            secret, _, after = request.cookies.get(name, "").partition(".")
            answer = {key: value for key, value in request.query_params.items() if len(value) <= 4_000}
            made = sign_in.finish(secret, answer, _address(request))
        except CodexmemError as error:
            return _page(language, error=error)
        reply = _page(language, after=page_after(unquote(after)))
        reply.headers.append(
            "Set-Cookie", _cookie(policy, policy.cookie, made.secret, policy.session_ms // 1000, "Strict")
        )
        reply.headers.append("Set-Cookie", _cookie(policy, name, "", 0, "Lax"))
        return reply

    @api.get("/api/sign-in")
    def offered() -> wire.SignInOffer:
        """Whether people can sign in here."""
        return wire.SignInOffer(issuer=services.operations.sign_in.issuer)

    @api.post("/api/sign-in/device")
    def device() -> wire.DeviceCode:
        """Begin a sign-in that a person ends in a browser elsewhere (RFC 8628)."""
        told = services.operations.sign_in.begin_device()
        whole = told.get("verification_uri_complete")
        return wire.DeviceCode(
            device_code=str(told["device_code"]), user_code=str(told["user_code"]),
            verification_uri=str(told["verification_uri"]),
            verification_uri_complete=whole if isinstance(whole, str) else None,
            expires_in=_whole(told.get("expires_in"), 600), interval=_whole(told.get("interval"), INTERVAL_S),
        )  # fmt: skip

    @api.post("/api/sign-in/device/token")
    def device_token(request: Request, body: wire.DeviceTokenRequest) -> wire.DeviceToken:
        """A key for the device, as soon as the person has ended the sign-in."""
        sign_in = services.operations.sign_in
        found = sign_in.finish_device(body.device_code, body.machine, body.role, _address(request))
        if isinstance(found, str):
            return wire.DeviceToken.model_validate({"status": found})
        name, made = found
        key = made.key
        return wire.DeviceToken(
            status="done", secret=made.secret, member=name, tenant=key.tenant, role=key.role,
            expires_ms=key.expires_ms,
        )  # fmt: skip

    @api.post("/api/sign-in/out")
    def sign_out(request: Request, response: Response) -> wire.SignOutAnswer:
        """End the session or the key that this request came with."""
        sign_in = services.operations.sign_in
        ended = sign_in.leave(identity_of(request.scope) or ANYONE)
        if sign_in.issuer is not None:
            response.headers["Set-Cookie"] = _cookie(sign_in.policy, sign_in.policy.cookie, "", 0, "Strict")
        return wire.SignOutAnswer(ended=ended)

    @api.get("/api/whoami")
    def whoami(request: Request) -> wire.WhoAmI:
        """For whom this request acts, and what it may do."""
        identity = identity_of(request.scope) or ANYONE
        return wire.WhoAmI.of(identity, services.operations.sign_in.credential(identity))

    return api


def _address(request: Request) -> str | None:
    return request.client.host if request.client is not None else None


def _cookie(policy: SignInPolicy, name: str, value: str, seconds: int, same_site: str) -> str:
    """Out of reach of scripts, for this host alone."""
    secure = "; Secure" if policy.public_url.startswith("https://") else ""
    return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}"


def _page(language: str, *, after: str = "/ui", error: CodexmemError | None = None) -> Response:
    """What a window shows that came back: it leads on, or says why not."""
    texts = _TEXTS[language]
    title = texts["done"] if error is None else texts["refused"]
    on = texts["on"] if error is None else texts["again"]
    said, forward = "", f'<meta http-equiv="refresh" content="0;url={html.escape(after)}">'
    if error is not None:
        log.info("a sign-in was refused: %s", error.message)
        told = f"{error.message}. {error.hint or ''}"
        if language == "zh":
            told = _CHINESE.get(str(error.details.get("reason")), _OTHERWISE)
        said, forward = f"<p>{html.escape(told)}</p>", ""
    text = (
        f'<!doctype html><html lang="{texts["lang"]}"><meta charset="utf-8"><title>codexmem</title>{forward}'
        f'<style>{_STYLE}</style><h1>{title}</h1>{said}<p><a href="{html.escape(after)}">{on}</a></p></html>'
    )
    status = 200 if error is None else STATUSES.get(error.code, 500)
    return Response(text, status, _HEADERS, "text/html; charset=utf-8")


def _whole(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and 0 < value <= 3_600 else otherwise


SURFACE: Surface[SignInServices] = Surface(
    name="sign_in",
    prefixes=("/sign-in", "/api/sign-in", "/api/whoami"),
    kinds=frozenset[Kind](),
    routes=routes,
    errors=REASONED,
)
