"""What an interface is to the assembly: its name, paths, the kinds it can see, its routes and its error style.

Every surface folder exports one of these as `SURFACE`. Routes are built by a factory that receives the services, so
that importing a surface does nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fastapi import APIRouter
from starlette.types import Lifespan

from codexmem.http.errors import PLAIN, ErrorStyle
from codexmem.http.json_body import StrictRoute
from codexmem.kernel.model.memory import Kind

# An interface that needs less can be given more.
S_contra = TypeVar("S_contra", contravariant=True)


@dataclass(frozen=True)
class Surface(Generic[S_contra]):
    """One outside contract."""

    name: str
    prefixes: tuple[str, ...]  # every route lies under one of them, spelled from the root
    kinds: frozenset[Kind]  # all that this interface may ever show
    routes: Callable[[S_contra], APIRouter]
    errors: ErrorStyle = PLAIN


def router(living: Lifespan[Any] | None = None) -> APIRouter:
    """An empty router whose routes parse bodies strictly; routes spell their whole path.

    `living` is entered before the first request and left after the last.
    """
    return APIRouter(route_class=StrictRoute, redirect_slashes=False, lifespan=living)
