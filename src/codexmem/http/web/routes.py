"""Which address answers with what: the application's page for each address of its own, its files, or the plain page."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from codexmem.http.surface import router
from codexmem.http.web.built import Builds
from codexmem.http.web.plain import PlainPage, preferred
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import NotFound

_READING = ["GET", "HEAD"]
_HTML = "text/html; charset=utf-8"
_TAGS = {"en": "en", "zh": "zh-CN"}
_PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Vary": "Accept-Language",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_ASSET_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def routes(_: object, builds: Builds | None = None) -> APIRouter:
    """The interface's routes; it needs no service."""
    api, plain, builds = router(), PlainPage(), builds or Builds()

    def page(request: Request, *, without_scripts: bool = False) -> Response:
        language = preferred(request.headers.get("accept-language", ""))
        built = builds.current()
        if built is None or without_scripts:
            headers = {**_PAGE_HEADERS, **plain.headers}
            return Response(plain.text(language, built=built is not None), headers=headers, media_type=_HTML)
        nonce = ids.secret(16)
        headers = {**_PAGE_HEADERS, "Content-Security-Policy": policy(nonce)}
        return Response(built.page(language=_TAGS[language], nonce=nonce), headers=headers, media_type=_HTML)

    @api.api_route("/", methods=_READING, include_in_schema=False)
    def home() -> Response:
        # Relative, so that no caller's Host decides where it leads.
        return Response(status_code=307, headers={"Location": "/ui", "Cache-Control": "no-cache"})

    @api.api_route("/viewer", methods=_READING, include_in_schema=False)
    def viewer(request: Request, plain: Annotated[str, Query(max_length=10)] = "") -> Response:
        return page(request, without_scripts=plain == "1")

    @api.api_route("/ui/assets/{name:path}", methods=_READING, include_in_schema=False)
    def asset(request: Request, name: str) -> Response:
        found = builds.asset(name)
        if found is None:
            raise NotFound("the application has no such file", hint="reload the page: it may be from an older build")
        headers = dict(_ASSET_HEADERS)
        content = found.content
        if found.packed is not None and _takes_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"], content = "gzip", found.packed
        return Response(content, headers=headers, media_type=found.media_type)

    @api.api_route("/ui", methods=_READING, include_in_schema=False)
    @api.api_route("/ui/{path:path}", methods=_READING, include_in_schema=False)
    def application(request: Request) -> Response:
        return page(request)

    return api


def policy(nonce: str) -> str:
    """What the application may do: run its own files, ask its own server, wear its own style and that of its library.

    Markup made of text is refused by the browser itself, but for what the application's one rule lets through.
    """
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
        "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types default"
    )


def _takes_gzip(accepted: str) -> bool:
    for part in accepted.split(",")[:20]:
        name, _, weight = part.strip().partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
