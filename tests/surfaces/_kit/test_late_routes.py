"""A route is built for its first request, and the description of the interface builds the rest."""

from __future__ import annotations

from fastapi import FastAPI

from codexmem.http.surface import LateRoute, router
from tests.surfaces._kit.asgi import call


def test_only_what_is_asked_for_is_built() -> None:
    api = router()

    @api.get("/api/numbers/{number}")
    def one(number: int) -> dict[str, int]:
        return {"number": number}

    @api.post("/api/numbers/{number}")
    def other(number: int) -> dict[str, int]:
        return {"posted": number}

    @api.get("/api/words")
    def words() -> dict[str, str]:
        return {}

    application = FastAPI()
    application.router.routes.extend(api.routes)
    built = [route for route in api.routes if isinstance(route, LateRoute)]
    assert [("built" in vars(route)) for route in built] == [False, False, False]
    assert call(application, "GET", "/api/numbers/7").json == {"number": 7}
    assert call(application, "POST", "/api/numbers/8").json == {"posted": 8}
    assert call(application, "GET", "/api/numbers/x").status == 422
    assert call(application, "PUT", "/api/numbers/7").status == 405
    assert [("built" in vars(route)) for route in built] == [True, True, False]
